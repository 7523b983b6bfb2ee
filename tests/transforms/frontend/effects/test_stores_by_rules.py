"""What functions with a rule store to inside of loops and branches of a traced program."""

import numpy as np
import pytest

from tapeless import grad, jit
from tests.corpus.differences import gradient

X = np.array([0.5, 1.5, 2.5])
pytestmark = pytest.mark.usefixtures("traced")


def out_of_a_ufunc(a):
    while a[0] < 4.0:
        np.multiply(a, 1.5, out=a)


def out_of_a_reduction(a):
    for k in range(int(a[2])):
        np.cumsum(a * 0.8 + k, out=a)


def filled(a):
    if a[1] > 0.1:
        np.copyto(a, a * a)
    else:
        np.put(a, [0], 3.0)


def put_in_a_loop(a):
    while a[0] < 4.0:
        np.put(a, [1, 0], a[:2] + 1.0)


def into_a_diagonal(a):
    if a[1] > 0.1:
        square = np.outer(a, a)
        np.fill_diagonal(square, a**3)
        np.copyto(a, square[0] + square[1])


@pytest.mark.parametrize(
    "store", [out_of_a_ufunc, out_of_a_reduction, filled, put_in_a_loop, into_a_diagonal]
)
def test_what_is_stored_is_carried(store):
    def f(x):
        rows = (1.0,) * int(x[0] + x[2] + 0.5)  # whose number is that of this call
        a = x * len(rows)
        store(a)
        return np.sum(a * np.array([1.0, 2.0, 3.0])) + sum(rows)

    assert np.isclose(jit(f)(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-6)
