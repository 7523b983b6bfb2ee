"""Lists of numbers as arguments of compiled functions: they come as arrays."""

import copy

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.errors import ArgumentError

INTS = [k * 7 % 20 for k in range(20)]
FLOATS = [k * 0.5 for k in INTS]
TABLE = [[float(k * 3 + j) for j in range(5)] for k in range(4)]
PAIRS = [(k, k * 0.5) for k in range(12)]


def same(f, *args, **kwargs):
    """Whether values, types and what is left in the arguments are those of Python."""
    mine, theirs = (copy.deepcopy((args, kwargs)) for _ in range(2))
    found, wanted = jit(f)(*mine[0], **mine[1]), f(*theirs[0], **theirs[1])
    return repr((found, mine)) == repr((wanted, theirs))


def sort(xs):
    for i in range(1, len(xs)):
        x, j = xs[i], i - 1
        while j >= 0 and xs[j] > x:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = x


def methods(xs):
    xs.append(3)
    xs.insert(0, 5)
    xs.remove(7)
    xs.reverse()
    taken = xs.pop(0), xs.pop()
    xs.extend([1, 2])
    xs += xs[2:4]
    xs.sort()
    return taken, len(xs), xs[-1], xs.index(4), xs.count(2), sum(xs), max(xs), xs[::3]


def flipped(xs):
    for k, x in enumerate(xs):
        xs[k] = not x
    return [x for x in xs if x]


def product(a, b):
    c = [[0.0] * len(b[0]) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]
    return c


def scaled(table):
    for row in table:
        for j in range(len(row)):
            row[j] = row[j] * 2
    return len(table), sum(table[1])


def swapped(table):
    table[0], table[2] = table[2], table[0]
    table[0][1] = 9.5


def of_pairs(pairs):
    pairs[1] = (7, 2.5)
    pairs.append((1, 2.0))
    return [a + b for a, b in pairs], pairs[3][0]


def mixed(xs):
    xs[3] = 0.5
    return xs[2]


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (sort, (INTS,)),
        (sort, (FLOATS,)),
        (methods, (INTS,)),
        (flipped, ([k % 3 == 0 for k in range(10)],)),
        (product, (TABLE, [row[:4] for row in TABLE] + [[1.0] * 4])),
        (scaled, (TABLE,)),
        (swapped, (TABLE,)),
        (of_pairs, (PAIRS,)),
        (mixed, (FLOATS,)),
        (mixed, (INTS,)),
        (mixed, ([1, 2.5] * 6,)),
        (lambda xs: (xs[3], [x for x in xs if x > 4]), ([np.float64(x) for x in FLOATS],)),
        (lambda xs: (xs[3], xs), ([1j * x for x in FLOATS],)),
        (lambda xs: (np.array(xs).dtype.name, np.sum(xs)), ([np.float32(x) for x in FLOATS],)),
        (lambda xs: [0] * xs[3], (INTS,)),
        (lambda xs: {x: 2 * x for x in xs}[7], (INTS,)),
        (lambda xs: (type(xs) is list, isinstance(xs, list), bool(xs)), (INTS,)),
    ],
)
def test_values_types_and_changes_are_those_of_python(f, args):
    assert same(f, *args)


def test_one_compilation_for_all_lengths():
    compiled = jit(sort)
    for n in (9, 10, 20, 57):
        xs = [k * 31 % 17 for k in range(n)]
        wanted = sorted(xs)
        compiled(xs)
        assert xs == wanted
    assert len(compiled.compilations) == 1
    assert "def sort(xs):" in compiled.source()
    assert "xs0" not in compiled.source(INTS)


def test_lists_by_name_and_static_ones():
    def f(xs, n):
        return xs[n] + len(xs)

    assert same(f, xs=INTS, n=3)
    assert same(f, INTS, n=3)
    assert jit(f, static_argnames="n")(INTS, n=3) == f(INTS, 3)


def test_short_lists_are_numbers():
    def f(xs):
        return xs[0] * xs[1]

    assert "xs[0]" in jit(f).source([1.0, 2.0, 3.0])


def test_a_list_that_is_returned_is_the_callers():
    xs = [*INTS]
    assert jit(lambda xs: xs)(xs) is xs


def test_rows_are_those_of_the_caller():
    table = copy.deepcopy(TABLE)
    row = table[1]
    jit(scaled)(table)
    assert row == [2 * x for x in TABLE[1]]
    assert table[1] is row


def test_exchanged_rows_that_the_caller_has_are_refused():
    table = copy.deepcopy(TABLE)
    row = table[0]
    with pytest.raises(ArgumentError, match="by another name"):
        jit(swapped)(table)
    assert row == TABLE[0]


def test_what_is_passed_twice_must_not_change():
    def f(xs, ys):
        xs[0] = ys[1] + 1
        return ys[0]

    xs, row = [*INTS], [*FLOATS]
    with pytest.raises(ArgumentError, match="twice"):
        jit(f)(xs, xs)
    with pytest.raises(ArgumentError, match="twice"):
        jit(f)(xs, (xs, 1))
    with pytest.raises(ArgumentError, match="twice"):
        jit(scaled)([row, row])
    assert xs == INTS
    assert row == FLOATS


def test_errors_leave_lists_as_they_were():
    def f(xs):
        xs[0] = 50
        if xs[1] == 7:
            raise ValueError("seven")

    xs = [*INTS]
    with pytest.raises(ValueError, match="seven"):
        jit(f)(xs)
    assert xs == INTS
    with pytest.raises(OverflowError, match=r"xs\[0\] takes 72 bits"):
        jit(f)([2**70, *INTS])


def test_recursion_on_a_list():
    def quicksort(xs, low, high):
        if low >= high:
            return
        i = low
        for j in range(low, high):
            if xs[j] < xs[high]:
                xs[i], xs[j] = xs[j], xs[i]
                i += 1
        xs[i], xs[high] = xs[high], xs[i]
        quicksort(xs, low, i - 1)
        quicksort(xs, i + 1, high)

    def f(xs):
        quicksort(xs, 0, len(xs) - 1)
        return xs[0]

    assert same(f, [5, 3, 8, 1, 9, 2, 7, 0, 4, 6])


def test_gradients_by_lists_are_lists():
    def f(xs):
        return sum(x * x for x in xs)

    assert grad(f)([1.0, 2.0, 3.0]) == [2.0, 4.0, 6.0]
    assert jit(grad(f))(FLOATS) == [2 * x for x in FLOATS]


LONG, SHORT, NAMED = [1.0] * 12, [1.0] * 3, {"w": 1.0}


@pytest.mark.parametrize("held", [LONG, SHORT, NAMED], ids=["long", "short", "dict"])
def test_what_is_read_by_its_own_name_is_not_stored_to(held):
    key = "w" if held is NAMED else 0

    def f(x):
        x[key] = 9.0
        return held[key] + x[key]

    compiled, other = jit(f), held.copy()
    assert compiled(other) == 10.0
    assert other[key] == 9.0
    with pytest.raises(ArgumentError, match="which it reads, too"):
        compiled(held)
    assert held[key] == 1.0
