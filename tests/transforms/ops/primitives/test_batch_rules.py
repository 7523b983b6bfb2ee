"""Every operation over a batch, against a Python loop over its elements."""

import copy
import itertools
import os

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError
from tests.corpus.differences import leaves, rebuild
from tests.transforms.ops.cases import is_float
from tests.transforms.ops.test_function_table import (
    CASES,
    FUNCTION,
    WAY,
    Plain,
    close,
    gradient,
    parts,
    ravel,
)

N = 3  # elements of a batch

#: Cases whose results differ in length from element to element, for an array has one shape; and
#: the arguments that the length depends on. Some lambdas of the same name have results as usual.
UNEVEN = {
    "(2x3,2x3)": {1},
    "(2x3,3)": {1},
    "(3x2,3)": {1},
    "(5)": {0},
    "argwhere(2x2)": {0},
    "bincount(4 minlength=5)": {0},
    "bincount(4)": {0},
    "bincount(4,4)": {0, 1},
    "compress(3,2x3 axis=1)": {0},
    "extract(2x3,2x3)": {0},
    "flatnonzero(2x2)": {0},
    "intersect1d(5,3)": {0, 1},
    "nonzero(2x2)": {0},
    "nonzero(5)": {0},
    "polydiv(4,2)": {0, 1},
    "repeat(3,3)": {1},
    "repeat(3x2,3 axis=0)": {1},
    "roots(4)": {0},
    "roots.append(3)": {0},
    "setdiff1d(4,2 assume_unique=True)": {0, 1},
    "setdiff1d(5,2)": {0, 1},
    "setxor1d(5,2)": {0, 1},
    "sort.unique_values(5)": {0},
    "trim_zeros(3)": {0},
    "trim_zeros.append(3)": {0},
    "trim_zeros.concatenate(3)": {0},
    "union1d(3,2)": {0, 1},
    "union1d(5,3)": {0, 1},
    "unique(2x3 axis=-1 equal_nan=False)": {0},
    "unique(2x3)": {0},
    "unique(3x2 axis=0 return_inverse=True)": {0},
    "unique(4)": {0},
    "unique_all(5)": {0},
    "unique_counts(5)": {0},
    "unique_inverse(5)": {0},
    "where(5)": {0},
}


def varied(arg, k):
    """Element k of a batch: other numbers for which the function is defined as well."""
    return rebuild(arg, iter([_varied(leaf, k) for leaf in leaves(arg)]))


def _varied(leaf, k):
    if is_float(leaf):
        return leaf * (1 + 0.07 * k)
    array = np.asarray(leaf)
    return array if k % 2 == 0 or not array.ndim else array[::-1].copy()


def batch(arg, axis):
    """The elements stacked along an axis, leaf by leaf."""
    columns = zip(*(leaves(varied(arg, k)) for k in range(N)), strict=True)
    return rebuild(arg, iter([np.stack(c, axis_of(c[0], axis)) for c in columns]))


def axis_of(leaf, axis):
    return axis if axis < 0 else min(axis, np.ndim(leaf))


def axes_for(arg, axis):
    if not isinstance(arg, (list, tuple)):
        return axis_of(arg, axis)
    return rebuild(arg, iter([axis_of(leaf, axis) for leaf in leaves(arg)]))


def expected(case, chosen):
    """The results of a loop over the batch, stacked leaf by leaf."""
    runs = []
    for k in range(N):
        args = copy.deepcopy(case.args)
        args = [varied(a, k) if j in chosen else a for j, a in enumerate(args)]
        runs.append(parts(case.program()(*args)))
    return [np.stack(column) for column in zip(*runs, strict=True)]


def mappable(case):
    return [
        k
        for k, arg in enumerate(case.args)
        if leaves(arg) and all(isinstance(x, (float, np.ndarray)) for x in leaves(arg))
    ]


def check(case, chosen, axis=0):
    args = [batch(a, axis) if j in chosen else a for j, a in enumerate(copy.deepcopy(case.args))]
    in_axes = tuple(axes_for(a, axis) if j in chosen else None for j, a in enumerate(case.args))
    try:
        actual = parts(tapeless.vmap(case.program(), in_axes)(*args))
    except UnsupportedError:
        if not chosen & UNEVEN.get(case.name, set()):
            raise
    else:
        compare(actual, expected(case, chosen))


def compare(actual, wanted):
    for a, b in zip(actual, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def subsets(places):
    return [set(c) for n in range(1, len(places) + 1) for c in itertools.combinations(places, n)]


SMOOTH_FUNCTION = [each for each in FUNCTION if mappable(each) and each.name not in UNEVEN]


def cases(listed):
    return pytest.mark.parametrize("case", listed, ids=lambda each: each.name)


@cases(CASES if os.environ.get("TAPELESS_ALL_CASES") else WAY)
def test_every_combination_of_batched_and_unbatched_arguments(case):
    for chosen in subsets(mappable(case)):
        check(case, chosen)


@cases(FUNCTION)
@pytest.mark.parametrize("axis", [-1, 1])
def test_other_axes(case, axis):
    check(case, set(mappable(case)), axis)


@cases(SMOOTH_FUNCTION)
def test_nested_twice(case):
    """A batch of batches, of one argument over both axes, of the others over one."""
    first, *others = mappable(case)
    places = tuple(range(len(case.args)))
    inner = tuple(0 if k == first else None for k in places)
    outer = tuple(0 if k in (first, *others) else None for k in places)
    rows = [[_twice(case, first, i, k) for k in range(2)] for i in range(2)]
    columns = zip(*(zip(*row, strict=True) for row in rows), strict=True)
    args = [_stacked(column, k == first, k in others) for k, column in enumerate(columns)]
    mapped = tapeless.vmap(tapeless.vmap(case.program(), inner), outer)
    wanted = [[parts(case.program()(*copy.deepcopy(args))) for args in row] for row in rows]
    for k, actual in enumerate(parts(mapped(*args))):
        compare([actual], [np.stack([np.stack([r[k] for r in row]) for row in wanted])])


def _twice(case, first, i, k):
    """The arguments of one element of a batch of batches."""
    args = copy.deepcopy(case.args)
    chosen = mappable(case)
    return [
        varied(a, 2 * i + k) if j == first else varied(a, i) if j in chosen else a
        for j, a in enumerate(args)
    ]


def _stacked(column, twice, once):
    (a, b), (c, d) = column
    if twice:
        return _joined(_joined(a, b), _joined(c, d))
    return _joined(a, c) if once else a


def _joined(a, b):
    pairs = zip(leaves(a), leaves(b), strict=True)
    return rebuild(a, iter([np.stack(pair) for pair in pairs]))


@cases(SMOOTH_FUNCTION)
def test_derivatives_of_a_batch(case):
    """The gradient of the sum over a batch, by differences."""
    plain = Plain(case)
    chosen = set(plain.wrt)
    args = [batch(a, 0) if k in chosen else a for k, a in enumerate(copy.deepcopy(case.args))]
    in_axes = tuple(axes_for(a, 0) if k in chosen else None for k, a in enumerate(case.args))
    program = plain.projected()

    def total(*args):
        return np.sum(tapeless.vmap(program, in_axes)(*args))

    slopes = tapeless.grad(total, argnums=plain.wrt)(*args)
    each = [ravel([varied(case.args[j], k) for j in plain.wrt]) for k in range(N)]
    wanted = [gradient(plain, point) for point in each]
    for k in range(N):
        ours = [
            rebuild(case.args[j], iter([x[k] for x in leaves(s)]))
            for j, s in zip(plain.wrt, slopes, strict=True)
        ]
        close(ravel(ours), wanted[k], 1e-6)
