"""Solves linear equations iteratively, with the matrix as a function: jax.scipy.sparse.linalg."""
# ruff: noqa: N803  (A and M are the names of SciPy)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.lax.solving import custom_linear_solve
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transformations.ravel import ravel_pytree
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, ShapeError

__staged__ = True  # plain NumPy code: a staged run enters it

Map = Callable[[Any], Any]  # a linear function of vectors


@follow_arguments
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution of A x = b by conjugate gradients.

    A        a Hermitian positive definite matrix of shape (n, n), or a linear function of trees of
             arrays like b
    b        the right-hand side: an array of shape (n,), or what the function takes
    x0       where to begin, like b; zeros by default
    tol      ends where norm(b - A x) <= max(tol * norm(b), atol)
    atol     see there
    maxiter  how many steps at most; 10 times the size of b by default
    M        an approximation of the inverse of A, a matrix or a function, Hermitian positive
             definite as well

    Returns (x, None). The derivative is that of the solution, by another solve: no step is saved.
    Raises ValueError for shapes that do not fit, TypeError for an A that is no matrix or function.

    Source: Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems" (1952).

    >>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> cg(a, np.array([1.0, 2.0]))[0].round(4)
    array([0.0909, 0.6364])
    """
    return _solve_iteratively(_cg, A, b, x0, (tol, atol, maxiter), M, symmetric=True)


@follow_arguments
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
) -> tuple[Any, None]:
    """The solution of A x = b by stabilised biconjugate gradients, for any A that has an inverse.

    The arguments and the result are those of `cg`; A and M need no symmetry.

    Source: H. van der Vorst, "Bi-CGSTAB" (SIAM J. Sci. Stat. Comput. 13, 1992).

    >>> a = np.array([[4.0, 1.0], [-1.0, 3.0]])
    >>> bicgstab(a, np.array([1.0, 2.0]))[0].round(4)
    array([0.0769, 0.6923])
    """
    return _solve_iteratively(_bicgstab, A, b, x0, (tol, atol, maxiter), M)


@follow_arguments
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: int = 20,
    maxiter: Any = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """The solution of A x = b by generalised minimal residuals, for any A that has an inverse.

    restart       of so many products with A a solution is made before the next ones
    maxiter       how often that is done at most
    solve_method  accepted, and of no effect

    The other arguments and the result are those of `cg`; A and M need no symmetry.

    Source: Saad, Schultz, "GMRES" (SIAM J. Sci. Stat. Comput. 7, 1986).

    >>> a = np.array([[4.0, 1.0], [-1.0, 3.0]])
    >>> gmres(a, np.array([1.0, 2.0]))[0].round(4)
    array([0.0769, 0.6923])
    """
    if solve_method not in ("batched", "incremental"):
        raise ArgumentError(
            f"gmres: solve_method={solve_method!r} is unknown", "'batched' or 'incremental'"
        )

    def run(product: Map, b: Any, x: Any, limits: Any, before: Map) -> Any:
        return _gmres(product, b, x, limits, before, min(restart, b.shape[0]))

    return _solve_iteratively(run, A, b, x0, (tol, atol, maxiter), M)


def _solve_iteratively(
    run: Any, A: Any, b: Any, x0: Any, limits: Any, M: Any, symmetric: bool = False
) -> tuple[Any, None]:
    """The solution by a method for vectors, with the derivative of a solution."""
    flat, unravel = ravel_pytree(tree.map(np.asarray, b))
    tol, atol, maxiter = limits
    limits = (tol, atol, 10 * flat.shape[0] if maxiter is None else maxiter)
    start = np.zeros_like(flat) if x0 is None else ravel_pytree(x0)[0]
    if start.shape != flat.shape:
        raise ShapeError(f"x0 has {start.shape[0]} numbers, and b {flat.shape[0]}")
    product, before = _function(A, "A", unravel), _function(M, "M", unravel)

    def solve(product: Map, b: Any) -> Any:
        return run(product, b, start, limits, before)

    x = custom_linear_solve(product, flat, solve, solve, symmetric=symmetric)
    return unravel(x), None


def _function(A: Any, what: str, unravel: Map) -> Map:
    """A matrix, a function of trees, or None as a function of vectors."""
    if A is None:
        return lambda v: v
    if callable(A):
        return lambda v: ravel_pytree(A(unravel(v)))[0]
    if not hasattr(A, "ndim"):
        raise ArgumentTypeError(f"{what} is a matrix or a function, not {type(A).__name__}")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ShapeError(f"{what} is a square matrix, not an array of shape {A.shape}")
    return lambda v: A @ v


def _square(v: Any) -> Any:
    return np.real(np.vdot(v, v))


def _tolerance(b: Any, limits: Any) -> Any:
    """The square of the residual that is small enough."""
    tol, atol, _ = limits
    return np.maximum(tol**2 * _square(b), atol**2)


def _cg(product: Map, b: Any, x: Any, limits: Any, before: Map) -> Any:
    enough, maxiter = _tolerance(b, limits), limits[2]
    r = b - product(x)
    z = before(r)
    p, gamma = z, np.vdot(r, z)
    k = 0
    while k < maxiter and _square(r) > enough:
        q = product(p)
        alpha = gamma / np.vdot(p, q)
        x = x + alpha * p
        r = r - alpha * q
        z = before(r)
        last, gamma = gamma, np.vdot(r, z)
        p = z + (gamma / last) * p
        k += 1
    return x


def _bicgstab(product: Map, b: Any, x: Any, limits: Any, before: Map) -> Any:
    enough, maxiter = _tolerance(b, limits), limits[2]
    r = b - product(x)
    shadow, p = r, r
    rho = np.vdot(shadow, r)
    k = 0
    while k < maxiter and _square(r) > enough and rho != 0:
        p_hat = before(p)
        v = product(p_hat)
        alpha = rho / np.vdot(shadow, v)
        s = r - alpha * v
        s_hat = before(s)
        t = product(s_hat)
        size = _square(t)
        omega = np.vdot(t, s) / (1.0 if size == 0 else size)  # s is 0 where t is: x is found
        x = x + alpha * p_hat + omega * s_hat
        r = s - omega * t
        last, rho = rho, np.vdot(shadow, r)
        beta = 0.0 if omega == 0 else (rho / last) * (alpha / omega)
        p = r + beta * (p - omega * v)
        k += 1
    return x


def _gmres(product: Map, b: Any, x: Any, limits: Any, before: Map, m: Any) -> Any:
    """In each round, x moves to the least residual in the space of m products of the residual."""
    enough, maxiter = _tolerance(before(b), limits), limits[2]
    r = before(b - product(x))
    k = 0
    while k < maxiter and _square(r) > enough:
        basis, h = _arnoldi(lambda v: before(product(v)), r, m)
        wanted = np.zeros(m + 1, b.dtype)
        wanted[0] = np.sqrt(_square(r))
        x = x + np.linalg.pinv(h) @ wanted @ basis[:m]
        r = before(b - product(x))
        k += 1
    return x


def _arnoldi(product: Map, r: Any, m: Any) -> tuple[Any, Any]:
    """m + 1 orthonormal rows, and what the product makes of the first m in terms of all: an array
    of shape (m + 1, m). Rows are 0 from where nothing new is found."""
    basis = np.zeros((m + 1, r.shape[0]), r.dtype)
    h = np.zeros((m + 1, m), r.dtype)
    basis[0] = r / np.sqrt(_square(r))
    for j in range(m):
        v = product(basis[j])
        before = np.sqrt(_square(v))
        for _ in range(2):  # twice is enough (Giraud, Langou 2003)
            part = np.conj(basis) @ v
            v = v - part @ basis
            h[:, j] += part
        size = np.sqrt(_square(v))
        if size > 10 * np.finfo(r.dtype).eps * before:
            basis[j + 1] = v / size
            h[j + 1, j] = size
    return basis, h
