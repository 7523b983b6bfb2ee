"""Tells Python's numbers from NumPy's: which of the two a scalar is decides dtypes.

np.add(x, x) * w      of a Python float x is of float64, whatever w is;      (x + x) * w is not
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.operators import Operators
from tapeless.transforms.ops.primitives.shapes import cast

KINDS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
#: Functions of which Python's operators raise errors for some numbers, and NumPy's do not.
RAISING = frozenset(
    (np.divide, np.floor_divide, np.remainder, np.divmod, np.power, np.left_shift, np.right_shift)
)
OF_PYTHON = (np.size, np.ndim, np.shape, np.real, np.imag)  # give numbers of Python's


def python_number(x: Any) -> Any:
    """A scalar as a number of Python's, which adapts to arrays."""
    if not isinstance(x, Operators):
        return x.item() if isinstance(x, np.generic) else x
    if x.type.weak or not _fits_python(x.type.dtype):
        return x
    dtype = dtype_in_python(x.type.dtype)
    return x.apply_rule(functools.partial(cast, dtype=dtype, python=True), x)


def dtype_in_python(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of Python's numbers for those of a dtype of NumPy's."""
    return np.dtype(KINDS[dtype.kind]) if _fits_python(dtype) else dtype


def _fits_python(dtype: np.dtype[Any]) -> bool:
    """Whether Python's numbers, of 64 bits each, hold those of a dtype: not unsigned ones of 64
    bits, and not long doubles."""
    kind = KINDS.get(dtype.kind)
    return kind is not None and np.can_cast(dtype, kind)


def call_with_numpy_numbers(func: Any, call: Callable[..., Any], *args: Any) -> Any:
    """What `call` gives for the arguments of a function of NumPy: numbers of NumPy's."""
    if func is np.where:
        args = (args[0], *map(_numpy_truth, args[1:]))
    if func is np.where and all(isinstance(a, (int, float)) or _is_python(a) for a in args[1:]):
        args = (args[0], *map(_numpy_number, args[1:]))
    if isinstance(func, np.ufunc):
        args = tuple(map(_numpy_truth, args))
    if isinstance(func, np.ufunc) and func in RAISING and all(map(_is_number_of_python, args)):
        return call(*_with_numpy_number(args))  # it divides by zero as NumPy does
    result = call(*args)
    parts = result if isinstance(result, tuple) else (result,)
    if not any(map(_is_python, parts)) or func in OF_PYTHON or not _of_numpy(func):
        return _numpy_truth(result) if isinstance(func, np.ufunc) else result
    if isinstance(func, np.ufunc):
        return call(*_with_numpy_number(args))
    return tuple(map(_numpy_number, result)) if isinstance(result, tuple) else _numpy_number(result)


def _numpy_truth(x: Any) -> Any:
    """A truth value of Python's, which its operators take for an integer, as one of NumPy's."""
    if isinstance(x, Operators) and x.type.weak and x.type.dtype.kind == "b":
        return x.apply_rule(functools.partial(cast, dtype=x.type.dtype), x)
    return np.bool_(x) if isinstance(x, bool) else x


def _of_numpy(func: Any) -> bool:
    module = getattr(func, "__module__", None) or "numpy"  # ufuncs have none
    return module.startswith(("numpy", "scipy"))


def _is_python(x: Any) -> bool:
    return isinstance(x, Operators) and x.type.weak and x.type.dtype.kind in "ifc"


def is_python_complex(x: Any) -> bool:
    """Whether a scalar is a complex number of Python's, which is not cast to real ones."""
    return _is_python(x) and x.type.dtype.kind == "c"


def _is_number_of_python(x: Any) -> bool:
    return type(x) in (int, float) or _is_python(x)


def _with_numpy_number(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with the first of Python's symbols as a number of NumPy's."""
    k = next((k for k, a in enumerate(args) if _is_python(a)), None)
    return args if k is None else (*args[:k], _numpy_number(args[k]), *args[k + 1 :])


def _numpy_number(x: Any) -> Any:
    if type(x) in (int, float):
        return np.asarray(x)[()]
    return x.apply_rule(functools.partial(cast, dtype=x.type.dtype), x) if _is_python(x) else x
