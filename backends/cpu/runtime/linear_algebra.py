"""Stands for NumPy in drivers: what NumPy asks of the BLAS and of LAPACK is done by one thread, and
matrices of some size are factorised where they lie, without copies in columns.

np.linalg.cholesky(a)      becomes      dpotrf("U", a copy of a), which has columns for rows

The threads of OpenBLAS turn in circles while they wait (`runtime/products.py`). What takes one of
them long, 10 ms and more, is left to all.
"""

from __future__ import annotations

import ctypes
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends.cpu.runtime import blas

Array = np.ndarray[Any, Any]
MOST = 1 << 29  # multiplications that one thread makes
FEWEST = 128  # rows of matrices that NumPy copies for longer than it takes to call LAPACK from here
LETTERS = {"f": b"s", "d": b"d", "F": b"c", "D": b"z"}
LIMITED = "cholesky det eig eigh eigvals eigvalsh inv lstsq norm pinv qr slogdet solve svd"
PRODUCTS = "dot einsum inner tensordot vdot"


@functools.cache
def numpy_in_one_thread() -> types.ModuleType:
    """NumPy with other functions of linear algebra."""
    linalg = _module_with(np.linalg, _functions(np.linalg, LIMITED))
    return _module_with(np, {"linalg": linalg, **_functions(np, PRODUCTS)})


def _module_with(module: types.ModuleType, changes: dict[str, Any]) -> types.ModuleType:
    copy = types.ModuleType(module.__name__)
    copy.__dict__.update({**vars(module), **changes})
    return copy


def _functions(module: types.ModuleType, names: str) -> dict[str, Any]:
    return {name: _in_one_thread(getattr(module, name)) for name in names.split()}


def _in_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    direct = DIRECT.get(function.__name__, function)

    @functools.wraps(function)
    def call_with_one_thread(*args: Any, **options: Any) -> Any:
        arrays = [x for x in args if isinstance(x, np.ndarray) and x.ndim]
        if any(x.size * x.shape[-1] > MOST for x in arrays):
            return function(*args, **options)
        with blas.OneThread():
            return function(*args, **options) if options else direct(*args)

    return call_with_one_thread


def cholesky(a: Array) -> Array:
    potrf = _routine("potrf", a)
    if potrf is None:
        return np.linalg.cholesky(a)
    factor, n = np.array(a, order="C"), len(a)
    _call(potrf, "Matrix is not positive definite", b"U", n, factor, n)
    for i in range(n - 1):
        factor[i, i + 1 :] = 0
    return factor


def inverse(a: Array) -> Array:
    if _routine("getrf", a) is None:
        return np.linalg.inv(a)
    return solve(a, np.eye(len(a), dtype=a.dtype))


def solve(a: Array, b: Array) -> Array:
    """Of a.T = P L U follows x.T = b.T / U / L / P, in memory by rows."""
    getrf, trsm = _routine("getrf", a), _routine("trsm", a)
    fits = isinstance(b, np.ndarray) and b.ndim == 2 and b.dtype == a.dtype and len(b) == len(a)
    if getrf is None or trsm is None or not fits or not b.size:
        return np.linalg.solve(a, b)
    factors, x = np.array(a, order="C"), np.array(b, order="C")
    n, m = x.shape
    exchanged = np.empty(n, np.int32 if blas.library_of_products()[0] == 32 else np.int64)
    _call(getrf, "Singular matrix", n, n, factors, n, exchanged)
    scale = np.ones(1, a.dtype)
    for which, unit in ((b"U", b"N"), (b"L", b"U")):
        _call(trsm, None, b"R", which, b"N", unit, m, n, scale, factors, n, x, m)
    order = list(range(n))
    for i, k in reversed([*enumerate((exchanged - 1).tolist())]):
        order[i], order[k] = order[k], order[i]
    return x[order]


def _routine(name: str, a: Array) -> Any:
    """A routine for square matrices of this dtype; None where NumPy is as fast, or must decide."""
    if not isinstance(a, np.ndarray) or a.ndim != 2 or a.shape[0] != a.shape[1]:
        return None
    letter = LETTERS.get(a.dtype.char)
    if len(a) < FEWEST or letter is None or not a.dtype.isnative:
        return None
    return blas.routine(letter.decode() + name)


def _call(routine: Any, error: str | None, *args: Any) -> None:
    """Calls a routine of Fortran, which may tell in a last argument that a matrix does not do."""
    integer = ctypes.c_int32 if blas.library_of_products()[0] == 32 else ctypes.c_int64
    info = integer(0)
    passed = [
        ctypes.byref(integer(x))
        if isinstance(x, int)
        else (ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else x)
        for x in args
    ]
    routine(*passed, *([ctypes.byref(info)] if error is not None else []))
    if info.value > 0:
        raise np.linalg.LinAlgError(error)


DIRECT: dict[str, Callable[..., Any]] = {"cholesky": cholesky, "inv": inverse, "solve": solve}
