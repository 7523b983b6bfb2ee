"""Kernels that differ in their names only are written, and compiled, once."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tests.test_corpus_compiled import by_python


def alike(x):
    y = np.sort(np.tanh(x) + 1)
    return np.tanh(y) + 1


def unlike(x):
    y = np.sort(np.tanh(x) + 1)
    return np.tanh(y) + 2


def in_another_order(x, a, b):
    y = np.sort(np.tanh(x * a) + b)
    return np.tanh(y * b) + a


def layers(x, ws):
    for w in ws:
        x = np.sort(np.tanh(x) @ w, axis=1)
    return x


@pytest.mark.parametrize(("f", "kernels"), [(alike, 1), (unlike, 2)])
def test_once(f, kernels, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    compiled, x = tapeless.jit(f), np.linspace(1.0, -1.0, 9)
    assert compiled.source(x).count("@njit") == kernels
    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-14)


def test_in_another_order_of_parameters(monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    compiled, args = (
        tapeless.jit(in_another_order, parallel=False),
        (np.linspace(1.0, -1.0, 9), 2.0, 0.3),
    )
    assert compiled.source(*args).count("@njit(nogil") == 1
    np.testing.assert_allclose(compiled(*args), in_another_order(*args), rtol=1e-14)


def test_in_other_sizes(monkeypatch):
    """Layers whose sizes are free are one kernel."""
    monkeypatch.setattr(Jit, "load", by_python)
    rng = np.random.default_rng(0)
    x, ws = rng.normal(size=(3, 5)), [rng.normal(size=(5, 6)), rng.normal(size=(6, 4))]
    compiled = tapeless.jit(layers)
    assert compiled.source(x, ws).count("@njit(nogil") == 1
    np.testing.assert_allclose(compiled(x, ws), layers(x, ws), rtol=1e-13)
