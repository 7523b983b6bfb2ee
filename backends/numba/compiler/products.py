"""Products of matrices in kernels: by loops where they are small, else by the BLAS.

The helper `product` of emitted modules calls `numpy.dot`, for which Numba checks types and sizes
and asks SciPy for its BLAS. Here it is a call of a function of addresses, lengths and strides.
Operands may lie in memory in any way: what the BLAS does not take is copied first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import populate_array

from tapeless.backends.numba import blas

SMALL = 1 << 8  # multiplications that take less time than the BLAS does to begin
FLAGS = ("reassoc", "contract")
WORD, BYTE = ir.IntType(64), ir.IntType(8)
POINTER = BYTE.as_pointer()
KINDS = {types.float32: "s", types.float64: "d"}


def product(a: Any, b: Any, out: Any) -> None:
    """out = a @ b, of matrices, added up in any order."""
    np.dot(a, b, out)


@type_callable(product)  # type: ignore[untyped-decorator]
def _type_product(context: Any) -> Callable[..., Any]:
    def typed(*kinds: Any) -> Any:
        matrices = all(isinstance(t, types.Array) and t.ndim == 2 for t in kinds)
        if not matrices or len({t.dtype for t in kinds}) > 1 or kinds[0].dtype not in KINDS:
            return None
        return types.none

    return lambda a, b, out: typed(a, b, out)


@lower_builtin(product, types.Array, types.Array, types.Array)  # type: ignore[untyped-decorator]
def _lower_product(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    a, b, out = (
        Matrix.of(context, builder, t, value) for t, value in zip(sig.args, args, strict=True)
    )
    wanted = (out.rows, out.columns, a.columns)
    places = [v for x in (a, b, out) for v in (x.start, x.down, x.along)]
    builder.call(Product.function(builder.module, sig.args[0].dtype), [*wanted, *places])
    return context.get_dummy_value()


def matrix(a: Any, rows: Any, columns: Any) -> Any:
    """The numbers of an array as a matrix."""
    return a.reshape((rows, columns))


@type_callable(matrix)  # type: ignore[untyped-decorator]
def _type_matrix(context: Any) -> Callable[..., Any]:
    def typed(a: Any, rows: Any, columns: Any) -> Any:
        whole = isinstance(a, types.Array) and a.layout == "C"
        return types.Array(a.dtype, 2, "C") if whole else None

    return typed


@lower_builtin(matrix, types.Array, types.Integer, types.Integer)  # type: ignore[untyped-decorator]
def _lower_matrix(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = context.make_array(sig.args[0])(context, builder, args[0])
    lengths = [
        context.cast(builder, n, kind, types.intp)
        for n, kind in zip(args[1:], sig.args[1:], strict=True)
    ]
    size = given.itemsize
    made = context.make_array(sig.return_type)(context, builder)
    steps = (builder.mul(lengths[1], size), size)
    populate_array(made, given.data, lengths, steps, size, meminfo=None)
    return made._getvalue()


@dataclass
class Matrix:
    """Where a matrix is: the bytes from row to row and from column to column."""

    start: Any
    down: Any
    along: Any
    rows: Any = None
    columns: Any = None

    @classmethod
    def of(cls, context: Any, builder: Any, kind: Any, value: Any) -> Matrix:
        array = context.make_array(kind)(context, builder, value)
        lengths = cgutils.unpack_tuple(builder, array.shape, 2)
        strides = cgutils.unpack_tuple(builder, array.strides, 2)
        return cls(builder.bitcast(array.data, POINTER), *strides, *lengths)


class Product:
    """Writes void tapeless_product_d(m, n, k, a, b, out), each matrix as address and strides."""

    def __init__(self, function: Any, number: Any, kind: str) -> None:
        self.number, self.kind = number, kind
        self.size = WORD(4 if kind == "s" else 8)
        self.builder = ir.IRBuilder(function.append_basic_block())
        self.m, self.n, self.k, a, down, along, *places = function.args
        self.a = Matrix(a, down, along, self.m, self.k)
        b, down, along, out, down_out, along_out = places
        self.b = Matrix(b, down, along, self.k, self.n)
        self.out = Matrix(out, down_out, along_out, self.m, self.n)

    @classmethod
    def function(cls, module: Any, dtype: Any) -> Any:
        """The function in a module."""
        kind = KINDS[dtype]
        name = f"tapeless_product_{kind}"
        known = module.globals.get(name)
        if known:
            return known
        places = (POINTER, WORD, WORD) * 3
        made = ir.Function(module, ir.FunctionType(ir.VoidType(), (WORD,) * 3 + places), name)
        made.linkage = "linkonce_odr"
        for attribute in ("noinline", "nounwind"):
            made.attributes.add(attribute)
        made.args[9].add_attribute("noalias")
        cls(made, ir.FloatType() if kind == "s" else ir.DoubleType(), kind).write()
        return made

    def write(self) -> None:
        b = self.builder
        bits = blas.width()
        if bits is None:
            self.loops()
            b.ret_void()
            return
        work = b.mul(b.mul(self.m, self.n), self.k)
        few = b.icmp_signed("<=", work, WORD(SMALL))
        with b.if_then(b.or_(few, b.not_(self.in_rows(self.out)))):
            self.loops()
            b.ret_void()
        self.call(bits)
        b.ret_void()

    # -- by loops

    def loops(self) -> None:
        """Along the rows of the second matrix; of a transposed one along its columns."""
        b = self.builder
        flat = b.and_(self.is_size(self.b.down), self.is_size(self.a.along))
        with b.if_else(flat) as (then, otherwise):
            with then:
                self.by_sums()
            with otherwise, b.if_else(self.is_size(self.b.along)) as (unit, any_):
                with unit:
                    self.by_rows(self.size)
                with any_:
                    self.by_rows(self.b.along)

    def by_sums(self) -> None:
        b = self.builder
        with cgutils.for_range(b, self.m) as i, cgutils.for_range(b, self.n) as j:
            total = cgutils.alloca_once_value(b, self.number(0))
            b.store(self.number(0), total)
            with cgutils.for_range(b, self.k) as p:
                x = self.at(self.a, i.index, p.index, along=self.size)
                y = self.at(self.b, p.index, j.index, down=self.size)
                self.add(total, b.load(x, align=1), b.load(y, align=1))
            b.store(b.load(total), self.at(self.out, i.index, j.index), align=1)

    def by_rows(self, step: Any) -> None:
        b = self.builder
        along = self.size if step is self.size else self.out.along
        with cgutils.for_range(b, self.m) as i:
            with cgutils.for_range(b, self.n) as j:
                b.store(self.number(0), self.at(self.out, i.index, j.index, along=along), align=1)
            with cgutils.for_range(b, self.k) as p:
                x = b.load(self.at(self.a, i.index, p.index), align=1)
                with cgutils.for_range(b, self.n) as j:
                    y = b.load(self.at(self.b, p.index, j.index, along=step), align=1)
                    self.add(self.at(self.out, i.index, j.index, along=along), x, y)

    def add(self, total: Any, x: Any, y: Any) -> None:
        b = self.builder
        made = b.fadd(b.load(total, align=1), b.fmul(x, y, flags=FLAGS), flags=FLAGS)
        b.store(made, total, align=1)

    def at(self, x: Matrix, i: Any, j: Any, down: Any = None, along: Any = None) -> Any:
        b = self.builder
        place = b.add(b.mul(i, down or x.down), b.mul(j, along or x.along))
        return b.bitcast(b.gep(x.start, [place]), self.number.as_pointer())

    # -- by the BLAS, which counts columns first: its out.T = b.T @ a.T

    def call(self, bits: int) -> None:
        b = self.builder
        whole = ir.IntType(bits)
        a, second = self.taken(self.a), self.taken(self.b)
        one, zero = (self.kept(self.number(x)) for x in (1, 0))
        lengths = [
            self.kept(b.trunc(v, whole) if bits < 64 else v) for v in (self.n, self.m, self.k)
        ]
        row = self.kept(b.sdiv(self.out.down, self.size))
        steps = [b.bitcast(x, whole.as_pointer()) for x in (second[1], a[1], row)]
        pointer = self.number.as_pointer()
        first, other = (b.bitcast(b.load(x[0]), pointer) for x in (second, a))
        made = b.bitcast(self.out.start, pointer)
        values = [second[2], a[2], *lengths, one, first, steps[0], other, steps[1], zero, made]
        values.append(steps[2])
        kinds = [v.type for v in values]
        name = blas.symbol(self.kind, bits)
        b.call(self.declared(name, ir.FunctionType(ir.VoidType(), kinds)), values)
        free = self.declared("free", ir.FunctionType(ir.VoidType(), [POINTER]))
        for x in (a, second):
            b.call(free, [b.load(x[3])])

    def taken(self, x: Matrix) -> tuple[Any, Any, Any, Any]:
        """Where the BLAS finds a matrix, how long a row is there, "N" or "T", and what to free."""
        b = self.builder
        start, step = self.kept(x.start), self.kept(WORD(0))
        letter, ours = self.kept(BYTE(ord("N"))), self.kept(POINTER(None))
        with b.if_else(self.in_rows(x)) as (then, otherwise):
            with then:
                b.store(b.sdiv(x.down, self.size), step)
            with otherwise:
                turned = Matrix(x.start, x.along, x.down, x.columns, x.rows)
                with b.if_else(self.in_rows(turned)) as (flipped, scattered):
                    with flipped:
                        b.store(b.sdiv(x.along, self.size), step)
                        b.store(BYTE(ord("T")), letter)
                    with scattered:
                        copy = self.copied(x)
                        b.store(copy, start)
                        b.store(copy, ours)
                        b.store(x.columns, step)
        return start, step, letter, ours

    def copied(self, x: Matrix) -> Any:
        """The matrix in memory of its own."""
        b = self.builder
        malloc = self.declared("malloc", ir.FunctionType(POINTER, [WORD]))
        down = b.mul(x.columns, self.size)
        made = Matrix(b.call(malloc, [b.mul(x.rows, down)]), down, self.size)
        with cgutils.for_range(b, x.rows) as i, cgutils.for_range(b, x.columns) as j:
            value = b.load(self.at(x, i.index, j.index), align=1)
            b.store(value, self.at(made, i.index, j.index), align=1)
        return made.start

    def in_rows(self, x: Matrix) -> Any:
        """Whether rows follow one another without a break in them."""
        b = self.builder
        whole = b.icmp_signed("==", b.srem(x.down, self.size), WORD(0))
        apart = b.icmp_signed(">=", x.down, b.mul(x.columns, self.size))
        return b.and_(b.and_(whole, apart), self.is_size(x.along))

    def is_size(self, stride: Any) -> Any:
        return self.builder.icmp_signed("==", stride, self.size)

    def kept(self, value: Any) -> Any:
        """The address of a value."""
        return cgutils.alloca_once_value(self.builder, value)

    def declared(self, name: str, kind: Any) -> Any:
        return cgutils.get_or_insert_function(self.builder.module, kind, name)
