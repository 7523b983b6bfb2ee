"""Reads core programs written as text, so that passes show what they do, and tests write programs.

The text is what `core.printer` prints; types of results may be left out:

>>> print(text_after(lambda block: block, '''
... (x: f8[n], t: b1):
...     total = sum(x, axes=(0,), keepdims=False)
...     y = if t:
...         yield total
...     else:
...         z: f8 = mul(2.0, total)
...         yield z
...     return y
... '''))
(x: f8[n], t: b1):
    total: f8 = sum(x, axes=(0,), keepdims=False)
    y = if t:
        yield total
    else:
        z: f8 = mul(2.0, total)
        yield z
    return y
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tapeless.transforms import ops
from tapeless.transforms.core import checker, dims
from tapeless.transforms.core.builder import Builder, atom, building, current, var_size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    is_undefined,
)
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.core.passes import Pass
from tapeless.transforms.core.printer import show_block
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.ops.primitives.index_keys import Slot

_TYPE = re.compile(r"(stack\(|py)?[biufc]\d+\b")
#: A name in an expression of lengths; printed programs call one of `x` after its array.
_LENGTH = re.compile(r"[A-Za-z_]\w*(?:\.shape\[\d+\])?")


def text_after(change: Pass, text: str) -> str:
    """The text of a program after a pass; both programs are verified."""
    block = parse(text)
    checker.verify(block, "parse")
    after = change(block)
    checker.verify(after, "the pass")
    return show_block(after)


def parse(text: str) -> Block:
    """The block that a text describes: parameters, then statements, each a line, then `return`.

    Axis lengths are named by words that are no variables, or by integer variables of that name.
    Raises SyntaxError for a line that says nothing, KeyError for an operation or a name that there
    is not.
    """
    head, *lines = textwrap.dedent(text).strip("\n").splitlines()
    reader = ProgramReader(lines)
    with building(Builder()):
        params = reader.variables(head.strip().removesuffix(":")[1:-1])
        return Block(params, *reader.block("return"))


@functools.cache
def operations() -> Mapping[str, Op]:
    """The operations by the names of printed programs; those that share one with another operation
    by the names that their modules give them: `pop_of_list`."""
    by_variable: dict[str, Op] = {}
    by_name: dict[str, Op] = {"size_value": size_value}
    for module in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}."):
        for variable, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Op):
                by_variable.setdefault(variable, value)
                by_name.setdefault(value.name, value)
                if variable == value.name:
                    by_name[variable] = value
    return {**by_variable, **by_name}


class ProgramReader:
    """Reads the lines of a program from the first to the last."""

    def __init__(self, lines: Iterable[str]) -> None:
        code = [line.partition("  # ")[0].rstrip() for line in lines]
        self.lines = [line for line in code if line]
        self.next = 0
        self.scope: dict[str, Var] = {}
        self.sizes: dict[str, dims.Size] = {}

    def line(self) -> str:
        self.next += 1
        return self.lines[self.next - 1].strip()

    def block(self, end: str) -> tuple[tuple[Statement, ...], tuple[Atom, ...]]:
        """The statements up to the line that begins with `end`, and what that gives."""
        outer, self.scope = self.scope, dict(self.scope)
        body: list[Statement] = []
        while (line := self.line()).split(" ")[0] != end:
            body.append(self.statement(line))
        results = tuple(map(self.atom, _split(line[len(end) :])))
        self.scope = outer
        return tuple(body), results

    def statement(self, line: str) -> Statement:
        outs, equals, text = line.partition(" = ")
        if re.match(r"(for|while|if)\b", line):
            outs, equals, text = "", "", line
        names = _split(outs)
        if text.startswith("if "):
            return self.branch(names, text)
        if text.startswith("for "):
            return self.count_loop(names, text)
        if text.startswith("while "):
            return self.while_loop(names, text)
        word, args, params = self.call(text if equals else line)
        if not equals:
            return Effect(word, args, params)
        return self.let(names, operations()[word], args, params)

    def let(self, names: list[str], op: Op, args: Any, params: Any) -> Let:
        inferred: Any = [None] * len(names)
        if op.infer is not types_given:
            inferred = op.infer(*args, **params)
        types = inferred if isinstance(inferred, (tuple, list)) else (inferred,)
        outs = tuple(self.variable(n, kind) for n, kind in zip(names, types, strict=True))
        let = Let(outs, op, args, params)
        current().definitions.update(dict.fromkeys(outs, let))
        return let

    def branch(self, names: list[str], text: str) -> If:
        test = self.atom(text[3:-1])
        then = Block((), *self.block("yield"))
        self.line()  # else:
        orelse = Block((), *self.block("yield"))
        both = [
            a if is_undefined(b) else b for a, b in zip(then.results, orelse.results, strict=True)
        ]
        outs = tuple(self.variable(n, a.type) for n, a in zip(names, both, strict=True))
        return If(outs, test, _with_types(then, outs), _with_types(orelse, outs))

    def count_loop(self, names: list[str], text: str) -> For:
        head, _, carried = text.removesuffix(":").partition(" with")
        index, _, span = head.removeprefix("for ").partition(" in ")
        start, stop, step = map(self.atom, _split(span.partition("range(")[2].rstrip(")")))
        outer, self.scope = self.scope, dict(self.scope)
        counter = self.variable(index, atom(0).type)
        carries, inits = self.read_carries(carried)
        body = Block((counter, *carries), *self.block("yield"))
        self.scope = outer
        outs = tuple(self.variable(n, v.type) for n, v in zip(names, carries, strict=True))
        return For(outs, start, stop, step, inits, body, reverse=span.startswith("reversed"))

    def while_loop(self, names: list[str], text: str) -> While:
        carried = text.removesuffix(":").removeprefix("while with")
        outer, self.scope = self.scope, dict(self.scope)
        params, inits = self.read_carries(carried)
        copies = {v: Var(v.type, v.name) for v in params}
        inside, self.scope = self.scope, {n: copies.get(v, v) for n, v in self.scope.items()}
        test = Block(tuple(copies.values()), *self.block("test"))
        self.scope = inside
        body = Block(params, *self.block("yield"))
        self.scope = outer
        outs = tuple(self.variable(n, v.type) for n, v in zip(names, params, strict=True))
        return While(outs, inits, test, body)

    def read_carries(self, text: str) -> tuple[tuple[Var, ...], tuple[Atom, ...]]:
        pairs = [part.rpartition(" = ") for part in _split(text)]
        inits = tuple(self.atom(init) for _, _, init in pairs)
        carries = tuple(self.variable(p, a.type) for (p, _, _), a in zip(pairs, inits, strict=True))
        return carries, inits

    def variables(self, text: str) -> tuple[Var, ...]:
        return tuple(self.variable(part, None) for part in _split(text))

    def variable(self, text: str, kind: Any) -> Var:
        """A new variable of the type that stands behind its name, or else of the type given."""
        name, _, annotation = text.partition(": ")
        stem = re.sub(r"_\d+$", "", name)
        v = Var(self.type(annotation) if annotation else kind, "" if _is_nameless(name) else stem)
        if v.type is None:
            raise SyntaxError(f"the type of {name} is not told")
        self.scope[name] = v
        return v

    def type(self, text: str) -> Any:
        if text.startswith("stack("):
            return StackType(self.type(text[6:-1]))
        kind, _, shape = text.partition("[")
        lengths = tuple(self.size(part) for part in _split(shape.removesuffix("]")))
        return Type(np.dtype(kind.removeprefix("py")), lengths, kind.startswith("py"))

    def size(self, text: str) -> dims.Size:
        return self.evaluate(text, EXTREMA)  # type: ignore[no-any-return]

    def evaluate(self, text: str, words: Mapping[str, Any]) -> Any:
        """The value of an expression; names that are none of the words are those of lengths."""
        values = dict(words)

        def placeholder(m: re.Match[str]) -> str:
            if m[0] in words:
                return m[0]
            values[f"length_{len(values)}"] = self.size_symbol(m[0])
            return f"length_{len(values) - 1}"

        return eval(_LENGTH.sub(placeholder, text), {"__builtins__": {}}, values)

    def size_symbol(self, name: str) -> dims.Size:
        v = self.scope.get(name)
        if v is not None:
            return var_size(v)
        return self.sizes.setdefault(name, dims.symbol(name, 2, given=True))

    def call(self, text: str) -> tuple[str, tuple[Atom, ...], dict[str, Any]]:
        """The word in front of the parentheses, and the operands and params in them."""
        word, _, inside = text.partition("(")
        args: list[Atom] = []
        params: dict[str, Any] = {}
        for part in _split(inside.removesuffix(")")):
            if named := re.match(r"(\w+)=(?!=)", part):
                params[named[1]] = self.param(part[named.end() :])
            else:
                args.append(self.atom(part))
        return word, tuple(args), params

    def param(self, text: str) -> Any:
        if text[0] in "\"'":
            return text[1:-1]
        return self.type(text) if _TYPE.match(text) else self.evaluate(text, WORDS)

    def atom(self, text: str) -> Atom:
        text = text.strip()
        if text == "undefined":
            return Literal(None, None)
        if text in self.scope:
            return self.scope[text]
        return atom(eval(text, {"__builtins__": {}}, WORDS))


EXTREMA = {"max": dims.maximum, "min": dims.minimum}
WORDS: dict[str, Any] = {
    **EXTREMA,
    **{
        word: np.dtype(word)
        for word in ["bool", "int32", "int64", "float32", "float64", "complex128"]
    },
    "Slot": Slot,
    "slice": slice,
    "np": np,
    "nan": np.nan,
    "inf": np.inf,
    **{str(value): value for value in (None, True, False)},
}


def _is_nameless(name: str) -> bool:
    return re.fullmatch(r"t\d+", name) is not None


def _with_types(block: Block, outs: tuple[Var, ...]) -> Block:
    """The block with results that are undefined of the types of the outs."""
    pairs = zip(block.results, outs, strict=True)
    results = tuple(Literal(None, v.type) if is_undefined(a) else a for a, v in pairs)
    return Block(block.params, block.body, results)


def _split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]
