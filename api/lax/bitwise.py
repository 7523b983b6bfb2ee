"""Computes on the bits of integers, element by element: counts, shifts, high halves of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_kind, checked_operands

__staged__ = True  # plain NumPy code: a staged run enters it


def _unsigned_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def _signed_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(f"i{np.dtype(dtype).itemsize}")


def population_count(x: Any) -> Any:
    """How many bits are set, in the dtype of x.

    x  integer array

    Sums of neighbouring bits, then of pairs, and so on: H. Warren, "Hacker's Delight", chapter 5.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.population_count(np.array([7, -1]))
    array([ 3, 64])
    """
    x = checked_kind("population_count", x, "iu")
    word = _unsigned_dtype(x.dtype).type
    every = 2 ** (8 * x.dtype.itemsize) - 1
    n = x.astype(word)
    n = n - ((n >> word(1)) & word(every // 3))
    n = (n & word(every // 5)) + ((n >> word(2)) & word(every // 5))
    n = (n + (n >> word(4))) & word(every // 17)
    return ((n * word(every // 255)) >> word(8 * x.dtype.itemsize - 8)).astype(x.dtype)


def clz(x: Any) -> Any:
    """How many bits above the highest one that is set are 0, in the dtype of x.

    x  integer array

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.clz(np.array([1, 256], np.int32))
    array([31, 23], dtype=int32)
    """
    x = checked_kind("clz", x, "iu")
    word = _unsigned_dtype(x.dtype).type
    n = x.astype(word)
    shift = 1
    while shift < 8 * x.dtype.itemsize:
        n = n | (n >> word(shift))
        shift *= 2
    return (8 * x.dtype.itemsize - population_count(n)).astype(x.dtype)


def shift_left(x: Any, y: Any) -> Any:
    """The bits of x moved up by y places; 0 where y is negative or as large as the width.

    x, y  integer arrays of one dtype

    >>> from tapeless import lax
    >>> int(lax.shift_left(1, 3))
    8
    """
    a, b = checked_operands("shift_left", "iu", x, y)
    width = 8 * a.dtype.itemsize
    n = a.astype(_unsigned_dtype(a.dtype)) << _places(b, width - 1)
    return np.where(_is_inside(b, width), n, np.zeros_like(n)).astype(a.dtype)


def shift_right_logical(x: Any, y: Any) -> Any:
    """The bits of x moved down by y places, zeros moving in; 0 where y is too large or negative.

    x, y  integer arrays of one dtype

    >>> import numpy as np
    >>> from tapeless import lax
    >>> int(lax.shift_right_logical(np.int8(-1), np.int8(1)))
    127
    """
    a, b = checked_operands("shift_right_logical", "iu", x, y)
    width = 8 * a.dtype.itemsize
    n = a.astype(_unsigned_dtype(a.dtype)) >> _places(b, width - 1)
    return np.where(_is_inside(b, width), n, np.zeros_like(n)).astype(a.dtype)


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """The bits of x moved down by y places, copies of the highest moving in.

    x, y  integer arrays of one dtype

    >>> from tapeless import lax
    >>> int(lax.shift_right_arithmetic(-8, 1))
    -4
    """
    a, b = checked_operands("shift_right_arithmetic", "iu", x, y)
    width = 8 * a.dtype.itemsize
    n = a.astype(_signed_dtype(a.dtype))
    places = np.where(_is_inside(b, width), b, width - 1).astype(n.dtype)
    return (n >> places).astype(a.dtype)


def _places(y: Any, most: int) -> Any:
    return np.clip(y, 0, most).astype(_unsigned_dtype(y.dtype))


def _is_inside(y: Any, width: int) -> Any:
    return (y >= 0) & (y < width)


def mulhi(x: Any, y: Any, /) -> Any:
    """The upper half of the bits of a product.

    x, y  integer arrays of one dtype

    By halves of the words: H. Warren, "Hacker's Delight", chapter 8.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> int(lax.mulhi(np.int32(2**30), np.int32(8)))
    2
    """
    a, b = checked_operands("mulhi", "iu", x, y)
    half = 4 * a.dtype.itemsize
    kind, unsigned = a.dtype.type, _unsigned_dtype(a.dtype)
    mask, places = kind(2**half - 1), kind(half)
    a0, a1, b0, b1 = a & mask, a >> places, b & mask, b >> places
    carried = (a0 * b0).astype(unsigned) >> unsigned.type(half)
    middle = a1 * b0 + carried.astype(a.dtype)
    low = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> places) + (low >> places)
