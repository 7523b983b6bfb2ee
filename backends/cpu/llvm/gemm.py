"""Multiplies matrices in kernels: by loops where they are small, else by the BLAS.

Operands may lie in memory in any way: what the BLAS does not take is copied first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.ir_helpers import declare, for_range, spill
from tapeless.backends.cpu.runtime import blas, products
from tapeless.transforms.dataclass import dataclass

SMALL = 1 << 8  # multiplications that take less time than the BLAS does to begin
KNOWN = 1 << 9  # the same, of matrices whose lengths are written in the text
#: A BLAS lets its threads share more multiplications than ALONE, which `runtime/products.py` says
#: more about: here they are made by one thread, and those of LARGE by threads of ours.
ALONE = 1 << 18
#: Of a.T @ a, which is symmetric, one triangle is made by blocks of so many rows, and copied.
SYMMETRIC = 96
LANES = 16  # numbers of a row that registers hold
FLAGS = ("reassoc", "contract")
WORD, BYTE, INDEX = ir.IntType(64), ir.IntType(8), ir.IntType(32)
POINTER = BYTE.as_pointer()
PRODUCT = "tapeless_product_{}"


@dataclass
class StridedMatrix:
    """Where a matrix is: the bytes from row to row and from column to column."""

    start: Any
    down: Any
    along: Any
    rows: Any = None
    columns: Any = None


@dataclass
class MatrixOperand:
    """Where the BLAS finds a matrix, how long a row is there, "N" or "T", and what to free, each as
    the address of that."""

    start: Any
    step: Any
    letter: Any
    ours: Any

    def part(self, b: Any, i: Any, j: Any, size: Any) -> Any:
        """Where row i and column j are."""
        plain = b.icmp_signed("==", b.load(self.letter), BYTE(ord("N")))
        far, near = b.select(plain, i, j), b.select(plain, j, i)
        place = b.mul(b.add(b.mul(far, b.load(self.step)), near), size)
        return b.gep(b.load(self.start), [place])


def declare_product(module: Any, kind: str) -> Any:
    """void tapeless_product_d(m, n, k, a, b, out), each matrix as address and strides, for numbers
    of a kind: s or d."""
    name = PRODUCT.format(kind)
    existing = module.globals.get(name)
    if existing:
        return existing
    places = (POINTER, WORD, WORD) * 3
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), (WORD,) * 3 + places), name)
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    function.args[9].add_attribute("noalias")
    return function


def small_product(
    module: Any, kind: str, lengths: tuple[int, int, int], strides: tuple[int | None, ...]
) -> Any:
    """void small_product(a, b, out, ...) for matrices of m, n and k rows and columns, and all
    strides that are known; the others follow."""
    digits = "_".join("x" if n is None else str(n) for n in (*lengths, *strides))
    name = f"small_product_{kind}_{digits}"
    existing = module.globals.get(name)
    if existing:
        return existing
    types = [POINTER] * 3 + [WORD] * strides.count(None)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
    function.linkage = "internal"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    function.args[2].add_attribute("noalias")
    remaining = iter(function.args[3:])
    steps = [next(remaining) if n is None else WORD(n) for n in strides]
    args = [WORD(n) for n in lengths]
    for k in range(3):
        args += [function.args[k], *steps[2 * k : 2 * k + 2]]
    builder = ProductBuilder(function, args, kind)
    builder.loops()
    builder.builder.ret_void()
    return function


class ProductBuilder:
    """Writes what `declare_product` declares."""

    def __init__(self, function: Any, args: Sequence[Any], kind: str) -> None:
        self.number, self.kind = ir.FloatType() if kind == "s" else ir.DoubleType(), kind
        self.size = WORD(4 if kind == "s" else 8)
        self.builder = ir.IRBuilder(function.append_basic_block())
        self.m, self.n, self.k, a, down, along, *places = args
        self.a = StridedMatrix(a, down, along, self.m, self.k)
        b, down, along, out, down_out, along_out = places
        self.b = StridedMatrix(b, down, along, self.k, self.n)
        self.out = StridedMatrix(out, down_out, along_out, self.m, self.n)

    @classmethod
    def function(cls, module: Any, kind: str) -> Any:
        """The function in a module, for numbers of a kind: s or d."""
        function = declare_product(module, kind)
        if function.is_declaration:
            cls(function, function.args, kind).write()
        return function

    def write(self) -> None:
        b = self.builder
        bits = products.width()
        if bits is None:
            self.loops()
            b.ret_void()
            return
        work = b.mul(b.mul(self.m, self.n), self.k)
        few = b.icmp_signed("<=", work, WORD(SMALL))
        with b.if_then(b.or_(few, b.not_(self.in_rows(self.out)))):
            self.loops()
            b.ret_void()
        if blas.threads() is not None:
            with b.if_then(b.icmp_signed(">=", work, WORD(products.LARGE))):
                self.share()
        one_thread = b.icmp_signed(">", work, WORD(ALONE))
        before = self.limit_threads(one_thread)
        with b.if_else(self.is_symmetric()) as (by_triangle, whole):
            with by_triangle:
                self.by_triangle(bits)
            with whole:
                self.call(bits)
        self.restore_threads(before)
        b.ret_void()

    def share(self) -> None:
        """Lets threads of ours share the product, and returns if they did."""
        b, done = self.builder, self.address_of_value(WORD(0))
        places = [v for x in (self.a, self.b, self.out) for v in (x.start, x.down, x.along)]
        values = [self.m, self.n, self.k, *places, done]
        values = [b.ptrtoint(v, WORD) if v.type.is_pointer else v for v in values]
        kind = ir.FunctionType(ir.VoidType(), [WORD] * len(values))
        b.call(self.declare(products.SHARED.format(self.kind), kind), values)
        with b.if_then(b.icmp_signed("==", b.load(done), WORD(products.DONE))):
            b.ret_void()
        with b.if_then(b.icmp_signed("==", b.load(done), WORD(0))):
            b.call(self.declare(products.INTERRUPT, ir.FunctionType(ir.VoidType(), ())), ())

    def limit_threads(self, wanted: Any) -> Any:
        """Lets the BLAS take one thread if that is wanted: the address of the number of threads
        that it took before, 1 if it stays as it is."""
        b, before = self.builder, self.address_of_value(INDEX(1))
        if blas.threads() is None:
            return before
        with b.if_then(wanted):
            get = self.declare(products.GET, ir.FunctionType(INDEX, ()))
            b.store(b.call(get, ()), before)
            self.set_threads(b.icmp_signed(">", b.load(before), INDEX(1)), INDEX(1))
        return before

    def restore_threads(self, before: Any) -> None:
        count = self.builder.load(before)
        if blas.threads() is not None:
            self.set_threads(self.builder.icmp_signed(">", count, INDEX(1)), count)

    def set_threads(self, wanted: Any, count: Any) -> None:
        with self.builder.if_then(wanted):
            kind = ir.FunctionType(ir.VoidType(), [INDEX])
            self.builder.call(self.declare(products.SET, kind), [count])

    def is_symmetric(self) -> Any:
        """Whether the matrices are each other's transposes, and large."""
        b, first, second = self.builder, self.a, self.b
        flag = b.icmp_signed(">=", self.m, WORD(2 * SYMMETRIC))
        pairs = (
            (b.ptrtoint(first.start, WORD), b.ptrtoint(second.start, WORD)),
            (first.down, second.along),
            (first.along, second.down),
            (self.m, self.n),
        )
        for x, y in pairs:
            flag = b.and_(flag, b.icmp_signed("==", x, y))
        return flag

    def by_triangle(self, bits: int) -> None:
        """Rows up to the diagonal by the BLAS, a block at a time; the others are equal to them."""
        b, out = self.builder, self.out
        first, second = self.blas_operand(self.a), self.blas_operand(self.b)
        with self.blocks(self.m, WORD(SYMMETRIC)) as (i, m):
            x, y = first.part(b, i, WORD(0), self.size), b.load(second.start)
            out_part = self.address_of(out, i, WORD(0), along=self.size)
            lengths = (m, b.add(i, m), self.k)
            self.multiply(bits, lengths, (first, x), (second, y), out_part)
            with for_range(b, m) as row:
                r = b.add(i, row)
                with for_range(b, r) as c:
                    value = b.load(self.address_of(out, r, c, along=self.size), align=1)
                    b.store(value, self.address_of(out, c, r, along=self.size), align=1)
        self.free(first, second)

    # -- by loops

    def loops(self) -> None:
        """Along the rows of the second matrix; of a transposed one along its columns."""
        self.choose(
            [self.is_size(self.b.down), self.is_size(self.a.along)],
            self.by_sums,
            lambda: self.choose(
                [self.is_size(self.b.along)],
                self.by_vectors if self.has_short_rows() else lambda: self.by_rows(self.size),
                lambda: self.by_rows(self.b.along),
            ),
        )

    def choose(self, tests: list[Any], yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Writes what all tests choose: nothing else where they are known."""
        unknown = [x for x in tests if not isinstance(x, ir.Constant)]
        if not all(x.constant for x in tests if isinstance(x, ir.Constant)):
            no()
        elif not unknown:
            yes()
        else:
            flag = functools.reduce(self.builder.and_, unknown)
            with self.builder.if_else(flag) as (then, otherwise):
                with then:
                    yes()
                with otherwise:
                    no()

    def by_sums(self) -> None:
        b = self.builder
        with for_range(b, self.m) as i, for_range(b, self.n) as j:
            total = self.address_of_value(self.number(0))
            with for_range(b, self.k) as p:
                x = self.address_of(self.a, i, p, along=self.size)
                y = self.address_of(self.b, p, j, down=self.size)
                self.add(total, b.load(x, align=1), b.load(y, align=1))
            b.store(b.load(total), self.address_of(self.out, i, j), align=1)

    def has_short_rows(self) -> bool:
        """Whether the rows of the product are so long that registers hold one, and lie in memory
        without gaps."""
        along = self.is_size(self.out.along)
        if not (isinstance(self.n, ir.Constant) and isinstance(along, ir.Constant)):
            return False
        return along.constant and 1 < self.n.constant <= LANES  # type: ignore[no-any-return]

    def by_vectors(self) -> None:
        """Along the rows of the second matrix, with a row of the product in registers."""
        b, n = self.builder, self.n.constant
        row = ir.VectorType(self.number, n)
        with for_range(b, self.m) as i:
            total = self.address_of_value(ir.Constant(row, [0.0] * n))
            with for_range(b, self.k) as p:
                x = b.load(self.address_of(self.a, i, p), align=1)
                place = b.bitcast(self.address_of(self.b, p, WORD(0)), row.as_pointer())
                first = b.insert_element(ir.Constant(row, ir.Undefined), x, INDEX(0))
                all_x = b.shuffle_vector(
                    first, first, ir.Constant(ir.VectorType(INDEX, n), [0] * n)
                )
                self.add(total, all_x, b.load(place, align=1))
            place = b.bitcast(self.address_of(self.out, i, WORD(0)), row.as_pointer())
            b.store(b.load(total), place, align=1)

    def by_rows(self, step: Any) -> None:
        b = self.builder
        along = self.size if step is self.size else self.out.along
        with for_range(b, self.m) as i:
            with for_range(b, self.n) as j:
                b.store(self.number(0), self.address_of(self.out, i, j, along=along), align=1)
            with for_range(b, self.k) as p:
                x = b.load(self.address_of(self.a, i, p), align=1)
                with for_range(b, self.n) as j:
                    y = b.load(self.address_of(self.b, p, j, along=step), align=1)
                    self.add(self.address_of(self.out, i, j, along=along), x, y)

    def add(self, total: Any, x: Any, y: Any) -> None:
        b = self.builder
        new_total = b.fadd(b.load(total, align=1), b.fmul(x, y, flags=FLAGS), flags=FLAGS)
        b.store(new_total, total, align=1)

    def address_of(
        self, x: StridedMatrix, i: Any, j: Any, down: Any = None, along: Any = None
    ) -> Any:
        b = self.builder
        place = b.add(b.mul(i, down or x.down), b.mul(j, along or x.along))
        return b.bitcast(b.gep(x.start, [place]), self.number.as_pointer())

    # -- by the BLAS, which counts columns first: its out.T = b.T @ a.T

    def call(self, bits: int) -> None:
        first, second = self.blas_operand(self.a), self.blas_operand(self.b)
        x, y = (self.builder.load(each.start) for each in (first, second))
        out = self.address_of(self.out, WORD(0), WORD(0))
        self.multiply(bits, (self.m, self.n, self.k), (first, x), (second, y), out)
        self.free(first, second)

    def free(self, *operands: MatrixOperand) -> None:
        """Gives the memory of copies back."""
        free = self.declare("free", ir.FunctionType(ir.VoidType(), [POINTER]))
        for each in operands:
            self.builder.call(free, [self.builder.load(each.ours)])

    @contextmanager
    def blocks(self, count: Any, length: Any) -> Iterator[tuple[Any, Any]]:
        """Where each block of so many rows begins, and how many it has."""
        b = self.builder
        number = b.sdiv(b.add(count, b.sub(length, WORD(1))), length)
        with for_range(b, number) as block:
            start = b.mul(block, length)
            rest = b.sub(count, start)
            yield start, b.select(b.icmp_signed("<", length, rest), length, rest)

    def multiply(
        self,
        bits: int,
        lengths: tuple[Any, Any, Any],
        a: tuple[MatrixOperand, Any],
        second: tuple[MatrixOperand, Any],
        out: Any,
    ) -> None:
        """One call."""
        b = self.builder
        whole, pointer = ir.IntType(bits), self.number.as_pointer()
        m, n, k = lengths
        counts = [self.address_of_value(b.trunc(v, whole) if bits < 64 else v) for v in (n, m, k)]
        address_of_one = self.address_of_value(self.number(1))
        address_of_zero = self.address_of_value(self.number(0))
        row = self.address_of_value(b.sdiv(self.out.down, self.size))
        steps = [b.bitcast(x, whole.as_pointer()) for x in (second[0].step, a[0].step, row)]
        places = [b.bitcast(x, pointer) for x in (second[1], a[1], out)]
        values = [second[0].letter, a[0].letter, *counts, address_of_one, places[0], steps[0]]
        values += [places[1], steps[1], address_of_zero, places[2], steps[2]]
        kind = ir.FunctionType(ir.VoidType(), [v.type for v in values])
        b.call(self.declare(blas.symbol(self.kind, bits), kind), values)

    def blas_operand(self, x: StridedMatrix) -> MatrixOperand:
        """A matrix as the BLAS takes it: in rows, turned, or copied."""
        b = self.builder
        start, step = self.address_of_value(x.start), self.address_of_value(WORD(0))
        letter, ours = self.address_of_value(BYTE(ord("N"))), self.address_of_value(POINTER(None))
        with b.if_else(self.in_rows(x)) as (then, otherwise):
            with then:
                b.store(b.sdiv(x.down, self.size), step)
            with otherwise:
                turned = StridedMatrix(x.start, x.along, x.down, x.columns, x.rows)
                with b.if_else(self.in_rows(turned)) as (flipped, scattered):
                    with flipped:
                        b.store(b.sdiv(x.along, self.size), step)
                        b.store(BYTE(ord("T")), letter)
                    with scattered:
                        copy = self.copy_to_heap(x)
                        b.store(copy, start)
                        b.store(copy, ours)
                        b.store(x.columns, step)
        return MatrixOperand(start, step, letter, ours)

    def copy_to_heap(self, x: StridedMatrix) -> Any:
        """The matrix in memory of its own."""
        b = self.builder
        malloc = self.declare("malloc", ir.FunctionType(POINTER, [WORD]))
        down = b.mul(x.columns, self.size)
        copied = StridedMatrix(b.call(malloc, [b.mul(x.rows, down)]), down, self.size)
        with for_range(b, x.rows) as i, for_range(b, x.columns) as j:
            value = b.load(self.address_of(x, i, j), align=1)
            b.store(value, self.address_of(copied, i, j), align=1)
        return copied.start

    def in_rows(self, x: StridedMatrix) -> Any:
        """Whether rows follow one another without a break in them."""
        b = self.builder
        whole = b.icmp_signed("==", b.srem(x.down, self.size), WORD(0))
        apart = b.icmp_signed(">=", x.down, b.mul(x.columns, self.size))
        return b.and_(b.and_(whole, apart), self.is_size(x.along))

    def is_size(self, stride: Any) -> Any:
        if isinstance(stride, ir.Constant):
            return ir.IntType(1)(stride.constant == self.size.constant)
        return self.builder.icmp_signed("==", stride, self.size)

    def address_of_value(self, value: Any) -> Any:
        """The address of a value."""
        return spill(self.builder, value)

    def declare(self, name: str, kind: Any) -> Any:
        return declare(self.builder.module, name, kind)
