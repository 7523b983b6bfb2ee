"""Clocks and Python's `random`: the program reads them and draws when it runs."""

import itertools
import random
import time
import warnings

import numpy as np
import pytest

import tapeless
from tests.transforms.staging import block_of

OWN = random.Random(5)
X = np.array([0.7, -1.3, 2.1])


@pytest.fixture(autouse=True)
def _nothing_is_traced():
    with warnings.catch_warnings(), tapeless.strict(True):
        yield


def annealed(x):
    random.seed(3)
    best = np.sum(x**2)
    for _ in range(30):
        y = x.copy()
        y[random.randint(0, len(x) - 1)] += random.gauss(0.0, 0.3)
        if np.sum(y**2) < best or random.random() < 0.1:
            x, best = y, np.sum(y**2)
    return x


def shuffled(x):
    random.seed(0)
    items = [x[0], 2.0, 3.0 * x[1], x[2] ** 2]
    random.shuffle(items)
    return sum(10**k * items[k] for k in range(4))


def shuffled_places(x):
    random.seed(2)
    places = list(range(len(x)))
    random.shuffle(places)
    total = 0.0
    for k in places[:2]:
        total = 3 * total + np.sin(x[k])
    return total + sum(random.sample(range(10), 3))


def samples(x):
    random.seed(1)
    towns = [(0.0, x[0]), (x[1], 1.0), (x[2], x[0]), (2.0, 2.0)]
    tour = random.sample(towns, len(towns))
    return sum(np.hypot(a[0] - b[0], a[1] - b[1]) for a, b in itertools.pairwise(tour))


def operators(x):
    random.seed(1)
    y = x[0]
    for _ in range(5):
        operator = random.choice(["add", "mul", "sub"])
        if operator == "add":
            y = y + x[1]
        elif operator == "mul":
            y = y * x[2]
        else:
            y = y - 3.0
    return y + random.choices([x[0], 2.0, 3.0], weights=[0.2, 0.3, 0.5], k=4)[2]


def rows(x):
    random.seed(4)
    table = np.outer(x, x)
    return np.sum(random.choice(table)) + np.sum(np.array(random.sample(list(table), 2))[0])


def crossed(x):
    random.seed(1)
    population = [x, 2 * x, np.array([0.0, x[0], 5.0])]
    for _ in range(3):
        a, b = random.sample(population, 2)
        cut = random.randint(0, 2)
        population[random.randrange(3)] = np.concatenate([a[:cut], b[cut:]])
    return np.sum(population[0]) + 2 * np.sum(population[1])


def list_of_numpy(x):
    np.random.seed(0)
    items = [x[0], 2.0 * x[1], 3.0]
    np.random.shuffle(items)
    rng = np.random.default_rng(1)
    rng.shuffle(items)
    return items[0] + 10 * items[1] + 100 * items[2]


PROGRAMS = (annealed, shuffled, shuffled_places, samples, operators, rows, crossed, list_of_numpy)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_draws_what_python_draws(f):
    expected, compiled = f(X.copy()), tapeless.jit(f)
    for _ in range(2):
        np.testing.assert_allclose(compiled(X), expected)


@pytest.mark.parametrize("f", PROGRAMS[1:], ids=lambda f: f.__name__)
def test_derivatives_by_what_is_drawn(f):
    slope, direction = tapeless.grad(f)(X), np.array([0.3, 0.5, -0.2])
    step = (f(X + 1e-6 * direction) - f(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(slope @ direction, step, rtol=1e-6)
    np.testing.assert_allclose(tapeless.jvp(f, (X,), (direction,))[1], step, rtol=1e-6)


def test_draws_are_new_in_each_call_and_for_each_element():
    f = tapeless.jit(lambda x: x + OWN.randrange(1000))
    OWN.seed(2)
    expected = [1.0 + OWN.randrange(1000) for _ in range(6)]
    OWN.seed(2)
    np.testing.assert_allclose([f(1.0) for _ in range(3)], expected[:3])
    np.testing.assert_allclose(tapeless.vmap(f)(np.ones(3)), expected[3:])


def test_staging_draws_nothing():
    state = OWN.getstate()
    tapeless.jit(lambda x: x * OWN.gauss(0.0, 1.0) + OWN.choice([x, 2.0])).source(1.0)
    assert OWN.getstate() == state


@pytest.mark.parametrize(
    "clock", [time.time, time.perf_counter, time.monotonic, time.process_time, time.time_ns]
)
def test_clocks_are_read_when_the_program_runs(clock):
    f = tapeless.jit(lambda x: (np.sum(np.sin(x)), clock()))
    before = clock()
    readings = [f(X)[1] for _ in range(3)]
    assert before <= readings[0] <= readings[1] <= readings[2] <= clock()
    assert type(readings[0]) is type(before) or isinstance(readings[0], np.generic)


def test_time_that_is_measured_decides():
    class Solver:
        def fit(self, x):
            self.start = time.perf_counter()
            for _ in range(10):
                x = x * 0.5 + np.sin(x)
            if time.perf_counter() - self.start > 1000:
                raise RuntimeError("it takes too long")
            return x

    f = lambda x: np.sum(Solver().fit(x))  # noqa: E731  # of one line, as users write it
    step = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    np.testing.assert_allclose(np.sum(tapeless.jit(tapeless.grad(f))(X)), step, rtol=1e-4)


def test_places_are_of_known_type():
    block = block_of(lambda x: x * random.choice([1.0, 2.0]), 1.5)
    assert "callback" in str(block)


def test_an_empty_sequence_is_pythons_error():
    with pytest.raises(IndexError, match="empty"):
        tapeless.jit(lambda x: random.choice([]) * x)(1.0)
