"""Prints the driver of a program as the function of C that others call.

out = empty((n,)); kernel(x, out); return out    becomes    void f(x, x_0, out) { f_kernel(...); }

Arrays that are results lie where the caller says; memory for others is a part of `work`, which the
caller passes, too. A driver makes nothing longer than its arguments say: where lengths depend on
values, the program is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tapeless.transforms.c.kernel import CFunction, reserved
from tapeless.transforms.c_text import arithmetic
from tapeless.transforms.c_text.dialect import suffix
from tapeless.transforms.c_text.expressions import Expressions, Scope, product
from tapeless.transforms.c_text.renaming import ascii_name
from tapeless.transforms.c_text.statements import Error
from tapeless.transforms.c_text.values import (
    POSTFIX,
    Dtype,
    NotPrintedError,
    Value,
    c_type,
    cast,
    constant,
)
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Literal,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.lowering.device_memory import memory
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT
from tapeless.transforms.lowering.scalars.operations import form_of, spelled
from tapeless.transforms.lowering.schedule.view_indices import Place, entries_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives import new_arrays, shapes, slices_and_gathers
from tapeless.transforms.ops.primitives.index_keys import Slot

MAKES = (memory, new_arrays.empty, new_arrays.zeros, new_arrays.ones, new_arrays.full)
LENGTHS: Error = (
    "ValueError",
    ("the lengths of arguments are not those that this code was made for",),
)


@dataclass(frozen=True)
class View:
    """Where the numbers of an array are: `strides` are counted in numbers.

    written  whether it may be stored to
    """

    pointer: str
    dtype: Dtype
    lengths: tuple[Value, ...]
    strides: tuple[Value, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it lies row by row."""
        return self.strides == row_by_row(self.lengths)


def row_by_row(lengths: Sequence[Value]) -> tuple[Value, ...]:
    """The strides of an array whose rows follow each other."""
    return tuple(product(lengths[k + 1 :]) for k in range(len(lengths)))


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


class _NoModule:
    """Scalar forms of drivers need nothing but functions that C has."""

    def __init__(self) -> None:
        self.imports: set[tuple[str, str]] = set()
        self.helpers: dict[str, None] = {}


class DriverWriter:
    """Writes the function. `work` are the arrays that it needs besides: name, dtype, lengths."""

    def __init__(
        self,
        name: str,
        block: Block,
        kernels: Sequence[tuple[Kernel, CFunction]],
        paths: Sequence[str],
        stored: Sequence[Var],
        relations: Sequence[tuple[str, Size, Size]],
    ) -> None:
        self.name, self.block = name, block
        self.kernels = {kernel.name: (kernel, made) for kernel, made in kernels}
        self.taken = {name, *reserved([]), *(made.name for _, made in kernels)}
        self.lines: list[str] = []
        self.depth = 1
        self.errors: list[Error] = []
        self.views: dict[Var, View] = {}
        self.numbers: dict[Var, Value] = {}
        self.sizes: dict[dims.Symbol, Value] = {}
        self.work: list[tuple[str, Dtype, tuple[Value, ...]]] = []
        self.stored = set(stored)
        self.constant_arrays: set[str] = set()
        self.relations = relations
        self.arguments = [
            self.receive(v, path) for v, path in zip(block.params, paths, strict=False)
        ]
        self.outputs = self.name_outputs()

    # -- names and sizes

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        stem = ascii_name(stem)
        stem = f"{stem}_" if reserved([stem]) & {stem} else stem
        name, k = stem, 2
        while name in self.taken or reserved([name]) & {name}:
            name, k = f"{stem}_{k}", k + 1
        self.taken.add(name)
        return name

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
        self.know(v, View(name, v.type.dtype, values, row_by_row(values)))
        return Argument(path, name, v.type, tuple(lengths), v in self.stored)

    def constant_array(self, v: Var, name: str, lengths: Sequence[Value]) -> None:
        """An array that the program has read outside, and that is written out."""
        self.constant_arrays.add(name)
        self.know(v, View(name, v.type.dtype, tuple(lengths), row_by_row(lengths)))

    def know(self, v: Var, view: View) -> None:
        self.views[v] = view
        for n, value in zip(v.type.shape, view.lengths, strict=True):
            self.learn(n, value)

    def learn(self, size: Size, value: Value) -> None:
        """A length that has a name of its own."""
        match dims.terms_of(size):
            case [((dims.Symbol() as symbol,), 1)]:
                self.sizes.setdefault(symbol, value)

    def size(self, size: Size) -> Value:
        """A length as an expression of C."""
        total = constant(0)
        for factors, coefficient in dims.terms_of(size):
            term = constant(coefficient)
            for factor in factors:
                x = self.factor(factor)
                term = x if term.known == 1 else arithmetic.binary(ast.Mult(), term, x)
            total = term if total.known == 0 else arithmetic.binary(ast.Add(), total, term)
        return total

    def factor(self, factor: dims.Factor) -> Value:
        if isinstance(factor, dims.Symbol):
            if factor in self.sizes:
                return self.sizes[factor]
            if factor.var in self.numbers:
                return cast(self.numbers[factor.var], INT)
            raise NotPrintedError("a length that depends on values")
        a, b = self.size(factor.left), self.size(factor.right)
        if factor.kind in dims.CALLED:
            return arithmetic.extreme(factor.kind, [a, b])
        return arithmetic.binary(ast.FloorDiv() if factor.kind == "//" else ast.Mod(), a, b)

    def python_size(self, size: Size) -> str:
        """A length as an expression of Python, of what the arguments are called in C."""

        def text(factor: dims.Factor) -> str:
            if isinstance(factor, dims.Symbol):
                return self.factor(factor).text
            a, b = self.python_size(factor.left), self.python_size(factor.right)
            called = factor.kind in dims.CALLED
            return f"{factor.kind}({a}, {b})" if called else f"(({a}) {factor.kind} ({b}))"

        terms = [
            " * ".join([*([str(c)] if c != 1 or not factors else []), *map(text, factors)])
            for factors, c in dims.terms_of(size)
        ]
        return " + ".join(terms) or "0"

    def lengths_of(self, shape: Sequence[Size]) -> tuple[Value, ...]:
        return tuple(map(self.size, shape))

    # -- text

    def put(self, text: str, s: Statement | None = None) -> None:
        note = s.origin.note.replace("#", "//") if s is not None and s.origin is not None else ""
        self.lines.append("  " * self.depth + text + f"  {note}" * bool(note))

    @contextmanager
    def braces(self, head: str, s: Statement | None = None) -> Iterator[None]:
        self.put(f"{head} {{", s)
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    def code(self, error: Error) -> int:
        """The number of an error, from 1."""
        if error not in self.errors:
            self.errors.append(error)
        return self.errors.index(error) + 1

    # -- the function

    def name_outputs(self) -> dict[int, Output]:
        """The results that the caller gets by pointers, by position: not those that are stored to
        arguments."""
        results = [
            (k, a)
            for k, a in enumerate(self.block.results)
            if k < len(self.block.results) - len(self.stored)
        ]
        names = ["out"] if len(results) == 1 else [f"out_{k}" for k in range(len(results))]
        found = {}
        for (k, a), name in zip(results, names, strict=True):
            if not isinstance(a.type, Type) or a.type.dtype.kind not in "biuf":
                raise NotPrintedError("a result that is neither numbers nor arrays of real numbers")
            self.taken.add(name)
            found[k] = Output(name, a.type.dtype, ())
        return found

    def write(self) -> None:
        """The statements, and what comes out."""
        statements, tested = list(self.block.body), set[frozenset[str]]()
        while statements and _is_test(statements[0]):
            s = statements.pop(0)
            self.statement(s)
            if isinstance(s, Effect) and s.kind == "check":
                tested.add(frozenset(self.number(a).text for a in s.args))
        self.check_relations(tested)
        for s in statements:
            try:
                self.statement(s)
            except NotPrintedError as e:
                if s.origin is not None and "line" not in str(e):
                    raise NotPrintedError(f"{e} ({s.origin.note.strip('# ')})") from e
                raise
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
            if kind == "==" and frozenset([a.text, b.text]) in tested:
                continue
            if differ.known is None:
                self.put(f"if ({differ.text}) return {self.code(LENGTHS)};")

    def leave(self, output: Output, a: Atom, k: int) -> None:
        """A result, unless it was made where it belongs."""
        if not isinstance(a, Var) or not a.type.shape:
            self.put(f"*{output.name} = {cast(self.number(a), output.dtype).text};")
            return
        view = self.views[a]
        shape = tuple(map(self.python_size, a.type.shape))
        self.outputs[k] = Output(output.name, output.dtype, view.lengths, shape)
        if view.pointer != output.name or not view.is_whole:
            self.copy(view, output.name)

    def place_for(self, v: Var) -> str:
        """Where the numbers of an array are: with the caller, if it is a result, else in `work`."""
        places = [k for k, a in enumerate(self.block.results) if a is v and k in self.outputs]
        if len(places) == 1 and not any(
            x.pointer == self.outputs[places[0]].name for x in self.views.values()
        ):
            return self.outputs[places[0]].name
        name = self.fresh(v.name or "t")
        self.work.append((name, v.type.dtype, self.lengths_of(v.type.shape)))
        return name

    def make(self, v: Var) -> View:
        """Memory for a new array."""
        if v.type.dtype.kind == "c":
            raise NotPrintedError("complex numbers")
        lengths = self.lengths_of(v.type.shape)
        view = View(self.place_for(v), v.type.dtype, lengths, row_by_row(lengths))
        self.know(v, view)
        return view

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
            case Effect(kind="kernel"):
                self.call_kernel(s.params["text"], s.args, (), s)
            case Let(op=op) if op.name in self.kernels:
                self.call_kernel(f"{op.name}(", s.args, s.outs, s)
            case Let(op=op) if op is size_value:
                self.numbers[s.outs[0]] = self.size(s.params["size"])
            case Let(op=op) if op in MAKES:
                self.new_array(s)
            case Let(op=op) if op is shapes.copy:
                view = self.make(s.outs[0])
                self.copy(self.view(s.args[0]), view.pointer, s)
            case Let(op=op) if op is matmul:
                self.matrix_product(s)
            case Let(outs=(out,)) if out.type.shape and entries_of(s) is not None:
                self.know(out, self.part(s))
            case Let(op=op) if op is shapes.reshape and self.view(s.args[0]).is_whole:
                lengths = self.lengths_of(s.outs[0].type.shape)
                old = self.view(s.args[0])
                self.know(s.outs[0], View(old.pointer, old.dtype, lengths, row_by_row(lengths)))
            case Let(op=op) if op is slices_and_gathers.index and not s.outs[0].type.shape:
                view = self.part(s)
                self.set(s.outs[0], Value(f"*({view.pointer})", view.dtype, POSTFIX), s)
            case Let(outs=(out,)) if not out.type.shape and form_of(s) is not None:
                self.scalar(s)
            case Let(op=op):
                raise NotPrintedError(f"{op.name} outside of kernels")
            case Effect(kind=kind):
                raise NotPrintedError(f"{kind} outside of kernels")
            case _:
                raise NotPrintedError("a loop or a branch outside of kernels")

    def number(self, a: Atom) -> Value:
        if isinstance(a, Literal):
            return constant(a.value, a.type.dtype)
        if a not in self.numbers:
            raise NotPrintedError("a number outside of kernels")
        return self.numbers[a]

    def view(self, a: Atom) -> View:
        if not isinstance(a, Var) or a not in self.views:
            raise NotPrintedError("an array outside of kernels")
        return self.views[a]

    def set(self, v: Var, value: Value, s: Statement | None) -> None:
        """A number with a name of its own."""
        name = self.fresh(v.name or "t")
        self.put(f"const {c_type(v.type.dtype)} {name} = {cast(value, v.type.dtype).text};", s)
        self.numbers[v] = Value(name, v.type.dtype, natural=value.natural)

    def scalar(self, s: Let) -> None:
        """An operation on numbers."""
        scope, names = Scope(), []
        for k, a in enumerate(s.args):
            scope.fixed[f"a{k}"] = self.number(a)
            names.append(ast.Name(f"a{k}", ast.Load()))
        module = _NoModule()
        tree = spelled(s, [*names], module)
        if module.helpers:
            raise NotPrintedError(f"{s.op.name} outside of kernels")
        self.set(s.outs[0], Expressions(scope).number(tree), s)

    def new_array(self, s: Let) -> None:
        view = self.make(s.outs[0])
        if s.op in (memory, new_arrays.empty):
            return
        first = {new_arrays.zeros: constant(0), new_arrays.ones: constant(1)}.get(s.op)
        value = cast(self.number(s.args[0]) if first is None else first, view.dtype)
        count, k = product(view.lengths), self.fresh("k")
        self.put(
            f"for (i64 {k} = 0; {k} < {count.text}; {k}++) {view.pointer}[{k}] = {value.text};", s
        )
        self.taken.discard(k)

    def part(self, s: Let) -> View:
        """A part or another order of an array."""
        base, offset = self.view(s.args[0]), constant(0)
        lengths = self.lengths_of(s.outs[0].type.shape)
        strides = [constant(0)] * len(lengths)
        for axis, entry in enumerate(entries_of(s) or ()):
            stride = base.strides[axis]
            at = entry.at if isinstance(entry, Place) else entry.start
            if isinstance(entry, Place):
                if entry.axes:
                    raise NotPrintedError("an array of indices outside of kernels")
            elif entry.axis is not None:
                step = constant(entry.step)
                strides[entry.axis] = arithmetic.binary(ast.Mult(), step, stride)
            n = base.lengths[axis]
            first = arithmetic.binary(ast.Sub(), n, constant(1)) if at is None else self.slot(at, s)
            if first.known is None and not first.natural and at is not None:
                raise NotPrintedError("a slice whose start is not known")
            if isinstance(first.known, int) and first.known < 0:
                first = arithmetic.binary(ast.Add(), n, first)
            if first.known != 0:
                offset = arithmetic.binary(
                    ast.Add(), offset, arithmetic.binary(ast.Mult(), first, stride)
                )
        pointer = base.pointer if offset.known == 0 else f"{base.pointer} + {offset.at(4)}"
        return View(pointer, base.dtype, lengths, tuple(strides))

    def slot(self, at: int | Slot, s: Let) -> Value:
        return self.number(s.args[1 + at.k]) if isinstance(at, Slot) else constant(at)

    def matrix_product(self, s: Let) -> None:
        """A product of vectors or matrices, by loops."""
        a, b = (self.view(x) for x in s.args)
        out = s.outs[0]
        if max(len(a.lengths), len(b.lengths)) > 2 or a.dtype != b.dtype or a.dtype.kind != "f":
            raise NotPrintedError("matmul of stacks, or of integers, outside of kernels")
        one, none = constant(1), constant(0)
        rows = a.lengths[0] if len(a.lengths) == 2 else one
        columns = b.lengths[1] if len(b.lengths) == 2 else one
        a_strides = a.strides if len(a.strides) == 2 else (none, *a.strides)
        b_strides = b.strides if len(b.strides) == 2 else (*b.strides, none)
        if out.type.shape:
            pointer = self.make(out).pointer
        else:
            pointer = self.fresh(out.name or "product")
            self.put(f"{c_type(out.type.dtype)} {pointer};")
            self.numbers[out] = Value(pointer, out.type.dtype)
            pointer = f"&{pointer}"
        inner = a.lengths[-1]
        texts = [x.text for x in (rows, columns, inner)]
        texts += [a.pointer, *(x.text for x in a_strides), b.pointer, *(x.text for x in b_strides)]
        self.put(f"product_{suffix(a.dtype)}({', '.join(texts)}, {pointer});", s)

    def copy(self, view: View, target: str, s: Statement | None = None) -> None:
        """The numbers of an array, row by row."""
        names = [self.fresh(letter) for letter in "ijklmnpq"[: len(view.lengths)]]
        place, source = constant(0), constant(0)
        for name, stride, row in zip(names, view.strides, row_by_row(view.lengths), strict=True):
            k = Value(name, INT, natural=True)
            place = arithmetic.binary(ast.Add(), place, arithmetic.binary(ast.Mult(), k, row))
            if stride.known != 0:
                step = k if stride.known == 1 else arithmetic.binary(ast.Mult(), k, stride)
                source = arithmetic.binary(ast.Add(), source, step)
        for k, (name, n) in enumerate(zip(names, view.lengths, strict=True)):
            self.put(f"for (i64 {name} = 0; {name} < {n.at(5)}; {name}++) {{", None if k else s)
            self.depth += 1
        pointer = view.pointer if view.pointer.isidentifier() else f"({view.pointer})"
        self.put(f"{target}[{place.text}] = {pointer}[{source.text}];")
        for name in names:
            self.depth -= 1
            self.put("}")
            self.taken.discard(name)

    # -- kernels

    def call_kernel(
        self, text: str, args: Sequence[Atom], outs: Sequence[Var], s: Statement
    ) -> None:
        name = text.partition("(")[0]
        if name not in self.kernels:
            raise NotPrintedError(f"the call {text}")
        kernel, made = self.kernels[name]
        given = dict(zip(kernel.types, args, strict=True))
        views = {
            p.name: self.whole(given[p.name], p.name, p.written)
            for p in made.passed
            if p.axis is None and kernel.types[p.name].shape
        }
        texts = []
        for p in made.passed:
            kind = kernel.types[p.name]
            if p.axis is not None:
                texts.append(self.view(given[p.name]).lengths[p.axis].text)
            elif kind.shape:
                texts.append(views[p.name].pointer)
            else:
                texts.append(cast(self.number(given[p.name]), kind.dtype).text)
        for v, dtype in zip(outs, made.results, strict=True):
            result = self.fresh(v.name or "value")
            self.put(f"{c_type(dtype)} {result};")
            self.numbers[v] = Value(result, dtype)
            texts.append(f"&{result}")
        call = f"{made.name}({', '.join(texts)})"
        if not made.errors:
            self.put(f"{call};")
            return
        failed, codes = self.fresh("failed_"), [self.code(e) for e in made.errors]
        self.put(f"const int {failed} = {call};")
        first = codes[0]
        if codes == [*range(first, first + len(codes))]:
            more = f" + {first - 1}" if first > 1 else ""
            self.put(f"if ({failed}) return {failed}{more};")
            return
        for k, code in enumerate(codes, 1):
            self.put(f"if ({failed} == {k}) return {code};")

    def whole(self, a: Atom, name: str, is_written: bool) -> View:
        """An array as kernels get it: row by row."""
        view = self.view(a)
        if is_written and isinstance(a, Var) and self.is_constant(view):
            raise NotPrintedError("a store to an argument that is none")
        if view.is_whole:
            return view
        if is_written:
            raise NotPrintedError("a store to a part of an array outside of kernels")
        copied = self.fresh(f"{name}_rows")
        self.work.append((copied, view.dtype, view.lengths))
        self.copy(view, copied)
        return View(copied, view.dtype, view.lengths, row_by_row(view.lengths))

    def is_constant(self, view: View) -> bool:
        """Whether memory is that of an argument which nothing is stored to."""
        root = view.pointer.partition(" ")[0]
        return root in self.constant_arrays or any(
            x.name == root and x.type.shape and not x.stored for x in self.arguments
        )


def _is_test(s: Statement) -> bool:
    """Whether a statement compares lengths, or is about one that is compared."""
    if isinstance(s, Effect):
        return s.kind in ("check", "blank")
    return isinstance(s, Let) and s.op is size_value
