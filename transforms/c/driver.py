"""Prints the driver of a program as the function of C that others call.

out = empty((n,)); kernel(x, out); return out    becomes    void f(x, x_0, out) { f_kernel(...); }

Arrays that are results lie where the caller says; memory for others is a part of `work`, which the
caller passes, too. A driver makes nothing longer than its arguments say: where lengths depend on
values, the program is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tapeless.transforms.c.control_flow import ControlFlow
from tapeless.transforms.c.dead_lines import read_by, without_unread
from tapeless.transforms.c.growing_lists import ROOM
from tapeless.transforms.c.kernel import CFunction, reserved_names
from tapeless.transforms.c.memory_roots import MemoryRoots
from tapeless.transforms.c.prints import PrintedEffect
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import CValue, NotPrintedError, c_type, cast, constant
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_about_lists,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import reads
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.obstacles import shown_effect
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype

LENGTHS: Error = (
    "ValueError",
    ("arguments have other lengths or signs than those that this code was made for",),
)
#: Names that the function itself and its wrapper in Python have.
OURS = (
    "work",
    "room",
    "at",
    "np",
    "ctypes",
    "operator",
    "builtins",
    "kind",
    "text",
    "Path",
    "LIBRARY",
    "converted",
    "fitting",
    "held",
    "new",
    "overwritten",
    "result",
    "number",
)


@dataclass(frozen=True)
class Argument:
    """A parameter of the function: what it is in the user's program, and what C calls it."""

    path: str
    name: str
    type: Type
    lengths: tuple[str, ...]  # what C calls those that are not constant; "" for the others
    stored: bool


@dataclass(frozen=True)
class Output:
    """A result, which the function leaves where the caller says.

    shape   its lengths in Python
    counts  if they depend on values: where it leaves each; "" for those that are constant
    """

    name: str
    dtype: Dtype
    lengths: tuple[CValue, ...]
    shape: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()


def integers_of(arguments: Iterable[Argument]) -> list[str]:
    """The parameters that sizes of memory depend on: lengths, and integers."""
    names = []
    for a in arguments:
        names += [n for n in a.lengths if n]
        if not a.type.shape and a.type.dtype.kind in "iu":
            names.append(a.name)
    return names


class DriverWriter(ControlFlow):
    """Writes the function."""

    own_names: tuple[str, ...] = OURS
    outputs_may_be_tapes = False

    def __init__(
        self,
        name: str,
        block: Block,
        kernels: Sequence[tuple[Kernel, CFunction]],
        paths: Sequence[str],
        stored: Sequence[Var],
        relations: Sequence[tuple[str, Size, Size]],
    ) -> None:
        called = (printed.name for _, printed in kernels)
        super().__init__({name, *reserved_names([]), *self.own_names, *called})
        self.block = block
        self.roots = MemoryRoots(block)
        self.unread_constants = set(_unread_constants(block))
        self.kernels = {kernel.name: (kernel, printed) for kernel, printed in kernels}
        self.stored = set(stored)
        self.constant_arrays: set[str] = set()
        self.relations = relations
        self.arguments = [
            self.receive(v, path) for v, path in zip(block.params, paths, strict=False)
        ]
        self.outputs = self.name_outputs()
        self.at_entry = {*integers_of(self.arguments), ROOM.text}

    # -- the function

    def receive(self, v: Var, path: str) -> Argument:
        """A parameter of the program."""
        name = self.fresh(v.name or "x")
        if not v.type.shape:
            self.numbers[v] = CValue(name, v.type.dtype)
            if v.size is not None:
                self.learn(v.size, CValue(name, INT))
            return Argument(path, name, v.type, (), False)
        lengths = [
            "" if isinstance(n, int) else self.fresh(f"{name}_{k}")
            for k, n in enumerate(v.type.shape)
        ]
        values = tuple(
            constant(n) if isinstance(n, int) else CValue(text, INT, natural=True)
            for n, text in zip(v.type.shape, lengths, strict=True)
        )
        self.know(v, Strided.row_by_row(name, v.type.dtype, values))
        return Argument(path, name, v.type, tuple(lengths), v in self.stored)

    def constant_array(self, v: Var, name: str, lengths: Sequence[CValue]) -> None:
        """An array that the program has read outside, and that is written out."""
        self.constant_arrays.add(name)
        self.know(v, Strided.row_by_row(name, v.type.dtype, lengths))

    def name_outputs(self) -> dict[int, Output]:
        """The results, which the caller gets by pointers, by position."""
        results = [*enumerate(self.block.results)]
        names = ["out"] if len(results) == 1 else [f"out_{k}" for k in range(len(results))]
        outputs = {}
        for (k, a), name in zip(results, names, strict=True):
            dtype = getattr(a.type, "dtype", None)
            if self.outputs_may_be_tapes and a.type == TAPE:
                dtype = INT
            if dtype is None or dtype.kind not in "biufc":
                raise NotPrintedError("a result that is neither numbers nor arrays of numbers")
            outputs[k] = Output(self.fresh(name), dtype, ())
        return outputs

    def write(self) -> None:
        """The statements, and what comes out."""
        body, tested = list(self.block.body), set[frozenset[str]]()
        while body and _is_test(body[0]):
            s = body.pop(0)
            self.statement(s)
            if isinstance(s, Effect) and s.kind == "check":
                pair = [self.number(a).text for a in s.args]
                tested.add(frozenset(pair))
                self.relate(*pair)
        self.check_relations(tested)
        self.check_least()
        self.statements(Block((), tuple(body), ()))
        for k, output in self.outputs.items():
            self.leave(output, self.block.results[k], k)
        self.lines = without_unread(self.lines)
        read = read_by(self.lines)
        self.work = [item for item in self.work if item[0] in read]

    def check_relations(self, tested: set[frozenset[str]]) -> None:
        """What the code relies on, unless it is tested already."""
        signs = {"==": ast.NotEq(), "!=": ast.Eq(), ">=": ast.Lt()}
        for kind, first, second in self.relations:
            a, b = map(self.size, dims.sides(first, second))
            differ = arithmetic.compare(signs[kind], a, b)
            if differ.known is True:
                raise NotPrintedError("lengths that cannot be equal")
            if kind == "==":
                self.relate(a.text, b.text)
            if kind == "==" and frozenset([a.text, b.text]) in tested:
                continue
            line = f"if ({differ.text}) return"
            if differ.known is None and not any(line in other for other in self.lines):
                self.put(f"{line} {self.code(LENGTHS)};")

    def check_least(self) -> None:
        """Axes are at least as long as the code has them: of one element they may be broadcast, and
        without elements there is nothing to be the largest."""
        for a in self.arguments:
            for axis, (n, text) in enumerate(zip(a.type.shape, a.lengths, strict=False)):
                least = dims.lower_bound(n)
                if text and least:
                    self.least[text] = least
                    number = self.code(_too_short(axis, a.path, least))
                    self.put(f"if ({text} < {least}) return {number};")

    def leave(self, output: Output, a: Atom, k: int) -> None:
        """A result, unless it was made where it belongs."""
        if not isinstance(a, Var) or not a.type.shape:
            self.put(f"*{output.name} = {cast(self.number(a), output.dtype).text};")
            return
        view = self.view(a)
        whole = Strided.row_by_row(output.name, output.dtype, view.lengths)
        if self.is_known(view.lengths):
            shape = tuple(map(self.python_size, a.type.shape))
            self.outputs[k] = replace(output, lengths=view.lengths, shape=shape)
        else:
            self.count(output, view, k)
        if view != whole:
            self.copy(view, whole)

    def count(self, output: Output, view: Strided, k: int) -> None:
        """Leaves the lengths of a result that depend on values."""
        if view.memory != output.name:
            self.check_room(view.lengths)
        counts = tuple(
            "" if n.known is not None else self.fresh(f"{output.name}_{axis}")
            for axis, n in enumerate(view.lengths)
        )
        for n, name in zip(view.lengths, counts, strict=True):
            if name:
                self.put(f"*{name} = {n.text};")
        texts = [
            f"{name}.value" if name else n.text
            for n, name in zip(view.lengths, counts, strict=True)
        ]
        self.outputs[k] = replace(output, lengths=view.lengths, shape=tuple(texts), counts=counts)

    def place_for(self, v: Var, lengths: Sequence[CValue]) -> str:
        """Where the numbers of an array are: with the caller, if it is a result, else in `work`."""
        places = [k for k, a in enumerate(self.block.results) if a is v and k in self.outputs]
        if len(places) == 1 and not any(
            x.memory == self.outputs[places[0]].name for x in self.views.values()
        ):
            if not self.is_known(lengths):
                self.check_room(lengths)
            return self.outputs[places[0]].name
        return super().place_for(v, lengths)

    @property
    def has_room(self) -> bool:
        """Whether the caller says how long arrays may be whose lengths depend on values."""
        lengths = [n.text for _, _, lengths in self.work for n in lengths]
        return ROOM.text in words("\n".join([*self.lines, *lengths]))

    # -- statements

    def statement(self, s: Statement) -> None:
        match s:
            case Effect(kind="blank"):
                pass
            case Effect(kind="check", args=(a, b)):
                differ = arithmetic.compare(ast.NotEq(), self.number(a), self.number(b))
                if differ.known is not False:
                    number = self.code((s.error, (s.message,)))
                    self.put(f"if ({differ.text}) return {number};", s)
            case Effect(kind="raise"):
                self.raise_user_error(s)
            case Effect(kind="kernel"):
                self.call_kernel(s.params["text"].partition("(")[0], s.args, (), s)
            case Effect(kind="print" | "call"):
                for line in PrintedEffect(s, self.number).lines():
                    self.put(line, s)
            case Effect():
                raise NotPrintedError(shown_effect(s))
            case Let() if s in self.unread_constants:
                pass  # kernels have it themselves
            case Let() if kernel := self.kernel_of(s):
                self.call_kernel(kernel, s.args, s.outs, s)
            case Let(op=op) if op is size_value:
                value = self.size(s.params["size"])
                self.numbers[s.outs[0]] = value
                if words(value.text) & self.variable:
                    self.set(s.outs[0], value, s)
            case Let() if is_about_lists(s):
                self.list_operation(s)
            case Let():
                self.operation(s)
            case If():
                self.branch(s)
            case For():
                self.for_loop(s)
            case While():
                self.while_loop(s)

    # -- kernels

    def kernel_of(self, s: Let) -> str:
        """The name of the kernel that a statement calls, if it calls one."""
        return s.op.name if s.op.name in self.kernels else ""

    def call_kernel(
        self, name: str, args: Sequence[Atom], outs: Sequence[Var], s: Statement
    ) -> None:
        """The call of a kernel, whose errors are ours."""
        kernel, printed = self.kernels[name]
        passed = dict(zip(kernel.types, args, strict=True))
        views = {
            p.name: self.contiguous(passed[p.name], p.name, p.written)
            for p in printed.passed
            if p.name in kernel.types and p.axis is None and kernel.types[p.name].shape
        }
        texts = []
        for p in printed.passed:
            if p.name == ROOM.text:
                texts.append(ROOM.text)
                continue
            if p.dtype is not None:
                texts.append(self.allocate(p.name, p.dtype, (ROOM,)))
                continue
            kind = kernel.types[p.name]
            if p.axis is not None:
                texts.append(self.view(passed[p.name]).lengths[p.axis].text)
            elif kind.shape:
                texts.append(views[p.name].pointer)
            else:
                texts.append(cast(self.number(passed[p.name]), kind.dtype).text)
        for v, result in zip(outs, printed.results, strict=True):
            name = self.fresh(f"{v.name or 't'}_length" if result.is_array else v.name or "value")
            self.put(f"{'i64' if result.is_array else c_type(result.dtype)} {name};")
            if result.is_array:
                length = CValue(name, INT, natural=True)
                texts.append(self.allocate_filled(v, length).pointer)
            else:
                self.numbers[v] = CValue(name, result.dtype)
            texts.append(f"&{name}")
        call = f"{printed.name}({', '.join(texts)})"
        if not printed.errors:
            self.put(f"{call};")
            return
        failed, codes = self.fresh("failed_"), [self.code(e) for e in printed.errors]
        self.put(f"const int {failed} = {call};")
        first = codes[0]
        if codes == [*range(first, first + len(codes))]:
            more = f" + {first - 1}" if first > 1 else ""
            self.put(f"if ({failed}) return {failed}{more};")
            return
        for k, code in enumerate(codes, 1):
            self.put(f"if ({failed} == {k}) return {code};")

    def allocate_filled(self, v: Var, length: CValue) -> Strided:
        """Memory for an array that a kernel makes, and whose length it tells."""
        view = Strided.row_by_row(self.place_for(v, (ROOM,)), v.type.dtype, (length,))
        self.know(v, view)
        return view

    def contiguous(self, a: Atom, name: str, is_written: bool) -> Strided:
        """An array as kernels get it: row by row."""
        view = self.view(a)
        if is_written and isinstance(a, Var) and self.is_constant(view):
            raise NotPrintedError("a store to an argument that is none")
        if view.is_whole:
            return view
        if is_written:
            raise NotPrintedError("a store to a part of an array outside of kernels")
        memory = self.allocate(f"{name}_rows", view.dtype, view.lengths)
        copied = Strided.row_by_row(memory, view.dtype, view.lengths)
        self.copy(view, copied)
        return copied

    def is_constant(self, view: Strided) -> bool:
        """Whether memory is that of an argument which nothing is stored to."""
        return view.memory in self.constant_arrays or any(
            x.name == view.memory and x.type.shape and not x.stored for x in self.arguments
        )


def _unread_constants(block: Block) -> Iterable[Let]:
    """The statements that make constants which no other reads."""
    read = {a for a in block.results if isinstance(a, Var)}
    for s in statements(block):
        read.update(reads(s), (a for b in blocks(s) for a in b.results if isinstance(a, Var)))
    for s in statements(block):
        if isinstance(s, Let) and s.op.pure and not read & set(s.outs):
            yield from [s] if all(isinstance(a, Literal) for a in s.args) else []


def _too_short(axis: int, path: str, least: int) -> Error:
    elements = f"{least} element{'s' * (least > 1)}"
    return (
        "ValueError",
        (f"axis {axis} of {path} has fewer than {elements}: this code was made for longer ones",),
    )


def _is_test(s: Statement) -> bool:
    """Whether a statement compares lengths, or is about one that is compared."""
    if isinstance(s, Effect):
        return s.kind in ("check", "blank")
    return isinstance(s, Let) and s.op is size_value
