"""Writes how kernels reach elements of arrays: where they are, and what a statement computes for
one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.core import dims, scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, If, Let, Literal, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.size_expressions import Extents
from tapeless.transforms.lowering.kernels.writer_base import NotCompiled
from tapeless.transforms.lowering.rewrite.array_routines import place_helpers
from tapeless.transforms.lowering.rewrite.rolled_indices import is_within, place
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.reassociable_sums import MULTIPLIED, PLUS, Totals
from tapeless.transforms.lowering.schedule.stack_capacity import FIRST, GROWN
from tapeless.transforms.lowering.schedule.view_indices import Entry, ViewSpan, entries_of, is_view
from tapeless.transforms.ops.primitives import random_draws
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.python_text.python_source import number, template, to_source


@dataclass(frozen=True)
class Buffer:
    """An array that holds the elements of a value along these of its axes.

    one  whether it has one element: kernels get arrays without axes as numbers
    lengths  of these axes, if all elements lie on one axis of an array that gets longer
    start    where they begin there
    """

    name: str
    axes: tuple[int, ...]
    one: bool = False
    lengths: tuple[ast.expr, ...] = ()
    start: ast.expr | None = None

    def element(self, index: list[ast.expr]) -> ast.expr:
        """An element by its place along all axes of the value."""
        if self.one:
            return subscript(self.name, [number(0)])
        along = [index[k] for k in self.axes]
        if not self.lengths:
            return subscript(self.name, along)
        at = along[0]
        for n, k in zip(self.lengths[1:], along[1:], strict=True):
            at = template("{0} * {1} + {2}", {"0": at, "1": n, "2": k})
        return subscript(self.name, [at if self.start is None else offset_index(self.start, at)])


def describe_array(v: Var) -> str:
    """An array as the user is told of it."""
    return f"the array {v.name!r}" if v.name else "an array"


class Elements(Extents):
    """`home` are arrays that hold values, `local` numbers in variables; loops bind axes."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.home: dict[Var, Buffer] = {}
        self.bound: dict[LoopNest, dict[int, ast.expr]] = {}
        self.var_bound: dict[Var, dict[int, ast.expr]] = {}  # of what loops carry
        self.scratch: dict[Var, Type] = {}
        self.imports: set[tuple[str, str]] = set()
        self.helpers: dict[str, None] = {}
        self.totals: Totals = {}
        self.summed: dict[str, np.dtype[Any]] = {}  # variables that loops add to
        self.passes_of: dict[str, Size] = {}  # how many a loop makes, by the text of its range
        self.relied: list[tuple[str, Size, Size]] = []  # of sizes, by what is written
        self.short: dict[Var, None] = {}  # arguments that are small in this call

    def seen_through(self, v: Var) -> bool:
        """Whether a value is never made: a view, or a constant that is written where it is read."""
        s = self.memory.defs.get(self.memory.cell(v))
        return isinstance(s, Let) and (s in self.memory.inline or is_view(s))

    def keep(self, v: Var) -> None:
        """Gives a value memory of its own: an array that the driver makes."""
        cell = self.memory.cell(v)
        if cell in self.home or self.analysis.defined_outside(cell):
            return
        self.home[cell] = self.allocate(cell, tuple(range(cell.type.ndim)), cell)

    def allocate(self, v: Var, axes: tuple[int, ...], own: Var | None = None) -> Buffer:
        spelled = self.analysis.driver_size if own is None else self.analysis.exact
        shape = tuple(spelled(v.type.shape[k]) for k in axes)
        if not all(map(self.analysis.is_known_outside, shape)):
            if own is None and self.analysis.target.makes_arrays:
                return self.grows(v, axes, shape)
            raise NotCompiled(
                f"{describe_array(v)} has a length that is known only while the loop runs"
            )
        is_one_number = own is None and not shape
        shape = (1,) if is_one_number else shape
        variable = Var(Type(v.type.dtype, shape), v.name) if own is None else own
        variable.name = (
            variable.name or (self.word_for_result(v) if own is not None else "") or "out"
        )
        self.scratch[variable] = Type(v.type.dtype, shape)
        return Buffer(self.param(variable), axes, is_one_number)

    def word_for_result(self, v: Var) -> str:
        """A name for a value that another kernel reads, from what it is: what only holds another
        value has none. Memory of other values is used again, for something else."""
        if self.memory.cell(v) in self.analysis.returned:
            return ""
        s = self.memory.defs.get(v)
        is_computed = isinstance(s, Let) and s.args and not s.op.inplace and s.op is not copy
        return word_for(s) if is_computed else ""  # type: ignore[arg-type]

    def grows(self, v: Var, axes: tuple[int, ...], shape: tuple[Size, ...]) -> Buffer:
        """An array that gets longer where these lengths, which only the loop knows, ask for it."""
        variable = Var(Type(v.type.dtype, (FIRST,)), v.name or "out")
        self.scratch[variable] = variable.type
        self.helpers[GROWN.strip()] = None
        name, lengths = self.param(variable), tuple(map(self.size, shape))
        needed = self.size(dims.product(map(_positive, shape)))
        with self.suite(f"while {name}.size < {to_source(needed)}:"):
            self.put(f"{name} = grown({name})")
        return Buffer(name, axes, lengths=lengths)

    def grow_before_loop(self, inits: Iterable[Atom]) -> None:
        """Memory for arrays that a loop fills, of lengths that are known only here."""
        self.grow_unset(self.memory.cell(a) for a in inits if is_array(a))  # type: ignore[arg-type]

    def grow_before_branch(self, s: If) -> None:
        """Memory for arrays that sides of a branch fill: each of them needs it."""
        unset = self.analysis.unset & self.memory.writes(s)
        self.grow_unset(sorted(unset, key=lambda cell: self.memory.order.get(cell, 0)))

    def grow_unset(self, cells: Iterable[Any]) -> None:
        for cell in cells:
            if cell in self.home or cell not in self.analysis.unset:
                continue
            if not all(map(self.analysis.is_known_outside, cell.type.shape)):
                self.buffer(cell)

    def buffer(self, cell: Var) -> Buffer:
        buffer = self.home.get(cell)
        if buffer is None and cell in self.analysis.unset and cell in self.analysis.inside:
            bound = self.var_bound.get(cell, {})
            axes = tuple(k for k in range(cell.type.ndim) if k not in bound)
            buffer = self.home[cell] = self.allocate(cell, axes)
        if buffer is None:
            if cell in self.analysis.inside:
                raise NotCompiled(f"{describe_array(cell)} has no memory outside of the loop")
            buffer = Buffer(self.param(cell), tuple(range(cell.type.ndim)))
        return buffer

    def array_name(self, a: Atom) -> str:
        """The array that holds all elements of a value; of memory for the longest that a loop
        makes, the part that it has."""
        cell = self.memory.cell(a) if isinstance(a, Var) else None
        if cell is None or self.seen_through(cell):
            raise NotCompiled("a function needs a whole array, which is a part of another one")
        buffer = self.buffer(cell)
        if buffer.lengths:
            raise NotCompiled(f"a function needs {describe_array(cell)} as long as the loop has it")
        if buffer.axes != tuple(range(cell.type.ndim)):
            raise NotCompiled("a function needs a whole array, of which a loop has one row")
        if all(map(self.analysis.is_known_outside, cell.type.shape)):
            return buffer.name
        return f"{buffer.name}[{', '.join(f':{to_source(self.size(n))}' for n in cell.type.shape)}]"

    def atom(self, a: Atom) -> ast.expr:
        """A single number."""
        return self.element(a, [])

    def element(self, a: Atom, index: list[ast.expr]) -> ast.expr:
        if isinstance(a, Literal):
            return number(0 if a.value is None else a.value)
        if a in self.local:
            return self.local[a]
        cell = self.memory.cell(a)
        if cell in self.local:
            return self.local[cell]
        if cell in self.home:
            return self.home_element(self.home[cell], index)
        s = self.memory.defs.get(cell)
        if isinstance(s, Let) and s in self.memory.inline:
            stage = self.stage(s)
            assert stage is not None
            return self.value(stage, index)
        if isinstance(s, Let) and is_view(s):
            return self.element(s.args[0], self.base_index(s, entries_of(s), index, 1))
        if not cell.type.shape:
            if cell in self.analysis.inside:
                raise NotCompiled("a length is known on one side of a branch only")
            return ast.Name(self.param(cell), ast.Load())
        return self.home_element(self.buffer(cell), index)

    def place(self, a: Atom, index: list[ast.expr]) -> ast.expr:
        """An element of memory that is stored to."""
        assert isinstance(a, Var)
        cell = self.memory.cell(a)
        s = self.memory.defs.get(cell)
        if cell not in self.home and isinstance(s, Let) and is_view(s):
            return self.place(s.args[0], self.base_index(s, entries_of(s), index, 1))
        self.local.pop(cell, None)
        self.local.pop(a, None)
        return self.home_element(self.buffer(cell), index)

    def home_element(self, home: Buffer, index: list[ast.expr]) -> ast.expr:
        return home.element(index)

    def base_index(self, s: Let, entries: Any, index: list[ast.expr], first: int) -> list[ast.expr]:
        """The index into argument 0 for an index into the part."""
        rest, shape = s.args[first:], s.args[0].type.shape
        read = not self.in_memory(s.args[0])
        return [
            self.entry(e, n, index, rest, self.starts.get((s, axis)), read)
            for axis, (e, n) in enumerate(zip(entries, shape, strict=True))
        ]

    def in_memory(self, a: Atom) -> bool:
        """Whether an array is one for the compiled code too, which counts from its end itself: not
        one at the begin of longer memory, as of a list or of the longest that a loop makes."""
        home = self.home.get(self.memory.cell(a)) if isinstance(a, Var) else None
        if home is not None:
            is_whole = all(map(self.analysis.is_known_outside, a.type.shape))
            return is_whole and not home.lengths and home.name not in self.names_of_lists()
        return isinstance(a, Var) and not self.seen_through(a)

    def names_of_lists(self) -> set[str]:
        """The arrays in which lists lie."""
        return set()

    def entry(
        self,
        e: Entry,
        n: Size,
        index: list[ast.expr],
        rest: tuple[Atom, ...],
        start: ast.expr | None,
        seen_through: bool = False,
    ) -> ast.expr:
        if isinstance(e, ViewSpan):
            at = number(0) if e.axis is None else index[e.axis]
            start = self.start(e, n, rest) if start is None else start
            if abs(e.step) != 1:
                at = template(f"{{0}} * {abs(e.step)}", {"0": at})
            return offset_index(start, at, e.step > 0)
        if isinstance(e.at, int):
            return number(e.at) if e.at >= 0 else self.size(n + e.at)
        where = [number(0) if k is None else index[k] for k in e.axes]
        a = rest[e.at.k]
        at = self.element(a, where)
        if not seen_through or e.at.within:
            return at
        if is_within(a, n, self.memory.defs) if a.type.shape else self.is_counted(a):
            return at
        return template("{0} if {0} >= 0 else {0} + {1}", {"0": at, "1": self.size(n)})  # type: ignore[no-any-return]

    def is_counted(self, a: Atom) -> bool:
        """Whether an index is a number that never counts from the end."""
        return a.type.dtype.kind == "u" or self.never_negative(self.as_size(a))

    def value(self, stage: LoopNest, index: list[ast.expr]) -> ast.expr:
        """What the stage computes at an index of its space, in the dtype of its result."""
        s = stage.let
        out = s.outs[0].type.dtype
        match s.op.name:
            case "zeros" | "empty":
                return scalar_form.literal(0, out)
            case "ones":
                return scalar_form.literal(1, out)
            case "full":
                return self.element_as(s.args[0], self.operand_index(stage, 0, index), out)
            case "arange":
                return self.arange(s, index[0], out)
            case "cyclic":
                return place(s, index[0], self.size(s.params["length"]))
            case "eye" | "tri":
                sign = "==" if s.op.name == "eye" else "<="
                test = offset_index(index[0], number(s.params["k"]), True)
                holes = {"0": index[1], "1": test}
                unit, zero = (scalar_form.literal(out.type(x), out) for x in (1, 0))
                holes |= {"2": unit, "3": zero}
                return template(f"{{2}} if {{0}} {sign} {{1}} else {{3}}", holes)  # type: ignore[no-any-return]
            case "size_value":
                return self.size(s.params["size"])
            case "index" | "gather":
                return self.element(s.args[0], self.base_index(s, stage.entries, index, 1))
            case "draw":
                return self.random_number(s)
            case "searched":
                name, needed = place_helpers(s.params["after"])
                self.helpers |= needed
                value = self.read(stage, 1, index)
                return template(f"{name}({self.array_name(s.args[0])}, {{0}})", {"0": value})  # type: ignore[no-any-return]
            case "matmul":
                values = [self.read(stage, k, index) for k in (0, 1)]
                return template("{0} * {1}", {"0": values[0], "1": values[1]})  # type: ignore[no-any-return]
        if stage.stores:
            return self.element_as(s.args[1], self.operand_index(stage, 1, index), out)
        if stage.reduced:
            value = self.read(stage, 0, index)
            return scalar_form.cast(value, s.args[0].type.dtype, out)
        values = [self.read(stage, k, index) for k in range(len(s.args))]
        if s.op.name == "mod" and (near := self.near_remainder(s, values)) is not None:
            return near  # type: ignore[no-any-return]
        if s in self.totals:
            return self.added_up(s, values)  # type: ignore[no-any-return]
        return operations.scalar_expression(s, values, self)

    def random_number(self, s: Let) -> ast.expr:
        """A random number, as the method of a generator gives it."""
        name = s.params["name"]
        parameters = [self.atom(a) for a in random_draws.parameters(s)]
        holes = {str(k): e for k, e in enumerate(parameters)}
        method = "integers" if name == "choice" else name
        generator = self.param(s.args[0])
        return template(f"{generator}.{method}({', '.join(f'{{{k}}}' for k in holes)})", holes)  # type: ignore[no-any-return]

    def near_remainder(self, s: Let, values: list[ast.expr]) -> Any:
        """a % n without a division, where loop variables say that `a` is less than n away from
        what n leaves; else None: (i + 1) % n."""
        if any(a.type.dtype != scalar_form.INT for a in s.args):
            return None
        n = self.as_size(s.args[1])
        low, high = self.bounds(self.as_size(s.args[0]))
        if not (
            dims.at_least(self.bounds(n)[0], 1)
            and dims.at_least(low + n, 0)
            and dims.at_least(2 * n - 1 - high, 0)
        ):
            return None
        text = "{0}" if dims.at_least(low, 0) else "{0} + {1} if {0} < 0 else {0}"
        if not dims.at_least(n - 1 - high, 0):
            text = f"{{0}} - {{1}} if {{0}} >= {{1}} else {text}"
        return template(text, {"0": values[0], "1": values[1]})

    def added_up(self, s: Let, values: list[ast.expr]) -> Any:
        """One more term of a sum that may be made in any order."""
        k = self.totals[s]
        holes = scalar_form.Operands(s, values).natural(s.outs[0].type.dtype)
        total, term = holes[str(k)], holes[str(1 - k)]
        self.note_sum(total, s.outs[0].type.dtype)
        if s.op.name == "sub":
            term = template("-{0}", {"0": term})
        if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult):
            self.helpers[MULTIPLIED.strip()] = None
            factors = {"0": total, "1": term.left, "2": term.right}
            return template("plus_product({0}, {1}, {2})", factors)
        self.helpers[PLUS.strip()] = None
        return template("plus({0}, {1})", {"0": total, "1": term})

    def note_sum(self, total: ast.expr, dtype: np.dtype[Any]) -> None:
        """Notes that a variable, if it is one, is added to in an order that is free."""
        if isinstance(total, ast.Name) and dtype.kind in "fc":
            self.summed[total.id] = dtype

    def read(self, stage: LoopNest, k: int, index: list[ast.expr]) -> ast.expr:
        return self.element(stage.let.args[k], self.operand_index(stage, k, index))

    def operand_index(self, stage: LoopNest, k: int, index: list[ast.expr]) -> list[ast.expr]:
        axes = stage.maps[k] or ()
        return [number(0) if axis is None else index[axis] for axis in axes]

    def element_as(self, a: Atom, index: list[ast.expr], dtype: np.dtype[Any]) -> ast.expr:
        if isinstance(a, Literal):
            return scalar_form.literal(a.value, dtype)
        return scalar_form.cast(self.element(a, index), a.type.dtype, dtype)

    def arange(self, s: Let, index: ast.expr, out: np.dtype[Any]) -> ast.expr:
        start, _, step = s.args
        if step != Literal(1, step.type):
            index = template("{0} * {1}", {"0": index, "1": self.element_as(step, [], out)})
        else:
            index = scalar_form.cast(index, scalar_form.INT, out)
        first = self.element_as(start, [], out)
        return offset_index(first, index, True)

    def open_axes(self, stage: LoopNest) -> list[int]:
        bound = self.bound.get(stage, {})
        return [k for k, n in enumerate(stage.space) if k not in bound and n != 1]

    def index_of(self, stage: LoopNest) -> list[ast.expr]:
        bound = self.bound.get(stage, {})
        return [bound.get(k, number(0)) for k in range(len(stage.space))]

    def free_axes(self, stage: LoopNest) -> tuple[int, ...]:
        """The axes of the result that no loop around has bound."""
        bound = self.bound.get(stage, {})
        return tuple(k for k, axis in enumerate(stage.out) if axis is None or axis not in bound)

    def free_of(self, v: Var) -> tuple[int, ...]:
        bound = self.var_bound.get(v, {})
        return tuple(k for k in range(v.type.ndim) if k not in bound)


def _positive(size: Size) -> Size:
    """n for max(n, 0): an array with room for more than no numbers needs no such care."""
    match size:
        case dims.Dim(terms=(((dims.Quotient("max", n, 0),), 1),)):
            return n
    return size


def subscript(name: str, index: list[ast.expr]) -> ast.expr:
    inside = ", ".join(f"{{{k}}}" for k in range(len(index))) or "()"
    return template(f"{name}[{inside}]", {str(k): e for k, e in enumerate(index)})  # type: ignore[no-any-return]


def offset_index(start: ast.expr, at: ast.expr, forward: bool = True) -> ast.expr:
    """start + at or start - at, without zeros."""
    if isinstance(at, ast.Constant) and at.value == 0:
        return start
    if forward and isinstance(start, ast.Constant) and start.value == 0:
        return at
    for e, other in ((start, at), (at, start)) if forward else ():
        match e:
            case ast.Constant(value=int(n)):
                return _plus(other, n)
    return template(f"{{0}} {'+' if forward else '-'} {{1}}", {"0": start, "1": at})  # type: ignore[no-any-return]


def _plus(e: ast.expr, n: int) -> ast.expr:
    """e + n; (i + 1) + n is i + (1 + n)."""
    match e:
        case ast.Constant(value=int(m)):
            return number(m + n)
        case ast.BinOp(left=first, op=ast.Add() | ast.Sub(), right=ast.Constant(value=int(m))):
            n += m if isinstance(e.op, ast.Add) else -m
            e = first
    if n == 0:
        return e
    return template(f"{{0}} {'+' if n > 0 else '-'} {{1}}", {"0": e, "1": number(abs(n))})  # type: ignore[no-any-return]
