"""Stages int, float, bool and complex, and the functions that round numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, wrap
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.ops.numpy.rounded_size_quotients import rounded_size
from tapeless.transforms.ops.primitives import comparisons_and_rounding
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.prelude.numpy.python_numbers import rounded_integer


def abs_(hooks: Any, x: Any) -> Any:
    return special_methods.call_special("__abs__", abs, x)


def _parts_of_complex(args: tuple[Any, ...], named: dict[str, Any]) -> Iterator[Any]:
    """The parts of complex(real=x, imag=y) that are named, by position."""
    parts = ("real", "imag")[len(args) :]
    for name in named.keys() - set(parts):
        raise TypeError(f"complex() got an unexpected keyword argument '{name}'")
    yield from (named.get(part, 0.0) for part in parts if named)


def number_constructor(kind: type) -> Any:
    def run(hooks: Any, /, *args: Any, **named: Any) -> Any:
        if kind is complex:
            args, named = (*args, *_parts_of_complex(args, named)), {}
        if named:  # int("ff", base=16)
            return kind(*args, **named)
        x, *more = args or (0,)
        x = (
            special_methods.truth_operand(x)
            if kind is bool
            else special_methods.call_special(f"__{kind.__name__}__", _identity, x)
        )
        if not isinstance(x, Symbol):
            return x + 1j * python_number(more[0]) if has_symbols(more) else kind(x, *more)
        if kind is bool:
            return python_number(truth(x))
        value = _single_element(x, kind) if x.type.shape else x.value()
        if kind is not complex and value.type.weak and value.type.dtype.kind == "c":
            return kind(1j)  # which is an error; of NumPy's numbers it is the real part
        if more:
            return number_constructor(complex)(hooks, x) + 1j * python_number(more[0])
        if kind is int and value.type.dtype.kind == "f":
            size = rounded_size(comparisons_and_rounding.trunc, value)
            if size is not None:
                return wrap(atom(size))
            value = comparisons_and_rounding.trunc(value)
        target = np.dtype(kind)
        if value.type.dtype != target or not value.type.weak:
            value = cast(value, dtype=target, python=True)  # it adapts to arrays, as Python's do
        return wrap(value)

    return run


def _single_element(x: Symbol, kind: type) -> Any:
    """The element of an array of one; of others NumPy says itself that there are more."""
    try:
        return x.item().value()
    except ShapeError:
        kind(np.zeros(2))
        raise


def _identity(value: Any) -> Any:
    return value


def round_(hooks: Any, number: Any, ndigits: Any = None) -> Any:
    x, digits = number, ndigits
    if not isinstance(x, Symbol):
        return special_methods.call_special("__round__", round, x, digits)
    if x.type.shape:
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if x.type.dtype.kind == "b" and not x.type.weak:
        raise TypeError("type numpy.bool doesn't define __round__ method")
    if digits is None:
        whole = x.value()
        if x.dtype.kind not in "iu":  # floats do not hold all integers
            whole = comparisons_and_rounding.rint(whole)
        return wrap(cast(whole, dtype=np.dtype(int), python=True))
    digits = operator.index(digits)
    if x.dtype.kind in "iu":
        return hooks.call(rounded_integer, x, digits)
    real: Any = x
    scale = 10.0 ** abs(digits)
    scaled = real * scale if digits > 0 else real / scale
    many = (
        apply(comparisons_and_rounding.rint, scaled) / scale
        if digits > 0
        else apply(comparisons_and_rounding.rint, scaled)
    )
    rounded = many if digits > 0 else many * scale
    return python_number(rounded) if x.type.weak else rounded


def pow_(hooks: Any, base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return special_methods.binary("Pow", base, exp)
    return pow(*(operator.index(v) if isinstance(v, Symbol) else v for v in (base, exp, mod)))


def round_to_integer(kind: Any) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        if not isinstance(x, Symbol):
            return _FLOORS[kind](x)
        if x.type.shape:
            return _FLOORS[kind](np.zeros(2))  # which says so itself
        size = rounded_size(kind, x.value())
        if size is not None:
            return wrap(atom(size))
        return wrap(cast(kind(x.value()), dtype=np.dtype(int), python=True))

    return run


_FLOORS: dict[Any, Callable[[Any], Any]] = {
    comparisons_and_rounding.floor: math.floor,
    comparisons_and_rounding.ceil: math.ceil,
    comparisons_and_rounding.trunc: math.trunc,
}
