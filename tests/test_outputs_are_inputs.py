"""Every output is accepted as an input: emitted modules are plain code and transform again."""

import importlib.util
import math

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import ravel

VECTOR = np.array([0.3, -0.2, 0.5])


def wave(x):
    return np.sin(x) * np.exp(-x * x)


def pendulum(x):
    v = 0.1
    for _ in range(20):
        v = v - 0.1 * math.sin(x)
        x = x + 0.1 * v
    return x


def newton(x):
    y = 1.0
    while abs(y * y - x) > 1e-12:
        y = (y + x / y) / 2
    return y


def branching(x):
    if x > 0.5:
        return x**3
    return np.tanh(x)


def stencil(v):
    v = v.copy()
    for _ in range(3):
        for i in range(1, len(v)):
            v[i] = v[i] + 0.3 * np.sin(v[i - 1])
    return np.sum(v**2)


def kept_in_a_list(v):
    kept, total = [], 1.0
    for e in v:
        total = total * np.cos(e)
        kept.append(total)
    return np.sum(np.array(kept))


def imported(source, name, folder):
    """The function of an emitted module that is written where anyone may put it."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(f"emitted_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def slope_of(function, x, step=1e-5):
    return (function(x + step) - function(x - step)) / (2 * step)


SCALAR_FUNCTIONS = [wave, pendulum, newton, branching]
VECTOR_FUNCTIONS = [stencil, kept_in_a_list]


@pytest.mark.parametrize("function", SCALAR_FUNCTIONS, ids=lambda f: f.__name__)
def test_emitted_derivatives_transform_again(function, tmp_path):
    x = 0.8
    first = tapeless.grad(function)
    emitted = imported(first.source(x), f"{function.__name__}_grad", tmp_path)
    assert emitted(x) == first(x)
    second = tapeless.grad(emitted)
    np.testing.assert_allclose(second(x), slope_of(first, x), rtol=1e-7, atol=1e-9)
    emitted_again = imported(second.source(x), f"{function.__name__}_grad_grad", tmp_path)
    _, third = tapeless.jvp(emitted_again, (x,), (1.0,))
    np.testing.assert_allclose(third, slope_of(second, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", VECTOR_FUNCTIONS, ids=lambda f: f.__name__)
def test_emitted_gradients_of_arrays_transform_again(function, tmp_path):
    first = tapeless.grad(function)
    emitted = imported(first.source(VECTOR), f"{function.__name__}_grad", tmp_path)
    np.testing.assert_array_equal(emitted(VECTOR), first(VECTOR))
    direction = np.array([0.4, -1.0, 0.7])
    expected = slope_of(lambda s: emitted(VECTOR + s * direction), 0.0)
    _, forward = tapeless.jvp(emitted, (VECTOR,), (direction,))
    np.testing.assert_allclose(forward, expected, rtol=1e-7, atol=1e-9)
    backward = tapeless.grad(lambda v: emitted(v) @ direction)(VECTOR)
    np.testing.assert_allclose(backward, expected, rtol=1e-7, atol=1e-9)


TRANSFORMS = {
    "grad": lambda f: tapeless.grad(f),
    "forward": lambda f: lambda x: tapeless.jvp(f, (x,), (1.0,))[1],
    "pull back": lambda f: lambda x: tapeless.vjp(f, x)[1](1.0)[0],
    "value and grad": lambda f: lambda x: tapeless.value_and_grad(f)(x)[1],
    "linearize": lambda f: lambda x: tapeless.linearize(f, x)[1](1.0),
}


@pytest.mark.parametrize("outer", TRANSFORMS)
@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("function", [wave, pendulum, branching], ids=lambda f: f.__name__)
def test_transformations_nest(function, inner, outer):
    x = 0.8
    once = TRANSFORMS[inner](function)
    np.testing.assert_allclose(once(x), slope_of(function, x), rtol=1e-7)
    twice = TRANSFORMS[outer](once)
    np.testing.assert_allclose(twice(x), slope_of(once, x), rtol=1e-7)


def test_fourth_derivative():
    function = wave
    for _ in range(4):
        function = tapeless.grad(function)
    x = 0.3
    # the fourth derivative of the imaginary part of exp(i x - x^2), from its recurrence
    f = [np.exp(1j * x - x * x)]
    f.append((1j - 2 * x) * f[0])
    for n in range(1, 4):
        f.append((1j - 2 * x) * f[n] - 2 * n * f[n - 1])
    np.testing.assert_allclose(function(x), f[4].imag, rtol=1e-12)


def test_results_feed_back_as_arguments():
    slopes = tapeless.grad(stencil)
    at = VECTOR
    for _ in range(3):
        at = at - 0.1 * slopes(at)
    assert stencil(at) < stencil(VECTOR)
    assert ravel(slopes(slopes(at))).shape == VECTOR.shape
