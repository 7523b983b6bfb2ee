"""Derivatives of the incomplete gamma and beta functions by their shapes, against mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

from tapeless import grad, hessian, jit, vmap
from tapeless.transforms.errors import NotDifferentiableError

SHAPES = (0.05, 0.7, 1.0, 2.5, 40.0, 300.0)
GAMMA = [(a, a * f) for a in SHAPES for f in (1e-4, 0.4, 0.95, 1.0, 1.3, 2.5)]
BETA = [
    (a, b, x) for a in SHAPES for b in (0.05, 1.0, 6.0, 300.0) for x in (1e-5, 0.1, 0.5, 0.9, 0.999)
]


def slope(function, point, k):
    """The derivative by argument k, in 150 digits."""
    with mpmath.workdps(150):
        point = [mpmath.mpf(float(v)) for v in point]

        def along(v):
            return function(*point[:k], v, *point[k + 1 :])

        return float(mpmath.diff(along, point[k], h=mpmath.mpf(10) ** -60))


def lower(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def beta(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def compared(function, definition, points, k, dtype):
    """What grad gives for all points at once, and what it should be, where float32 has it."""
    wanted = np.array([slope(definition, np.array(p, dtype), k) for p in points])
    columns = [np.array(c, dtype) for c in zip(*points, strict=True)]
    found = grad(lambda *args: np.sum(function(*args)), k)(*columns)
    assert found.dtype == dtype
    there = np.abs(wanted) > 1e-30
    return found[there], wanted[there]


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-11), (np.float32, 3e-7)])
def test_gamma(dtype, rtol):
    found, wanted = compared(sc.gammainc, lower, GAMMA, 0, np.dtype(dtype))
    np.testing.assert_allclose(found, wanted, rtol=rtol)
    found, _ = compared(sc.gammaincc, lower, GAMMA, 0, np.dtype(dtype))
    np.testing.assert_allclose(found, -wanted, rtol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-11), (np.float32, 3e-7)])
@pytest.mark.parametrize("k", [0, 1])
def test_beta(k, dtype, rtol):
    found, wanted = compared(sc.betainc, beta, BETA, k, np.dtype(dtype))
    np.testing.assert_allclose(found, wanted, rtol=rtol)


def student(v, t):
    tail = beta(v / 2, mpmath.mpf(1) / 2, v / (v + t * t)) / 2
    return tail if t < 0 else 1 - tail


@pytest.mark.parametrize("t", [-3.0, -0.4, 0.1, 2.0])
def test_degrees_of_freedom(t):
    np.testing.assert_allclose(grad(sc.stdtr)(2.5, t), slope(student, (2.5, t), 0), rtol=1e-12)
    p = float(sc.stdtr(2.5, t))
    moved = -slope(student, (2.5, t), 0) / slope(student, (2.5, t), 1)
    np.testing.assert_allclose(grad(sc.stdtrit)(2.5, p), moved, rtol=1e-9)


def test_ends():
    assert grad(sc.gammainc)(2.0, 0.0) == 0
    assert grad(sc.gammainc)(2.0, np.inf) == 0
    assert grad(sc.betainc)(2.0, 3.0, 0.0) == grad(sc.betainc, 1)(2.0, 3.0, 1.0) == 0


@pytest.mark.parametrize("transform", [jit, vmap, lambda f: jit(vmap(f))])
def test_compiled_and_batched(transform):
    a, b, x = (np.array(c) for c in zip(*BETA[::9], strict=True))
    wanted = [grad(sc.betainc)(*point) for point in zip(a, b, x, strict=True)]
    f = grad(sc.betainc) if transform is not jit else grad(lambda *v: np.sum(sc.betainc(*v)))
    np.testing.assert_allclose(transform(f)(a, b, x), wanted, rtol=1e-12)


def test_mixed_second_derivatives():
    density = np.exp(1.5 * np.log(1.2) - 1.2 - sc.gammaln(2.5))
    found = grad(lambda x: grad(sc.gammainc)(2.5, x))(1.2)
    np.testing.assert_allclose(found, density * (np.log(1.2) - sc.psi(2.5)), rtol=1e-13)
    for k in (0, 1):
        by_x = grad(lambda x, k=k: grad(sc.betainc, k)(2.5, 1.5, x))(0.3)
        shape = (2.5, 1.5)[k]
        point = lambda v, k=k: (v, 1.5, 0.3) if k == 0 else (2.5, v, 0.3)  # noqa: E731
        by_shape = grad(lambda v, point=point: grad(sc.betainc, 2)(*point(v)))(shape)
        np.testing.assert_allclose(by_x, by_shape, rtol=1e-13)


def test_second_derivatives_by_shapes_are_refused():
    with pytest.raises(NotDifferentiableError, match="has its first derivative by a shape"):
        hessian(sc.gammainc)(2.0, 1.0)
