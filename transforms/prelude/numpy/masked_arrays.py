"""Implements masked arrays that a function makes: data, and which elements are left out.

What is not here is refused: nobody reads the data behind a mask by mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain code: a staged run enters it

TINY = float(np.finfo(float).tiny)
WAY_OUT = "keep the data and the mask as two arrays, and leave out elements with np.where"


class MaskedArray:
    """The methods of `np.ma.MaskedArray` that have a rule; `masked` is None where nothing is."""

    __array_ufunc__ = None  # operators of plain arrays leave it to those of this class

    def __init__(self, elements: Any, masked: Any) -> None:
        self.elements, self.masked = elements, masked

    @property
    def data(self) -> Any:
        return self.elements

    @property
    def mask(self) -> Any:
        return np.ma.nomask if self.masked is None else self.masked

    @property
    def shape(self) -> Any:
        return self.elements.shape

    @property
    def ndim(self) -> Any:
        return self.elements.ndim

    @property
    def size(self) -> Any:
        return self.elements.size

    @property
    def dtype(self) -> Any:
        return self.elements.dtype

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's)
        return MaskedArray(self.elements.T, None if self.masked is None else self.masked.T)

    @property
    def real(self) -> Any:
        return MaskedArray(self.elements.real, self.masked)

    @property
    def imag(self) -> Any:
        return MaskedArray(self.elements.imag, self.masked)

    def __len__(self) -> Any:
        return len(self.elements)

    def filled(self, fill_value: Any = None) -> Any:
        if self.masked is None:
            return self.elements
        value = np.ma.default_fill_value(self.dtype) if fill_value is None else fill_value
        return np.where(self.masked, np.asarray(value).astype(self.dtype), self.elements)

    def copy(self) -> Any:
        return array(self, copy=True)

    def count(self, axis: Any = None, keepdims: Any = False) -> Any:
        return np.sum(~getmaskarray(self), axis=axis, keepdims=keepdims)

    def sum(self, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
        if self.masked is None:
            return _of_reduction(self.elements.sum(axis, dtype, keepdims=keepdims), None)
        total = self.filled(0).sum(axis, dtype, keepdims=keepdims)
        return _of_reduction(total, self.masked.all(axis, keepdims=keepdims))

    def mean(self, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
        if self.masked is None:
            return _of_reduction(self.elements.mean(axis, dtype, keepdims=keepdims), None)
        total = self.sum(axis, dtype, keepdims=keepdims)
        return total * 1.0 / self.count(axis, keepdims)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ma.MaskedArray, name):
            raise AttributeError(f"'MaskedArray' object has no attribute '{name}'")
        raise UnsupportedError(f".{name} of a masked array has no rule", WAY_OUT)

    def __add__(self, other: Any) -> Any:
        return _binary(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self)

    def __pow__(self, other: Any) -> Any:
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self)

    def __neg__(self) -> Any:
        return _elementwise(np.negative)(self)

    def __abs__(self) -> Any:
        return _elementwise(np.absolute)(self)


def _refuse_method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        raise UnsupportedError(f"{name} of a masked array has no rule", WAY_OUT)

    return method


OTHERS: tuple[str, ...] = (
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "matmul",
    "rmatmul",
    "and",
    "or",
    "xor",
)
OTHERS += ("iadd", "isub", "imul", "itruediv", "ipow", "invert", "getitem", "setitem", "iter")
OTHERS += ("lt", "le", "gt", "ge", "eq", "ne", "bool", "float", "int", "contains", "array")
for _name in OTHERS:
    setattr(MaskedArray, f"__{_name}__", _refuse_method(f"__{_name}__"))
MaskedArray.__hash__ = None  # type: ignore[assignment]  # arrays change


def _of_reduction(result: Any, masked: Any) -> Any:
    """An array, or a number; none where every element is left out."""
    if np.ndim(result):
        return MaskedArray(result, masked)
    if masked is not None and masked:
        raise ValueError("every element of a masked array is left out")
    return result


def getdata(a: Any, subok: bool = True) -> Any:
    return a.elements if isinstance(a, MaskedArray) else np.asarray(a)


def getmask(a: Any) -> Any:
    return a.mask if isinstance(a, MaskedArray) else np.ma.nomask


def getmaskarray(arr: Any) -> Any:
    """The mask, also where nothing is left out."""
    masked = arr.masked if isinstance(arr, MaskedArray) else None
    return np.zeros(np.shape(getdata(arr)), bool) if masked is None else masked


def filled(a: Any, fill_value: Any = None) -> Any:
    return a.filled(fill_value) if isinstance(a, MaskedArray) else a


def _join_masks(a: Any, b: Any) -> Any:
    """What is left out of one of two operands; None for nothing."""
    masks = [m.masked for m in (a, b) if isinstance(m, MaskedArray) and m.masked is not None]
    if not masks:
        return None
    return masks[0] if len(masks) == 1 else np.logical_or(masks[0], masks[1])


def _restore_left_out(result: Any, masked: Any, a: Any) -> Any:
    """A result with the data of the first operand where it is left out."""
    masked = np.broadcast_to(masked, np.shape(result))
    before = getdata(a).astype(result.dtype)
    return MaskedArray(np.where(masked, before, result), masked)


def _binary(ufunc: Any, a: Any, b: Any) -> Any:
    """The ufunc of the data, where nothing is left out. Python's numbers count as arrays without
    axes, unlike beside plain arrays: float32 times 2.0 is float64."""
    result, masked = ufunc(getdata(a), getdata(b)), _join_masks(a, b)
    return MaskedArray(result, None) if masked is None else _restore_left_out(result, masked, a)


def _quotient(a: Any, b: Any) -> Any:
    """a / b; where b is zero beside a, the quotient is left out."""
    x, y = getdata(a), getdata(b)
    outside = np.absolute(x) * TINY >= np.absolute(y)
    masked = _join_masks(a, b)
    masked = outside if masked is None else np.logical_or(masked, outside)
    result = x / np.where(outside, 1, y)
    return _restore_left_out(result, np.logical_or(masked, ~np.isfinite(result)), a)


def _power(a: Any, b: Any) -> Any:
    """a ** b; powers that are not finite are left out."""
    result, masked = getdata(a) ** getdata(b), _join_masks(a, b)
    if masked is not None:
        result = _restore_left_out(result, masked, a).elements
    if result.dtype.kind not in "fc":
        return MaskedArray(result, masked)
    invalid = ~np.isfinite(result)
    result = np.where(invalid, np.ma.default_fill_value(result.dtype), result)
    return MaskedArray(result, invalid if masked is None else np.logical_or(masked, invalid))


def _elementwise(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """A function of every element, which is defined for every number."""

    def function(x: Any) -> Any:
        return MaskedArray(ufunc(x.elements), x.masked)

    return function


def array(
    data: Any, dtype: Any = None, copy: bool = False, order: Any = None, mask: Any = np.ma.nomask
) -> Any:
    """A masked array of data and a mask."""
    elements = np.array(getdata(data), dtype=dtype) if copy else np.asarray(getdata(data), dtype)
    inner = data.masked if isinstance(data, MaskedArray) else None
    if mask is np.ma.nomask:
        return MaskedArray(elements, inner)
    outer = np.asarray(mask).astype(bool)
    if np.ndim(outer) == 0:
        outer = np.broadcast_to(outer, elements.shape).copy()
    outer = np.reshape(outer, elements.shape)
    return MaskedArray(elements, outer if inner is None else np.logical_or(inner, outer))


def masked_array(data: Any, mask: Any = np.ma.nomask, dtype: Any = None, copy: bool = False) -> Any:
    """The class `np.ma.MaskedArray`, called."""
    return array(data, dtype, copy, mask=mask)


def asarray(a: Any, dtype: Any = None, order: Any = None) -> Any:
    return array(a, dtype)


def masked_where(condition: Any, a: Any, copy: bool = True) -> Any:
    return array(a, copy=copy, mask=np.broadcast_to(condition, np.shape(getdata(a))))


def masked_invalid(a: Any, copy: bool = True) -> Any:
    return array(a, copy=copy, mask=~np.isfinite(getdata(a)))


def sum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return asarray(a).sum(axis, dtype, keepdims=keepdims)


def mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    return asarray(a).mean(axis, dtype, keepdims=keepdims)


def dot(a: Any, b: Any) -> Any:
    """np.dot, which looks at no mask."""
    if _join_masks(a, b) is not None:
        raise UnsupportedError(
            "np.dot of a masked array has no rule: it loses the mask", "use m.filled(0)"
        )
    return _of_reduction(np.dot(getdata(a), getdata(b)), None)


#: What takes plain arrays, too.
NUMPY: dict[Any, Any] = {
    np.ma.array: array,
    np.ma.masked_array: masked_array,
    np.ma.asarray: asarray,
    np.ma.asanyarray: asarray,
    np.ma.masked_where: masked_where,
    np.ma.masked_invalid: masked_invalid,
    np.ma.getdata: getdata,
    np.ma.getmask: getmask,
    np.ma.getmaskarray: getmaskarray,
    np.ma.filled: filled,
}
EVERYWHERE: tuple[np.ufunc, ...] = (
    np.sin,
    np.cos,
    np.exp,
    np.arctan,
    np.tanh,
    np.sinh,
    np.cosh,
    np.negative,
)
EVERYWHERE += (np.absolute, np.square, np.floor, np.ceil, np.sign)
#: What a function makes of masked arrays.
OF_MASKED: dict[Any, Any] = {
    **NUMPY,
    **{ufunc: _elementwise(ufunc) for ufunc in EVERYWHERE},
    np.ma.sum: sum,
    np.ma.mean: mean,
    np.dot: dot,
    np.sum: sum,
    np.mean: mean,
    np.real: lambda a: a.real,
    np.imag: lambda a: a.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
}
