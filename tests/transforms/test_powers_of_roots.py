"""Powers of roots and even functions of magnitudes, at the place where the root has no derivative:
the function has one, to all orders, and it is known by hand."""

import math

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, vmap

DIRECTION = np.array([1.0, -2.0, 0.5])
LENGTH = DIRECTION @ DIRECTION

#: Functions of one number t with f(t) = t**2 + O(t**4), whose second derivative at 0 is 2.
SQUARES = {
    "abs(z)**2": lambda t: np.abs(t * (0.6 + 0.8j)) ** 2,
    "square(abs(z))": lambda t: np.square(np.abs(t * (0.6 + 0.8j))),
    "abs(z) * abs(z)": lambda t: abs(t * (0.6 + 0.8j)) * abs(t * (0.6 + 0.8j)),
    "scaled": lambda t: (3 * abs(1j * t)) * abs(1j * t) / 3,
    "square of scaled": lambda t: (3 * abs(1j * t)) ** 2 / 9,
    "float exponent": lambda t: abs(1j * t) ** 2.0,
    "norm(x)**2": lambda t: np.linalg.norm(t * DIRECTION) ** 2 / LENGTH,
    "norm of a matrix": lambda t: np.linalg.norm(t * np.outer(DIRECTION, [0.6, 0.8])) ** 2 / LENGTH,
    "norm of complex": lambda t: np.linalg.norm(t * DIRECTION * 1j) ** 2 / LENGTH,
    "vector_norm": lambda t: np.linalg.vector_norm(t * DIRECTION) ** 2 / LENGTH,
    "norms along an axis": lambda t: np.sum(
        np.linalg.norm(t * np.outer(DIRECTION, [0.6, 0.8]), axis=1) ** 2 / LENGTH
    ),
    "norm of magnitudes": lambda t: np.linalg.norm(np.abs(t * DIRECTION * 1j)) ** 2 / LENGTH,
    "hypot(a, b)**2": lambda t: np.hypot(0.6 * t, 0.8 * t) ** 2,
    "math.hypot": lambda t: math.hypot(0.6 * t, 0.8 * t) ** 2,
    "hypot of hypot": lambda t: np.hypot(np.hypot(2 * t, t), 2 * t) ** 2 / 9,
    "sqrt(s)**2": lambda t: np.sqrt(t * t) ** 2,
    "sqrt of a sum": lambda t: np.sqrt(np.sum((t * DIRECTION) ** 2)) ** 2 / LENGTH,
    "half powers": lambda t: (t * t) ** 0.5 * (t * t) ** 0.5,
    "sqrt(t**4)": lambda t: np.sqrt(t**4),
    "(t**4)**0.5": lambda t: (t**4) ** 0.5,
    "cubes": lambda t: np.cbrt(t * t) ** 3,
    "inner product": lambda t: np.abs(t * DIRECTION * 1j) @ np.abs(t * DIRECTION * 1j) / LENGTH,
    "einsum": lambda t: np.einsum("i,i->", *2 * [np.abs(t * DIRECTION * 1j)]) / LENGTH,
    "element of magnitudes": lambda t: np.abs(t * DIRECTION * 1j)[0] ** 2,
    "transform": lambda t: np.sum(np.abs(np.fft.fft(t * DIRECTION)) ** 2) / LENGTH / 3,
    "cosine": lambda t: -2 * np.cos(abs(1j * t)),
    "cosine of a norm": lambda t: -2 / LENGTH * np.cos(np.linalg.norm(t * DIRECTION)),
    "cosine of a root": lambda t: -2 * np.cos(np.sqrt(t * t)),
    "cosh": lambda t: 2 * np.cosh(np.hypot(0.6 * t, 0.8 * t)),
    "sinc": lambda t: -6 / np.pi**2 * np.sinc(np.hypot(0.6 * t, 0.8 * t)),
    "exponential": lambda t: -np.exp(-(abs(1j * t) ** 2)),
}
MODES = {
    "reverse, reverse": lambda f: grad(grad(f)),
    "forward, reverse": lambda f: lambda t: jvp(grad(f), (t,), (1.0,))[1],
    "reverse, forward": lambda f: grad(lambda t: jvp(f, (t,), (1.0,))[1]),
    "hessian": hessian,
    "jit": lambda f: jit(grad(grad(f))),
    "vmap": lambda f: lambda t: vmap(grad(grad(f)))(np.array([t, t]))[1],
}


@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_at_zero(name, mode):
    f = SQUARES[name]
    assert MODES[mode](f)(0.0) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("name", SQUARES)
def test_values_stay_as_they_are_and_derivatives_agree_elsewhere(name):
    f, t, h = SQUARES[name], 0.7, 1e-4
    assert jit(f).plain(t) == f(t)
    assert grad(f)(0.0) == pytest.approx(0.0, abs=1e-12)
    assert grad(f)(t) == pytest.approx((f(t + h) - f(t - h)) / (2 * h), rel=1e-6)
    second = (f(t + h) - 2 * f(t) + f(t - h)) / h**2
    assert grad(grad(f))(t) == pytest.approx(second, rel=1e-5)


def test_fourth_derivatives_at_zero():
    def fourth(f):
        return grad(grad(grad(grad(f))))(0.0)

    assert fourth(lambda t: abs(1j * t) ** 4) == pytest.approx(24.0)
    assert fourth(lambda t: abs(1j * t) ** 3 * abs(1j * t)) == pytest.approx(24.0)
    assert fourth(lambda t: np.cos(abs(1j * t))) == pytest.approx(1.0)
    assert fourth(lambda t: np.cosh(abs(1j * t))) == pytest.approx(1.0)
    assert fourth(lambda t: np.sinc(abs(1j * t))) == pytest.approx(np.pi**4 / 5)


def test_first_derivative_of_a_squared_root():
    assert grad(lambda s: np.sqrt(s) ** 2)(0.0) == 1.0
    assert grad(lambda s: np.sqrt(s) * s)(0.0) == 0.0
    with np.errstate(invalid="ignore"):  # a product of other things than powers stays as it is
        assert np.isnan(grad(lambda s: np.sqrt(s) * np.sin(s))(0.0))


def test_the_root_of_a_square_is_its_magnitude():
    """(x**2)**1.5 is |x|**3, also where x is negative."""
    assert grad(lambda t: (t * t) ** 1.5)(-2.0) == pytest.approx(-12.0)
    assert grad(grad(lambda t: (t * t) ** 1.5))(0.0) == 0.0
    assert grad(lambda t: np.sqrt(t**2) ** 3)(-2.0) == pytest.approx(-12.0)


def test_a_square_of_a_root_of_a_negative_number_stays_nan():
    with np.errstate(invalid="ignore"):
        assert np.isnan(jit(lambda s: np.sqrt(s) ** 2).plain(-1.0))


def test_in_loops_and_branches():
    def f(z):
        m, total = np.abs(z), 0.0
        for k in range(len(z)):
            if total < 100.0:
                total = total + m[k] ** 2
        return total

    second = jvp(lambda t: grad(lambda x: f(x * (0.6 + 0.8j)))(t), (np.zeros(3),), (np.ones(3),))[1]
    assert np.allclose(second, 2.0)


def test_elements_that_are_zero_beside_others():
    z = np.array([0.0, 3.0 + 4.0j, 0.0])

    def f(x):
        return np.sum(np.abs(z + x) ** 2)

    assert np.allclose(hessian(f)(np.zeros(3)), 2 * np.eye(3))


def test_rotations_at_the_identity():
    """Rodrigues' formula with cos and sinc has the second derivative of the matrix exponential."""

    def rotated(w):
        angle = np.linalg.norm(w)
        v = np.array([0.3, -1.1, 0.8])
        half = np.sinc(angle / (2 * np.pi))
        turned = np.cross(w, v) * np.sinc(angle / np.pi)
        return (v + turned + 0.5 * half**2 * np.cross(w, np.cross(w, v)))[0]

    w, v = np.array([1.0, -0.4, 0.6]), np.array([0.3, -1.1, 0.8])
    second = grad(grad(lambda t: rotated(t * w)))(0.0)
    assert second == pytest.approx(np.cross(w, np.cross(w, v))[0], rel=1e-12)


def turned(x):
    """The second result of an operation is a factor beside a root."""
    _, vectors = np.linalg.eigh(np.array([[x[0], x[1]], [x[1], 2.0]]))
    size = np.sqrt(x[0] * x[0] + x[1] * x[1])
    return np.sum(np.array([[1.0, 2.0], [3.0, 4.0]]) * size * size * vectors)


def test_operations_of_several_results_are_no_factors():
    x, along, step = np.array([0.7, 1.3]), np.array([1.0, 0.5]), 1e-6
    slope = grad(turned)
    quotient = (turned(x + step * along) - turned(x - step * along)) / (2 * step)
    np.testing.assert_allclose(np.sum(slope(x) * along), quotient, rtol=1e-6)
    second = (slope(x + step * along) - slope(x - step * along)) / (2 * step)
    np.testing.assert_allclose(jvp(slope, (x,), (along,))[1], second, rtol=1e-4, atol=1e-6)
    twice = grad(lambda x: np.sum(slope(x) * along))(x)
    np.testing.assert_allclose(twice, second, rtol=1e-4, atol=1e-6)
