"""Matrices of a few diagonals: derivatives of elementwise functions with respect to arrays."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tests.test_corpus_compiled import by_python


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def wells(x):
    return np.sum(np.sin(x) * x) + np.sum(x[2:] * x[:-2])


def scaled(x):
    return np.exp(x) / 2 - x**3


def differences(x):
    return x[1:] - x[:-1] * x[1:]


def mixed(x):
    """Not elementwise: each result depends on all numbers."""
    return x * np.sum(x * x)


@pytest.mark.parametrize("n", [6, 1, 2, 3, 40])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "f",
    [
        tapeless.hessian(rosenbrock),
        tapeless.hessian(wells),
        tapeless.jacfwd(scaled),
        tapeless.jacrev(scaled),
        tapeless.jacfwd(differences),
        tapeless.jacrev(differences),
        tapeless.jacfwd(mixed),
    ],
    ids=["rosenbrock", "wells", "scaled", "back", "differences", "differences back", "mixed"],
)
def test_as_without_jit(f, n, dtype, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    x = np.random.default_rng(n).normal(size=n).astype(dtype)
    got, want = tapeless.jit(f)(x), f(x)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    rtol = {"f4": 1e-5, "f8": 1e-13}[dtype]
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max(initial=0))


def test_by_machine_code():
    x = np.linspace(0.1, 2.0, 30)
    want = np.diag(np.exp(x) / 2 - 3 * x * x)
    np.testing.assert_allclose(tapeless.jit(tapeless.jacobian(scaled))(x), want, rtol=1e-13)


def by_rows(v):
    n = v.shape[0]
    return np.eye(n) * v[:, None] - (v * np.eye(n)).T / 2


def joined(v):
    n = v.shape[0]
    out = np.zeros((n, n))
    out[1:, :-1] += np.eye(n - 1) * v[1:]
    out[:-1, 1:] -= np.eye(n - 1) * v[:-1, None]
    return out


def stored_over(v):
    n = v.shape[0]
    out = np.zeros((n, n))
    out[:, :] += np.eye(n) * v
    out[1:, 1:] = np.eye(n - 1) * 2
    return out


def overwritten(v):
    """The diagonal is what v held before."""
    n = v.shape[0]
    out = np.eye(n) * v
    v[:] = 0
    return out


@pytest.mark.parametrize("f", [by_rows, joined, stored_over, overwritten], ids=lambda f: f.__name__)
def test_as_numpy(f, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    for n in (2, 3, 7):
        v = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(tapeless.jit(f)(v.copy()), f(v.copy()), rtol=1e-14)


def test_golden(golden):
    golden("loops/banded.py", tapeless.jit(tapeless.hessian(rosenbrock)).source(np.ones(5)))
