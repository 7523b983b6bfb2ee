"""What stands between products: values that are made again after one, and values in the memory of
one that nothing else reads."""

import re

import numpy as np
import pytest

from tapeless import grad, jit, value_and_grad

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(300, 200)), RNG.normal(size=(200, 400)) / 14
B, V = RNG.normal(size=400), RNG.normal(size=(400, 300)) / 20


def layers(x, w, b, v):
    y = np.maximum(x @ w + b, 0)
    return np.sum(np.maximum(y @ v, 0) ** 2)


def both(x, w, b, v):
    t = x @ w
    return t, np.tanh(t + b)


def turned(x, w, b, v):
    t = x @ w
    return t.T, np.tanh(t + b)


def read_twice(x, w, b, v):
    t = x @ w
    y, z = np.tanh(t + b), np.sin(t)
    return y, z, y @ v


def summed_too(x, w, b, v):
    t = x @ w
    return np.tanh(t + b), np.sum(t, axis=0)


def other_rows(x, w, b, v):
    t = x @ w
    y = t[::-1] * 2 + t
    return y, y @ v


def stored_to(x, w, b, v):
    t = x @ w
    y = np.where(t > 0, t, 0.1 * t)
    y[0] = 3.0
    t2 = x @ w
    z = t2 + b
    t2[0] = 5.0
    return y, z, t2


def of_rows(x, w, b, v):
    t = x @ w
    y = np.exp(t - np.max(t, axis=1, keepdims=True))
    return y / np.sum(y, axis=1, keepdims=True)


def after_two_products(x, w, b, v):
    u = x @ w * b
    y = np.maximum(u, 0)
    z = y @ v
    return np.where(u > 0, z @ z.T @ y, 1.0), np.sum(u)


def a_sum_and_a_result(x, w, b, v):
    u = x @ w + b
    z = np.maximum(u, 0) @ v
    return np.sum(z), np.sum(u * u), np.sum(z) * u, z.T @ x


def in_a_loop(x, w, b, v):
    y = x @ w
    for _ in range(3):
        y = np.maximum((np.tanh(y @ v).T @ x) @ w / 40 + b, y)
    return y


@pytest.mark.parametrize(
    "f",
    [
        both,
        turned,
        read_twice,
        summed_too,
        other_rows,
        stored_to,
        of_rows,
        after_two_products,
        a_sum_and_a_result,
        in_a_loop,
    ],
)
@pytest.mark.parametrize("few", [False, True])
def test_values(f, few):
    """Few rows are worth one kernel only."""
    args = [X[:4], W, B, V] if few and f is not in_a_loop else [X, W, B, V]
    before = [a.copy() for a in args]
    made, expected = jit(f)(*args), f(*args)
    pairs = zip(made, expected, strict=True) if isinstance(made, tuple) else [(made, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_layer_keeps_its_product_alone_for_the_derivative():
    f = value_and_grad(layers, argnums=(1, 2, 3))
    x, w = RNG.normal(size=(900, 400)), RNG.normal(size=(400, 900)) / 20
    b, v = RNG.normal(size=900), RNG.normal(size=(900, 900)) / 30
    value, slopes = jit(f)(x, w, b, v)
    expected, others = f(x, w, b, v)
    np.testing.assert_allclose(value, expected)
    for one, other in zip(slopes, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    driver = jit(f).source(x, w, b, v).rpartition("\ndef ")[2]
    made = re.findall(r"empty\((.*), (?:np\.)?(\w+)\)", driver)
    assert len(made) == 3  # y, the derivative by what v makes, and that by b
    assert {dtype for _, dtype in made} == {"float64"}


def test_a_derivative_lies_in_the_memory_of_its_product():
    def step(x, w, b, v):
        return w - 0.1 * grad(layers, 1)(x, w, b, v)

    made = jit(step)
    np.testing.assert_allclose(made(X, W, B, V), step(X, W, B, V), rtol=1e-10)
    driver = made.source(X, W, B, V).rpartition("\ndef ")[2]
    assert "empty(w.shape" not in driver
