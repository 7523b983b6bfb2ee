"""Lists of empty lists of which data says which one grows: what Python does, or a refusal."""

import copy

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError
from tests.corpus.differences import gradient

# ruff: noqa: RUF005, RUF017 (this is how users write)

X = np.random.default_rng(0).uniform(size=14)


def fill(x):
    bins = [[] for _ in range(4)]
    for v in x:
        bins[int(4 * v)].append(v)
    return bins


def returned(x):
    return {"all": fill(x), "one": (fill(x)[1], len(fill(x)[0]))}


def added_up(x):
    return sum(fill(x), [])


def copied(x):
    bins = fill(x)
    other = copy.deepcopy(bins)
    other[0].append(1.0)
    return sum(other[0]) - sum(bins[0])


def two_names(x):
    bins = fill(x)
    same, row = bins, bins[2]
    row.append(x[0])
    same[int(x[0])].append(x[1])
    return bins[2], bins[-1], len(bins[-2]), bins[0]


def on_both_sides(x):
    bins = fill(x)
    if x[0] > 0.5:
        bins[0].append(1.0)
    else:
        bins[1].extend([2.0, 3.0])
    return [np.array(row).sum() if row else -1.0 for row in bins]


def kinds(x):
    bins = fill(x)
    return isinstance(bins, list), isinstance(bins[0], list), type(bins[0]) is list, len(bins)


def methods(x):
    bins = fill(x)
    row = bins[int(4 * x[0])]
    row.insert(0, x[1] + 2)
    row.reverse()
    row[0] = x[2] + 3
    del row[1]
    row.remove(x[2] + 3)
    row *= 2
    has = bool(x[1] + 2 in row)
    return row, row.count(x[1] + 2), row.index(x[1] + 2), has, row + [x[0]], row[1:], row[::-1]


def indices(x):
    bins = [[] for _ in range(4)]
    for k in range(len(x)):
        bins[int(4 * x[k])].append(k)
    return np.array([x[np.array(row, dtype=int)].sum() for row in bins])


PROGRAMS = [
    *(returned, added_up, copied, two_names, on_both_sides, kinds, methods, indices),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_python(f):
    assert repr(jit(f)(X.copy())) == repr(f(X.copy()))


def test_no_row():
    def beyond(x):
        bins = [[] for _ in range(4)]
        for v in x:
            bins[int(8 * v)].append(v)
        return sum(bins[0])

    with pytest.raises(IndexError):
        jit(beyond)(X)


def test_one_compilation_for_all_lengths():
    def spread(x):
        bins = [[] for _ in range(len(x))]
        for v in x:
            bins[int(v * len(x))].append(v)
        return max(len(row) for row in bins) + bins[0][0]

    compiled = jit(spread)
    for n in (40, 7, 23):
        x = np.random.default_rng(n).uniform(size=n) ** 2
        assert compiled(x) == spread(x)
    assert len(compiled.compilations) == 1


def exchanged(x):
    bins = fill(x)
    i, j = int(4 * x[0]), int(4 * x[1])
    bins[i], bins[j] = bins[j], bins[i]
    return sum(bins[0])


def kept_and_replaced(x):
    bins, k = fill(x), int(4 * x[0])
    row = bins[k]
    bins[k] = []
    return sum(row)


def grows_while_it_is_run_over(x):
    bins, k, s = fill(x), int(4 * x[0]), 0.0
    for v in bins[k]:
        s += v
        if v > 0.5 and len(bins[k]) < 8:
            bins[int(4 * x[0])].append(v / 2)
    return s


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (exchanged, "in the place of another"),
        (kept_and_replaced, "that was replaced"),
        (grows_while_it_is_run_over, "changes while a loop runs over it"),
    ],
)
def test_refused(f, error):
    with pytest.raises((TypeError, RuntimeError), match=error):
        jit(f)(X)


def test_batches_have_no_lists_of_unknown_lengths():
    with pytest.raises(UnsupportedError, match="whose length depends on the contents"):
        vmap(fill)(X[None])


def test_other_rows_may_grow_meanwhile():
    def moved(x):
        bins = fill(x)
        for v in bins[int(4 * x[0])]:
            bins[int(4 * (1 - v))].append(v**2)
        return sum(sum(row) * (k + 1) for k, row in enumerate(bins))

    x = np.array([0.1, 0.2, 0.6, 0.9, 0.15])
    assert jit(moved)(x) == pytest.approx(moved(x), rel=1e-14)
    np.testing.assert_allclose(grad(moved)(x), gradient(moved, x), rtol=1e-6)
