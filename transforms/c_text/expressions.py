"""Prints expressions of loop form as C.

2 * x[i, j]      becomes      2.0 * x[i * x_1 + j]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import numpy as np

from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.dialect import is_c99
from tapeless.transforms.c_text.functions import (
    CONSTANTS,
    DTYPES,
    bitcast,
    convert,
    function,
)
from tapeless.transforms.c_text.values import (
    BOTH,
    EITHER,
    POSTFIX,
    PRODUCT,
    CArray,
    CValue,
    Meaning,
    NotPrintedError,
    cast,
    constant,
    of_complex,
    of_parts,
    part_of,
    truth,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import BOOL, INT, Dtype


class UnknownVariableError(NotPrintedError):
    """A variable whose dtype is not known yet."""


@dataclass
class KernelScope:
    """What the names of a function mean.

    numbers  the dtypes of variables
    natural  whether they are integers that are never negative
    arrays   those that it reads and stores to
    fixed    names that stand for an expression
    """

    numbers: dict[str, Dtype] = field(default_factory=dict)
    natural: dict[str, bool] = field(default_factory=dict)
    arrays: dict[str, CArray] = field(default_factory=dict)
    fixed: dict[str, CValue] = field(default_factory=dict)

    def variable(self, name: str) -> Meaning:
        if name in self.fixed:
            return self.fixed[name]
        if name in self.arrays:
            return self.arrays[name]
        if name in self.numbers:
            return CValue(name, self.numbers[name], natural=self.natural.get(name, False))
        if name in CONSTANTS:
            return constant(CONSTANTS[name])
        raise UnknownVariableError(f"the variable {name}")


class ExpressionPrinter:
    """`call_other` calls another function of the module, whose arguments it gets; `inferring` is
    whether only dtypes are asked for."""

    call_other: Callable[[str, list[Meaning]], Meaning] | None = None
    inferring = False

    def __init__(self, scope: KernelScope) -> None:
        self.scope = scope

    def number(self, e: ast.expr) -> CValue:
        value = self.value(e)
        if not isinstance(value, CValue):
            raise NotPrintedError(ast.unparse(e))
        return value

    def test(self, e: ast.expr) -> CValue:
        return truth(self.number(e))

    def value(self, e: ast.expr) -> Meaning:
        match e:
            case ast.Constant(value=bool() | int() | float() as x):
                return constant(x)
            case ast.Constant(value=complex() as z):
                return of_parts(constant(z.real), constant(z.imag), np.dtype(np.complex128))
            case ast.Name(id=name):
                return self.scope.variable(name)
            case ast.Attribute():
                return self.attribute(e)
            case ast.Tuple(elts=parts):
                return tuple(map(self.value, parts))
            case ast.BinOp(left=left, op=op, right=right):
                return arithmetic.binary(op, self.number(left), self.number(right))
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as order) if self.is_whole(order):
                return self.comparison(order, both=False)
            case ast.UnaryOp(op=op, operand=operand):
                return arithmetic.unary(op, self.number(operand))
            case ast.Compare():
                return self.comparison(e)
            case ast.BoolOp(op=op, values=values):
                return self.and_or(isinstance(op, ast.And), [self.number(v) for v in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return arithmetic.select(self.test(test), self.number(body), self.number(orelse))
            case ast.Subscript():
                return self.element(e)
            case ast.Call():
                return self.call(e)
        raise NotPrintedError(ast.unparse(e))

    def comparison(self, e: ast.Compare, both: bool = True) -> CValue:
        """a < b < c; or `not` that, of integers: a >= b || b >= c."""
        left, tests = self.number(e.left), []
        for op, other in zip(e.ops, e.comparators, strict=True):
            right = self.number(other)
            if both:
                tests.append(arithmetic.compare(op, left, right))
            else:
                tests.append(arithmetic.opposite(op, left, right))
            left = right
        return self.and_or(both, tests)

    def is_whole(self, e: ast.Compare) -> bool:
        """Whether a comparison is one of integers, of which the opposite may be asked for."""
        numbers = [self.value(x) for x in (e.left, *e.comparators)]
        return all(isinstance(x, CValue) and x.dtype.kind in "iub" for x in numbers) and all(
            type(op) in arithmetic.OPPOSITE for op in e.ops
        )

    @staticmethod
    def and_or(both: bool, values: Sequence[CValue]) -> CValue:
        """`and` or `or` of flags."""
        if any(v.dtype != BOOL for v in values):
            raise NotPrintedError("and, or of what are no flags")
        if any(v.known is (not both) for v in values):
            return constant(not both)
        values = [v for v in values if v.known is None] or values[:1]
        if len(values) == 1:
            return values[0]
        sign, level = ("&&", BOTH) if both else ("||", EITHER)
        inner = level - 1 if both else BOTH - 1  # a || (b && c): compilers warn of it without
        return CValue(
            f" {sign} ".join(v.text if v.level == level else v.operand(inner) for v in values),
            BOOL,
            level,
        )

    def attribute(self, e: ast.Attribute) -> Meaning:
        match e:
            case ast.Attribute(value=ast.Name(id="np" | "math"), attr=name) if name in CONSTANTS:
                return constant(CONSTANTS[name])
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in DTYPES:
                return DTYPES[name]
        owner = self.value(e.value)
        if isinstance(owner, CValue) and e.attr in ("real", "imag"):
            return part_of(owner, e.attr)
        if isinstance(owner, CArray) and e.attr == "shape":
            return owner.lengths
        if isinstance(owner, CArray) and e.attr == "size":
            return product(owner.lengths)
        if isinstance(owner, CArray) and e.attr == "ndim":
            return constant(len(owner.lengths))
        raise NotPrintedError(ast.unparse(e))

    # -- elements of arrays

    def element(self, e: ast.Subscript) -> Meaning:
        owner = self.value(e.value)
        if isinstance(owner, tuple):
            k = self.number(e.slice).known
            called = isinstance(e.value, ast.Call) and not self.inferring
            if called or not isinstance(k, int) or not -len(owner) <= k < len(owner):
                raise NotPrintedError(ast.unparse(e))
            item: Meaning = owner[k]
            return item
        if not isinstance(owner, CArray):
            raise NotPrintedError(ast.unparse(e))
        axes = [*e.slice.elts] if isinstance(e.slice, ast.Tuple) else [e.slice]
        while axes and isinstance(axes[-1], ast.Slice) and not _bounds(axes[-1]):
            axes.pop()
        if axes and isinstance(axes[-1], ast.Slice):
            return self.part_of_rows(owner, axes[:-1], axes[-1])
        places = [self.place(owner, k, a) for k, a in enumerate(axes)]
        if len(places) < len(owner.lengths):
            if owner.where == "interleaved":
                raise NotPrintedError(f"a part of {owner.name}")
            rest = product(owner.lengths[len(places) :])
            offset = arithmetic.binary(ast.Mult(), row_order_place(owner, places), rest)
            return owner.part_at(offset, len(places)) if places else owner
        return CValue(element_text(owner, places), owner.dtype, POSTFIX)

    def part_of_rows(self, x: CArray, indices: Sequence[ast.expr], rows: ast.Slice) -> CArray:
        """Numbers that lie side by side: those of some rows, behind indices of the axes before."""
        if x.where in ("interleaved", "growing") or rows.step is not None:
            raise NotPrintedError(f"a part of {x.name}")
        axis = len(indices)
        start = constant(0) if rows.lower is None else self.number(rows.lower)
        stop = x.lengths[axis] if rows.upper is None else self.number(rows.upper)
        if any(isinstance(k.known, int) and k.known < 0 for k in (start, stop)):
            raise NotPrintedError(f"a part of {x.name}")
        places = [*(self.place(x, k, e) for k, e in enumerate(indices)), start]
        later = x.lengths[axis + 1 :]
        offset = arithmetic.binary(ast.Mult(), row_order_place(x, places), product(later))
        length = stop if start.known == 0 else arithmetic.binary(ast.Sub(), stop, start)
        part = x if offset.known == 0 else x.part_at(offset, 0)
        return replace(part, lengths=(length, *later))

    def place(self, x: CArray, axis: int, e: ast.expr) -> CValue:
        """Where along an axis an index is; negative ones count from the end."""
        if axis >= len(x.lengths) or isinstance(e, ast.Slice):
            raise NotPrintedError(f"an index of {x.name}")
        k = self.number(e)
        if k.dtype.kind not in "iu":
            raise NotPrintedError(f"an index of {k.dtype.name}")
        k = cast(k, INT)
        if k.natural or x.counted or x.where == "growing":  # lists count from the start
            return k
        n = x.lengths[axis]
        if k.known is not None:
            return arithmetic.binary(ast.Sub(), n, constant(-k.known))
        return CValue(f"from_end({k.text}, {n.text})", INT)

    # -- calls

    def call(self, e: ast.Call) -> Meaning:
        if e.keywords or any(isinstance(a, ast.Starred) for a in e.args):
            raise NotPrintedError(f"the call {ast.unparse(e)}")
        match e.func:
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in DTYPES:
                numbers = [self.number(a) for a in e.args]
                return self.wrapping_conversion(DTYPES[name], e.args) or convert(
                    DTYPES[name], numbers
                )
            case ast.Attribute(value=ast.Name(id="np" | "math"), attr=name):
                return self.of_numbers(name, e)
            case ast.Attribute(value=owner, attr="view"):
                dtype = self.value(e.args[0])
                if isinstance(dtype, np.dtype):
                    return bitcast(self.number(owner), dtype)
            case ast.Attribute(value=owner, attr="conjugate"):
                z = self.number(owner)
                if z.dtype.kind != "c":
                    return z
                text = of_complex("conj", z) if is_c99() else f"conjugate({z.text})"
                return CValue(text, z.dtype)
            case ast.Name(id="len"):
                owner_ = self.value(e.args[0])
                if isinstance(owner_, CArray):
                    return owner_.lengths[0]
            case ast.Name(id=name) if self.call_other is not None and self.is_other(name):
                return self.call_other(name, [self.value(a) for a in e.args])
            case ast.Name(id="float" | "int" | "bool" as name):
                return convert(DTYPES[name], [self.number(a) for a in e.args])
            case ast.Name(id=name):
                return self.of_numbers(name, e)
        raise NotPrintedError(f"the call {ast.unparse(e)}")

    def wrapping_conversion(self, dtype: Dtype, args: Sequence[ast.expr]) -> CValue | None:
        """np.uint32(a + b) of such integers, in 32 bits; None of others."""
        match args:
            case [ast.BinOp(left=left, op=op, right=right)] if dtype == arithmetic.WORD:
                return arithmetic.wrapping(op, self.number(left), self.number(right))
        return None

    def is_other(self, name: str) -> bool:
        """Whether another function of the module has this name."""
        return False

    def of_numbers(self, name: str, e: ast.Call) -> CValue:
        called = function(name)
        if called is None:
            raise NotPrintedError(f"the function {name}")
        try:
            return called([self.number(a) for a in e.args])
        except ValueError as error:  # of another number of arguments
            raise NotPrintedError(f"the call {ast.unparse(e)}") from error


def _bounds(s: ast.Slice) -> bool:
    return any(x is not None for x in (s.lower, s.upper, s.step))


def product(lengths: Sequence[CValue]) -> CValue:
    total = constant(1)
    for n in lengths:
        total = n if total.known == 1 else arithmetic.binary(ast.Mult(), total, n)
    return total


def row_order_place(x: CArray, places: Sequence[CValue]) -> CValue:
    """The place in row order of an element, or of a part, of an array."""
    total = constant(0)
    for axis, k in enumerate(places):
        if axis:
            total = arithmetic.binary(ast.Mult(), total, x.lengths[axis])
        if k.known != 0:
            total = k if total.known == 0 else arithmetic.binary(ast.Add(), total, k)
    return total


def element_text(x: CArray, places: Sequence[CValue]) -> str:
    place = row_order_place(x, places)
    if x.where == "interleaved":
        return f"{x.pointer}[{place.operand(PRODUCT)} * {x.distance}]"
    pointer = x.pointer if x.pointer.isidentifier() else f"({x.pointer})"
    return f"{pointer}[{place.text}]"


def owner(e: ast.expr) -> str:
    """The array that an expression is a part of; "" if it is none."""
    while isinstance(e, ast.Subscript | ast.Attribute):
        e = e.value
    return e.id if isinstance(e, ast.Name) else ""
