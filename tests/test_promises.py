"""What the README promises, one test a promise; the pages of docs/ are run by test_docs.py."""

import ast
import re

import numpy as np
import pytest

from tapeless import grad, jit, jvp_fn, vmap

pytestmark = pytest.mark.every_case

RNG = np.random.default_rng(4)


def parsed(f, *args):
    return ast.parse(f.source(*args))


def count(module, kind):
    return sum(isinstance(n, kind) for n in ast.walk(module))


def pendulum(x):
    for _ in range(10_000):
        x = x - 0.001 * np.sin(x)
    return x


def test_a_loop_of_10000_steps_is_a_loop_in_the_derivative():
    module = parsed(grad(pendulum), 1.0)
    assert count(module, ast.For) == 2
    assert sum(isinstance(n, ast.Constant) and n.value == 10_000 for n in ast.walk(module)) >= 2
    assert len(ast.unparse(module).splitlines()) < 20


def layer(w, b, x):
    z = w @ x + b
    gate = 1 / (1 + np.exp(-z))
    mixed = gate * np.tanh(z) + (1 - gate) * np.maximum(z, 0)
    scale = np.sqrt(np.sum(mixed * mixed) + 1)
    return mixed / scale + np.log1p(np.exp(-np.abs(z))) * np.cos(z)


def deep(params, x):
    x = layer(*params[0], x)
    x = layer(*params[1], x)
    x = layer(*params[2], x)
    x = layer(*params[3], x)
    x = layer(*params[4], x)
    x = layer(*params[5], x)
    x = layer(*params[6], x)
    x = layer(*params[7], x)
    x = layer(*params[8], x)
    x = layer(*params[9], x)
    x = layer(*params[10], x)
    return np.sum(layer(*params[11], x))


def test_twelve_calls_of_layer_are_twelve_calls_of_one_layer_bwd():
    params = [(RNG.normal(size=(3, 3)), RNG.normal(size=3)) for _ in range(12)]
    text = grad(deep, (0, 1)).source(params, RNG.normal(size=3))
    assert len(re.findall(r"^def layer_bwd", text, re.MULTILINE)) == 1
    assert len(re.findall(r"(?<!def )layer_bwd\(", text)) == 12


def loss(w1, b1, w2, x):
    hidden = x @ w1 + b1
    pred = np.tanh(hidden) @ w2
    return np.mean(pred**2)


def test_hidden_gives_hidden_bar_and_pred_gives_pred_dot():
    args = [RNG.normal(size=s) for s in ((2, 3), 3, (3, 2), (4, 2))]
    backward = grad(loss, (0, 1, 2)).source(*args)
    forward = jvp_fn(loss, (0, 1, 2)).source(*args, *args[:3])
    assert re.search(r"^    hidden_bar = ", backward, re.MULTILINE)
    assert re.search(r"^    pred_bar = ", backward, re.MULTILINE)
    assert re.search(r"^    pred_dot = ", forward, re.MULTILINE)


def in_place(x, n):
    x = x * 1.0
    x[1:] += x[:-1] ** 2
    while np.sum(x) > 1:
        x *= 0.5
    return np.sum(x) if x[0] > 0 else np.sum(x * x) + n


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("batched", [False, True])
def test_emitted_code_imports_numpy_and_not_tapeless(compiled, batched):
    f, args = grad(in_place), (np.ones(3), 1.0)
    if batched:
        f, args = vmap(f), (np.ones((2, 3)), np.ones(2))
    module = parsed(jit(f) if compiled else f, *args)
    found = {a.name for n in ast.walk(module) if isinstance(n, ast.Import) for a in n.names}
    found |= {n.module for n in ast.walk(module) if isinstance(n, ast.ImportFrom)}
    assert found <= ({"numpy", "numba", "math"} if compiled else {"numpy"})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_stay(dtype):
    x = np.linspace(0, 1, 5, dtype=dtype)
    assert grad(in_place)(x, 1.0).dtype == jit(grad(in_place))(x, 1.0).dtype == dtype


@pytest.mark.parametrize("transform", [grad, lambda f: jit(grad(f))])
def test_one_derivative_serves_10_rows_and_10_million(transform):
    f = transform(lambda x: np.sum(np.tanh(x) ** 2))
    texts = {f.source(np.ones(n)) for n in (10, 1000, 10_000_000)}
    assert len(texts) == 1
    assert f(np.full(10_000_000, 0.5, np.float32)).shape == (10_000_000,)
    assert f(np.full(10, 0.5))[0] == pytest.approx(2 * np.tanh(0.5) * (1 - np.tanh(0.5) ** 2))


def test_errors_of_what_nothing_uses_are_left_out():
    """docs/language.md says so."""

    def unused(x, k):
        x[k]
        return np.sum(x)

    def caught(x, k):
        try:
            x[k]
        except IndexError:
            return 2 * np.sum(x)
        return np.sum(x)

    def asserted(x, k):
        assert k < len(x)
        return np.sum(x)

    x = np.ones(3)
    assert jit(unused)(x, 7) == 3.0
    assert jit(caught)(x, 7) == 6.0
    with pytest.raises(AssertionError):
        jit(asserted)(x, 7)
    with pytest.raises(ValueError, match="broadcast"):
        jit(lambda x, y: (x + y, np.sum(x))[1])(x, np.ones(4))
