"""Prints the driver of a program as the function of C that others call.

out = empty((n,)); kernel(x, out); return out    becomes    void f(x, x_0, out) { f_kernel(...); }

Arrays that are results lie where the caller says; memory for others is a part of `work`, which the
caller passes, too. A driver makes nothing longer than its arguments say: where lengths depend on
values, the program is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from tapeless.transforms.c.control_flow import ControlFlow
from tapeless.transforms.c.kernel import CFunction, reserved
from tapeless.transforms.c.strided import Strided
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.expressions import Expressions
from tapeless.transforms.c_text.renaming import words
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import NotPrintedError, Value, c_type, cast, constant
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Statement,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype

LENGTHS: Error = (
    "ValueError",
    ("arguments have other lengths or signs than those that this code was made for",),
)
SHORT: Error = (
    "ValueError",
    ("an axis of an argument has fewer than two elements: this code was made for longer ones",),
)
#: Names that the function itself and its wrapper in Python have.
OURS = (
    "work",
    "at",
    "np",
    "ctypes",
    "operator",
    "builtins",
    "kind",
    "text",
    "Path",
    "LIBRARY",
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
    """A result, which the function leaves where the caller says."""

    name: str
    dtype: Dtype
    lengths: tuple[Value, ...]
    shape: tuple[str, ...] = ()  # in Python


class DriverWriter(ControlFlow):
    """Writes the function."""

    def __init__(
        self,
        name: str,
        block: Block,
        kernels: Sequence[tuple[Kernel, CFunction]],
        paths: Sequence[str],
        stored: Sequence[Var],
        relations: Sequence[tuple[str, Size, Size]],
    ) -> None:
        super().__init__({name, *reserved([]), *OURS, *(printed.name for _, printed in kernels)})
        self.block = block
        self.kernels = {kernel.name: (kernel, printed) for kernel, printed in kernels}
        self.stored = set(stored)
        self.constant_arrays: set[str] = set()
        self.relations = relations
        self.arguments = [
            self.receive(v, path) for v, path in zip(block.params, paths, strict=False)
        ]
        self.outputs = self.name_outputs()

    # -- the function

    def receive(self, v: Var, path: str) -> Argument:
        """A parameter of the program."""
        name = self.fresh(v.name or "x")
        if v.type.dtype.kind == "c":
            raise NotPrintedError("complex numbers")
        if not v.type.shape:
            self.numbers[v] = Value(name, v.type.dtype)
            if v.size is not None:
                self.learn(v.size, Value(name, INT))
            return Argument(path, name, v.type, (), False)
        lengths = [
            "" if isinstance(n, int) else self.fresh(f"{name}_{k}")
            for k, n in enumerate(v.type.shape)
        ]
        values = tuple(
            constant(n) if isinstance(n, int) else Value(text, INT, natural=True)
            for n, text in zip(v.type.shape, lengths, strict=True)
        )
        self.know(v, Strided.row_by_row(name, v.type.dtype, values))
        return Argument(path, name, v.type, tuple(lengths), v in self.stored)

    def constant_array(self, v: Var, name: str, lengths: Sequence[Value]) -> None:
        """An array that the program has read outside, and that is written out."""
        self.constant_arrays.add(name)
        self.know(v, Strided.row_by_row(name, v.type.dtype, lengths))

    def name_outputs(self) -> dict[int, Output]:
        """The results, which the caller gets by pointers, by position."""
        results = [*enumerate(self.block.results)]
        names = ["out"] if len(results) == 1 else [f"out_{k}" for k in range(len(results))]
        outputs = {}
        for (k, a), name in zip(results, names, strict=True):
            if not isinstance(a.type, Type) or a.type.dtype.kind not in "biuf":
                raise NotPrintedError("a result that is neither numbers nor arrays of real numbers")
            outputs[k] = Output(self.fresh(name), a.type.dtype, ())
        return outputs

    def write(self) -> None:
        """The statements, and what comes out."""
        statements, tested = list(self.block.body), set[frozenset[str]]()
        while statements and _is_test(statements[0]):
            s = statements.pop(0)
            self.statement(s)
            if isinstance(s, Effect) and s.kind == "check":
                pair = [self.number(a).text for a in s.args]
                tested.add(frozenset(pair))
                self.relate(*pair)
        self.check_relations(tested)
        self.check_least()
        self.statements(Block((), tuple(statements), ()))
        for k, output in self.outputs.items():
            self.leave(output, self.block.results[k], k)

    def check_relations(self, tested: set[frozenset[str]]) -> None:
        """What the code relies on, unless it is tested already."""
        signs = {"==": ast.NotEq(), "!=": ast.Eq(), ">=": ast.Lt()}
        for kind, first, second in self.relations:
            a, b = map(self.size, dims.sides(first, second))
            differ = arithmetic.compared(signs[kind], a, b)
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
        shorter = []
        for argument in self.arguments:
            for n, text in zip(argument.type.shape, argument.lengths, strict=False):
                least = dims.lower_bound(n)
                if text and least:
                    self.least[text] = least
                    length = Value(text, INT, natural=True)
                    shorter.append(arithmetic.compared(ast.Lt(), length, constant(least)))
        if shorter:
            test = Expressions.either(False, shorter).text
            self.put(f"if ({test}) return {self.code(SHORT)};")

    def leave(self, output: Output, a: Atom, k: int) -> None:
        """A result, unless it was made where it belongs."""
        if not isinstance(a, Var) or not a.type.shape:
            self.put(f"*{output.name} = {cast(self.number(a), output.dtype).text};")
            return
        view = self.views[a]
        shape = tuple(map(self.python_size, a.type.shape))
        self.outputs[k] = Output(output.name, output.dtype, view.lengths, shape)
        whole = Strided.row_by_row(output.name, output.dtype, view.lengths)
        if view != whole:
            self.copy(view, whole)

    def place_for(self, v: Var) -> str:
        """Where the numbers of an array are: with the caller, if it is a result, else in `work`."""
        places = [k for k, a in enumerate(self.block.results) if a is v and k in self.outputs]
        if len(places) == 1 and not any(
            x.memory == self.outputs[places[0]].name for x in self.views.values()
        ):
            return self.outputs[places[0]].name
        return super().place_for(v)

    # -- statements

    def statement(self, s: Statement) -> None:
        match s:
            case Effect(kind="blank"):
                pass
            case Effect(kind="check", args=(a, b)):
                differ = arithmetic.compared(ast.NotEq(), self.number(a), self.number(b))
                if differ.known is not False:
                    number = self.code(("ValueError", (s.message,)))
                    self.put(f"if ({differ.text}) return {number};", s)
            case Effect(kind="raise"):
                self.raised(s)
            case Effect(kind="kernel"):
                self.call_kernel(s.params["text"].partition("(")[0], s.args, (), s)
            case Effect(kind=kind):
                raise NotPrintedError(f"{kind} outside of kernels")
            case Let() if kernel := self.kernel_of(s):
                self.call_kernel(kernel, s.args, s.outs, s)
            case Let(op=op) if op is size_value:
                value = self.size(s.params["size"])
                self.numbers[s.outs[0]] = value
                if words(value.text) & self.variable:
                    self.set(s.outs[0], value, s)
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
            p.name: self.whole(passed[p.name], p.name, p.written)
            for p in printed.passed
            if p.axis is None and kernel.types[p.name].shape
        }
        texts = []
        for p in printed.passed:
            kind = kernel.types[p.name]
            if p.axis is not None:
                texts.append(self.view(passed[p.name]).lengths[p.axis].text)
            elif kind.shape:
                texts.append(views[p.name].pointer)
            else:
                texts.append(cast(self.number(passed[p.name]), kind.dtype).text)
        for v, dtype in zip(outs, printed.results, strict=True):
            result = self.fresh(v.name or "value")
            self.put(f"{c_type(dtype)} {result};")
            self.numbers[v] = Value(result, dtype)
            texts.append(f"&{result}")
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

    def whole(self, a: Atom, name: str, is_written: bool) -> Strided:
        """An array as kernels get it: row by row."""
        view = self.view(a)
        if is_written and isinstance(a, Var) and self.is_constant(view):
            raise NotPrintedError("a store to an argument that is none")
        if view.is_whole:
            return view
        if is_written:
            raise NotPrintedError("a store to a part of an array outside of kernels")
        copied = Strided.row_by_row(self.fresh(f"{name}_rows"), view.dtype, view.lengths)
        self.work.append((copied.memory, view.dtype, view.lengths))
        self.copy(view, copied)
        return copied

    def is_constant(self, view: Strided) -> bool:
        """Whether memory is that of an argument which nothing is stored to."""
        return view.memory in self.constant_arrays or any(
            x.name == view.memory and x.type.shape and not x.stored for x in self.arguments
        )


def _is_test(s: Statement) -> bool:
    """Whether a statement compares lengths, or is about one that is compared."""
    if isinstance(s, Effect):
        return s.kind in ("check", "blank")
    return isinstance(s, Let) and s.op is size_value
