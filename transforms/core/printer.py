"""Prints core programs as text, for `stages` and for error reports."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Program,
    Var,
    While,
)


def show(program: Program) -> str:
    return f"program {program.name}" + show_block(program.block)


def show_block(block: Block) -> str:
    p = Printer()
    p.block(block, 1, "return")
    params = ", ".join(p.with_type(v) for v in block.params)
    return f"({params}):\n" + "\n".join(p.lines)


class Printer:
    def __init__(self) -> None:
        self.names: dict[Var, str] = {}
        self.used: set[str] = set()
        self.numbers: dict[str, int] = {}  # the last one of each stem
        self.lines: list[str] = []

    def name(self, a: Atom) -> str:
        if isinstance(a, Literal):
            return "undefined" if a.value is None else repr(a.value)
        if a not in self.names:
            stem = a.name or "t"
            k = self.numbers.get(a.name, 1)
            name = (stem if k == 1 else f"{stem}_{k}") if a.name else f"t{k}"
            while name in self.used:
                k += 1
                name = f"{stem}{k}" if not a.name else f"{stem}_{k}"
            self.numbers[a.name] = k
            self.used.add(name)
            self.names[a] = name
        return self.names[a]

    def with_type(self, v: Var) -> str:
        return f"{self.name(v)}: {v.type}"

    def list(self, atoms: Any) -> str:
        return ", ".join(map(self.name, atoms))

    def line(self, depth: int, text: str, origin: Any = None) -> None:
        self.lines.append("    " * depth + text + (f"  # line {origin.line}" if origin else ""))

    def block(self, block: Block, depth: int, end: str) -> None:
        for s in block.body:
            self.statement(s, depth)
        self.line(depth, f"{end} {self.list(block.results)}".rstrip())

    def statement(self, s: Any, depth: int) -> None:
        match s:
            case Let():
                params = "".join(f", {k}={v}" for k, v in s.params.items())
                inside = (self.list(s.args) + params).removeprefix(", ")
                outs = ", ".join(map(self.with_type, s.outs))
                self.line(depth, f"{outs} = {s.op.name}({inside})", s.origin)
            case If():
                self.line(
                    depth,
                    f"{self.list(s.outs)} = if {self.name(s.test)}:".removeprefix(" = "),
                    s.origin,
                )
                self.block(s.then, depth + 1, "yield")
                self.line(depth, "else:")
                self.block(s.orelse, depth + 1, "yield")
            case For():
                span = f"range({self.list((s.start, s.stop, s.step))})"
                span = f"reversed({span})" if s.reverse else span
                inits = ", ".join(
                    f"{self.with_type(p)} = {self.name(a)}"
                    for p, a in zip(s.carries, s.inits, strict=True)
                )
                outs = f"{self.list(s.outs)} = " if s.outs else ""
                head = f"for {self.name(s.index)} in {span} with {inits}:"
                self.line(depth, outs + head, s.origin)
                self.block(s.body, depth + 1, "yield")
            case While():
                inits = ", ".join(
                    f"{self.with_type(p)} = {self.name(a)}"
                    for p, a in zip(s.body.params, s.inits, strict=True)
                )
                self.line(depth, f"{self.list(s.outs)} = while with {inits}:", s.origin)
                names = [self.name(p) for p in s.body.params]
                self.names.update(zip(s.test.params, names, strict=True))
                self.block(s.test, depth + 1, "test")
                self.block(s.body, depth + 1, "yield")
            case Effect():
                self.line(depth, f"{s.kind}({self.list(s.args)})", s.origin)
