"""Lists of those of some objects that pass a test on run-time values."""

from collections import deque

import numpy as np
import pytest

from tapeless import jit, strict
from tests.one_program import check_one_program


class Cell:
    def __init__(self, energy):
        self.energy = energy
        self.dead = False


def read(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y), Cell(x - y)]
    alive = [c for c in cells if c.energy > 1]
    return len(alive) * x + sum(c.energy**2 for c in alive)


def changed(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y), Cell(x - y)]
    for c in cells:
        if c.energy < 0.5:
            c.dead = True
    alive = [c for c in cells if not c.dead]
    for c in alive:
        c.energy *= 2
    return len(alive) + sum(c.energy for c in cells)


def filtered_again(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y)]
    alive = [c for c in cells if c.energy > 1]
    for _ in range(3):
        for c in alive:
            c.energy -= 0.4
        alive = [c for c in alive if c.energy > 1]
    return sum(c.energy for c in cells) + len(alive)


def in_passes(x, y):
    cells, far = [Cell(x), Cell(y), Cell(x * y)], 0
    for step in range(3):
        far += len([c for c in cells if c.energy * (step + 1) > 1.7])
        for c in cells:
            c.energy = c.energy * 1.1
    return far * x + y


def until_none_is_left(x, y):
    cells, rounds = [Cell(x), Cell(y), Cell(x * y)], 0
    while [c for c in cells if c.energy > 1]:
        rounds += 1
        for c in [c for c in cells if c.energy > 1]:
            c.energy /= 2
    return sum(c.energy for c in cells) + rounds


def the_best_of_them(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y)]
    alive = [c for c in cells if c.energy > 1]
    if alive:
        best = max(alive, key=lambda c: c.energy)
        return best.energy * 2
    return 0.0 * x


def as_other_lists(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y)]
    alive = [c for c in cells if c.energy > 1]
    total = sum(k * c.energy for k, c in enumerate(alive))
    alive.append(Cell(9.0))
    return total + alive[0].energy + sum(c.energy for c in alive)


def dicts(x, y):
    rows = [{"v": x, "n": "a"}, {"v": y, "n": "b"}, {"v": x * y, "n": "c"}]
    large = [row for row in rows if row["v"] > 1]
    total = 0.0 * x
    for row in large:
        total += row["v"] * (2 if row["n"] == "a" else 3)
    return total


def kept_in_containers(x, y):
    boxes = {"u": [Cell(x), Cell(y)], "v": [Cell(x * y)]}
    boxes["u"] = [c for c in boxes["u"] if c.energy > 1]
    return sum(c.energy for box in boxes.values() for c in box) + len(boxes["u"])


def appended_under_tests(x, y):
    cells, infected = [Cell(x), Cell(y), Cell(x * y), Cell(x - y)], []
    for c in cells:
        risk = np.exp(-c.energy)
        if c.energy > 1:
            infected.append((c, risk))
    for c, risk in infected:
        c.energy *= risk
    return sum(c.energy for c in cells) + len(infected)


def old_and_new_ones(x, y):
    cells, out = [Cell(x), Cell(y), Cell(x * y)], [Cell(1.0)]
    for c in cells:
        if c.energy > 2:
            out.append(c)
        elif c.energy > 1:
            out.append(Cell(c.energy * 2))
    out.append(Cell(y))
    total = 0.0
    for k, c in enumerate(out):
        total += (k + 1) * c.energy
    return total + (out[-1].energy if out else 0.0)


def neighbours(x, y):
    cells = [Cell(x), Cell(y), Cell(x * y)]
    near = {k: [] for k in range(3)}
    for i, a in enumerate(cells):
        for j, b in enumerate(cells[:i]):
            if abs(a.energy - b.energy) < 2.25:
                near[i].append(b)
                near[j].append(a)
    return sum(
        sum(b.energy for b in near[i]) * a.energy + len(near[i]) for i, a in enumerate(cells)
    )


def a_new_list_in_each_pass(x, y):
    cells, hot = [Cell(x), Cell(y)], []
    for _ in range(3):
        hot = []
        for c in cells:
            if c.energy > 1:
                hot.append(c)
        for c in hot:
            c.energy *= 0.5
    return sum(c.energy for c in cells) + len(hot) + (1.0 if hot else 0.0)


def joined_lists(x, y):
    cells, out = [Cell(x), Cell(y)], [Cell(1.5)]
    if x > 1:
        out.append(Cell(x))
    both = [c for c in out if c.energy > 1.6]
    for k, c in enumerate([*cells]):
        if c.energy > 1.7 + k:
            both.append(c)
    return sum(c.energy for c in both) + 0.5 * len(out)


def the_last_ones(x, y):
    recent, started = deque(maxlen=2), deque([Cell(y), Cell(1.0)], maxlen=2)
    for k, v in enumerate((x, y, x * y, x - y, x + y)):
        if v > 1:
            recent.append(Cell(v))
        elif v > 0.5:
            recent.append(Cell(k * v))
        if v < 1.5:
            started.append(Cell(v))
            if v > 0.2:
                started.append(Cell(k - v))
    places = sum((k + 1) * c.energy for k, c in enumerate(recent))
    if len(recent) == recent.maxlen:
        recent.append(Cell(3 * x))
    return places + sum(c.energy * y for c in recent) + sum(c.energy**2 for c in started)


def emptied(x, y):
    batch, total = [], 0.0
    for v in (x, y, x * y, x - y, x + y):
        if v > 1:
            batch.append(Cell(v))
        if v > 2:
            total += sum((k + 1) * c.energy for k, c in enumerate(batch))
            batch.clear()
    return total + len(batch)


class Doubled(list):
    def append(self, cell):
        super().append(Cell(2 * cell.energy))

    def energy(self):
        return sum(c.energy for c in self) + 0.1 * len(self)


class Window(deque):
    def append(self, cell):
        super().append(Cell(3 * cell.energy))


def methods_of_the_user(x, y):
    doubled, window = Doubled(), Window(maxlen=2)
    for v in (x, y, x * y, x - y, x + y):
        if v > 1:
            doubled.append(Cell(v))
            window.append(Cell(v))
    return doubled.energy() + sum((k + 1) * c.energy for k, c in enumerate(window))


PROGRAMS = [
    the_last_ones,
    emptied,
    methods_of_the_user,
    appended_under_tests,
    old_and_new_ones,
    neighbours,
    a_new_list_in_each_pass,
    joined_lists,
    read,
    changed,
    filtered_again,
    in_passes,
    until_none_is_left,
    the_best_of_them,
    as_other_lists,
    dicts,
    kept_in_containers,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_program_for_all_values(program):
    check_one_program(program)


def test_code_grows_with_the_objects_only():
    """A test for each object, not for each length that the list may have."""

    def program_of(n):
        def energy(x):
            cells = [Cell(x[k]) for k in range(4)] * (n // 4)
            cells = [Cell(c.energy + k) for k, c in enumerate(cells)]
            alive = [c for c in cells if c.energy > 1]
            for c in alive:
                c.energy *= 2
            return sum(c.energy for c in cells)

        return energy

    x = np.array([0.2, -3.0, 1.5, -7.0])
    sizes = []
    for n in (4, 8):
        with strict(True):
            assert jit(program_of(n))(x) == pytest.approx(program_of(n)(x))
            sizes.append(len(jit(program_of(n)).stages(x)["core"].splitlines()))
    assert sizes[1] < 3 * sizes[0]
