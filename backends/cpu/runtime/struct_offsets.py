"""Finds the offsets of the fields of CPython's and NumPy's public structures that entries read.

`object.h`, `floatobject.h` and `complexobject.h` of Python and `ndarraytypes.h` and
`arrayscalars.h` of NumPy have had these on all 64-bit machines for many years; compiled extensions
rely on them too.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

TYPE, VALUE = 8, 16  # of any object: its type; of floats and NumPy's numbers: their value
DATA, NDIM, SHAPE, STRIDES, DESCR, FLAGS = 16, 24, 32, 40, 56, 64  # of arrays
BYTE_ORDER, TYPE_NUMBER = 26, 28  # of dtypes
IS_C, IS_F, IS_ALIGNED, IS_WRITEABLE = 0x1, 0x2, 0x100, 0x400


def check() -> None:
    """Refuses to go on where an array and numbers are not kept in this way."""
    if not _as_expected():
        raise UnsupportedError(
            "this build of Python or NumPy keeps objects otherwise than compiled code reads them",
            "use a 64-bit build with a global interpreter lock, or set TAPELESS_DISABLE_JIT=1",
        )


def _as_expected() -> bool:
    if object.__basicsize__ != VALUE:
        return False
    x = np.zeros((2, 3, 5), np.float32)[:, ::2]
    axes = x.ndim * ctypes.c_int64
    values = (
        _read(x, TYPE, ctypes.c_void_p),
        _read(x, DATA, ctypes.c_void_p),
        _read(x, NDIM, ctypes.c_int),
        tuple(axes.from_address(_read(x, SHAPE, ctypes.c_void_p))),
        tuple(axes.from_address(_read(x, STRIDES, ctypes.c_void_p))),
        _read(x, DESCR, ctypes.c_void_p),
        _read(x, FLAGS, ctypes.c_int) & (IS_C | IS_F | IS_ALIGNED | IS_WRITEABLE),
        _read(x.dtype, TYPE_NUMBER, ctypes.c_int),
        _read(x.dtype, BYTE_ORDER, ctypes.c_char),
        *(_read(kind(1.5), VALUE, ctypes.c_double) for kind in (float, np.float64, complex)),
        _read(np.int64(7), VALUE, ctypes.c_int64),
    )
    data = x.__array_interface__["data"][0]
    return values == (
        *(id(np.ndarray), data, x.ndim, x.shape, x.strides, id(x.dtype)),
        *(IS_ALIGNED | IS_WRITEABLE, x.dtype.num, x.dtype.byteorder.encode()),
        *(1.5, 1.5, 1.5, 7),
    )


def _read(x: Any, offset: int, kind: Any) -> Any:
    return kind.from_address(id(x) + offset).value
