"""Multiplies matrices by one thread of the BLAS, and shares large products among threads of ours.

The threads of a BLAS wait for one another by turning in circles. Where other processes want the
cores, that takes up to a hundred times longer than the work does. Parts follow from the sizes
alone, so a result has the same bits for any number of threads.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tapeless.backends.cpu.runtime import blas
from tapeless.backends.cpu.runtime.buffer_pool import empty
from tapeless.backends.cpu.runtime.threads import share

Array = np.ndarray[Any, Any]
ALONE = 1 << 13  # multiplications for which a BLAS wakes no threads, not even for a vector
LARGE = 1 << 24  # those that are worth a second thread
PART = 1 << 22  # those of a part: 0.1 to 0.3 ms
ROWS = 96  # in a part at least: each packs the whole of the other matrix
MOST = 64  # parts
#: How a product that a kernel asks for ended; 0 where Python was interrupted. The kernel multiplies
#: then, as nothing can be raised through it, and interrupts Python again.
DONE, TOO_LARGE = 1, 2
INTERRUPT = "tapeless_interrupt"
GET, SET = "tapeless_get_blas_threads", "tapeless_set_blas_threads"
SHARED = "tapeless_shared_product_{}"
DTYPES = {"s": np.dtype(np.float32), "d": np.dtype(np.float64)}
#: three lengths, matrices as addresses and strides, and where a kernel reads how it ended
CALLBACK = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 13)


def matmul(a: Array, b: Array) -> Array:
    """`a @ b` of arrays of one dtype, in memory that was used before if possible."""
    work = a.size if b.ndim == 1 else a.size * b.shape[-1]
    stacks = max(a.ndim, b.ndim) > 2 and a.shape[:-2] != b.shape[:-2]
    if work <= ALONE or stacks or a.shape[-1] != b.shape[max(0, b.ndim - 2)]:
        return a @ b
    out = empty(a.shape[:-1] + (b.shape[-1:] if b.ndim > 1 else ()), a.dtype)
    multiply(a, b, out)
    return out


def multiply(a: Array, b: Array, out: Array) -> None:
    """out = a @ b."""
    with blas.OneThread():
        work = a.size if b.ndim == 1 else a.size * b.shape[-1]
        if work < LARGE or blas.threads() is None:
            np.matmul(a, b, out=out)
        elif _is_symmetric(a, b):
            _share_triangle(a, b, out, work)
        else:
            _share(a, b, out, work)


def _share(a: Array, b: Array, out: Array, work: int) -> None:
    """Stacks by matrices; others by rows of the product, or by columns where it has few rows."""
    columns = out.ndim < 3 and (a.ndim == 1 or (out.ndim == 2 and len(out) < 2 * ROWS))
    count = out.shape[-1] if columns else len(out)
    length = -(-count // _parts(count, 1 if out.ndim > 2 else ROWS, work))

    def part(k: int) -> None:
        piece = slice(k * length, (k + 1) * length)
        if columns:
            np.matmul(a, b[..., piece], out=out[..., piece])
        else:
            np.matmul(a[piece], b[piece] if b.ndim > 2 else b, out=out[piece])

    share(part, -(-count // length))


def _parts(count: int, fewest: int, work: int) -> int:
    """How many parts so many rows make: as many as two or four threads share evenly."""
    parts = max(1, min(count // fewest, work // PART, MOST))
    return parts - parts % (4 if parts > 3 else 2) if parts > 1 else 1


def _is_symmetric(a: Array, b: Array) -> bool:
    """Whether two matrices are each other's transposes."""
    if not a.ndim == b.ndim == 2 or a.shape != b.shape[::-1] or a.strides != b.strides[::-1]:
        return False
    return bool(a.ctypes.data == b.ctypes.data)


def _share_triangle(a: Array, b: Array, out: Array, work: int) -> None:
    """Rows of a symmetric product up to the diagonal, the longest first; others are equal."""
    count = len(out)
    length = -(-count // max(1, min(count // ROWS, work // PART, MOST)))
    parts = -(-count // length)

    def part(k: int) -> None:
        start = (parts - 1 - k) * length
        end = min(start + length, count)
        np.matmul(a[start:end], b[:, :start], out=out[start:end, :start])
        np.matmul(a[start:end], b[:, start:end], out=out[start:end, start:end])  # symmetric
        out[:start, start:end] = out[start:end, :start].T

    share(part, parts)


# -- products in kernels


@functools.cache
def width() -> int | None:
    """The bits of the integers that the BLAS takes, which LLVM knows from then on, with the
    functions that limit its threads; None without any BLAS."""
    bits, places = blas.library_of_products()
    for kind, address in places.items():
        llvm.add_symbol(blas.symbol(kind, bits), address)
    functions = blas.threads()
    if functions is not None:
        llvm.add_symbol(GET, blas.address(functions[0]))
        llvm.add_symbol(SET, blas.address(functions[1]))
        llvm.add_symbol(INTERRUPT, blas.address(ctypes.pythonapi.PyErr_SetInterrupt))
        for kind in DTYPES:
            llvm.add_symbol(SHARED.format(kind), blas.address(_callback(kind)))
    return bits or None


@functools.cache
def _callback(kind: str) -> Any:
    """A function of addresses and strides for kernels, which have let go of Python's lock."""
    dtype = DTYPES[kind]

    def multiply_at(m: int, n: int, k: int, *places: int) -> None:
        a, b, out = places[:3], places[3:6], places[6:9]
        try:
            multiply(_matrix(dtype, m, k, *a), _matrix(dtype, k, n, *b), _matrix(dtype, m, n, *out))
        except KeyboardInterrupt:
            return
        except MemoryError:  # for copies of operands
            ctypes.c_int64.from_address(places[9]).value = TOO_LARGE
        else:
            ctypes.c_int64.from_address(places[9]).value = DONE

    return CALLBACK(multiply_at)


class _Memory:
    """An array that NumPy makes of an address."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _matrix(dtype: Any, rows: int, columns: int, start: int, down: int, along: int) -> Array:
    return np.asarray(
        _Memory(
            {
                "version": 3,
                "shape": (rows, columns),
                "typestr": dtype.str,
                "data": (start, False),
                "strides": (down, along),
            }
        )
    )
