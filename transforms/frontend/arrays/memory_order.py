"""Tells in which order functions of NumPy read the elements of an array, and lay out those of a new
one.

m.T.ravel("K")      is      m.ravel(): the order in which the elements of `m` lie in memory
"""

from __future__ import annotations

import functools
import inspect
from itertools import pairwise
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import static
from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.memory_layout import (
    Layouts,
    Strides,
    in_order,
    magnitude,
    not_less,
    real_axes,
)
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS, METHODS

READERS = frozenset(
    {np.ravel, np.reshape, METHODS["ravel"], METHODS["reshape"], METHODS["flatten"]}
)
_BY_ROWS: list[Any] = [
    *(np.zeros, np.ones, np.empty, np.full, np.select, np.choose, METHODS["copy"]),
    *(np.indices, np.meshgrid),
]
_LIKE: list[Any] = [np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.gradient]
_COPIES: list[Any] = [np.array, np.copy, np.astype, METHODS["astype"]]
#: Functions that make an array of their own, and the order in which they do by themselves.
MAKERS = dict.fromkeys(_BY_ROWS, "C") | dict.fromkeys(_LIKE + _COPIES, "K")
#: Functions that copy an array only if it is in another order, and that order.
ARRANGERS = {
    np.ascontiguousarray: "C",
    np.asfortranarray: "F",
    np.asarray: "K",
    np.asanyarray: "K",
    np.require: "K",
}


def with_known_order(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call with an order that is known: "C", "F", or the axes, the slowest first."""
    if not func.__hash__:
        return func, args, kwargs
    if func in READERS:
        return func, *_reading(func, args, kwargs)
    if func in ARRANGERS and args:
        return _arranging(func, args, kwargs)
    return func, args, kwargs


def _reading(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    order = _argument(func, "order", args, kwargs)
    if order not in ("K", "A") or (order == "K" and "shape" in _names(func)):
        return args, kwargs
    place = _names(func).index("order")
    if "order" not in kwargs and len(args) > place:
        args = args[:place]
    read_order = _axes_in_memory(args[0]) if order == "K" else _contiguous(args[0]) or "C"
    return args, {**kwargs, "order": read_order}


def _arranging(func: Any, args: Any, kwargs: Any) -> Any:
    """A copy of what is in another order; what is in this order is a view of itself."""
    wanted, a = _wanted_order(func, args, kwargs), args[0]
    matters = wanted in ("C", "F") and isinstance(a, Value) and a.type.ndim > 1
    lies = is_laid_out(a, wanted) if matters else None
    if lies is None:
        return func, args, kwargs
    options = {} if lies else {"order": wanted}
    dtype = _argument(func, "dtype", args, kwargs)
    return np.asarray if lies else np.array, (a,), {"dtype": dtype, **options}


def _names(func: Any) -> list[str]:
    return list(_parameters(FUNCTIONS.get(func, func)))


@functools.cache
def _parameters(rule: Any) -> Any:
    return inspect.signature(rule).parameters


def _argument(func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """What is given for an argument, by its place or by name."""
    names = _names(func)
    place = names.index(name) if name in names else len(args)
    value = args[place] if len(args) > place else kwargs.get(name)
    return static(value, f"{name}= must be known") if isinstance(value, Value) else value


def _wanted_order(func: Any, args: Any, kwargs: Any) -> str:
    """The order that an array is to have; "K" for whichever it has."""
    order = _argument(func, "order", args, kwargs) or ARRANGERS[func]
    for name in _argument(func, "requirements", args, kwargs) or ():
        order = name[0] if name[0] in "CF" else order
    return str(order)


# -- the order of what there is


def _strides(a: Any) -> Strides | None:
    """How many elements apart the neighbours along each axis are; None if none can say."""
    if not isinstance(a, Value):
        a = np.asarray(a)
        return tuple(n // a.itemsize for n in a.strides)
    layouts = Layouts()
    strides = layouts.strides_of(a.value())
    trace().orders.relied_on |= layouts.used
    return strides


def element_strides(a: Any) -> Strides:
    """How many elements apart the neighbours along each axis lie; it must be known."""
    strides = _strides(a)
    if strides is None:
        raise UnsupportedError(
            "the strides of an array whose order in memory is not known",
            "take a copy first: x.copy() is in C order",
        )
    return strides


def _shape(a: Any) -> Any:
    return a.type.shape if isinstance(a, Value) else np.shape(a)


def is_laid_out(a: Any, order: str) -> bool | None:
    """Whether the elements lie in this order, without gaps; None if that is not known."""
    shape, strides = _shape(a), _strides(a)
    if strides is None:
        return None
    turned = (shape, strides) if order == "C" else (shape[::-1], strides[::-1])
    return in_order(*turned)


def _contiguous(a: Any) -> str:
    """ "C" or "F" for an array whose elements lie in this order, else nothing."""
    if len(_shape(a)) < 2:
        return "C"
    for order in ("C", "F"):
        verdict = is_laid_out(a, order)
        if verdict is None:
            raise _unknown("A")
        if verdict:
            return order
    return ""


def _axes_in_memory(a: Any) -> tuple[int, ...]:
    """The axes of an array, those with the longest strides first."""
    shape = _shape(a)
    if len(shape) < 2:
        return tuple(range(len(shape)))
    strides = _strides(a)
    if strides is None:
        raise _unknown("K")
    axes = [k for k, (n, s) in enumerate(zip(shape, strides, strict=True)) if _is_long(n, s)]
    steps = {k: magnitude(strides[k]) for k in axes}
    if 0 in steps.values():
        raise _unknown("K")
    axes.sort(key=lambda k: trace().value(steps[k]) or 0, reverse=True)
    if not all(not_less(steps[k], steps[j]) for k, j in pairwise(axes)):
        raise _unknown("K")
    return (*(k for k in range(len(shape)) if k not in axes), *axes)


def _is_long(n: Any, stride: Any) -> bool:
    axes = real_axes((n,), (stride,))
    if axes is None:
        raise _unknown("K")
    return bool(axes)


def _unknown(order: str) -> UnsupportedError:
    return UnsupportedError(
        f"order='{order}' of an array whose order in memory is not known",
        "say order='C' or order='F', or take a copy first: x.copy() is in C order",
    )


# -- the order of what is made


def lay_out(func: Any, args: Any, kwargs: Any, array: Any) -> None:
    """Notes in which order NumPy lays out what one of `MAKERS` made."""
    if not func.__hash__ or (func not in MAKERS and func is not np.pad):
        return
    if func is np.meshgrid and not kwargs.get("copy", True):
        return
    if isinstance(array, (list, tuple)):
        for part in array:
            lay_out(func, args, kwargs, part)
    if not isinstance(array, Value) or array.type.ndim < 2:
        return
    if func is np.pad:
        if (order := _order_of_padded(args[0])) and isinstance(padded := array.value(), Var):
            trace().orders.chosen[padded] = order, None
        return
    order, like = _argument(func, "order", args, kwargs) or MAKERS[func], None
    if order in ("K", "A"):
        source = args[0] if args else None
        order = _contiguous(source) if isinstance(source, np.ndarray) else "C"
        like = source.value() if isinstance(source, Value) else None
    value = array.value()
    if isinstance(value, Var) and like is not value:
        trace().orders.chosen[value] = order, like


def _order_of_padded(a: Any) -> str:
    """The order of what `np.pad` gives; nothing if that is not known."""
    by_rows, by_columns = is_laid_out(a, "C"), is_laid_out(a, "F")
    if by_rows or (by_rows is False and by_columns is False):
        return "C"
    return "F" if by_rows is False and by_columns else ""
