"""Every operation over a batch, against a Python loop over its elements."""

import copy
import itertools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError
from tests.corpus.differences import leaves, rebuild
from tests.transforms.ops.cases import is_float
from tests.transforms.ops.test_table import CASES, FUNCTION, parts

N = 3  # elements of a batch

#: Functions whose results differ in length from element to element: an array has one shape.
UNEVEN = ("argwhere", "bincount", "nonzero", "unique", "delete", "place")


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
    mapped = tapeless.vmap(case.program(), in_axes)
    if refused(case, chosen):
        with pytest.raises(UnsupportedError, match="differs between the elements of the batch"):
            mapped(*args)
        return
    compare(parts(mapped(*args)), expected(case, chosen))


def refused(case, chosen):
    """Whether the results of the elements may differ in length, however they are in this case."""
    return (case.name, tuple(sorted(chosen))) in REFUSED


def compare(actual, wanted):
    for a, b in zip(actual, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def subsets(places):
    return [set(c) for n in range(1, len(places) + 1) for c in itertools.combinations(places, n)]


def cases(listed):
    return pytest.mark.parametrize("case", listed, ids=lambda each: each.name)


@cases(CASES)
def test_every_combination_of_batched_and_unbatched_arguments(case):
    for chosen in subsets(mappable(case)):
        check(case, chosen)


@cases(FUNCTION)
@pytest.mark.parametrize("axis", [-1, 1])
def test_other_axes(case, axis):
    check(case, set(mappable(case)), axis)
