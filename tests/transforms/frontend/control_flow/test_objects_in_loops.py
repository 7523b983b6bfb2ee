"""Objects of plain classes that a loop replaces by others, such as vectors and quaternions."""

import functools

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, s):
        return Vector(self.x * s, self.y * s)

    __rmul__ = __mul__


class Quaternion:
    def __init__(self, w, x, y, z):
        self.parts = np.array([w, x, y, z])

    def __mul__(self, other):
        a, b, c, d = self.parts
        w, x, y, z = other.parts
        return Quaternion(
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )


class Cell:
    def __init__(self, value, steps=0):
        self.value, self.steps = value, steps

    def scaled(self, s):
        return Cell(self.value * s, self.steps + 1)

    def moved(self, s):
        self.value = self.value + s
        return self


def vectors(x):
    position, velocity = Vector(1.0, x), Vector(0.0, 1.0)
    for _ in range(20):
        velocity = velocity + position * (-0.1)
        position = position + 0.1 * velocity
    return position.x * position.y + velocity.x


def quaternions(x):
    turn = total = Quaternion(np.cos(x), np.sin(x), 0.0, 0.0)
    for _ in range(20):
        total = total * turn
    return total.parts[0] + 2 * total.parts[1]


def until_small(x):
    cell = Cell(1.0)
    while cell.value > 0.01:
        cell = cell.scaled(x)
    return cell.value + cell.steps


def the_first_is_kept(x):
    first = cell = Cell(x)
    for _ in range(5):
        cell = cell.scaled(0.5 + x)
    return first.value + 2 * cell.value + cell.steps


def the_old_one_changes(x):
    cell = Cell(x)
    for _ in range(5):
        old = cell
        cell = cell.scaled(0.5)
        old.value = old.value + 1.0
    return cell.value + old.value


def two_change_places(x):
    a, b = Cell(x), Cell(2 * x)
    for _ in range(5):
        a, b = b, a.scaled(0.5)
        a.moved(1.0)
    return a.value + 2 * b.value + a.steps * 3 + b.steps


def replaced_or_changed(x):
    cell = Cell(x)
    for _ in range(6):
        if cell.value > 1.5:
            cell = Cell(cell.value - 1.0, cell.steps + 1)
        else:
            cell.moved(x)
    return cell.value + cell.steps


def another_name_changes(x):
    cell = kept = Cell(x)
    while cell.value < 5.0:
        cell = cell.scaled(1.5)
        kept.moved(1.0)
    return cell.value + kept.value


def in_arrays(x):
    cell = Cell(np.array([x, 1.0]))
    for _ in range(4):
        old = cell
        cell = Cell(cell.value * 0.5)
        old.value[0] += 3.0
    return np.sum(cell.value) + old.value[0]


def best_of(x):
    best = Cell(x)
    for k in range(6):
        candidate = Cell(np.sin(x * k + k))
        if candidate.value > best.value:
            best = candidate
    best.value = best.value * 2
    return best.value + candidate.value


def in_one_another(x):
    outer = Cell(Cell(x))
    for k in range(4):
        outer = Cell(outer.value.scaled(0.5), k)
    return outer.value.value + outer.steps


def in_a_dict(x):
    cell = Cell(x)
    owners = {"a": cell}
    for _ in range(3):
        owners["a"] = owners["a"].scaled(0.5)
        cell.moved(owners["a"].value)
    return cell.value + owners["a"].value


ROLLED = [
    vectors,
    quaternions,
    until_small,
    the_first_is_kept,
    the_old_one_changes,
    two_change_places,
    replaced_or_changed,
    another_name_changes,
    in_arrays,
    best_of,
    in_one_another,
    in_a_dict,
]


def in_a_list(x):
    cell, cells = Cell(x), []
    for _ in range(5):
        cells.append(cell)
        cell = cell.scaled(0.5)
    cells[0].value = 10.0
    return cell.value + sum(c.value * (i + 1) for i, c in enumerate(cells))


def linked(x):
    node = None
    for k in range(4):
        node = Cell(x * k, node)
    total = 0.0
    while node is not None:
        total = total * 2 + node.value
        node = node.steps
    return total


def shared_arrays(x):
    cell = Cell(np.array([x, 1.0]))
    values = cell.value
    for k in range(4):
        cell = Cell(cell.value, k)
        cell.value[0] += x
    return np.sum(values) + cell.value[1]


def computed_on_demand(x):
    class Squared:
        def __init__(self, value):
            self.value = value

        @functools.cached_property
        def square(self):
            return self.value**2

    number = Squared(x)
    for _ in range(4):
        number = Squared(number.square * 0.5 + 0.3)
    return number.value + number.square


def one_attribute_more(x):
    cell = Cell(x)
    cell.extra = 3.0
    for _ in range(3):
        cell = cell.scaled(0.5)
    return cell.value + (1.0 if hasattr(cell, "extra") else 0.0)


def perhaps_the_same(x):
    a = b = Cell(x)
    for _ in range(3):
        a = a.scaled(2.0)
        if x > 0.5:
            b = a
        b.moved(1.0)
    return a.value + b.value * 3 + (1.0 if a is b else 0.0)


def in_functions(x):
    cell, functions = Cell(x), []
    for _ in range(3):
        functions.append(lambda cell=cell: cell.value)
        cell = cell.scaled(0.5)
    return sum(f() * (i + 1) for i, f in enumerate(functions)) + cell.value


OTHERS = [
    in_a_list,
    linked,
    shared_arrays,
    computed_on_demand,
    one_attribute_more,
    perhaps_the_same,
    in_functions,
]


def slope(f, x):
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("x", [0.3, 0.8])
@pytest.mark.parametrize("f", ROLLED + OTHERS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f, x):
    with tapeless.strict(True):
        assert jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        assert grad(f)(x) == pytest.approx(slope(f, x), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("f", ROLLED, ids=lambda f: f.__name__)
def test_the_loop_stays_a_loop(f):
    assert jit(f).stages(0.3)["notes"] == "every loop that depends on values is rolled"


@pytest.mark.parametrize("f", [vectors, quaternions, until_small, two_change_places])
def test_batches(f):
    xs = np.array([0.3, 0.5, 0.8])
    np.testing.assert_allclose(vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)


def as_a_key(x):
    cell, total = Cell(x), 0.0
    weights = {cell: 5.0}
    for _ in range(4):
        total += weights.get(cell, 1.0) * x + (cell in weights)
        cell = cell.scaled(0.5)
    return total + cell.value


def as_part_of_a_key(x):
    cell, total = Cell(x), 0.0
    seen = {(1, cell)}
    for _ in range(4):
        total += x if (1, cell) in seen else 2 * x
        cell = cell.scaled(0.5)
    return total + cell.value


def looked_for_in_a_list(x):
    cell, total = Cell(x), 0.0
    cells = [cell, Cell(3.0)]
    for _ in range(4):
        total += cells.count(cell) * x + (cell in cells)
        cell = cell.scaled(0.5)
    return total + cell.value


def compared(x):
    cell = first = Cell(x)
    total = 0.0
    for _ in range(4):
        total += (cell == first) * x + (cell != first)
        cell = cell.scaled(0.5)
    return total + cell.value


@pytest.mark.parametrize("f", [as_a_key, as_part_of_a_key, looked_for_in_a_list, compared])
def test_which_object_it_is_may_be_asked(f):
    assert jit(f)(0.3) == pytest.approx(f(0.3), rel=1e-12)
    assert grad(f)(0.3) == pytest.approx(slope(f, 0.3), rel=1e-6)


def the_one_before(x, n):
    cell = Cell(x)
    for _ in range(n):
        before = cell
        cell = cell.scaled(0.5)
    return cell.value + before.value


@pytest.mark.parametrize("transform", [jit, grad, lambda f: jit(grad(f))])
def test_an_object_that_only_a_pass_sets(transform):
    transformed = transform(the_one_before)
    assert transformed(0.3, 3) == pytest.approx(0.1125 if transform is jit else 0.375)
    for function in (transformed, transform(the_one_before)):
        with pytest.raises(UnboundLocalError, match="'before'"):
            function(0.3, 0)
