"""Results that are an argument itself, or a view of it: stores reach it, as in NumPy."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tapeless import jit
from tapeless.transforms.errors import AliasError, UnsupportedError
from tests.transforms.ops.agreement import check_slopes, check_values

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])

SAME = {
    "conj": lambda a: a.conj(),
    "conjugate": lambda a: a.conjugate(),
    "no difference": lambda a: np.diff(a, n=0),
    "real if close": lambda a: np.real_if_close(a),
    "one grid": lambda a: np.meshgrid(a, copy=False)[0],
    "sparse grids": lambda a: np.meshgrid(a, a, sparse=True, copy=False)[0][0],
    "a copy of a grid": lambda a: np.meshgrid(a)[0],
    "the ufunc": lambda a: np.conj(a),
    "a difference": lambda a: np.diff(a),
}


@pytest.mark.parametrize("name", SAME)
def test_stores(name):
    part = SAME[name]

    def store(a):
        part(a)[0] = 9.0

    def seen(a):
        b = part(a)
        a[1] = 9.0
        return b * 2

    check_values(store, A)
    check_values(seen, A)
    check_slopes(part, A)


def test_the_conjugate_of_truth_values():
    check_values(lambda x: (x > 0).conj(), A)


def test_windows_are_read_only():
    def store(a):
        sliding_window_view(a, 2)[0, 0] = 9.0

    check_values(store, A)
    check_values(lambda a: sliding_window_view(a, 3).sum(1), A)


def test_windows_after_a_store():
    def late(a):
        windows = sliding_window_view(a, 2)
        a[1] = 9.0
        return windows * 1

    def early(a):
        windows = sliding_window_view(a, 2) * 1
        a[1] = 9.0
        return windows

    with pytest.raises(AliasError):
        jit(late)(A.copy())
    check_values(early, A)


def test_windows_to_be_stored_to():
    with pytest.raises(UnsupportedError, match="writeable=True"):
        jit(lambda a: sliding_window_view(a, 2, writeable=True))(A)


def stored_to_a_view(m):
    v = np.einsum("ij->ji", m)
    v[0] = 7.0
    return m * 1


def stored_to_a_copy(m):
    v = np.einsum("ij->ij", m) * 1
    v[0] = 7.0
    w = np.einsum("ij->ij", m).copy()
    w[1] = 5.0
    return v, w, m * 1


def seen_through(m):
    d = np.einsum("ii->i", m)
    m[0, 0] = 9.0
    return d * 2, np.einsum("iij->ji", np.stack([m, m], axis=-1))


@pytest.mark.parametrize("f", [stored_to_a_view, stored_to_a_copy, seen_through])
def test_einsum_of_one_array(f):
    m = np.arange(4.0).reshape(2, 2) + 1
    check_values(f, m)
    check_slopes(lambda m: np.einsum("ii->i", m * 1) * np.einsum("ij->i", m), m)


def test_the_diagonal_of_an_einsum_can_be_stored_to():
    def store(m):
        np.einsum("ii->i", m)[:] = 0.0
        return m

    for run in (store, jit(store)):
        np.testing.assert_array_equal(run(np.ones((2, 2))), [[0.0, 1.0], [1.0, 0.0]])
