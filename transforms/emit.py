"""Core programs as Python that a person can read; the only place that knows astor.

y = sin(x); x_bar = y_bar * cos(x)      becomes      x_bar = y_bar * np.cos(x)
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

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
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.errors import InternalError
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.layout import Layout, lay_out
from tapeless.transforms.ops.indexing import Slot
from tapeless.transforms.ownership import own, uses
from tapeless.transforms.residuals import sizes_in, written_params

WIDTH = 99


def to_source(tree: ast.AST) -> str:
    """Python text of a tree: astor's if it is faithful, else the standard library's."""
    if sys.version_info < (3, 14):
        astor = _astor()
        text = astor.to_source(tree, pretty_source="".join).strip() if astor is not None else ""
        if text and "\n" not in text:
            if (
                text[0] == "("
                and text[-1] == ")"
                and isinstance(tree, ast.expr)
                and not isinstance(tree, ast.Tuple)
            ):
                text = _bare(text)
            try:
                if ast.dump(ast.parse(text)) == ast.dump(ast.parse(ast.unparse(tree))):
                    return text  # type: ignore[no-any-return]
            except SyntaxError:
                pass
    return ast.unparse(tree)


def _bare(text: str) -> str:
    """Without the parentheses around the whole."""
    try:
        return text[1:-1] if ast.dump(ast.parse(text[1:-1])) == ast.dump(ast.parse(text)) else text
    except SyntaxError:
        return text


@functools.cache
def _astor() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            import astor
        except ImportError:
            return None
    return astor


@functools.lru_cache(4096)
def _parsed(text: str) -> ast.expr | ast.stmt:
    (node,) = ast.parse(
        re.sub(
            r"\{(\w+)((?:\[\d+\])?)\}",
            lambda m: f"_hole_{m[1]}{m[2].replace('[', '_').replace(']', '')}",
            text,
        )
    ).body
    return node.value if isinstance(node, ast.Expr) else node


class _Fill(ast.NodeTransformer):
    def __init__(self, holes: dict[str, ast.expr]) -> None:
        self.holes = holes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id.startswith("_hole_"):
            return self.holes[node.id[6:]]
        return node


def template(text: str, holes: dict[str, ast.expr]) -> Any:
    import copy

    return _Fill(holes).visit(copy.deepcopy(_parsed(text)))


def number(value: Any) -> ast.expr:
    """A literal as Python writes it."""
    if isinstance(value, np.generic):
        plain = value.item()
        if value.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool), np.dtype(complex)):
            return number(plain)
        return template(f"np.{value.dtype.name}({{0}})", {"0": number(plain)})  # type: ignore[no-any-return]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return ast.parse(
            {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[repr(value)], mode="eval"
        ).body
    return ast.parse(repr(value), mode="eval").body


class Sizes:
    """How each statement spells the sizes it needs: through the shape of a variable in scope."""

    def __init__(self, block: Block) -> None:
        self.home: dict[Any, dict[dims.Symbol, tuple[Var, int]]] = {}
        self.whole: dict[Any, Var] = {}
        self.reads: dict[Any, set[Var]] = {}
        self.params = block.params
        self.scan(block, {}, [p for p in block.params if getattr(p.type, "shape", ())])

    def scan(
        self, block: Block, known: dict[dims.Symbol, tuple[Var, int]], shaped: list[Var]
    ) -> None:
        known, shaped = dict(known), list(shaped)
        for p in block.params:
            self.learn(p, known)
        for s in block.body:
            if isinstance(s, Let):
                self.choose(s, known, shaped)
            for b in blocks(s):
                self.scan(b, known, shaped)
            for v in outputs(s):
                self.learn(v, known)
                if (
                    getattr(v.type, "shape", ())
                    and v.name
                    and not v.name.endswith(("_bar", "_dot", "_saved"))
                ):
                    shaped.append(v)

    def learn(self, v: Var, known: dict[dims.Symbol, tuple[Var, int]]) -> None:
        for axis, s in enumerate(getattr(v.type, "shape", ())):
            if (
                isinstance(s, dims.Dim)
                and len(s.terms) == 1
                and len(s.terms[0][0]) == 1
                and s.terms[0][1] == 1
            ):
                factor = s.terms[0][0][0]
                if isinstance(factor, dims.Symbol) and factor.var is None:
                    known.setdefault(factor, (v, axis))

    def choose(self, s: Let, known: dict[dims.Symbol, tuple[Var, int]], shaped: list[Var]) -> None:
        wanted = set().union(*map(sizes_in, written_params(s)))
        if not wanted:
            return
        shape = s.params.get("shape")
        size = s.params.get("size") if s.op.name == "size_value" else None
        for v in shaped:
            if (shape is not None and v.type.shape == shape) or (
                size is not None and v.type.ndim > 1 and dims.product(v.type.shape) == size
            ):
                self.whole[s] = v
                self.reads[s] = {v}
                return
        table = {}
        for symbol in wanted:
            if symbol.var is not None:
                continue
            if symbol not in known:
                raise InternalError(f"the size {symbol} cannot be written here: {s}")
            table[symbol] = known[symbol]
        self.home[s] = table
        self.reads[s] = {v for v, _ in table.values()} | {
            x.var for x in wanted if x.var is not None
        }


class Writer:
    """Writes the lines of one function."""

    def __init__(self, block: Block, reserved: set[str], fixed: dict[Var, str]) -> None:
        block = own(block)
        self.block = block
        self.sizes = Sizes(block)
        self.layout: Layout = lay_out(block, self.sizes.reads, reserved)
        self.rename(fixed)
        self.unset = copied_unset(block)
        self.lines: list[str] = []
        self.depth = 1
        self.line = 0
        self.helpers: dict[str, None] = {}
        self.imports: set[str] = set()

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
        made = self.layout.folded.get(a)
        if isinstance(made, If):
            return self.conditional(made)
        if made is not None:
            return self.operation(made)
        return ast.Name(self.name(a), ast.Load())

    def operation(self, s: Let) -> Any:
        text = s.op.source(s.args, s.params) if callable(s.op.source) else s.op.source
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
        self.imports |= {f"import {m}" for m in re.findall(r"scipy\.(?:special|linalg)", text)}
        return template(text, holes)

    def shape(self, shape: tuple[Any, ...], s: Let) -> ast.expr:
        if s.op.name in ("zeros", "ones", "empty", "full") and len(shape) == 1:
            return self.size(shape[0], s)
        return ast.Tuple(
            [self.size(e, s) if isinstance(e, (int, dims.Dim)) else number(e) for e in shape],
            ast.Load(),
        )

    def size(self, size: Size, s: Let) -> ast.expr:
        if isinstance(size, int):
            return number(size)
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
            v, axis = self.sizes.home[s][f]
            return template(f"{{0}}.shape[{axis}]", {"0": self.expr(v)})  # type: ignore[no-any-return]
        holes = {"0": self.size(f.left, s), "1": self.size(f.right, s)}
        return template("max({0}, {1})" if f.kind == "max" else f"{{0}} {f.kind} {{1}}", holes)  # type: ignore[no-any-return]

    def conditional(self, s: If) -> ast.expr:
        test, then, orelse = self.expr(s.test), s.then.results[0], s.orelse.results[0]
        if s.outs[0].type.dtype.kind == "b":
            if isinstance(orelse, Literal) and not orelse.value:
                return ast.BoolOp(ast.And(), [test, self.expr(then)])
            if isinstance(then, Literal) and then.value:
                return ast.BoolOp(ast.Or(), [test, self.expr(orelse)])
        return ast.IfExp(test, self.expr(then), self.expr(orelse))

    # -- lines

    def put(self, text: str, origin: Any = None) -> None:
        pad = "    " * self.depth
        note = ""
        if origin is not None and origin.line != self.line:
            note, self.line = f"  # line {origin.line}", origin.line
        for k, line in enumerate(wrap(pad + text, note)):
            self.lines.append(line + (note if k == 0 else ""))

    def put_tree(self, tree: ast.AST, origin: Any = None) -> None:
        self.put(to_source(tree), origin)

    def put_assign(self, pairs: list[tuple[str, ast.expr]], origin: Any = None) -> None:
        """name = value for each pair, at once where one value reads another name."""
        pairs = [(n, v) for n, v in pairs if not (isinstance(v, ast.Name) and v.id == n)]
        names = {n for n, _ in pairs}
        reads = [
            {x.id for x in ast.walk(v) if isinstance(x, ast.Name)} & names - {n} for n, v in pairs
        ]
        if len(pairs) > 1 and any(reads):
            left = ", ".join(n for n, _ in pairs)
            self.put(f"{left} = {', '.join(to_source(v) for _, v in pairs)}", origin)
            return
        for n, v in pairs:
            self.put(f"{n} = {to_source(v)}", origin)

    def body(self, body: Iterable[Statement]) -> None:
        for s in body:
            self.statement(s)

    def indented(self, write: Callable[[], None]) -> None:
        self.depth += 1
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.put("pass")
        self.depth -= 1

    def statement(self, s: Statement) -> None:
        match s:
            case Let() | If() if s.outs and s.outs[0] in self.layout.folded:
                return
            case Let():
                self.let(s)
            case If():
                self.branch(s)
            case For():
                self.for_(s)
            case While():
                self.while_(s)
            case Effect():
                self.effect(s)

    def let(self, s: Let) -> None:
        made = self.operation(s)
        if isinstance(made, ast.stmt) or (s.op.inplace and s.op.name == "push"):
            self.put_tree(made, s.origin)
        elif s.op.inplace and s.op.name == "pop":
            self.put(f"{self.name(s.outs[1])} = {to_source(made)}", s.origin)
        elif s.op.inplace:
            self.put_tree(made, s.origin)
        else:
            names = ", ".join(self.name(v) for v in s.outs)
            text = to_source(made)
            if (
                isinstance(made, ast.BinOp)
                and isinstance(made.left, ast.Name)
                and made.left.id == names
                and not s.outs[0].type.shape
            ):
                sign = {ast.Add: "+", ast.Sub: "-"}.get(type(made.op))  # type: ignore[call-overload]
                if sign and names.endswith("_bar"):
                    self.put(f"{names} {sign}= {to_source(made.right)}", s.origin)
                    return
            if text != names:
                self.put(f"{names} = {text}", s.origin)

    def results(
        self, outs: tuple[Var, ...], values: tuple[Atom, ...]
    ) -> list[tuple[str, ast.expr]]:
        return [
            (self.name(v), self.expr(a))
            for v, a in zip(outs, values, strict=True)
            if v in self.layout.names and (v in self.unset or not is_dead(a))
        ]

    def branch(self, s: If) -> None:
        at = len(self.lines)
        self.put(f"if {to_source(self.expr(s.test))}:", s.origin)
        head = len(self.lines)

        def side(block: Block) -> None:
            self.body(block.body)
            self.put_assign(self.results(s.outs, block.results))

        self.depth += 1
        side(s.then)
        self.depth -= 1
        empty = len(self.lines) == head
        middle = len(self.lines)
        self.depth += 1
        side(s.orelse)
        self.depth -= 1
        if empty:
            if len(self.lines) == middle:
                del self.lines[at:]
                return
            test = to_source(ast.UnaryOp(ast.Not(), self.expr(s.test)))
            test = test.removeprefix("not not ")
            note = self.lines[at].partition("  # line")[1:]
            self.lines[at:head] = [f"{'    ' * self.depth}if {test}:{''.join(note)}"]
        elif len(self.lines) > middle:
            rest = self.lines[middle:]
            if (
                len(rest) > 0
                and rest[0].strip().startswith("if ")
                and all(
                    line.startswith("    " * (self.depth + 2))
                    or line.strip().startswith(("elif", "else", "if "))
                    for line in rest
                )
                and _one_if(rest, self.depth + 1)
            ):
                self.lines[middle:] = [
                    "    " * self.depth + "el" + rest[0].strip(),
                    *(line[4:] for line in rest[1:]),
                ]
            else:
                self.lines.insert(middle, "    " * self.depth + "else:")

    def for_(self, s: For) -> None:
        self.put_assign(self.results(s.carries, s.inits), s.origin)
        if s.count is not None:
            self.put(f"{self.name(s.count)} = 0")
        start, stop, step = (to_source(self.expr(a)) for a in (s.start, s.stop, s.step))
        span = (
            f"range({stop})"
            if start == "0" and step == "1"
            else f"range({start}, {stop})"
            if step == "1"
            else f"range({start}, {stop}, {step})"
        )
        used = any(
            s.index in uses(t) | self.sizes.reads.get(t, set()) for t in _every(s.body)
        ) or any(a is s.index for a in s.body.results)
        index = self.name(s.index) if used else "_"
        self.put(f"for {index} in {f'reversed({span})' if s.reverse else span}:", s.origin)

        def inside() -> None:
            self.body(s.body.body)
            if s.count is not None:
                self.put(f"{self.name(s.count)} += 1")
            self.put_assign(self.results(s.carries, s.yields))
            if s.until:
                self.put(f"if {to_source(self.expr(s.body.results[0]))}:")
                self.indented(lambda: self.put("break"))

        self.indented(inside)

    def while_(self, s: While) -> None:
        self.put_assign(self.results(s.body.params, s.inits), s.origin)
        simple = all(t.outs and t.outs[0] in self.layout.folded for t in s.test.body)
        if simple:
            self.put(f"while {to_source(self.expr(s.test.results[0]))}:", s.origin)
        else:
            self.put("while True:", s.origin)

        def inside() -> None:
            if not simple:
                self.body(s.test.body)
                self.put(f"if {to_source(ast.UnaryOp(ast.Not(), self.expr(s.test.results[0])))}:")
                self.indented(lambda: self.put("break"))
            self.body(s.body.body)
            self.put_assign(self.results(s.body.params, s.body.results))

        self.indented(inside)

    # -- effects

    def effect(self, s: Effect) -> None:
        match s.kind:
            case "blank":
                if self.lines and self.lines[-1]:
                    self.lines.append("")
            case "print":
                values = [to_source(self.part(p, s)) for p in s.params["parts"]]
                values += [
                    f"{k}={s.params[k]!r}"
                    for k, default in (("sep", " "), ("end", "\n"))
                    if s.params[k] != default
                ]
                self.put(f"print({', '.join(values)})", s.origin)
            case "raise":
                kind = s.params["type"]
                values = [to_source(self.part(p, s)) for p in s.params["parts"]]
                if kind.__module__ != "builtins":
                    self.imports.add(
                        f"from {kind.__module__} import {kind.__qualname__.partition('.')[0]}"
                    )
                self.put(f"raise {kind.__qualname__}({', '.join(values)})", s.origin)
            case "check":
                a, b = (to_source(self.expr(x)) for x in s.args)
                self.put(f"if {a} != {b}:", s.origin)
                self.indented(
                    lambda: self.put(
                        'raise ValueError("operands could not be broadcast together: the lengths differ")'
                    )
                )
            case _:
                raise InternalError(f"unknown effect {s.kind}")

    def part(self, p: Any, s: Effect) -> ast.expr:
        kind, value = p
        if kind == "atom":
            return self.expr(s.args[value])
        if kind == "value":
            return ast.parse(repr(value), mode="eval").body
        if kind == "text":
            text, args = "", []
            for piece in value:
                if isinstance(piece, str):
                    text += piece.replace("{", "{{").replace("}", "}}")
                else:
                    inner, conversion, spec = piece
                    text += (
                        "{"
                        + (f"!{chr(conversion)}" if conversion > 0 else "")
                        + (f":{spec}" if spec else "")
                        + "}"
                    )
                    args.append(self.part(inner, s))
            return ast.Call(ast.Attribute(ast.Constant(text), "format", ast.Load()), args, [])
        if kind == "dict":
            return ast.Dict(
                [ast.parse(repr(k), mode="eval").body for k, _ in value],
                [self.part(v, s) for _, v in value],
            )
        elements = [self.part(v, s) for v in value]
        return (
            ast.Tuple(elements, ast.Load()) if kind == "tuple" else ast.List(elements, ast.Load())
        )


def copied_unset(block: Block) -> set[Var]:
    """Variables that one side of a branch, or a loop without passes, leaves unset, and that are
    handed on where that may have happened: they need a value, though nobody looks at it."""
    sources: dict[Var, tuple[Var | None, Atom | None, int]] = {}  # to what is assigned: test, side
    found: set[Var] = set()

    def hand_on(a: Atom, guards: frozenset[tuple[Atom, int]]) -> None:
        if isinstance(a, Var) and a in sources:
            name, test, side = sources[a]
            if test is None or (test, side) not in guards:
                found.add(name or a)

    def walk(b: Block, guards: frozenset[tuple[Atom, int]]) -> None:
        for s in b.body:
            inits = s.inits if isinstance(s, (For, While)) else ()
            for a in inits:
                hand_on(a, guards)
            for k, inner in enumerate(blocks(s)):
                walk(inner, guards | {(s.test, k)} if isinstance(s, If) else guards)
            match s:
                case If():
                    for k, v in enumerate(s.outs):
                        for side, inner in enumerate((s.then, s.orelse)):
                            if is_dead(inner.results[k]):
                                sources[v] = (v, s.test, 1 - side)
                case For() | While():
                    carries = s.carries if isinstance(s, For) else s.body.params
                    runs = isinstance(s, For) and _runs(s)
                    for v, p, init in zip(s.outs, carries, inits, strict=True):
                        if is_dead(init) and not runs:
                            sources[v] = (p, None, 0)
        for a in b.results:
            hand_on(a, guards)

    walk(block, frozenset())
    return found


def _runs(s: For) -> bool:
    """Whether a loop is sure to make a pass."""
    spans = (s.start, s.stop, s.step)
    return all(isinstance(a, Literal) for a in spans) and bool(range(*(a.value for a in spans)))


def _every(block: Block) -> Iterable[Statement]:
    return block.body


def _one_if(lines: list[str], depth: int) -> bool:
    """Whether the lines are a single if statement at this depth."""
    pad = "    " * depth
    heads = [line for line in lines if line.startswith(pad) and not line.startswith(pad + " ")]
    return (
        bool(heads)
        and heads[0].strip().startswith("if ")
        and all(h.strip().startswith(("elif ", "else:")) for h in heads[1:])
    )


def wrap(line: str, note: str = "") -> list[str]:
    """A line of code cut inside brackets, at commas and operators, if it is too long."""
    if len(line) + len(note) <= WIDTH:
        return [line]
    pad = line[: len(line) - len(line.lstrip())]
    cuts = _cuts(line)
    head, sign, value = line.partition(" = ")
    if (
        sign
        and not head.strip().startswith(("for ", "if ", "return "))
        and min(cuts.values(), default=2) > 1
    ):
        line = f"{head} = ({value})"
        cuts = _cuts(line)
    out, start = [], 0
    room = WIDTH - len(note)
    while len(line) - start > room:
        fitting = [k for k in cuts if start < k <= start + room]
        if not fitting:
            break
        least = min(cuts[k] for k in fitting)
        at = max(k for k in fitting if cuts[k] == least)
        out.append(line[start:at].rstrip())
        start = at
        room = WIDTH - len(pad) - 8
    out.append(line[start:])
    return [out[0], *(pad + "        " + rest.strip() for rest in out[1:])]


def _cuts(line: str) -> dict[int, int]:
    """Where a line may be cut, with the bracket depth there."""
    depth, string, cuts = 0, "", {}
    for k, c in enumerate(line):
        if string:
            string = "" if c == string and line[k - 1] != "\\" else string
        elif c in "'\"":
            string = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif (depth and c == ",") or (depth and c == " " and line[k + 1 : k + 3] in ("+ ", "- ")):
            cuts[k + 1] = depth
        elif depth and c == " " and line[k + 1 : k + 3] in ("* ", "/ ", "@ "):
            cuts[k + 1] = depth + 1
    return cuts


def emit_function(
    name: str,
    block: Block,
    signature: str,
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
    argument_names: set[str],
) -> tuple[str, list[str], set[str]]:
    """The text of one function, the helper functions it needs, and its imports."""
    fixed = {v: text for v, text in unpack if text.isidentifier()}
    w = Writer(
        block,
        argument_names - set(fixed.values()) | {"np", "range", "reversed", "print", "max", name},
        fixed,
    )
    used = {a for a in w.block.results if isinstance(a, Var)}
    for s in w.block.body:
        used |= uses(s) | _size_reads(s, w.sizes)
    for v, text in unpack:
        if v in used and w.layout.names[v] != text:
            w.put(f"{w.layout.names[v]} = {text}")
    w.body(w.block.body)
    values = [to_source(w.expr(a)) for a in w.block.results]
    w.put(f"return {result(values)}")
    head = wrap(f"def {name}({signature}):")
    lines = [*head, *([f'    """{doc}"""'] if doc else []), *w.lines]
    return "\n".join(lines), list(w.helpers), w.imports


def _size_reads(s: Statement, sizes: Sizes) -> set[Var]:
    found = set(sizes.reads.get(s, ()))
    for b in blocks(s):
        for t in b.body:
            found |= _size_reads(t, sizes)
    return found
