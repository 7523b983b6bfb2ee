"""Iterative solvers: the solution, its derivatives, batches, and what is refused."""

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, vmap
from tapeless.scipy.sparse import linalg
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(5)
GENERAL = RNG.standard_normal((6, 6)) + 5 * np.eye(6)
DEFINITE = GENERAL @ GENERAL.T
B = RNG.standard_normal(6)
SOLVERS = {"cg": DEFINITE, "bicgstab": GENERAL, "gmres": GENERAL}
TIGHT = {"tol": 1e-12}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("dtype", [float, np.float32, complex])
def test_solutions(name, dtype):
    a, b = SOLVERS[name].astype(dtype), B.astype(dtype)
    if dtype is complex:
        turn = np.diag(np.exp(1j * np.arange(6)))
        a, b = turn @ a @ turn.conj(), b * (1 + 2j)
    tol = 1e-5 if dtype is np.float32 else 1e-12
    x, info = getattr(linalg, name)(a, b, tol=tol)
    assert info is None
    assert x.dtype == dtype
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=100 * tol)


@pytest.mark.parametrize("name", SOLVERS)
def test_functions_of_trees(name):
    solve, a = getattr(linalg, name), SOLVERS[name]

    def product(v):
        flat = a @ np.concatenate([v["u"].ravel(), v["w"]])
        return {"u": flat[:4].reshape(2, 2), "w": flat[4:]}

    x, _ = solve(product, {"u": B[:4].reshape(2, 2), "w": B[4:]}, **TIGHT)
    wanted = np.linalg.solve(a, B)
    np.testing.assert_allclose(x["u"].ravel(), wanted[:4], rtol=1e-9)
    np.testing.assert_allclose(x["w"], wanted[4:], rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_starts_and_preconditioners(name):
    solve, a = getattr(linalg, name), SOLVERS[name]
    wanted = np.linalg.solve(a, B)
    x, _ = solve(a, B, x0=wanted + 0.1, M=np.diag(1 / np.diag(a)), **TIGHT)
    np.testing.assert_allclose(x, wanted, rtol=1e-9)
    x, _ = solve(a, B, x0=wanted, maxiter=0)
    np.testing.assert_array_equal(x, wanted)
    one, _ = solve(a, B, M=lambda v: np.linalg.solve(a, v), maxiter=1)
    np.testing.assert_allclose(one, wanted, rtol=1e-9)


def test_rounds():
    x, _ = linalg.gmres(GENERAL, B, restart=2, maxiter=100, **TIGHT)
    np.testing.assert_allclose(x, np.linalg.solve(GENERAL, B), rtol=1e-9)


def test_nothing_to_do():
    for name, a in SOLVERS.items():
        np.testing.assert_array_equal(getattr(linalg, name)(a, np.zeros(6))[0], np.zeros(6))


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives_are_those_of_the_solution(name):
    solve, a = getattr(linalg, name), SOLVERS[name]

    def total(s, b):
        return np.sum(np.sin(solve(lambda v: s * (a @ v) + v, b, **TIGHT)[0]))

    check_grads(total, (2.0, B), order=1)
    np.testing.assert_allclose(
        jit(grad(total, argnums=(0, 1)))(2.0, B)[1], grad(total, argnums=1)(2.0, B), rtol=1e-8
    )


def test_batches():
    def first(s):
        return linalg.cg(lambda v: s * (DEFINITE @ v), B, **TIGHT)[0][0]

    s = np.array([0.5, 1.0, 4.0])
    wanted = np.linalg.solve(DEFINITE, B)[0] / s
    np.testing.assert_allclose(vmap(first)(s), wanted, rtol=1e-9)
    np.testing.assert_allclose(jit(vmap(first))(s), wanted, rtol=1e-9)
    np.testing.assert_allclose(vmap(grad(first))(s), -wanted / s, rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_jaxs_values(name):
    jax = jax_or_skip()
    theirs = getattr(jax.scipy.sparse.linalg, name)
    solve, a = getattr(linalg, name), SOLVERS[name]
    if name == "gmres":
        np.testing.assert_allclose(solve(a, B)[0], theirs(a, B)[0], rtol=1e-4)
        return
    for steps in (1, 2, 3):
        found, wanted = solve(a, B, maxiter=steps)[0], theirs(a, B, maxiter=steps)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        (("no", B), {}, TypeError, "A is a matrix or a function, not str"),
        ((np.ones((2, 3)), B), {}, ValueError, "square matrix"),
        ((DEFINITE, B), {"x0": np.ones(3)}, ValueError, "x0 has 3 numbers, and b 6"),
        ((DEFINITE, B), {"solve_method": "fast"}, ValueError, "'batched' or 'incremental'"),
    ],
)
def test_what_is_refused(args, options, error, text):
    with pytest.raises(error, match=text):
        linalg.gmres(*args, **options)
