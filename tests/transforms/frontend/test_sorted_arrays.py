"""sorted() and its kin of arrays: what they give are the arrays themselves. Where another name
would show a store, the order is traced."""

import heapq

import numpy as np
import pytest

import tapeless
from tapeless import jit, jvp
from tapeless.transforms.errors import AliasError, TapelessError

A = np.array([[1.0, 2.0], [3.0, -8.0]])


def stored_in_a_row(a):
    a = a.copy()
    rows = sorted(a, key=np.sum)
    rows[0][:] = 9.0
    return a


def stored_in_a_sorted_list(a):
    a = a.copy()
    rows = list(a)
    rows.sort(key=np.sum)
    rows[0][:] = 9.0
    return a


def stored_in_one_of_two(a):
    p, q = a[0] * 1.0, a[1] * 2.0
    o = sorted([p, q], key=np.sum)
    o[0] *= 3
    return p + q


def unpacked(a):
    a = a.copy()
    low, _ = sorted([a[0], a[1]], key=np.sum)
    low += 10
    return a


def stored_in_the_first_ones(a):
    a = a.copy()
    for q in sorted(a, key=np.sum)[:1]:
        q += 10
    return a


def stored_in_the_largest(a):
    a = a.copy()
    (largest,) = heapq.nlargest(1, [a[0], a[1]], key=np.sum)
    largest[:] = 5
    return a


def base_changed_later(a):
    a = a * 1.0
    o = sorted([a[0], a[1]], key=np.sum)
    a *= 2
    return o[0] + o[1] * 3


def of_a_list_from_a_loop(a):
    rows = []
    for r in a:
        rows.append(r * 2)  # noqa: PERF401
    o = sorted(rows, key=np.sum)
    o[0][:] = 7.0
    return rows[0] + rows[1] * 10


STORES = [
    *(stored_in_a_row, stored_in_a_sorted_list, stored_in_one_of_two, unpacked),
    *(stored_in_the_first_ones, stored_in_the_largest, base_changed_later, of_a_list_from_a_loop),
]


@pytest.mark.parametrize("f", STORES)
def test_stores_that_another_name_shows(f):
    for run in (lambda: jit(f)(A), lambda: jvp(f, (A,), (A,))[0]):
        with pytest.raises(AliasError, match="may share memory"):
            run()


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", STORES)
@pytest.mark.parametrize("a", [A, A[::-1].copy()])
def test_stores_that_another_name_shows_are_seen_there(f, a):
    with tapeless.strict(False):
        np.testing.assert_allclose(jit(f)(a), f(a), rtol=1e-14)


def only_read(a):
    b = a * 1.0
    o = sorted([b[0], b[1]], key=np.sum)
    total = 0.0
    for q in sorted(b, key=lambda row: row[0]):
        total = total * 0.5 + np.sum(q**2)
    return o[0] ** 2 + o[1] * b[0] + total


def stored_where_nobody_else_looks(a):
    b, c = a[0] * 2.0, a[1] * 3.0
    o = sorted([b, c], key=np.sum)
    o[0] *= 2.0
    return np.sum(o[0] ** 2) + np.sum(o[1])


@pytest.mark.parametrize("f", [only_read, stored_where_nobody_else_looks])
def test_others_are_as_in_python(f):
    np.testing.assert_allclose(jit(f)(A), f(A), rtol=1e-14)
    slope = (f(A + 1e-6) - f(A - 1e-6)) / 2e-6
    np.testing.assert_allclose(jvp(f, (A,), (np.ones((2, 2)),))[1], slope, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize(
    "parts",
    [
        lambda a: [a[0, 1:], a[0, :-1]],
        lambda a: [a[0], a[0]],
        lambda a: [a[1], a[-1]],
        lambda a: [a[:, 0], a[0]],
    ],
)
def test_parts_that_may_overlap(parts):
    def read(a):
        first, second = sorted(parts(a * 1.0), key=np.sum)
        return first + 2 * second

    def stored(a):
        first, second = sorted(parts(a * 1.0), key=np.sum)
        first *= 5
        return second

    np.testing.assert_allclose(jit(read)(A), read(A), rtol=1e-14)
    with pytest.raises(AliasError, match="may share memory"):
        jit(stored)(A)
    with tapeless.strict(False):
        np.testing.assert_allclose(jit(stored)(A), stored(A), rtol=1e-14)


def test_an_array_that_several_items_hold():
    def best(scores, w):
        state = np.tanh(w @ w[0])
        beams = [(s, state) for s in scores] + [(scores[0] * 2, w[0] * 3)]
        beams.sort(key=lambda beam: beam[0], reverse=True)
        return sum(s * state for s, state in beams[:2])

    scores = np.array([0.3, 1.0, -2.0])
    np.testing.assert_allclose(jit(best)(scores, A), best(scores, A), rtol=1e-14)
    slope = (best(scores + 1e-6, A) - best(scores - 1e-6, A)) / 2e-6
    np.testing.assert_allclose(
        jvp(lambda s: best(s, A), (scores,), (np.ones(3),))[1], slope, rtol=1e-6
    )


def by_length(rows):
    return sum((k + 1) * np.sum(row) for k, row in enumerate(sorted(rows, key=len)))


def longest_first_in_place(rows):
    rows.sort(key=lambda row: -row.size)
    return sum((k + 1) * np.sum(row) for k, row in enumerate(rows))


def pairs_by_length(rows):
    pairs = sorted(((len(row), row) for row in rows), key=lambda pair: pair[0], reverse=True)
    return sum((k + n) * np.sum(row**2) for k, (n, row) in enumerate(pairs))


@pytest.mark.parametrize("f", [by_length, longest_first_in_place, pairs_by_length])
def test_arrays_of_different_lengths_by_their_lengths(f):
    compiled, slope = tapeless.jit(f), tapeless.grad(f)
    for lengths in [(3, 2, 4), (2, 2, 2), (5, 1, 2), (3, 2, 4)]:
        rows = [np.arange(n) + 0.5 * n + k for k, n in enumerate(lengths)]
        assert np.isclose(compiled(list(rows)), f(list(rows)))
        steps = [1e-6 * np.cos(row) for row in rows]
        pairs = list(zip(rows, steps, strict=True))
        above, below = ([row + s * step for row, step in pairs] for s in (1, -1))
        directional = sum(np.sum(g * s) for g, s in zip(slope(list(rows)), steps, strict=True))
        assert np.isclose(directional, (f(above) - f(below)) / 2, rtol=1e-6)


def test_arrays_of_different_lengths_by_what_is_in_them():
    def f(rows):
        return sum((k + 1) * np.sum(row) for k, row in enumerate(sorted(rows, key=np.sum)))

    rows = [np.array([3.0, 1.0]), np.array([2.0]), np.array([0.5, 0.1, 0.2])]
    with pytest.raises(TapelessError, match="built differently"):
        tapeless.jit(f)(rows)
    with tapeless.strict(False), pytest.warns(tapeless.PerformanceWarning):
        assert np.isclose(tapeless.jit(f)(rows), f(rows))
