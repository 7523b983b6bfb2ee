"""Stages Python's operators on symbols: operations of NumPy's, and what Python adds to them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.frontend.arrays import promotions
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.linalg import products
from tapeless.transforms.ops.primitives import (
    arithmetic,
    comparisons_and_rounding,
    elementwise,
    shapes,
)
from tapeless.transforms.ops.primitives.constant_folding import is_number


class Operators(Value):
    """A value with Python's operators, which apply operations to it."""

    __slots__ = ()

    def apply_rule(self, rule: Any, *args: Any) -> Any:
        """What a rule makes of values."""
        raise NotImplementedError


def _operand(value: Any) -> bool:
    return isinstance(value, (Value, int, float, complex, np.generic, np.ndarray, bool))


def _is_range(value: Any) -> bool:
    return isinstance(value, range) or own_attribute(value, "is_range") is True


def following(result: Any, *sources: Any) -> Any:
    """The result of an operator, which is of the kind of the arrays that it was made of."""
    new = trace().functional and isinstance(result, Value) and result.cell is not None
    if new and any(isinstance(s, Value) and s.functional for s in sources):
        result.cell.functional = True
    return result


def _binary(op: Any, swap: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (list, tuple)) or (_is_range(other) and not self.type.weak):
            if self.type.weak and self.type.dtype.kind == "i" and op is arithmetic.mul:
                return other * self.__index__()
            if self.type.weak and not self.mutable:
                return NotImplemented  # Python's numbers are no arrays
            other = self.apply_rule(FUNCTIONS[np.asarray], other)
        elif not _operand(other):
            return NotImplemented
        a, b = (other, self) if swap else (self, other)
        promotions.check(op.name, (a, b), op is not products.matmul)
        result = self.apply_rule(_scalar_power if op is elementwise.power else op, a, b)
        return following(result, self, other)

    return method


def _comparison(name: str, op: Any) -> Any:
    """What of axis lengths is certain for all that the program is made for, is known while staging:
    no length that a program calls n is 0 or 1."""
    compare = _binary(op, False)

    def method(self: Any, other: Any) -> Any:
        if self.type.weak and isinstance(other, (list, tuple)):
            return NotImplemented  # Python's numbers are no arrays
        a, b = _length(self), _length(other)
        comparison = None if a is None or b is None else dims.compare(name, a, b)
        return compare(self, other) if comparison is None else comparison

    return method


def _length(value: Any) -> dims.Size | None:
    if isinstance(value, Value):
        scalar = not value.type.shape and value.type.dtype.kind == "i"
        return builder.axis_length(value.value()) if scalar else None
    return value if type(value) is int else None


def _scalar_power(a: Any, b: Any) -> Atom:
    """Python's int ** int is a float for negative exponents: the sign must be known. In programs
    that call `tapeless.numpy` it is an integer, as JAX's, and negative exponents are refused."""
    a, b = atom(a), atom(b)
    if (
        a.type.weak
        and b.type.weak
        and a.type.dtype.kind == b.type.dtype.kind == "i"
        and isinstance(b, Var)
    ):
        if trace().functional:
            a, b = (shapes.cast(x, dtype=np.dtype(int)) for x in (a, b))
        else:
            b = atom(builder.static(b, "the type of int ** int depends on the exponent"))
    if (
        isinstance(b, Literal)
        and b.type.weak
        and b.type.dtype.kind == "i"
        and b.value < 0
        and a.type.dtype.kind in "iu"
    ):
        if not a.type.weak:
            raise ValueError("Integers to negative integer powers are not allowed.")
        b = atom(float(b.value))
    if a.type.dtype.kind == "b" and is_number(b, 2) and b.type.dtype.kind == "i":
        return elementwise.square(a)  # type: ignore[no-any-return]
    return elementwise.power(a, b)  # type: ignore[no-any-return]


def _unary(op: Any) -> Any:
    return lambda self: following(self.apply_rule(op, self), self)


def _inplace(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        result = getattr(operator, name)(self, other)
        if trace().functional and self.functional:
            return result
        if self.mutable:
            return store_into(self, result)
        if self.type.shape:  # a part that was picked: it is stored back
            check_in_place(result, self.dtype)
        return result

    return method


def store_into(target: Any, result: Any) -> Any:
    """target op= ...: NumPy casts to the target's dtype if that is of the same kind."""
    check_in_place(result, target.dtype)
    target[...] = result
    return target


def check_in_place(result: Any, wanted: np.dtype[Any]) -> None:
    """A TypeError where an array of the wanted dtype does not take this in place."""
    dtype = (result if isinstance(result, Value) else atom(result)).type.dtype
    if not np.can_cast(dtype, wanted, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc output from {dtype!r} to {wanted!r} with casting rule 'same_kind'"
        )


_OPERATORS = {
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "truediv": arithmetic.truediv,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.mod,
    "pow": elementwise.power,
    "matmul": products.matmul,
    "and": comparisons_and_rounding.bitwise_and,
    "or": comparisons_and_rounding.bitwise_or,
    "xor": comparisons_and_rounding.bitwise_xor,
    "lshift": comparisons_and_rounding.left_shift,
    "rshift": comparisons_and_rounding.right_shift,
}
for _name, _op in _OPERATORS.items():
    setattr(Operators, f"__{_name}__", _binary(_op, False))
    setattr(Operators, f"__r{_name}__", _binary(_op, True))
    setattr(Operators, f"__i{_name}__", _inplace(_name + ("_" if _name in ("and", "or") else "")))
for _name, _op in {
    "lt": comparisons_and_rounding.less,
    "le": comparisons_and_rounding.less_equal,
    "gt": comparisons_and_rounding.greater,
    "ge": comparisons_and_rounding.greater_equal,
    "eq": comparisons_and_rounding.equal,
    "ne": comparisons_and_rounding.not_equal,
}.items():
    setattr(Operators, f"__{_name}__", _comparison(_name, _op))
for _name, _op in {
    "neg": arithmetic.neg,
    "pos": arithmetic.positive,
    "abs": elementwise.absolute,
    "invert": comparisons_and_rounding.invert,
}.items():
    setattr(Operators, f"__{_name}__", _unary(_op))
