"""Core programs as Python that a person can read.

y = sin(x); x_bar = y_bar * cos(x)      becomes      x_bar = y_bar * np.cos(x)
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tapeless.transforms.control import (
    negated,
    unneeded_flags,
    write_branch,
    write_for,
    write_while,
)
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
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
    statements,
)
from tapeless.transforms.core.reads import all_reads, reads_of
from tapeless.transforms.counters import counters_first
from tapeless.transforms.fills import fill
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.layout import Layout, lay_out
from tapeless.transforms.messages import write_effect
from tapeless.transforms.ops.indexing import Slot
from tapeless.transforms.ownership import own, uses
from tapeless.transforms.scalars import plain_scalars
from tapeless.transforms.size_homes import Sizes, size_reads
from tapeless.transforms.text import number, quoted, template, to_source
from tapeless.transforms.unset import copied_unset
from tapeless.transforms.wishes import better_names
from tapeless.transforms.wrapping import WIDTH, without_brackets, wrap

AUGMENTED: dict[type[ast.operator], str] = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.Div: "/=",
    ast.FloorDiv: "//=",
    ast.Mod: "%=",
    ast.LShift: "<<=",
    ast.RShift: ">>=",
}
OF_BOOLS = {
    "logical_not": "not {0}",
    "logical_and": "{0} and {1}",
    "logical_or": "{0} or {1}",
}
TAKE_BOOLS = {*OF_BOOLS, "select", "cast", "update", "push", "copy"}
SIZED = ("zeros", "ones", "empty", "full", "draw")  # take a number for the shape (n,)
ASSOCIATIVE = ("add", "mul")
BUILTINS = {"np", "scipy", "range", "reversed", "print", "max", "len", "list", "bool"}


class Writer:
    """Writes the lines of one function."""

    def __init__(self, block: Block, reserved: set[str], fixed: dict[Var, str]) -> None:
        block = self.prepared(fill(block))
        block = counters_first(block, reads_of(block))
        self.block = block
        self.sizes = Sizes(block)
        reserved = reserved | called_by(block)
        self.layout: Layout = lay_out(block, self.sizes.reads, reserved)
        self.rename(fixed)
        self.used = all_reads(block, self.sizes.reads)
        names, clash = self.layout.names, self.layout.naming.clash
        names.update(better_names(block, names, reserved, self.used, clash, self.layout.folded))
        self.unset = copied_unset(block)
        self.silent = unneeded_flags(block, reads_of(block))
        self.plain_bools = not any(map(_reckons_with_bools, block.body))
        self.scalars = plain_scalars(block, self.layout.names)
        self.lines: list[str] = []
        self.depth = 1
        self.line = 0
        self.helpers: dict[str, None] = {}
        self.errstate: dict[str, str] = {}
        self.imports: set[str] = set()

    @staticmethod
    def prepared(block: Block) -> Block:
        return own(block)

    def rename(self, fixed: dict[Var, str]) -> None:
        for v, name in fixed.items():
            have = self.layout.names.get(v)
            if have is None or have == name:
                continue
            for w, n in list(self.layout.names.items()):
                if n == have:
                    self.layout.names[w] = name
                elif n == name:
                    self.layout.names[w] = have

    # -- expressions

    def name(self, v: Var) -> str:
        return self.layout.names[v]

    def expr(self, a: Atom) -> ast.expr:
        if isinstance(a, Literal):
            return number(a.value)
        made: Any = self.layout.folded.get(a)
        if isinstance(made, If):
            return self.conditional(made)
        if made is not None:
            value: ast.expr = self.operation(made)
            return value
        return ast.Name(self.name(a), ast.Load())

    def operation(self, s: Let) -> Any:
        text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
        if self.plain_bools and not any(a.type.shape for a in s.args if isinstance(a.type, Type)):
            text = OF_BOOLS.get(s.op.name, text)
        if isinstance(text, tuple):
            text, helper = text
            self.helpers[textwrap.dedent(helper).strip()] = None
        holes: dict[str, ast.expr] = {str(k): self.expr(a) for k, a in enumerate(s.args)}
        for key, value in s.params.items():
            if f"{{{key}" not in text:
                continue
            if key == "shape" and s in self.sizes.whole:
                holes[key] = template("{0}.shape", {"0": self.expr(self.sizes.whole[s])})
                continue
            if key == "size" and s in self.sizes.whole:
                return template("{0}.size", {"0": self.expr(self.sizes.whole[s])})
            if isinstance(value, (tuple, int, dims.Dim)) and not isinstance(value, bool):
                if isinstance(value, tuple) and any(
                    isinstance(e, (Slot, slice, type(None))) for e in value
                ):
                    continue
                holes[key] = (
                    self.shape(value, s) if isinstance(value, tuple) else self.size(value, s)
                )
                if isinstance(value, tuple):
                    for k, e in enumerate(value):
                        holes[f"{key}_{k}"] = (
                            self.size(e, s) if isinstance(e, (int, dims.Dim)) else number(e)
                        )
        if "scipy" in text:
            self.imports |= {f"import {m}" for m in re.findall(r"scipy\.(?:special|linalg)", text)}
        made = template(text, holes)
        if s.op.name == "add_at":
            return _subtracted(made)
        return self.without_parentheses(s, made) if s.op.name in ASSOCIATIVE else made

    def without_parentheses(self, s: Let, made: Any) -> Any:
        """a * b * c for a * (b * c), and so for sums, where that is no more work."""
        a, b = s.args
        if s.op.name == "add" and (positive := _unsigned(made.right)) is not None:
            return ast.BinOp(made.left, ast.Sub(), positive)
        inner = self.layout.folded.get(b) if isinstance(b, Var) else None
        if not isinstance(inner, Let) or inner.op is not s.op or b.type.dtype.kind != "f":
            return made
        c, d = inner.args
        if a.type.shape and not a.type.shape == c.type.shape == d.type.shape:
            return made
        right = made.right
        if not isinstance(right, ast.BinOp) or not isinstance(right.op, type(made.op)):
            return made
        return ast.BinOp(_left(made.left, right.left, made.op), made.op, right.right)

    def shape(self, shape: tuple[Any, ...], s: Let) -> ast.expr:
        if s.op.name in SIZED and len(shape) == 1:
            return self.size(shape[0], s)
        return ast.Tuple(
            [self.size(e, s) if isinstance(e, (int, dims.Dim)) else number(e) for e in shape],
            ast.Load(),
        )

    def size(self, size: Size, s: Let) -> ast.expr:
        if isinstance(size, int):
            return number(size)
        if (home := self.sizes.home.get(s, {}).get(size)) is not None:
            return self.found(*home)
        total: ast.expr | None = None
        for factors, c in sorted(size.terms, key=lambda t: (not t[0], t[1] < 0)):
            parts = [self.factor(f, s) for f in factors]
            if abs(c) != 1 or not parts:
                parts.insert(0, number(abs(c)))
            term = functools.reduce(lambda a, b: ast.BinOp(a, ast.Mult(), b), parts)
            if total is None:
                total = ast.UnaryOp(ast.USub(), term) if c < 0 else term
            else:
                total = ast.BinOp(total, ast.Sub() if c < 0 else ast.Add(), term)
        assert total is not None
        return total

    def factor(self, f: Any, s: Let) -> ast.expr:
        if isinstance(f, dims.Symbol):
            if f.var is not None:
                return self.expr(f.var)
            return self.found(*self.sizes.home[s][dims.Dim((((f,), 1),))])
        holes = {"0": self.size(f.left, s), "1": self.size(f.right, s)}
        return template("max({0}, {1})" if f.kind == "max" else f"{{0}} {f.kind} {{1}}", holes)  # type: ignore[no-any-return]

    def found(self, v: Var, axis: int | None) -> ast.expr:
        """A size that is an axis of `v`, or `v` itself."""
        if axis is None:
            return self.expr(v)
        text = "len({0})" if v.type.ndim == 1 else f"{{0}}.shape[{axis}]"
        return template(text, {"0": self.expr(v)})  # type: ignore[no-any-return]

    def conditional(self, s: If) -> ast.expr:
        test, then, orelse = self.expr(s.test), s.then.results[0], s.orelse.results[0]
        if s.outs[0].type.dtype.kind == "b":
            if isinstance(orelse, Literal) and not orelse.value:
                return ast.BoolOp(ast.And(), [test, self.expr(then)])
            if isinstance(then, Literal) and then.value:
                return ast.BoolOp(ast.Or(), [test, self.expr(orelse)])
            if isinstance(then, Literal) and not then.value:
                return ast.BoolOp(ast.And(), [negated(test), self.expr(orelse)])
            if isinstance(orelse, Literal) and orelse.value:
                return ast.BoolOp(ast.Or(), [negated(test), self.expr(then)])
        return ast.IfExp(test, self.expr(then), self.expr(orelse))

    # -- lines

    def put(self, text: str, origin: Any = None) -> None:
        """One statement, with the user's line where that is another one than before."""
        pad = "    " * self.depth
        note = ""
        if origin is not None and origin.line != self.line:
            note, self.line = f"# line {origin.line}", origin.line
        lines = wrap(pad + text)
        if note and len(lines[0]) + len(note) + 2 > WIDTH:
            lines.insert(0, pad + note)
        elif note:
            lines[0] += f"  {note}"
        self.lines += lines

    def assign(self, name: str, value: ast.expr, origin: Any = None) -> None:
        """name = value, or name += what is added, where no array can change by that."""
        if isinstance(value, ast.Name) and value.id == name:
            return
        if isinstance(value, ast.IfExp) and _is_name(value.body, name):
            self.put(f"if {to_source(negated(value.test))}:", origin)
            self.nest(lambda: self.assign(name, value.orelse))
            return
        if isinstance(value, ast.IfExp) and _is_name(value.orelse, name):
            self.put(f"if {to_source(value.test)}:", origin)
            self.nest(lambda: self.assign(name, value.body))
            return
        if isinstance(value, ast.BinOp) and name in self.scalars:
            sign = AUGMENTED.get(type(value.op))
            left, right = value.left, value.right
            if isinstance(value.op, (ast.Add, ast.Mult)) and _is_name(right, name):
                left, right = right, left
            if sign and _is_name(left, name):
                self.put(f"{name} {sign} {to_source(right)}", origin)
                return
        self.put(f"{name} = {to_source(value)}", origin)

    def put_assign(self, pairs: list[tuple[str, ast.expr]], origin: Any = None) -> None:
        """name = value for each pair: those that are still read last, or at once where they are
        read in a circle."""
        left = {n: v for n, v in pairs if not _is_name(v, n)}
        reads = {n: {x.id for x in ast.walk(v) if isinstance(x, ast.Name)} for n, v in left.items()}
        while left:
            free = [n for n in left if not any(n in reads[m] for m in left if m != n)]
            if not free:
                values = ", ".join(map(to_source, left.values()))
                self.put(f"{', '.join(left)} = {values}", origin)
                return
            self.assign(free[0], left.pop(free[0]), origin)

    def body(self, body: Iterable[Statement]) -> None:
        for s in body:
            self.statement(s)

    def indented(self, write: Callable[[], None]) -> list[str]:
        """The lines that `write` writes, one level deeper."""
        before, self.lines = self.lines, []
        self.depth += 1
        write()
        self.depth -= 1
        made, self.lines = self.lines, before
        return made

    def nest(self, write: Callable[[], None]) -> None:
        self.lines += self.indented(write) or ["    " * (self.depth + 1) + "pass"]

    def statement(self, s: Statement) -> None:
        match s:
            case Let() | If() if s.outs and s.outs[0] in self.layout.folded:
                return
            case Let():
                self.let(s)
            case If():
                write_branch(self, s)
            case For():
                write_for(self, s)
            case While():
                write_while(self, s)
            case Effect():
                self.effect(s)

    def let(self, s: Let) -> None:
        made = self.operation(s)
        if s.op.inplace and s.op.name == "pop":
            self.put(f"{self.name(s.outs[1])} = {to_source(made)}", s.origin)
        elif isinstance(made, ast.stmt) or s.op.inplace or not s.outs:
            self.put(to_source(made), s.origin)
        elif len(s.outs) == 1:
            self.assign(self.name(s.outs[0]), made, s.origin)
        else:
            names = ", ".join(map(self.name, s.outs))
            value = to_source(made)
            wide = 4 * self.depth + len(names) > WIDTH - 40 and len(names) + len(value) > WIDTH - 8
            self.put(f"({names}) = {value}" if wide else f"{names} = {value}", s.origin)

    def results(self, outs: Sequence[Var], values: Sequence[Atom]) -> list[tuple[str, ast.expr]]:
        return [
            (self.name(v), self.expr(a))
            for v, a in zip(outs, values, strict=True)
            if v in self.layout.names
            and v not in self.silent
            and (v in self.unset or not is_dead(a))
        ]

    def captured(self, write: Callable[[], None]) -> list[str]:
        before, self.lines = self.lines, []
        write()
        made, self.lines = self.lines, before
        return made

    # -- effects

    def effect(self, s: Effect) -> None:
        write_effect(self, s)


def _left(a: ast.expr, b: ast.expr, op: ast.operator) -> ast.expr:
    """a op b without parentheses around b."""
    if isinstance(b, ast.BinOp) and isinstance(b.op, type(op)):
        return ast.BinOp(_left(a, b.left, op), op, b.right)
    return ast.BinOp(a, op, b)


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def _subtracted(made: Any) -> Any:
    """x[i] -= v for x[i] += -v."""
    value = made.value if isinstance(made, ast.AugAssign) else made.args[2]
    positive = _unsigned(value)
    if positive is None:
        return made
    if isinstance(made, ast.AugAssign):
        return ast.AugAssign(made.target, ast.Sub(), positive)
    holes = {"0": made.args[0], "1": made.args[1], "2": positive}
    return template("np.subtract.at({0}, {1}, {2})", holes)


def _unsigned(tree: ast.expr) -> ast.expr | None:
    """The tree without the minus that it starts with; None where it starts with none."""
    match tree:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            inner = _unsigned(left)
            return None if inner is None else ast.BinOp(inner, op, right)
        case _:
            return None


def _docstring(doc: str) -> list[str]:
    line = f'    """{doc}"""'
    if len(line) <= WIDTH:
        return [line]
    what, dot, origin = doc.rpartition("  From ")
    parts = [what, dot.strip() + " " + origin] if what else [doc]
    texts = [t for part in parts for t in textwrap.wrap(part, WIDTH - 8)]
    return [f'    """{texts[0]}', *(f"    {t}" for t in texts[1:]), '    """']


def called_by(block: Block) -> set[str]:
    """The functions that the text of operations calls by a plain name: helpers, mostly."""
    found = set()
    for s in statements(block):
        if isinstance(s, Let):
            text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
            text = text[0] if isinstance(text, tuple) else text
            found |= set(re.findall(r"(?<![.\w])([a-z]\w+)\(", text))
        elif isinstance(s, Effect):
            found |= set(s.params.get("modules", ()))
    return found


def _reckons_with_bools(s: Statement) -> bool:
    """Whether a statement does more with a single bool than to test, choose or store it."""
    inside = any(_reckons_with_bools(t) for b in blocks(s) for t in b.body)
    if inside or not isinstance(s, Let) or s.op.name in TAKE_BOOLS:
        return inside
    types = [a.type for a in s.args if isinstance(a.type, Type)]
    return any(t.dtype.kind == "b" and not t.shape for t in types)


def name_derivatives(unpack: list[tuple[Var, str]]) -> None:
    """Leaves of params_dot are called w_dot and b_dot."""
    for v, text in unpack:
        found = re.match(r"\w+(_dot|_bar)\b", text)
        if found and v.name and not v.name.endswith(found[1]):
            v.name += found[1]


def unpacked(pairs: list[tuple[str, str]]) -> Iterator[str]:
    """The lines that read leaves: those of one container at once, where they fit."""
    pairs = [(name, to_source(ast.parse(text, mode="eval").body)) for name, text in pairs]
    for _, group in itertools.groupby(pairs, lambda pair: re.split(r"[.\[]", pair[1])[0]):
        names, texts = zip(*group, strict=True)
        line = f"{', '.join(names)} = {', '.join(texts)}"
        if len(line) < WIDTH - 4:
            yield line
        else:
            yield from map(" = ".join, zip(names, texts, strict=True))


def emit_function(
    name: str,
    block: Block,
    signature: str,
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
    argument_names: set[str],
    writer: type[Writer] = Writer,
) -> tuple[str, list[str], set[str]]:
    """The text of one function, the helper functions it needs, and its imports."""
    name_derivatives(unpack)
    fixed = {v: text for v, text in unpack if text.isidentifier()}
    w = writer(block, argument_names - set(fixed.values()) | BUILTINS | {name}, fixed)
    used = {a for a in w.block.results if isinstance(a, Var)}
    for s in w.block.body:
        used |= uses(s) | size_reads(s, w.sizes)
    leaves = [(w.layout.names[v], text) for v, text in unpack if v in used]
    for line in unpacked([(n, text) for n, text in leaves if n != text]):
        w.put(line)
    w.body(w.block.body)
    values = [to_source(w.expr(a)) for a in w.block.results]
    if w.lines and not w.lines[-1]:
        w.lines.pop()  # nothing but the result follows
    w.put(f"return {without_brackets(result(values))}")
    head = wrap(f"def {name}({signature}):")
    if w.errstate:
        settings = ", ".join(f"{k}={quoted(v)}" for k, v in sorted(w.errstate.items()))
        head.insert(0, f"@np.errstate({settings})")
    lines = [*head, *(_docstring(doc) if doc else []), *w.lines]
    return "\n".join(lines), list(w.helpers), w.imports
