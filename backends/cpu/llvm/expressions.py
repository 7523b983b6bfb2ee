"""Compiles expressions of a kernel to the instructions that compute them.

x[i] * 2.0      becomes      %1 = getelementptr double, ...; %2 = load ...; %3 = fmul double %2, 2.0
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.arithmetic import ArithmeticBuilder
from tapeless.backends.cpu.llvm.cheap_sides import is_cheap
from tapeless.backends.cpu.llvm.held_elements import key_of
from tapeless.backends.cpu.llvm.ir import values
from tapeless.backends.cpu.llvm.ir.complex_values import is_pair, make_complex, parts
from tapeless.backends.cpu.llvm.ir.ir_helpers import variable
from tapeless.backends.cpu.llvm.ir.values import (
    BIT,
    WORD,
    ArrayValue,
    LlvmUnsupportedError,
    Number,
    cast,
    constant,
    numbers,
    truth,
)
from tapeless.backends.cpu.llvm.math import overflow
from tapeless.backends.cpu.llvm.math.formula_language import intrinsic
from tapeless.backends.cpu.llvm.math.min_max import extreme
from tapeless.backends.cpu.llvm.subarrays import part
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import BOOL, INT

PARTS = ("real", "imag")


@dataclass(frozen=True)
class Variable:
    """A variable that holds a number: its dtype at a place, whether it is never negative, and how
    many bits it has then."""

    dtype: Any
    natural: bool = False
    bits: int = values.COUNTED


@dataclass(frozen=True, eq=False)
class Moving:
    """A variable that holds one array after another, which differ in where they are, and in how
    long they are along the first axis: places for that, and what they have in common."""

    data: Any
    length: Any
    like: ArrayValue


@dataclass(frozen=True, eq=False)
class HeldElement:
    """An element of an array that is in a variable for a while: the array, the index, where it is
    kept."""

    array: ArrayValue
    at: tuple[Number, ...]
    place: Any

    def load(self, builder: Any) -> Number:
        return Number(self.array.dtype, builder.load(self.place))

    def store(self, builder: Any, value: Number) -> None:
        builder.store(cast(builder, value, self.array.dtype).value, self.place)

    def fetch(self, builder: Any) -> None:
        """Gets the element from the array."""
        self.store(builder, values.load(builder, self.array, self.at))

    def put_back(self, builder: Any) -> None:
        """Stores the element to the array."""
        values.store(builder, self.array, self.at, self.load(builder))


class ExpressionBuilder:
    """Expressions in one function. `names` are what its variables hold at the current place."""

    def __init__(self, builder: Any, globals_: dict[str, Any], options: dict[str, Any]) -> None:
        self.builder, self.globals = builder, globals_
        flags = options.get("fastmath") or ()
        if flags and not isinstance(flags, set):
            raise LlvmUnsupportedError("fastmath of all kinds")
        model = options.get("error_model") == "numpy"
        self.arithmetic = ArithmeticBuilder(builder, tuple(sorted(flags)), model)
        self.names: dict[str, Any] = {}
        self.moving: set[str] = set()  # names that get other arrays in loops
        self.slots: dict[tuple[str, Any], Any] = {}
        self.ends: dict[str, Any] = {}  # what indices of open loops, from 0 on, are less than
        self.held: dict[str, HeldElement] = {}  # elements of arrays that a loop keeps in registers

    # -- variables

    def slot(self, name: str, dtype: Any) -> Any:
        """Where a variable is kept while it has a dtype."""
        key = (name, dtype)
        if key not in self.slots:
            self.slots[key] = variable(self.builder, values.register(dtype))
        return self.slots[key]

    def assign(self, name: str, value: Any) -> None:
        self.ends.pop(name, None)
        if isinstance(value, Number):
            self.builder.store(value.value, self.slot(name, value.dtype))
            value = Variable(value.dtype, value.natural, value.bits)
        elif name in self.moving and isinstance(value, ArrayValue):
            value = self.move(self.names.get(name), value)
        self.names[name] = value

    def move(self, before: Any, value: ArrayValue) -> Moving:
        """Puts an array to where a variable is kept."""
        held = before if isinstance(before, Moving) else None
        if held is None:
            data, length = (variable(self.builder, kind) for kind in (values.POINTER, WORD))
            held = Moving(data, length, value)
        self.builder.store(value.data, held.data)
        self.builder.store(value.shape[0].value, held.length)
        return held

    def variable(self, name: str) -> Any:
        held = self.names[name]
        if isinstance(held, Variable):
            value = self.builder.load(self.slot(name, held.dtype))
            return Number(held.dtype, value, natural=held.natural, bits=held.bits)
        if isinstance(held, Moving):
            data, length = (self.builder.load(place) for place in (held.data, held.length))
            first = Number(INT, length, natural=True)
            return replace(held.like, data=data, shape=(first, *held.like.shape[1:]))
        return held

    def static(self, e: ast.expr) -> Any:
        """What an expression means outside: a function, a dtype, a number of a module."""
        if isinstance(e, ast.Name) and e.id not in self.names:
            meaning = self.globals.get(e.id, getattr(builtins, e.id, None))
            if meaning is not None:
                return meaning
        if isinstance(e, ast.Attribute):
            owner = self.static(e.value)
            if isinstance(owner, ModuleType) and hasattr(owner, e.attr):
                return getattr(owner, e.attr)
        raise LlvmUnsupportedError(ast.unparse(e))

    # -- expressions

    def number(self, e: ast.expr) -> Number:
        return numbers(self.value(e))[0]

    def test(self, e: ast.expr) -> Any:
        return truth(self.builder, self.number(e))

    def value(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(value=bool() | int() | float() | complex() as x):
                return constant(x)
            case ast.Name(id=name) if name in self.names:
                return self.variable(name)
            case ast.Name() | ast.Attribute():
                return self.attribute(e)
            case ast.Tuple(elts=parts):
                return tuple(map(self.value, parts))
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic.binary(op, self.number(left), self.number(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.arithmetic.unary(op, self.number(operand))
            case ast.Compare() if (within := self.without_overflow(e)) is not None:
                return within
            case ast.Compare():
                pairs = [*zip(e.ops, e.comparators, strict=True)]
                return self.comparison(self.number(e.left), pairs)
            case ast.BoolOp(op=op, values=[first, *rest]):
                return self.and_or(isinstance(op, ast.And), self.number(first), rest)
            case ast.IfExp() if (extremum := self.nan_wins(e)) is not None:
                return extremum
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.if_expression(self.test(test), body, orelse)
            case ast.Subscript() if self.held and key_of(e) in self.held:
                return self.held[key_of(e)].load(self.builder)
            case ast.Subscript(value=owner, slice=index):
                return self.element(self.value(owner), index)
            case ast.Call():
                return self.call(e)
        raise LlvmUnsupportedError(type(e).__name__)

    def call(self, e: ast.Call) -> Any:
        raise NotImplementedError

    def attribute(self, e: ast.expr) -> Any:
        if isinstance(e, ast.Attribute):
            try:
                owner = self.value(e.value)
            except LlvmUnsupportedError:
                owner = None
            if isinstance(owner, ArrayValue):
                return self.of_array(owner, e.attr)
            if isinstance(owner, Number) and e.attr in PARTS:
                return values.parts(self.builder, owner)[PARTS.index(e.attr)]
        meaning = self.static(e)
        if isinstance(meaning, (bool, int, float, complex)) or type(meaning) in (
            np.float64,
            np.int64,
        ):
            return constant(meaning.item() if isinstance(meaning, np.generic) else meaning)
        if isinstance(meaning, type) and issubclass(meaning, np.generic):
            return np.dtype(meaning)
        raise LlvmUnsupportedError(ast.unparse(e))

    def of_array(self, x: ArrayValue, name: str) -> Any:
        match name:
            case "shape":
                return x.shape
            case "ndim":
                return constant(len(x.shape))
            case "dtype":
                return x.dtype
            case "size":
                total = constant(1)
                for n in x.shape:
                    total = self.arithmetic.binary(ast.Mult(), total, n)
                return total
            case "T":
                turned = {"C": "F", "F": "C", "A": "A"}[x.layout] if len(x.shape) > 1 else x.layout
                shape, strides = x.shape[::-1], x.strides[::-1]
                return ArrayValue(x.dtype, x.data, shape, strides, turned, x.aligned, x.readonly)
        raise LlvmUnsupportedError(name)

    def element(self, owner: Any, index: ast.expr) -> Any:
        if isinstance(owner, tuple):
            at = self.value(index)
            if not isinstance(at, Number) or at.dtype != INT or at.known is None:
                raise LlvmUnsupportedError("an item of a tuple that is not known")
            if not -len(owner) <= at.known < len(owner):
                raise LlvmUnsupportedError("an item that a tuple does not have")
            return owner[int(at.known)]
        if not isinstance(owner, ArrayValue):
            raise LlvmUnsupportedError("an item")
        axes = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(axes) < len(owner.shape) or any(isinstance(e, ast.Slice) for e in axes):
            return part(self.builder, owner, axes, self.number)
        return values.load(self.builder, owner, indices(self.value(index)))

    def comparison(self, left: Number, pairs: list[tuple[ast.cmpop, ast.expr]]) -> Number:
        (op, e), *rest = pairs
        right = self.number(e)
        flag = self.arithmetic.compare(op, left, right)
        return (
            self.short_circuit(True, flag, lambda: self.comparison(right, rest)) if rest else flag
        )

    # -- branches

    def and_or(self, both: bool, first: Number, rest: list[ast.expr]) -> Number:
        """`and` or `or` of flags; the rest is looked at only if the first does not decide."""
        if first.dtype != BOOL:
            raise LlvmUnsupportedError("and, or of what are no flags")
        if not rest:
            return first
        return self.short_circuit(
            both, first, lambda: self.and_or(both, self.number(rest[0]), rest[1:])
        )

    def short_circuit(self, both: bool, first: Number, rest: Callable[[], Number]) -> Number:
        """A flag, and or or another one that is computed only if the first does not decide."""
        builder, before = self.builder, self.builder.block
        go_on, after = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(first.value, *((go_on, after) if both else (after, go_on)))
        builder.position_at_end(go_on)
        second = rest()
        last = builder.block
        builder.branch(after)
        builder.position_at_end(after)
        return Number(BOOL, self.phi(BIT, [(BIT(not both), before), (second.value, last)]))

    def without_overflow(self, e: ast.Compare) -> Number | None:
        """Whether the result of two integers has 64 bits; None for other comparisons."""
        result = overflow.overflow_test(e)
        if result is None:
            return None
        name, *operands = result
        a, b = map(self.number, operands)
        if a.dtype != INT or b.dtype != INT:
            return None
        return Number(BOOL, overflow.fits(self.builder, name, a.value, b.value))

    def nan_wins(self, e: ast.IfExp) -> Number | None:
        """The larger or smaller of two floats of one dtype; None for other choices."""
        match = extreme(e)
        if match is None:
            return None
        name, *operands = match
        if not all(isinstance(a, (ast.Name, ast.Constant, ast.Subscript)) for a in operands):
            return None  # what raises is asked once
        a, b = map(self.number, operands)
        if a.dtype != b.dtype or a.dtype.kind != "f":
            return None
        return Number(a.dtype, intrinsic(self.builder, name, a.value, b.value))

    def if_expression(self, test: Any, body: ast.expr, orelse: ast.expr) -> Number:
        """One of two numbers. Where little is computed for them, and all that is read is there,
        both are: LLVM widens loops that have no branches, and reads pairs of numbers at once."""
        builder = self.builder
        if is_cheap((body, orelse), self.is_there):
            return self.choice(test, self.number(body), self.number(orelse))
        sides, after = [builder.append_basic_block() for _ in range(2)], None
        builder.cbranch(test, *sides)
        numbers, ends = [], []
        for block, e in zip(sides, (body, orelse), strict=True):
            builder.position_at_end(block)
            numbers.append(self.number(e))
            ends.append(builder.block)
        dtype = values.joined_dtype(*(x.dtype for x in numbers))
        after = builder.append_basic_block()
        edges = []
        for x, block in zip(numbers, ends, strict=True):
            builder.position_at_end(block)
            edges.append((cast(builder, x, dtype).value, builder.block))
            builder.branch(after)
        builder.position_at_end(after)
        natural = dtype == INT and all(x.natural for x in numbers)
        bits = max(x.bits for x in numbers)
        return Number(dtype, self.phi(values.register(dtype), edges), natural=natural, bits=bits)

    def choice(self, test: Any, x: Number, y: Number) -> Number:
        """One of two numbers that are computed."""
        dtype = values.joined_dtype(x.dtype, y.dtype)
        first, second = (cast(self.builder, v, dtype).value for v in (x, y))
        bits, natural = max(x.bits, y.bits), dtype == INT and x.natural and y.natural
        if not is_pair(first.type):
            chosen = self.builder.select(test, first, second)
            return Number(dtype, chosen, natural=natural, bits=bits)
        pairs = zip(parts(self.builder, first), parts(self.builder, second), strict=True)
        chosen = make_complex(self.builder, *(self.builder.select(test, *pair) for pair in pairs))
        return Number(dtype, chosen)

    def is_there(self, e: ast.Subscript) -> bool:
        """Whether an array has an element, whatever is tested before: each index is that of a loop
        over the axis."""
        match e:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                owner = self.names.get(name)
            case _:
                return False
        axes = index.elts if isinstance(index, ast.Tuple) else [index]
        if not isinstance(owner, ArrayValue) or len(axes) != len(owner.shape):
            return False
        ends = [self.ends.get(axis.id) if isinstance(axis, ast.Name) else None for axis in axes]
        return all(end is n.value for end, n in zip(ends, owner.shape, strict=True))

    def phi(self, kind: Any, edges: list[tuple[Any, ir.Block]]) -> Any:
        if is_pair(kind):  # LLVM takes variables apart into their parts
            place = variable(self.builder, kind)
            for value, block in edges:
                with self.builder.goto_block(block):
                    self.builder.store(value, place)
            return self.builder.load(place)
        phi = self.builder.phi(kind)
        for value, block in edges:
            phi.add_incoming(value, block)
        return phi


def indices(at: Any) -> tuple[Number, ...]:
    return numbers(*(at if isinstance(at, tuple) else (at,)))
