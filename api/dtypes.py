"""Provides the names of jax.dtypes: what NumPy says of dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import finfo as finfo
from numpy import iinfo as iinfo
from numpy import issubdtype as issubdtype

from tapeless.missing import missing as _missing
from tapeless.transforms.errors import TypePromotionError as TypePromotionError

#: JAX's dtype of cotangents of integers; here they are floats that are 0.
float0 = np.dtype([("float0", np.void, 0)])


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype[Any]:
    """The dtype itself: none is replaced by a shorter one.

    >>> canonicalize_dtype(float)
    dtype('float64')
    """
    canonical: np.dtype[Any] = np.dtype(dtype)
    return canonical


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype of what is computed from arrays, numbers and dtypes, by NumPy's rules (NEP 50).

    return_weak_type_flag  whether (dtype, whether all are Python's numbers) is returned

    >>> result_type(np.float32, 1.0)
    dtype('float32')
    """
    dtype = np.result_type(*args)
    weak = all(type(x) in (bool, int, float, complex) for x in args)
    return (dtype, weak) if return_weak_type_flag else dtype


def scalar_type_of(x: Any) -> type:
    """The Python type of the numbers in an array, of a number or of a dtype.

    Raises TypeError for what has none.

    >>> scalar_type_of(np.ones(2, np.float32))
    <class 'float'>
    """
    is_type = isinstance(x, (str, np.dtype, type))
    kind = np.dtype(x).kind if is_type else np.asarray(x).dtype.kind
    python_type = {"b": bool, "i": int, "u": int, "f": float, "c": complex}.get(kind)
    if python_type is None:
        raise TypeError(f"there is no Python type of the numbers in {x!r}")
    return python_type


def itemsize_bits(dtype: Any) -> int:
    """How many bits an element has.

    >>> itemsize_bits("float32")
    32
    """
    return 8 * int(np.dtype(dtype).itemsize)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
