"""Polynomials of NumPy, whose classes are plain NumPy code: made of values of the program, of
constants, and passed in."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, Legendre, Polynomial

from tapeless import grad, jit, vmap

X = np.array([1.3, 0.7, 2.1])
OUTER, SERIES = np.poly1d([1.0, 2.0, 3.0]), Polynomial([1.0, 2.0, 3.0])


def value_and_derivative(x):
    p = np.poly1d(x)
    return p(2.0) + p.deriv()(1.0) + p.order + p[0]


def of_constants(x):
    p = np.poly1d([1.0, 2.0, 3.0])
    return np.sum(p(x)) + p.integ()(x[0])


def read_from_outside(x):
    return OUTER(x[0]) + (OUTER**2)(x[1]) + np.polyval(OUTER, x[2]) + np.sum(SERIES(x))


def functions_that_give_polynomials(x):
    quotient, rest = np.polydiv(OUTER, np.poly1d([1.0, 0.5]))
    product = np.polymul(OUTER, [1.0, 2.0])
    return np.polyder(OUTER)(x[0]) + product(x[1]) + (quotient + rest)(x[2])


def of_different_lengths(x):
    p = np.poly1d(x) + np.poly1d(x[:1])
    return p(x[2]) * (p * p - 2)(0.5)


def times_a_number(x):
    return (x[0] * SERIES)(2.0) + (OUTER * x[1])(0.5) + (SERIES - x[2])(0.1)


def series(x):
    p = Polynomial(x)
    return p(2.0) + p.integ()(1.0) + np.sum(p.coef)


def arithmetic(x):
    q = Polynomial(x) ** 2 - 3 * Polynomial(x) + 1
    return q(0.3) + q.degree() + len(q)


def fitted(x):
    return Polynomial.fit(np.arange(5.0), np.concatenate([x, x[:2]]), 2)(2.5)


def on_a_domain(x):
    t = Chebyshev(x, domain=[0, 2])
    return t(0.3) + t.deriv()(0.7) + np.sum(t.linspace(5)[1])


def of_other_bases(x):
    return Legendre(x)(0.2) * Hermite(x)(0.1) + Legendre.basis(3)(x[0])


PROGRAMS = [
    *(value_and_derivative, of_constants, read_from_outside, functions_that_give_polynomials),
    *(
        of_different_lengths,
        times_a_number,
        series,
        arithmetic,
        fitted,
        on_a_domain,
        of_other_bases,
    ),
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_derivatives(function, traced):
    wanted = function(X)
    assert np.isclose(jit(function)(X), wanted, rtol=1e-12)
    assert np.isclose(vmap(function)(np.stack([X, X + 1]))[0], wanted, rtol=1e-12)
    steps = 1e-6 * np.eye(3)
    slope = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    for derivative in (grad(function), jit(grad(function))):
        np.testing.assert_allclose(derivative(X), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("polynomial", [OUTER, SERIES], ids=["poly1d", "Polynomial"])
def test_as_an_argument(polynomial, traced):
    def f(x, p):
        return p(x) * x

    assert jit(f)(2.0, polynomial) == f(2.0, polynomial)
    assert np.isclose(grad(f)(2.0, polynomial), polynomial(2.0) + 2.0 * polynomial.deriv()(2.0))


def test_a_polynomial_that_changes():
    p = Polynomial([1.0, 2.0, 3.0])
    slope = grad(lambda x: p(x))
    assert slope(2.0) == 14.0
    p.coef[1] = 100.0
    assert slope(2.0) == 112.0


def test_a_polynomial_as_a_result(traced):
    result = jit(lambda x: Polynomial(x) * 2)(X)
    assert type(result) is Polynomial
    np.testing.assert_array_equal(result.coef, 2 * X)


def test_lines_are_those_of_the_user():
    source = grad(series).source(X)
    first = series.__code__.co_firstlineno
    lines = [int(text.split()[0]) for text in source.split("# line ")[1:]]
    assert lines
    assert set(lines) <= {first + 1, first + 2}
