"""Computes functions of a whole matrix: exponential, square root, polar form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import sqrtm as _sqrtm

from tapeless.scipy.linalg.solvers import conjugate_transpose
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

# Of the quotient of polynomials of degree 13 that is closest to exp, and how far it can be used.
PADE = [
    *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0),
    *(129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0),
    *(40840800.0, 960960.0, 16380.0, 182.0, 1.0),
]
REACH = 5.371920351148152


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:  # noqa: N803
    """The exponential of a matrix.

    A              array of shape (..., n, n)
    max_squarings  the result is nan where more would be needed: where the norm is above 350000

    upper_triangular is what JAX takes. Differentiable to any order. By scaling, a Padé approximant
    and squaring (N. J. Higham, SIAM J. Matrix Anal. Appl. 26, 2005).

    >>> expm(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])
    """
    A = np.asarray(A) * 1.0  # noqa: N806 (SciPy's)
    size = np.max(np.sum(np.abs(A), axis=-2), initial=0.0)
    needed = np.ceil(np.log2(np.maximum(size / REACH, 1.0)))
    squarings = int(np.where(needed > max_squarings, 0, needed))
    power = _pade(A / 2.0**squarings)
    for _ in range(squarings):
        power = power @ power
    return np.where(needed > max_squarings, np.nan, power)


def _pade(a: Any) -> Any:
    unit = np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    c = [a.dtype.type(x) for x in PADE]
    high = a6 @ (c[13] * a6 + c[11] * a4 + c[9] * a2)
    odd = a @ (high + c[7] * a6 + c[5] * a4 + c[3] * a2 + c[1] * unit)
    high = a6 @ (c[12] * a6 + c[10] * a4 + c[8] * a2)
    even = high + c[6] * a6 + c[4] * a4 + c[2] * a2 + c[0] * unit
    return np.linalg.solve(even - odd, even + odd)


def expm_frechet(A: Any, E: Any, *, method: Any = None, compute_expm: bool = True) -> Any:  # noqa: N803
    """The exponential of A, and how it changes in the direction E: a pair.

    A, E          arrays of shape (n, n)
    compute_expm  whether the exponential is returned: without it, the change alone

    method is what JAX takes. By the exponential of a matrix of blocks.

    >>> expm_frechet(np.zeros((1, 1)), np.ones((1, 1)))
    (array([[1.]]), array([[1.]]))
    """
    A, E = np.asarray(A), np.asarray(E)  # noqa: N806 (SciPy's)
    n = A.shape[-1]
    below = np.concatenate((np.zeros_like(A), A), axis=-1)
    both = expm(np.concatenate((np.concatenate((A, E), axis=-1), below), axis=-2))
    change = both[:n, n:]
    return (both[:n, :n], change) if compute_expm else change


def sqrtm(A: Any, blocksize: int = 1) -> Any:  # noqa: N803
    """The principal square root of a matrix, as complex numbers.

    A  array of shape (..., n, n)

    blocksize is what SciPy takes. Differentiable where the root has an inverse.

    >>> sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]])).real.round(12)
    array([[2., 0.],
           [0., 3.]])
    """
    A = np.asarray(A) * (1 + 0j)  # noqa: N806 (SciPy's)
    if A.ndim == 2:
        return _sqrtm(A)
    each = np.reshape(A, (-1, *A.shape[-2:]))
    return np.reshape(np.stack([_sqrtm(a) for a in each]), A.shape)


def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: Any = None,
    max_iterations: Any = None,
) -> Any:
    """u, p with a == u @ p, or a == p @ u where side is 'left': orthonormal and positive.

    a     array of shape (..., m, n)
    side  'right' or 'left'

    The other arguments are what JAX takes. Differentiable where no singular value is 0. Raises
    ValueError for another side.

    >>> u, p = polar(np.array([[0.0, -2.0], [3.0, 0.0]]))
    >>> p.round(12)
    array([[3., 0.],
           [0., 2.]])
    """
    if side not in ("right", "left"):
        raise ArgumentError(f"polar: side must be 'right' or 'left', not {side!r}")
    w, _, vh = np.linalg.svd(a, full_matrices=False)
    unitary = w @ vh
    positive = (
        conjugate_transpose(unitary) @ a if side == "right" else a @ conjugate_transpose(unitary)
    )
    return unitary, (positive + conjugate_transpose(positive)) / 2


def solve_sylvester(
    A: Any,  # noqa: N803
    B: Any,  # noqa: N803
    C: Any,  # noqa: N803
    *,
    method: str = "schur",
    tol: float = 1e-8,
) -> Any:
    """The x with A @ x + x @ B == C.

    A  array of shape (m, m)
    B  array of shape (n, n)
    C  array of shape (m, n)

    method and tol are what JAX takes. One system of m * n equations is solved, so the matrices
    should be small.

    >>> solve_sylvester(np.array([[1.0]]), np.array([[3.0]]), np.array([[8.0]]))
    array([[2.]])
    """
    A, B, C = np.asarray(A), np.asarray(B), np.asarray(C)  # noqa: N806 (SciPy's)
    m, n = C.shape
    real = np.finfo(np.result_type(A * 1.0, B * 1.0, C, np.float32)).dtype  # as LAPACK's
    whole = np.kron(A, np.eye(n, dtype=real)) + np.kron(np.eye(m, dtype=real), np.swapaxes(B, 0, 1))
    return np.reshape(np.linalg.solve(whole, np.ravel(C) * np.ones((), real)), (m, n))
