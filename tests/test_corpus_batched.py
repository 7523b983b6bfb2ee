"""The corpus over batches, against a Python loop over the elements; derivatives by differences."""

import copy

import numpy as np
import pytest

import tapeless
from tests.corpus import functional, programs
from tests.corpus.differences import gradient, leaves, ravel, rebuild

N = 3  # elements of a batch

#: Programs that a batch refuses, and what the error says.
OUTSIDE = "writes to an object from outside"
REFUSED = {
    "functional.decorated_with_wraps": OUTSIDE,
    "functional.global_written": OUTSIDE,
}

ALL = [each for each in programs() if each.name not in REFUSED]
#: Programs with what differs in length between the elements.
UNEVEN = {
    "branches.parts_of_unknown_size_on_one_side",
    "branches.parts_read_on_some_sides",
    "comprehensions.two_loops_in_one",
    "growing.append_in_while",
    "growing.append_under_condition",
    "indexing.boolean_mask",
    "indexing.mask_of_rows",
    "indexing.nonzero_indices",
    "inplace.store_mask_of_matrix",
    "inplace.store_through_mask",
    "recursion_on_data.quicksort_of_an_array",
    "references.loop_rebinds_what_it_runs_over",
}
SOME = [each for each in ALL if each.name in UNEVEN]
SOME += [each for each in ALL if each.name not in UNEVEN][::4]


def cases(listed):
    return pytest.mark.parametrize("program", listed, ids=lambda each: each.name)


def varied(arg, k):
    """An argument with slightly other numbers, which may take other ways through the program."""
    return rebuild(arg, iter([_varied(leaf, k, j) for j, leaf in enumerate(leaves(arg))]))


def _varied(leaf, k, j):
    array = np.asarray(leaf)
    if array.dtype.kind not in "fc":
        return leaf
    factors = 1 + 0.04 * k * np.cos(np.arange(array.size) + j).reshape(array.shape)
    return array * factors.astype(array.dtype)


def elements(program, n=N, start=0):
    """The arguments of each element."""
    return [
        [varied(a, start + k) if j in program.wrt else a for j, a in enumerate(program.arguments())]
        for k in range(n)
    ]


def stacked(trees):
    """One tree, with the leaves of all stacked."""
    columns = zip(*map(leaves, trees), strict=True)
    return rebuild(trees[0], iter([np.stack([np.asarray(x) for x in c]) for c in columns]))


def batch(program, rows):
    """The arguments of a batch, and their axes."""
    first = rows[0]
    args = [
        stacked([row[j] for row in rows]) if j in program.wrt else first[j]
        for j in range(len(first))
    ]
    return args, tuple(0 if j in program.wrt else None for j in range(len(first)))


def assert_alike(actual, expected, rtol=1e-8, atol=1e-10):
    for a, b in zip(leaves(actual), leaves(expected), strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@cases(ALL)
def test_values(program):
    rows = elements(program)
    expected = stacked([program.function(*copy.deepcopy(row)) for row in rows])
    args, axes = batch(program, rows)
    before = copy.deepcopy(args)
    assert_alike(tapeless.vmap(program.function, axes)(*args), expected)
    for now, then in zip(leaves(args), leaves(before), strict=True):
        np.testing.assert_array_equal(now, then)


@cases(ALL)
def test_batches_of_batches(program):
    outer = [elements(program, 2), elements(program, 2, start=2)]
    expected = stacked(
        [stacked([program.function(*copy.deepcopy(row)) for row in rows]) for rows in outer]
    )
    columns, axes = zip(*(batch(program, rows) for rows in outer), strict=True)
    args, _ = batch(program, columns)
    mapped = tapeless.vmap(tapeless.vmap(program.function, axes[0]), axes[0])
    assert_alike(mapped(*args), expected)


def slopes(program, row):
    """The gradient of the projected program at one element, by differences."""
    active = [row[j] for j in program.wrt]
    projected = program.projected()

    def objective(vector):
        args = copy.deepcopy(row)
        at = 0
        for j, a in zip(program.wrt, active, strict=True):
            n = ravel(a).size
            args[j] = _filled(a, vector[at : at + n])
            at += n
        return float(projected(*args))

    return gradient(objective, ravel(active))


def _filled(tree, vector):
    made, at = [], 0
    for leaf in leaves(tree):
        n = np.size(leaf)
        made.append(np.reshape(vector[at : at + n], np.shape(leaf))[()])
        at += n
    return rebuild(tree, iter(made))


def assert_slopes(actual, program, rows):
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in leaves(program.active()))
    tolerance = 1e-4 if single else 1e-6
    for k, row in enumerate(rows):
        expected = slopes(program, row)
        own = ravel([rebuild(a, iter([x[k] for x in leaves(a)])) for a in actual])
        atol = tolerance * np.linalg.norm(expected)
        np.testing.assert_allclose(own, expected, rtol=tolerance, atol=atol)


@cases(SOME)
def test_batch_of_gradients(program):
    rows = elements(program, 2)
    args, axes = batch(program, rows)
    slope = tapeless.grad(program.projected(), argnums=program.wrt)
    assert_slopes(tapeless.vmap(slope, axes)(*args), program, rows)


@cases(SOME)
def test_gradient_of_a_batch(program):
    rows = elements(program, 2)
    args, axes = batch(program, rows)
    projected = program.projected()

    def total(*args):
        return np.sum(tapeless.vmap(projected, axes)(*args))

    assert_slopes(tapeless.grad(total, argnums=program.wrt)(*args), program, rows)


@cases([each for each in programs() if each.name in REFUSED])
def test_refused(program, monkeypatch):
    monkeypatch.setattr(functional, "evaluations", 0)  # what is as it was is not written
    args, axes = batch(program, elements(program))
    with pytest.raises(tapeless.TapelessError, match=REFUSED[program.name]):
        tapeless.vmap(program.function, axes)(*args)
