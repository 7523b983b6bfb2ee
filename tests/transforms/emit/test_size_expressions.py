"""Sizes are read from what is sure to have a value, also where other variables are as long."""

import itertools

import numpy as np
import pytest

from tapeless import grad, jacfwd, jacrev, jit, strict, value_and_grad, vjp
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Block, Let, Type, Var
from tapeless.transforms.emit.writer import emit_function
from tapeless.transforms.ops.primitives.new_arrays import empty

V, M = np.array([0.3, 0.7, -0.2]), np.array([[0.9, 0.05, 0.5], [0.1, -0.1, 0.6]])


def stored_in_a_loop(x, v, m):
    x = np.tanh(x)
    while x < 0.5:
        m[-1, 1:] = np.sin(v[1:])
        x = x + 1.0
    return np.sum(np.sin(m))


def stored_on_a_side(x, v, m):
    if x < 0.5:
        m[-1, 1:] = np.sin(v[:-1])
    return np.sum(np.sin(m))


def of_twice_the_length(x, v, m):
    while x < 0.5:
        u = np.concatenate([v, np.sin(v)])
        m[0] *= np.sum(u * u)
        v = np.cos(u[: len(v)])
        x = x + 1.0
    return np.sum(np.sin(m) * v)


def of_half_the_length(x, v, m):
    w = np.exp(v)[::2]
    if x < 0.5:
        for k in range(len(w)):
            m[0, k] = np.sin(w[k] * np.sum(np.cos(w)))
    return np.sum(np.sin(m))


@pytest.mark.parametrize("x", [1.2, 0.7, -0.9])
@pytest.mark.parametrize(
    "f", [stored_in_a_loop, stored_on_a_side, of_twice_the_length, of_half_the_length]
)
def test_second_derivatives_of_parts_that_a_side_lacks(f, x):
    """Neither call, one, or both come to the part whose length the zeros have."""

    def slopes(x, v):
        product, back = vjp(
            lambda x, v, m: f(x, v.copy(), m * x) * f(0.5 * x, 0.9 * v, 0.8 * m), x, v, M
        )
        by_x, by_v, by_m = back(np.cos(product))
        return np.sin(by_x) + np.sum(np.sin(by_v)) + np.sum(np.sin(by_m))

    step = 1e-6
    by_x = (slopes(x + step, V) - slopes(x - step, V)) / (2 * step)
    by_v = [(slopes(x, V + d) - slopes(x, V - d)) / (2 * step) for d in step * np.eye(3)]
    second = grad(slopes, argnums=(0, 1))
    for derivative in (second, jit(second), jacfwd(slopes, argnums=(0, 1))):
        actual = derivative(x, V)
        np.testing.assert_allclose(actual[0], by_x, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(actual[1], by_v, rtol=1e-6, atol=1e-7)


def scaled_on_a_side(x, v, m):
    m = m - np.sin(x)
    if -0.5 < m[0, np.argmax(v)] < 0.7:
        pass
    elif x < 0.2 or x / 2 > 0.35:
        m[m > 0.2] *= np.tanh(np.linalg.norm(v / 2))
    return 1.29 * np.sum(np.sin(m))


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("x", [-0.5, -1.5, 0.6])
def test_zeros_as_long_as_what_another_side_selects(form, x):
    """Each side gives a batch of zeros for the selected elements, which one side only counts."""
    slopes = jacrev(value_and_grad(lambda x, v: np.sin(scaled_on_a_side(x, v, M)), argnums=(1, 0)))

    def total(x, v):
        value, (by_v, by_x) = slopes(x, v)
        return np.sin(value) + np.sum(np.sin(by_v)) + np.sin(by_x)

    step = 1e-6
    expected = [(total(x, V + d) - total(x, V - d)) / (2 * step) for d in step * np.eye(3)]
    np.testing.assert_allclose(form(grad(total, argnums=1))(x, V), expected, rtol=1e-6, atol=1e-8)


def test_memory_as_long_as_what_a_tape_lacks_has_no_elements():
    """Nobody looks at it where the tape has None there."""
    n = dims.symbol("n", 0)
    stopped = Var(Type(np.dtype(bool), (n,)), "stopped")
    stopped.partial = True
    memory = Var(Type(np.dtype(float), (3, n)), "passes_saved")
    make = Let((memory,), empty, (), {"shape": (3, n), "dtype": np.dtype(float)})
    block = Block((stopped,), (make,), (memory,))
    text, *_ = emit_function(
        "f", block, "stopped", [(stopped, "stopped")], ", ".join, "", {"stopped"}
    )
    names = {"np": np}
    exec(text, names)
    assert names["f"](None).shape == (3, 0)
    assert names["f"](np.ones(4, bool)).shape == (3, 4)


def sums_of_largest(x):
    out = 0.0
    for _, group in itertools.groupby(x, key=lambda v: v > 1):
        out += max([v * v for v in group])
    return out


def test_zeros_as_long_as_an_array_that_one_side_makes():
    """The length is that of a list of the side, which nothing behind it names."""
    x = np.array([0.7, 0.2, 1.4, 0.93, 0.35])
    slope = jit(grad(sums_of_largest))
    with strict(True):
        np.testing.assert_allclose(slope(x), [1.4, 0, 2.8, 1.86, 0])
