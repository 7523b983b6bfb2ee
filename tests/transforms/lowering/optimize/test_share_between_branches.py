"""What two branches by one test both compute is computed once."""

import numpy as np
import pytest

from tapeless import grad, jit, value_and_grad, vmap


def turned(x, a):
    r = x[0] * x[0] + x[1] * x[1]
    if r > 1:
        angle = np.sqrt(r)
        y = x * np.cos(angle) + a * np.sin(angle)
    else:
        y = x * np.exp(-r * a[0])
    return np.sum(y * y * a)


X = np.random.default_rng(0).normal(size=(20, 2))
A = np.random.default_rng(1).normal(size=(20, 2))


def test_a_derivative_takes_the_numbers_of_its_function():
    slope = jit(value_and_grad(turned, argnums=(0, 1)))
    for x, a in zip(X, A, strict=True):
        value, found = slope(x, a)
        np.testing.assert_allclose(value, turned(x, a), rtol=1e-13)
        for got, want in zip(found, grad(turned, argnums=(0, 1))(x, a), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
    text = slope.source()
    assert [text.count(f"{name}(") for name in ("cos", "sqrt", "exp")] == [1, 1, 1]


def test_batches_take_them_too():
    found = jit(vmap(grad(turned)))(X, A)
    wanted = [grad(turned)(x, a) for x, a in zip(X, A, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        if x > k:
            y = np.sin(x * k)
            total = total + y
        if x > k:
            total = total * np.sin(x * k)
        x = x + 0.1 * total
    return total


@pytest.mark.parametrize("n", [0, 1, 5])
def test_numbers_are_those_of_the_pass(n):
    x = 1.3
    np.testing.assert_allclose(jit(in_a_loop)(x, n), in_a_loop(x, n), rtol=1e-13)
    np.testing.assert_allclose(jit(grad(in_a_loop))(x, n), grad(in_a_loop)(x, n), rtol=1e-12)


def side_by_side(x, n):
    """The other side has numbers that the first one cannot make."""
    y, z = 0.0, 0
    if n > 2:
        y = np.log(x)
        z = n * 2
    if n > 2:
        y = y + np.log(x)
        z = z + n * 2
    else:
        y = np.exp(x)
    return y, z


@pytest.mark.parametrize("n", [1, 5])
def test_sides_that_are_not_taken_make_nothing(n):
    found = jit(lambda x, n: side_by_side(x, np.abs(n)))(2.5, np.array(n))
    np.testing.assert_allclose(found, side_by_side(2.5, n), rtol=1e-13)
