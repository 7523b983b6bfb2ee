"""Lists of empty lists of which data says which one grows: what Python does, or a refusal."""

import contextlib
import copy

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import TapelessError, UnsupportedError
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
        (kept_and_replaced, "that was replaced"),
        (grows_while_it_is_run_over, "changes while a loop runs over it"),
    ],
)
def test_refused(f, error):
    with pytest.raises((TypeError, RuntimeError), match=error):
        jit(f)(X)


def test_lists_change_places():
    assert jit(exchanged)(X) == exchanged(X)
    assert jit(exchanged)(X[::-1].copy()) == exchanged(X[::-1])


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


def put_in_and_changed(x):
    bins, new = fill(x), [1.0]
    bins[int(4 * x[0])] = new
    new.append(2.0)
    return sum(bins[int(4 * x[0])])


def one_list_in_two_places(x):
    bins, new = fill(x), [1.0]
    for v in x:
        bins[int(4 * v)] = new
    bins[0].append(3.0)
    return len(bins[1])


def grows_while_it_is_numbered(x):
    bins, n = fill(x), 0
    for _, v in enumerate(bins[1]):
        n += 1
        if n < 12:
            bins[1].append(v)
    return n


def grows_under_another_index(x):
    bins, n = fill(x), 0
    for v in bins[-1]:
        n += 1
        if n < 12:
            bins[3].append(v)
    return n


def cleared_while_it_is_run_over(x):
    bins, n = fill(x), 0
    for _ in bins[1]:
        n += 1
        bins[1].clear()
    return n


def grows_before_the_generator_is_used(x):
    bins = fill(x)
    doubled = (2 * v for v in bins[1])
    bins[1].append(50.0)
    return sum(doubled)


def a_refusal_is_not_caught(x):
    bins = fill(x)
    with contextlib.suppress(TypeError):
        bins[0], bins[1] = bins[1], bins[0]
    return sum(bins[0])


def appended_and_changed(x):
    groups, run = [], []
    for v in x:
        run.append(v)
        if v > 0.5:
            groups.append(run)
            run.append(7.0)
            run = []
    return sum(len(g) for g in groups)


def groups_that_grow_meanwhile(x):
    groups, run = [], []
    for v in x:
        run.append(v)
        if v > 0.5:
            groups.append(run)
            run = []
    for group in groups:
        if len(groups) < 40:
            groups.append([group[0]])
    return len(groups)


def numbered_groups_that_grow(x):
    groups, run = [], []
    for v in x:
        run.append(v)
        if v > 0.5:
            groups.append(run)
            run = []
    for k, group in enumerate(groups):
        if len(groups) < 40:
            groups.append([group[0] * k])
    return len(groups)


@pytest.mark.parametrize(
    "f",
    [
        put_in_and_changed,
        one_list_in_two_places,
        grows_while_it_is_numbered,
        grows_under_another_index,
        cleared_while_it_is_run_over,
        grows_before_the_generator_is_used,
        a_refusal_is_not_caught,
        appended_and_changed,
    ],
)
def test_never_wrong(f):
    try:
        value = jit(f)(X)
    except TapelessError:
        return
    assert value == f(X)


def test_copies_that_grow_by_data():
    def copied(x):
        new = [list(row) for row in fill(x)]
        new[int(4 * x[0])].append(4.0)
        new[int(4 * x[1])].append(x[2])
        return [len(row) for row in new], sum(sum(row) * k for k, row in enumerate(new))

    assert jit(copied)(X) == copied(X)
    assert jit(copied)(X[::-1].copy()) == copied(X[::-1])


def parts(adjacent):
    seen, found = [False] * len(adjacent), []
    for start in range(len(adjacent)):
        if not seen[start]:
            part, stack = [], [start]
            seen[start] = True
            while stack:
                u = stack.pop()
                part.append(u)
                for v in range(len(adjacent)):
                    if adjacent[u, v] > 0 and not seen[v]:
                        seen[v] = True
                        stack.append(v)
            found.append(part)
    return found


def test_connected_components_are_lists():
    for seed in range(4):
        made = np.random.default_rng(seed).integers(0, 7, (9, 9)) // 6
        assert jit(parts)(made + made.T) == parts(made + made.T)
    found = jit(lambda a: max(parts(a), key=len))(made + made.T)
    assert found == max(parts(made + made.T), key=len)


@pytest.mark.parametrize("f", [groups_that_grow_meanwhile, numbered_groups_that_grow])
def test_groups_do_not_grow_meanwhile(f):
    with pytest.raises(RuntimeError, match="a list grows while a loop runs over it"):
        jit(f)(X)
