"""Finds SIMD versions of scalar functions that the process can call: NumPy's own, glibc's, or none.

NumPy's Linux wheels carry Intel's SVML for AVX-512 (`__svml_exp8` works on eight doubles), and
glibc has libmvec (`_ZGVdN4v_exp` works on four). The former is no interface that NumPy promises, so
each function is looked up; where there is none, scalar functions do. TAPELESS_VECMATH leaves
libraries out: auto (all), libmvec, none.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import platform
import sys
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError

UNARY = """
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    exp exp2 expm1 log log2 log10 log1p cbrt erf erfc
"""
ARITY = dict.fromkeys(UNARY.split(), 1) | {"pow": 2, "atan2": 2, "hypot": 2}
SLOW = {"__svml_cosf16"}  # measured: 17 times slower than libmvec's
CHOICES = {"auto": ("numpy", "libmvec"), "libmvec": ("libmvec",), "none": ()}


@dataclass(frozen=True)
class Width:
    """A width of vectors: its letter in the names of the vector ABI, what the CPU must have."""

    letter: str
    features: frozenset[str]
    bits: int


WIDTHS = {
    "x86_64": (
        Width("e", frozenset({"+avx512f", "+avx512dq", "+avx512bw", "+avx512vl"}), 512),
        Width("d", frozenset({"+avx2"}), 256),
        Width("b", frozenset(), 128),
    ),
    "aarch64": (Width("n", frozenset(), 128),),
}


def widths(features: frozenset[str]) -> list[Width]:
    """Those that a CPU with these features of LLVM's has, the largest first."""
    return [w for w in WIDTHS.get(platform.machine(), ()) if w.features <= features]


@dataclass(frozen=True)
class Variant:
    """A SIMD version of a function: the start of its name in the vector ABI, lanes, symbol."""

    prefix: str
    lanes: int
    symbol: str


def variants(name: str, single: bool, features: frozenset[str]) -> list[Variant]:
    """The SIMD versions of a function of `math` for a CPU with these features of LLVM's. LLVM
    chooses among them by the number of lanes alone, so none may need more than the CPU has."""
    variants = []
    for width in widths(features) if name in ARITY else ():
        lanes = width.bits // (32 if single else 64)
        prefix = f"_ZGV{width.letter}N{lanes}{'v' * ARITY[name]}_"
        plain = name + "f" * single
        for kind, _, library in _libraries():
            symbol = prefix + plain if kind == "libmvec" else f"__svml_{plain}{lanes}"
            if symbol not in SLOW and hasattr(library, symbol):
                variants.append(Variant(prefix, lanes, symbol))
                break
    return variants


def tag() -> str:
    """The libraries that are used, with versions: `numpy2.4.6+libmvec2.36`."""
    return "+".join(kind + version for kind, version, _ in _libraries()) or "none"


def choice() -> str:
    """What TAPELESS_VECMATH says."""
    setting = os.environ.get("TAPELESS_VECMATH", "auto")
    if setting not in CHOICES:
        raise ArgumentError(
            f"TAPELESS_VECMATH is {setting!r}", f"it can be {', '.join(CHOICES)}; or leave it unset"
        )
    return setting


@functools.cache
def _libraries() -> tuple[tuple[str, str, Any], ...]:
    """(kind, version, library) of each that is there; LLVM knows its symbols from then on."""
    if sys.platform != "linux" or platform.machine() not in WIDTHS:
        return ()
    libraries = []
    for kind in CHOICES[choice()]:
        path, version = _place(kind)
        library = _open_library(path) if kind == "libmvec" else _of_numpy(path)
        if library is not None:
            libraries.append((kind, version, library))
    return tuple(libraries)


def _place(kind: str) -> tuple[str | None, str]:
    if kind == "libmvec":
        return "libmvec.so.1", platform.libc_ver()[1]
    module = sys.modules.get("numpy._core._multiarray_umath")
    return getattr(module, "__file__", None), np.__version__


@functools.cache
def scalar() -> None:
    """LLVM knows the C library's functions of floats from then on: not all programs export them."""
    if sys.platform == "linux":
        _open_library("libm.so.6")


def _of_numpy(path: str | None) -> Any:
    """NumPy's module, of which LLVM learns the functions one by one. If the process got all names
    of it, and of the LAPACK that it is linked to, SciPy's LAPACK would call some of these in the
    place of its own, which take integers of 64 bits where it gives 32."""
    if path is None:
        return None
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return None
    for name, single, lanes in itertools.product(ARITY, ("", "f"), (2, 4, 8, 16)):
        symbol = f"__svml_{name}{single}{lanes}"
        if hasattr(library, symbol):
            llvm.add_symbol(symbol, ctypes.cast(library[symbol], ctypes.c_void_p).value)
    return library


def _open_library(path: str | None) -> Any:
    """A library of the C library's, whose names are the process's."""
    if path is None:
        return None
    try:
        library = ctypes.CDLL(path)
        llvm.load_library_permanently(path)
    except (OSError, RuntimeError):
        return None
    return library
