"""Kernels that differ in their names only are written, and compiled, once."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.jit import Jit
from tests.test_corpus_compiled import by_python


def alike(x):
    y = np.sort(np.tanh(x) + 1)
    return np.tanh(y) + 1


def unlike(x):
    y = np.sort(np.tanh(x) + 1)
    return np.tanh(y) + 2


@pytest.mark.parametrize(("f", "kernels"), [(alike, 1), (unlike, 2)])
def test_once(f, kernels, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    compiled, x = tapeless.jit(f), np.linspace(1.0, -1.0, 9)
    assert compiled.source(x).count("@njit") == kernels
    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-14)
