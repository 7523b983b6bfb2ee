"""Writes core programs as Python that a person can read.

y = sin(x); x_bar = y_bar * cos(x)      becomes      x_bar = y_bar * np.cos(x)
"""

from __future__ import annotations

import ast
import itertools
import keyword
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tapeless.transforms.analysis.scalar_variables import plain_scalars
from tapeless.transforms.analysis.suggested_names import better_names
from tapeless.transforms.analysis.undefined_values import copied_unset
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Origin,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_undefined,
    statements,
)
from tapeless.transforms.core.uses import all_reads, reads_of
from tapeless.transforms.emit.control_flow import (
    negate,
    unneeded_flags,
    write_branch,
    write_for,
    write_while,
)
from tapeless.transforms.emit.effects import write_effect
from tapeless.transforms.emit.expression_folding import lay_out, parts
from tapeless.transforms.emit.expressions import OF_BOOLS, Spelling
from tapeless.transforms.emit.numpy_scalars import is_numpy, typed_constant
from tapeless.transforms.emit.size_expressions import Sizes, size_reads
from tapeless.transforms.memory.aliasing import uses
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import update
from tapeless.transforms.ops.primitives.stacks import POPS, push
from tapeless.transforms.pipelines.array_form import with_stores
from tapeless.transforms.python_text.line_breaking import (
    WIDTH,
    statement_lines,
    without_brackets,
    wrap,
)
from tapeless.transforms.python_text.python_source import quote, to_source
from tapeless.transforms.python_text.tree_walk import names_in

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
TAKE_BOOLS = {*OF_BOOLS, select, cast, update, push, copy}
LAST_PART = re.compile(r"(\[[^\[\]]*\]|\.\w+)$")  # of the text that reads a leaf
#: What no variable is called: names of the code itself, and words of Python (keys of dicts may be).
BUILTINS = {
    *("np", "scipy", "range", "reversed", "print", "max", "len", "list", "bool"),
    *keyword.kwlist,
}


class Writer(Spelling):
    """Writes the lines of one function."""

    def __init__(self, block: Block, reserved: set[str], fixed: dict[Var, str]) -> None:
        block = self.prepare(block)
        self.block = block
        sizes = Sizes(block)
        reserved = reserved | called_by(block, self.source)
        layout = lay_out(block, sizes.reads, reserved)
        super().__init__(block, layout, sizes, not any(map(_reckons_with_bools, block.body)))
        self.rename(fixed)
        self.used = all_reads(block, self.sizes.reads)
        names, clash = self.layout.names, self.layout.naming.clash
        names.update(better_names(block, names, reserved, self.used, clash, self.layout.folded))
        self.unset = copied_unset(block)
        self.silent = unneeded_flags(block, reads_of(block))
        self.scalars = plain_scalars(block, self.layout.names)
        self.lines: list[str] = []
        self.depth = 1
        self.line = ""  # the comment that was written last
        self.errstate: dict[str, str] = {}

    @staticmethod
    def prepare(block: Block) -> Block:
        return with_stores(block)

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

    # -- lines

    def put(self, text: str, origin: Any = None) -> None:
        """One statement, with the user's line where that is another one than before."""
        note = ""
        if origin is not None and origin.note != self.line:
            note = self.line = origin.note
        self.lines += statement_lines(text, self.depth, note)

    def assign(self, name: str, value: ast.expr, origin: Any = None) -> None:
        """name = value, or name += what is added, where no array can change by that."""
        if isinstance(value, ast.Name) and value.id == name:
            return
        if isinstance(value, ast.IfExp) and _is_name(value.body, name):
            self.put(f"if {to_source(negate(value.test))}:", origin)
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
        pending = {n: v for n, v in pairs if not _is_name(v, n)}
        reads = {n: names_in(v) for n, v in pending.items()}
        while pending:
            free = [n for n in pending if not any(n in reads[m] for m in pending if m != n)]
            if not free:
                values = ", ".join(map(to_source, pending.values()))
                self.put(f"{', '.join(pending)} = {values}", origin)
                return
            self.assign(free[0], pending.pop(free[0]), origin)

    def body(self, body: Iterable[Statement]) -> None:
        for s in body:
            self.statement(s)

    def capture_indented(self, write: Callable[[], None]) -> list[str]:
        """The lines that `write` writes, one level deeper."""
        before, self.lines = self.lines, []
        self.depth += 1
        write()
        self.depth -= 1
        lines, self.lines = self.lines, before
        return lines

    def nest(self, write: Callable[[], None]) -> None:
        self.lines += self.capture_indented(write) or ["    " * (self.depth + 1) + "pass"]

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
        expression, origin = self.operation(s), s.origin or self.origin(s)
        if s.op.inplace and s.op in POPS:
            self.put(f"{self.name(s.outs[1])} = {to_source(expression)}", origin)
        elif isinstance(expression, ast.stmt) or s.op.inplace or not s.outs:
            self.put(to_source(expression), origin)
        elif len(s.outs) == 1:
            self.assign(self.name(s.outs[0]), expression, origin)
        else:
            names = ", ".join(map(self.name, s.outs))
            value = to_source(expression)
            wide = 4 * self.depth + len(names) > WIDTH - 40 and len(names) + len(value) > WIDTH - 8
            self.put(f"({names}) = {value}" if wide else f"{names} = {value}", origin)

    def origin(self, s: Let) -> Origin | None:
        """The user's line of what a statement that has none itself is written with."""
        folded = (self.layout.folded.get(a) for a in s.args if isinstance(a, Var))
        return next((f.origin for f in folded if f is not None and f.origin is not None), None)

    def results(self, outs: Sequence[Var], values: Sequence[Atom]) -> list[tuple[str, ast.expr]]:
        return [
            (self.name(v), self.value_of(v, a))
            for v, a in zip(outs, values, strict=True)
            if v in self.layout.names
            and v not in self.silent
            and (v in self.unset or not is_undefined(a))
        ]

    def capture(self, write: Callable[[], None]) -> list[str]:
        before, self.lines = self.lines, []
        write()
        lines, self.lines = self.lines, before
        return lines

    def effect(self, s: Effect) -> None:
        write_effect(self, s)

    def host_copy(self, a: Atom) -> ast.expr:
        """A value that a program keeps in a container, or tells with an error."""
        return self.expr(a)


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def _docstring(doc: str) -> list[str]:
    doc, *more = doc.split("\n")
    line = f'    """{doc}"""'
    if len(line) <= WIDTH and not more:
        return [line]
    what, dot, origin = doc.rpartition("  From ") if len(line) > WIDTH else ("", "", "")
    parts = [what, dot.strip() + " " + origin] if what else [doc]
    texts = [t for part in (*parts, *more) for t in textwrap.wrap(part, WIDTH - 8)]
    return [f'    """{texts[0]}', *(f"    {t}" for t in texts[1:]), '    """']


def result_origins(block: Block) -> list[Origin]:
    """The user's lines of what a function computes in its `return`: of values folded into it."""
    w = Writer(block, BUILTINS, {})
    origins: dict[Origin, None] = {}
    pending = [a for a in w.block.results if isinstance(a, Var)]
    while pending:
        s = w.layout.folded.pop(pending.pop(), None)
        if s is not None:
            origins |= {} if s.origin is None else {s.origin: None}
            pending += [a for a in parts(s) if isinstance(a, Var)]
    return list(origins)


def called_by(block: Block, source: Callable[[Let], Any]) -> set[str]:
    """The functions that the text of operations calls by a plain name: helpers, mostly."""
    modules = set()
    for s in statements(block):
        if isinstance(s, Let):
            text = source(s)
            text = text[0] if isinstance(text, tuple) else text
            modules |= set(re.findall(r"(?<![.\w])([a-z]\w+)\(", text))
        elif isinstance(s, Effect):
            modules |= set(s.params.get("modules", ()))
    return modules


def _reckons_with_bools(s: Statement) -> bool:
    """Whether a statement does more with a single bool than to test, choose or store it."""
    inside = any(_reckons_with_bools(t) for b in blocks(s) for t in b.body)
    if inside or not isinstance(s, Let) or s.op in TAKE_BOOLS:
        return inside
    types = [a.type for a in s.args if isinstance(a.type, Type)]
    return any(t.dtype.kind == "b" and not t.shape for t in types)


def name_derivatives(unpack: list[tuple[Var, str]]) -> None:
    """Leaves of params_dot are called w_dot and b_dot."""
    for v, text in unpack:
        derivative = re.match(r"\w+(_dot|_bar)\b", text)
        if derivative and v.name and not v.name.endswith(derivative[1]):
            v.name += derivative[1]


def unpacking_lines(pairs: list[tuple[str, str]]) -> Iterator[str]:
    """The lines that read leaves: those of one container at once, where they fit."""
    pairs = [(name, to_source(ast.parse(text, mode="eval").body)) for name, text in pairs]
    for _, group in itertools.groupby(pairs, lambda pair: re.split(r"[.\[]", pair[1])[0]):
        together = list(group)
        if len(_at_once(together)) < WIDTH - 4:
            yield _at_once(together)
            continue
        for _, inner in itertools.groupby(together, lambda pair: LAST_PART.sub("", pair[1])):
            parts = list(inner)
            fits = len(_at_once(parts)) < WIDTH - 4
            yield from [_at_once(parts)] if fits else map(" = ".join, parts)


def _at_once(pairs: list[tuple[str, str]]) -> str:
    names, texts = zip(*pairs, strict=True)
    return f"{', '.join(names)} = {', '.join(texts)}"


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
    for line in unpacking_lines([(n, text) for n, text in leaves if n != text]):
        w.put(line)
    w.body(w.block.body)
    values = [to_source(typed_constant(a) if is_numpy(a) else w.expr(a)) for a in w.block.results]
    if w.lines and not w.lines[-1]:
        w.lines.pop()  # nothing but the result follows
    if not any(isinstance(s, Effect) and s.kind == "raise" for s in w.block.body):
        w.put(f"return {without_brackets(result(values))}")
    head = wrap(f"def {name}({signature}):")
    if w.errstate:
        settings = ", ".join(f"{k}={quote(v)}" for k, v in sorted(w.errstate.items()))
        head.insert(0, f"@np.errstate({settings})")
    lines = [*head, *(_docstring(doc) if doc else []), *w.lines]
    return "\n".join(lines), list(w.helpers), w.imports
