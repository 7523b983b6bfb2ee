"""Prints the functions that a kernel calls as functions of C: one for each signature.

def before(a, b): return a < b      becomes      __device__ bool before(double a, double b) {...}

Arrays are passed as where they are and how long. What may fail returns the number of its error.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tapeless.transforms.c_text.arithmetic import unified_dtype
from tapeless.transforms.c_text.expressions import KernelScope
from tapeless.transforms.c_text.statements import Error, Statements
from tapeless.transforms.c_text.values import (
    CArray,
    CValue,
    Meaning,
    NotPrintedError,
    c_type,
    cast,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT, Dtype
from tapeless.transforms.python_text.tree_walk import names_in

Signature = tuple[tuple[str, str, int], ...]  # of each argument: dtype, where it is, axes


@dataclass(frozen=True)
class PrintedFunction:
    """A device function: its text, the dtypes of what it returns, the errors that it may raise."""

    name: str
    text: str
    results: tuple[Dtype, ...]
    errors: tuple[Error, ...]


class FunctionPrinter:
    """The functions of a module, by name; `printed` are those that are needed, in order."""

    def __init__(
        self,
        nodes: Mapping[str, ast.FunctionDef],
        reserved: set[str],
        writer: type[FunctionWriter] | None = None,
    ) -> None:
        self.nodes, self.reserved, self.writer = nodes, reserved, writer or FunctionWriter
        self.printed: dict[tuple[str, Signature], PrintedFunction] = {}
        self.pending: list[str] = []

    def function_for(self, name: str, args: Sequence[Meaning]) -> PrintedFunction:
        kinds = tuple(map(_kind, args))
        if (name, kinds) not in self.printed:
            if name in self.pending:
                raise NotPrintedError(f"the function {name}, which calls itself,")
            self.pending.append(name)
            self.printed[name, kinds] = self.writer(self, self.nodes[name], args).write()
            self.pending.pop()
        return self.printed[name, kinds]


def _kind(x: Meaning) -> tuple[str, str, int]:
    if isinstance(x, CArray):
        return x.dtype.name, "interleaved" * (x.where == "interleaved"), len(x.lengths)
    if isinstance(x, CValue):
        return x.dtype.name, "", 0
    raise NotPrintedError("an argument that is no number and no array")


def argument_texts(args: Sequence[Meaning]) -> list[str]:
    """Arguments as a device function takes them."""
    texts = []
    for x in args:
        if isinstance(x, CArray):
            texts += [x.pointer, *(n.text for n in x.lengths)]
            texts += [x.distance] if x.where == "interleaved" else []
        elif isinstance(x, CValue):
            texts.append(x.text)
    return texts


class FunctionCalls(Statements):
    """Writes calls of other functions; what is returned is the number of an error, or 0."""

    functions: FunctionPrinter

    def is_other(self, name: str) -> bool:
        return name in self.functions.nodes

    def effect(self, e: ast.Call, s: ast.stmt) -> None:
        call_statement(self, self.functions, e, [], s)

    def results_of(self, targets: list[ast.expr], e: ast.expr, s: ast.stmt) -> None:
        call_statement(self, self.functions, e, targets, s)

    def fail(self, error: Error, s: ast.stmt | None = None) -> None:
        self.put(f"return {self.code(error) + 1};", s, error[0])

    def fail_by(self, errors: Sequence[Error], number: str) -> None:
        codes = [self.code(error) for error in errors]
        if codes != [*range(codes[0], codes[0] + len(codes))]:
            raise NotPrintedError("errors of several functions")
        self.put(f"return {number}{f' + {codes[0]}' if codes[0] else ''};")


class FunctionWriter(FunctionCalls):
    """Writes one function of a device, in C++."""

    qualifier = "__device__"

    def result_parameter(self, dtype: Dtype, k: int) -> str:
        """The parameter for one of several results."""
        return f"{c_type(dtype)}& result_{k}"

    def result_place(self, k: int) -> str:
        """What such a result is stored to."""
        return f"result_{k}"

    @staticmethod
    def passed_place(text: str) -> str:
        """What a caller passes for it."""
        return text

    @staticmethod
    def failing(text: str, number: str) -> tuple[str, str]:
        """A statement before the test of a call that may fail, and the test."""
        return "", f"if (int {number} = {text})"

    def array_parameter(self, name: str, x: CArray) -> str:
        return f"{c_type(x.dtype)}* {name}"

    def __init__(
        self, functions: FunctionPrinter, node: ast.FunctionDef, args: Sequence[Meaning]
    ) -> None:
        taken = names_in(node) | functions.reserved
        super().__init__(node, KernelScope(), taken)
        self.functions, self.name = functions, self.name_for(args)
        self.parameters: list[str] = []
        for a, x in zip(node.args.args, args, strict=True):
            self.receive(a.arg, x)

    def name_for(self, args: Sequence[Meaning]) -> str:
        """What the function is called for arguments of these kinds."""
        return self.node.name

    def receive(self, name: str, x: Meaning) -> None:
        """A parameter, of the kind of an argument."""
        if isinstance(x, CValue):
            self.scope.numbers[name] = x.dtype
            self.parameters.append(f"{c_type(x.dtype)} {name}")
        elif isinstance(x, CArray):
            names = [self.fresh(f"{name}_{k}") for k in range(len(x.lengths))]
            lengths = tuple(CValue(n, INT, natural=True) for n in names)
            where = "interleaved" if x.where == "interleaved" else "global"
            distance = self.fresh(f"{name}_step") if where == "interleaved" else ""
            self.scope.arrays[name] = CArray(name, name, x.dtype, lengths, where, distance)
            self.parameters.append(self.array_parameter(name, x))
            self.parameters += [f"i64 {n}" for n in (*names, *filter(None, [distance]))]

    def write(self) -> PrintedFunction:
        self.call_other = lambda name, args: call(self.functions, name, args)
        self.begin()
        self.fails = may_fail(self.node, self.functions.nodes)
        self.returned = self.results()
        by_value = len(self.returned) == 1 and not self.fails
        for k, dtype in enumerate(() if by_value else self.returned):
            self.parameters.append(self.result_parameter(dtype, k))
        self.suite(self.node)
        if self.fails and not isinstance(self.node.body[-1], ast.Return):
            self.put("return 0;")
        kind = "int" if self.fails else c_type(self.returned[0]) if by_value else "void"
        head = f"{self.qualifier} {kind} {self.name}({', '.join(self.parameters)}) {{"
        text = "\n".join([head, *self.lines, "}"])
        return PrintedFunction(self.name, text, self.returned, tuple(self.errors))

    def results(self) -> tuple[Dtype, ...]:
        """The dtypes of what is returned."""
        common: list[Dtype] = []
        for s in ast.walk(self.node):
            if isinstance(s, ast.Return) and s.value is not None:
                values = s.value.elts if isinstance(s.value, ast.Tuple) else [s.value]
                dtypes = [self.number(e).dtype for e in values]
                common = common or dtypes
                common = [unified_dtype(a, b) for a, b in zip(common, dtypes, strict=True)]
        return tuple(common)

    def give_back(self, e: ast.expr | None, s: ast.stmt) -> None:
        values = [] if e is None else list(e.elts) if isinstance(e, ast.Tuple) else [e]
        texts = [cast(self.number(v), d).text for v, d in zip(values, self.returned, strict=True)]
        if len(texts) == 1 and not self.fails:
            self.put(f"return {texts[0]};", s)
            return
        for k, text in enumerate(texts):
            self.put(f"{self.result_place(k)} = {text};", s)
        if self.fails or s is not self.node.body[-1]:
            self.put("return 0;" if self.fails else "return;")

    def fail_telling(self, error: Error, values: Sequence[CValue], s: ast.stmt) -> None:
        if self.for_nvrtc:
            raise NotPrintedError("an error whose text depends on values")
        self.fail(error, s)  # an error of C is a number


def may_fail(node: ast.FunctionDef, nodes: Mapping[str, ast.FunctionDef]) -> bool:
    """Whether a function raises an error, or one that it calls."""
    return any(
        isinstance(e, ast.Raise)
        or (
            isinstance(e, ast.Name)
            and e.id in nodes
            and e.id != node.name
            and may_fail(nodes[e.id], nodes)
        )
        for e in ast.walk(node)
    )


def call(functions: FunctionPrinter, name: str, args: Sequence[Meaning]) -> Meaning:
    """A call that is part of an expression; of several results only the dtypes."""
    other = functions.function_for(name, args)
    if other.errors or not other.results:
        raise NotPrintedError(f"a call of {name} in an expression")
    text = f"{other.name}({', '.join(argument_texts(args))})"
    values = tuple(CValue(text, dtype) for dtype in other.results)
    return values[0] if len(values) == 1 else values


def call_statement(
    writer: Statements,
    functions: FunctionPrinter,
    e: ast.expr,
    targets: Sequence[ast.expr],
    s: ast.stmt,
    guard: str = "",
) -> None:
    """A call whose results are put to targets. With a guard not all threads make it."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Name):
        raise NotPrintedError(ast.unparse(e))
    name, args = e.func.id, [writer.value(a) for a in e.args]
    if name not in functions.nodes:
        raise NotPrintedError(f"the call {ast.unparse(e)}")
    other = functions.function_for(name, args)
    places = [writer.number(target) for target in targets]
    if [p.dtype for p in places] != [*other.results] or (guard and (places or other.errors)):
        raise NotPrintedError(f"the results of {name}")
    for target in targets:
        if isinstance(target, ast.Name) and writer.homes.first.get(target.id) is s:
            writer.declare(target.id)
    results = [functions.writer.passed_place(p.text) for p in places]
    if len(places) == 1 and not other.errors:
        writer.put(f"{places[0].text} = {other.name}({', '.join(argument_texts(args))});", s)
        return
    text = f"{other.name}({', '.join([*argument_texts(args), *results])})"
    if not other.errors:
        writer.put(f"{guard}{text};", s)
        return
    number = writer.fresh("failed")
    before, test = functions.writer.failing(text, number)
    if before:
        writer.put(before)
    with writer.braces(test, s):
        writer.fail_by(other.errors, number)
