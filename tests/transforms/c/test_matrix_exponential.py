"""The exponential of a matrix in C, and its derivatives."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

from tapeless import grad, hessian, vmap
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.c.compiled import checked, library, normal

MATRICES = {
    "small": 0.01 * normal(3, 3),
    "of some size": normal(6, 6, seed=1),
    "halved often": 30.0 * normal(4, 4, seed=2),
    "of one number": np.array([[0.7]]),
    "triangular": np.triu(normal(5, 5, seed=3)),
    "nilpotent": np.triu(np.ones((4, 4)), 1),
    "a rotation": np.array([[0.0, -3.0], [3.0, 0.0]]),
    "of rows that change places": np.array([[0.0, 1e3, 0.0], [1e-3, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "zero": np.zeros((3, 3)),
    "of twelve rows": normal(12, 12, seed=4),
}


def exponential(a):
    return scipy.linalg.expm(a)


def flow(a, x, t):
    """The state of a linear system after some time."""
    return np.sum(scipy.linalg.expm(t * a) @ x)


@pytest.mark.parametrize("name", MATRICES)
def test_values(name, tmp_path):
    a = MATRICES[name]
    result = library(exponential, (a,), tmp_path)(a)
    with mpmath.workdps(60):
        exact = np.array(mpmath.expm(mpmath.matrix(a.tolist())).tolist(), float)
    assert np.linalg.norm(result - exact) <= 1e-12 * np.linalg.norm(exact)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_programs(dtype, tmp_path):
    checked(exponential, (normal(4, 4).astype(dtype),), tmp_path)


def test_gradients(tmp_path):
    a, x, t = normal(4, 4), normal(4), 0.7
    slopes = grad(flow, argnums=(0, 2))(a, x, t)
    h = 1e-6
    np.testing.assert_allclose(
        slopes[1], (flow(a, x, t + h) - flow(a, x, t - h)) / (2 * h), rtol=1e-7
    )
    d = normal(4, 4, seed=5)
    difference = (flow(a + h * d, x, t) - flow(a - h * d, x, t)) / (2 * h)
    np.testing.assert_allclose(np.sum(slopes[0] * d), difference, rtol=1e-7)
    checked(grad(flow, argnums=(0, 2)), (a, x, t), tmp_path)


def test_second_derivatives(tmp_path):
    checked(hessian(flow, argnums=2), (normal(3, 3), normal(3), 0.7), tmp_path)


def test_in_a_loop(tmp_path):
    """Matrices of the user's program, one after the other."""

    def product(a):
        x = np.eye(a.shape[1])
        for k in range(a.shape[0]):
            x = x @ scipy.linalg.expm(a[k])
        return np.sum(x)

    checked(product, (0.3 * normal(10, 3, 3),), tmp_path)
    checked(grad(product), (0.3 * normal(10, 3, 3),), tmp_path)


def test_numbers_that_are_not_finite(tmp_path):
    a = normal(3, 3)
    run = library(exponential, (a,), tmp_path)
    for bad in (np.nan, np.inf, -np.inf):
        b = a.copy()
        b[1, 2] = bad
        assert np.isnan(run(b)).all()


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (scipy.linalg.logm, "scipy.linalg.logm"),
        (lambda a: scipy.linalg.expm(1j * a), "scipy.linalg.expm of complex numbers"),
    ],
)
def test_others_are_refused(f, message):
    with pytest.raises(UnsupportedError, match=message):
        JitToC(lambda a: f(a)).module_for((normal(3, 3),), {})


def test_a_batch(tmp_path):
    checked(vmap(exponential), (normal(5, 3, 3),), tmp_path)
