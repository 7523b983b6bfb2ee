"""Provides the linear algebra of jax.scipy.linalg.

>>> import numpy as np
>>> from tapeless.scipy import linalg
>>> factor = linalg.cho_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
>>> linalg.cho_solve(factor, np.array([8.0, 8.0]))
array([1.5, 1. ])

`rsf2csf` and `funm` are SciPy's own, for code that is not transformed; `schur` has no derivative.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy.linalg instead of {__name__}")

from scipy.linalg import block_diag as _block_diag
from scipy.linalg import (
    funm,
    hadamard,
    helmert,
    hilbert,
    invhilbert,
    rsf2csf,
    schur,
)

from tapeless.numpy.array_functions import follow_arguments, following
from tapeless.scipy.linalg import (
    factors,
    functions,
    matrix_equations,
    solvers,
    special_matrices,
)
from tapeless.scipy.linalg import (
    hessenberg as reduced,
)
from tapeless.scipy.linalg.factors import (
    cho_factor,
    cho_solve,
    cholesky,
    lu,
    lu_factor,
    lu_solve,
    qr,
    qr_multiply,
)
from tapeless.scipy.linalg.functions import expm, expm_frechet, polar, solve_sylvester, sqrtm
from tapeless.scipy.linalg.hessenberg import hessenberg
from tapeless.scipy.linalg.matrix_equations import (
    eigvalsh_tridiagonal,
    khatri_rao,
    lstsq,
    matmul_toeplitz,
    orthogonal_procrustes,
    pinvh,
    solve_circulant,
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
    solve_toeplitz,
)
from tapeless.scipy.linalg.solvers import (
    det,
    eigh,
    eigh_tridiagonal,
    inv,
    solve,
    solve_triangular,
    svd,
)
from tapeless.scipy.linalg.special_matrices import (
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    hankel,
    invpascal,
    leslie,
    pascal,
    toeplitz,
)

block_diag = follow_arguments(_block_diag)
globals().update(
    {
        **following(factors, "cho_factor cho_solve cholesky lu lu_factor lu_solve qr qr_multiply"),
        **following(functions, "expm expm_frechet polar solve_sylvester sqrtm"),
        **following(reduced, "hessenberg"),
        **following(solvers, "det eigh eigh_tridiagonal inv solve solve_triangular svd"),
        **following(special_matrices, "circulant companion convolution_matrix fiedler"),
        **following(special_matrices, "fiedler_companion hankel leslie toeplitz"),
        **following(
            matrix_equations, "eigvalsh_tridiagonal khatri_rao lstsq matmul_toeplitz pinvh"
        ),
        **following(matrix_equations, "orthogonal_procrustes solve_circulant solve_toeplitz"),
        **following(matrix_equations, "solve_continuous_lyapunov solve_discrete_lyapunov"),
        **following(matrix_equations, "solve_continuous_are"),
    }
)

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "companion",
    "convolution_matrix",
    "det",
    "dft",
    "eigh",
    "eigh_tridiagonal",
    "eigvalsh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "funm",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "khatri_rao",
    "leslie",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul_toeplitz",
    "orthogonal_procrustes",
    "pascal",
    "pinvh",
    "polar",
    "qr",
    "qr_multiply",
    "rsf2csf",
    "schur",
    "solve",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "sqrtm",
    "svd",
    "toeplitz",
]
