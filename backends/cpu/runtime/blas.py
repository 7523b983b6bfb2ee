"""Finds the BLAS that NumPy is linked with, or else SciPy's, for products of matrices, and limits
the threads of NumPy's.

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

KINDS = "sdcz"  # single, double, and complex numbers of these
SPELLINGS = (  # of wheels of NumPy, of other builds with OpenBLAS, of macOS; width of its integers
    ("scipy_{}gemm_64_", 64),
    ("{}gemm_64_", 64),
    ("{}gemm$NEWLAPACK$ILP64", 64),
    ("scipy_{}gemm_", 32),
    ("{}gemm_", 32),
)
#: Of OpenBLAS: those that get and set how many threads it takes.
THREADS = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads",
)


def symbol(kind: str, bits: int) -> str:
    """The name of ours for products of one kind of numbers."""
    return f"tapeless_{kind}gemm_{bits}"


def needs_blas(names: Iterable[str]) -> bool:
    """Whether any of these names is that of a product."""
    return any(re.fullmatch(rf"tapeless_[{KINDS}]gemm_\d+", name) for name in names)


@functools.cache
def library_of_products() -> tuple[int, dict[str, int]]:
    """The bits of the integers that products take, and where each kind of product is; 0 without
    any."""
    for bits, places in _candidates():
        if len(places) == len(KINDS):
            return bits, places
    return 0, {}


@functools.cache
def routine(name: str) -> Any:
    """A routine of NumPy's BLAS or LAPACK, `dpotrf`; None where its own threads are not known, or
    there is none."""
    library = _numpys() if threads() is not None else None
    for spelling, bits in SPELLINGS:
        full = spelling.replace("{}gemm", name)
        if library is not None and hasattr(library, full) and bits == library_of_products()[0]:
            return getattr(library, full)
    return None


@functools.cache
def threads() -> tuple[Any, Any] | None:
    """Functions that get and set how many threads NumPy's BLAS takes; None if it has none."""
    library = _numpys()
    for spelling in THREADS if library is not None else ():
        names = [spelling.format(word) for word in ("get", "set")]
        if all(hasattr(library, name) for name in names):
            return getattr(library, names[0]), getattr(library, names[1])
    return None


class OneThread:
    """While it lasts NumPy's BLAS takes one thread. Who finds one already leaves it at that, so
    that of several at a time whoever has limited them ends that."""

    def __enter__(self) -> None:
        functions = threads()
        self.before = functions[0]() if functions is not None else 1
        if functions is not None and self.before > 1:
            functions[1](1)

    def __exit__(self, *error: object) -> None:
        functions = threads()
        if functions is not None and self.before > 1:
            functions[1](self.before)


def _candidates() -> Iterator[tuple[int, dict[str, int]]]:
    library = _numpys()
    for spelling, bits in SPELLINGS if library is not None else ():
        names = {kind: spelling.format(kind) for kind in KINDS}
        if all(hasattr(library, name) for name in names.values()):
            yield bits, {k: address(getattr(library, name)) for k, name in names.items()}
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


def address(function: Any) -> int:
    """Where a function of C is."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0
