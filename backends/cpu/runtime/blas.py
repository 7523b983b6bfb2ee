"""Finds the BLAS that NumPy is linked with, or else SciPy's, for products of matrices.

Compiled code that is kept on disk names `tapeless_dgemm_64`; each process says where that is.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import llvmlite.binding as llvm

KINDS = "sdcz"  # single, double, and complex numbers of these
SPELLINGS = (  # of wheels of NumPy, of other builds with OpenBLAS, of macOS; width of its integers
    ("scipy_{}gemm_64_", 64),
    ("{}gemm_64_", 64),
    ("{}gemm$NEWLAPACK$ILP64", 64),
    ("scipy_{}gemm_", 32),
    ("{}gemm_", 32),
)


def width() -> int | None:
    """The bits of the integers that products take, which LLVM knows from then on; None without
    any products."""
    bits, places = _find_blas()
    for kind, address in places.items():
        llvm.add_symbol(symbol(kind, bits), address)
    return bits or None


def symbol(kind: str, bits: int) -> str:
    """The name of ours for products of one kind of numbers."""
    return f"tapeless_{kind}gemm_{bits}"


def needs_blas(names: Iterable[str]) -> bool:
    """Whether any of these names is that of a product."""
    return any(re.fullmatch(rf"tapeless_[{KINDS}]gemm_\d+", name) for name in names)


@functools.cache
def _find_blas() -> tuple[int, dict[str, int]]:
    for bits, places in _candidates():
        if len(places) == len(KINDS):
            return bits, places
    return 0, {}


def _candidates() -> Iterator[tuple[int, dict[str, int]]]:
    library = _numpys()
    for spelling, bits in SPELLINGS if library is not None else ():
        names = {kind: spelling.format(kind) for kind in KINDS}
        if all(hasattr(library, name) for name in names.values()):
            yield bits, {k: _address(getattr(library, name)) for k, name in names.items()}
    yield 32, _scipys()


def _numpys() -> ctypes.CDLL | None:
    """NumPy's module of C code, through which the names of its libraries are found."""
    module = sys.modules.get("numpy._core._multiarray_umath")
    try:
        return ctypes.CDLL(module.__file__) if module is not None else None
    except (OSError, TypeError):
        return None


def _scipys() -> dict[str, int]:
    """SciPy's, which takes long to import, by the capsules that Cython makes."""
    try:
        module = importlib.import_module("scipy.linalg.cython_blas")
    except ImportError:
        return {}
    api = ctypes.pythonapi
    name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    place = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    capsules = {kind: module.__pyx_capi__[f"{kind}gemm"] for kind in KINDS}
    return {kind: place(c, name(c)) for kind, c in capsules.items()}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
