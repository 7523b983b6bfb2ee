"""Norms over every choice of axes and order are NumPy's: those of vectors and those of matrices."""

import itertools

import numpy as np
import pytest
import scipy.linalg

from tapeless import jit, vmap
from tests.transforms.ops.agreement import assert_same, check_slopes, check_values, emitted, outcome

X = np.array([[[1.0, -2.0], [3.0, 4.0], [0.5, -1.5]], [[2.0, 0.5], [-1.0, 0.25], [3.0, 0.0]]])
AXES = (None, 0, -1, (0,), (0, 1), (-2, -1), (2, 0), (0, 1, 2), (), (0, 0), (0, 3), [0, 1])
ORDERS = (None, 0, 1, 2, 3, 0.5, -1, -2.5, np.inf, -np.inf, "fro", "nuc", "x")


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("norm", [np.linalg.norm, np.linalg.vector_norm], ids=["norm", "vector"])
def test_norms_over_axes(norm, axis):
    """Emitted code is compared for all orders, compiled code for one."""
    for order, keep in itertools.product(ORDERS, (False, True)):
        if order is None and norm is np.linalg.vector_norm:
            continue

        def f(x, order=order, keep=keep):
            return norm(x, axis=axis, ord=order, keepdims=keep)

        wanted = outcome(f, (X,))[0]
        assert_same(outcome(emitted(f), (X,))[0], wanted)
        if order == 3:
            assert_same(outcome(jit(f), (X,))[0], wanted)


@pytest.mark.parametrize("order", [1, 2, 3, np.inf])
def test_vectors_over_two_axes_of_a_batch(order):
    def f(x):
        return np.linalg.vector_norm(x, axis=(0, 1), ord=order)

    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_allclose(run(X), [f(x) for x in X])
    check_slopes(f, X[0])


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("order", [None, 0, 1, 3, -1, np.inf])
def test_norms_of_nothing(order):
    """The largest of no numbers is 0, and a negative power of an empty sum is infinite."""
    check_values(lambda x: np.linalg.norm(x, order, axis=1), np.zeros((2, 0)))
    check_values(lambda x: np.linalg.norm(x[x > 9.0], order), X[0, 0])


def test_condition_numbers():
    square = X[0, :2] + 3 * np.eye(2)
    for p in (None, 1, -1, 2, -2, np.inf, "fro"):
        check_values(lambda a, p=p: np.linalg.cond(a, p), square)
    check_values(np.linalg.cond, np.zeros((2, 2)))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.int8])
@pytest.mark.parametrize("order", [None, 1, np.inf, 2])
def test_norms_of_scipy(kind, order):
    """BLAS and LAPACK give numbers in double precision, NumPy's function the array's own."""
    for x in (X[0].astype(kind), X[0, :, 0].astype(kind)):
        check_values(lambda x: scipy.linalg.norm(x, order), x, rtol=1e-6)
    check_values(lambda x: scipy.linalg.norm(x, order, axis=0), X[0].astype(kind), rtol=1e-6)
