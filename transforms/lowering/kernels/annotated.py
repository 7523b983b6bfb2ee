"""Parses lines of a kernel to statements, which keep their text and the comments that name lines of
users.

s = 0.0  # line 3      becomes      Assign(s = 0.0), its text, and "# line 3"
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tapeless.transforms.python_text.line_breaking import NOTE, else_lines, statement_lines
from tapeless.transforms.python_text.python_source import to_source
from tapeless.transforms.python_text.tree_walk import walk


class AnnotatedKernel:
    """The statements of a function. Those that are made later have no text, and a comment where
    they were given one."""

    def __init__(self, head: str, lines: list[str]) -> None:
        (function,) = ast.parse("\n".join([head, *lines])).body
        assert isinstance(function, ast.FunctionDef)
        self.function, self.first = function, len(head.splitlines()) + 1
        self.source = lines
        self.texts: dict[ast.stmt, str] = {}
        self.notes: dict[ast.stmt, str] = {}
        for s in walk(function):
            if isinstance(s, ast.stmt) and s is not function:
                self.read(s)

    def read(self, s: ast.stmt) -> None:
        at = s.lineno - self.first
        line = self.source[at].strip()
        above = self.source[at - 1].strip() if at else ""
        match = NOTE.search(line) or NOTE.fullmatch(above)
        if match:
            self.notes[s] = match[0]
        last = _first_of_body(s) or (s.end_lineno or s.lineno) + 1
        if last == s.lineno + 1:
            text = NOTE.sub("", line).strip()
            self.texts[s] = text.removeprefix("el") if isinstance(s, ast.If) else text

    def annotate_like(self, s: ast.stmt, replacement: ast.stmt) -> ast.stmt:
        """What stands for a statement, and differs from it in its body only."""
        if s in self.texts:
            self.texts[replacement] = self.texts[s]
        return self.noted_like(s, replacement)

    def noted_like(self, s: ast.stmt, replacement: ast.stmt) -> ast.stmt:
        """What stands for a statement, with its comment."""
        if s in self.notes:
            self.notes[replacement] = self.notes[s]
        return replacement

    def rename_all(self, body: Iterable[ast.stmt], names: Mapping[str, str]) -> list[ast.stmt]:
        """Statements with other names."""
        return [self.renamed_in(s, names) for s in body]

    def renamed_in(self, s: ast.stmt, names: Mapping[str, str]) -> ast.stmt:
        if not any(isinstance(x, ast.Name) and x.id in names for x in walk(s)):
            return s
        if not isinstance(s, (ast.For, ast.While, ast.If)):
            return self.noted_like(s, Renamed(names).visit(copy.deepcopy(s)))
        same = copy.copy(s)
        same.body = self.rename_all(s.body, names)
        same.orelse = self.rename_all(s.orelse, names)
        return self.annotate_like(s, same)

    def lines(self, body: Iterable[ast.stmt], depth: int = 1) -> Iterator[str]:
        """The lines of statements."""
        for s in body:
            yield from statement_lines(self.texts.get(s) or _text(s), depth, self.notes.get(s, ""))
            if isinstance(s, (ast.For, ast.While, ast.If)):
                yield from self.lines(s.body, depth + 1)
                yield from else_lines([*self.lines(s.orelse, depth + 1)], depth)


class Renamed(ast.NodeTransformer):
    """Gives variables other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, e: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(e.id, e.id), e.ctx)


def _first_of_body(s: ast.stmt) -> int | None:
    body: Sequence[ast.stmt] = getattr(s, "body", ())
    return body[0].lineno if body else None


def _text(s: ast.stmt) -> str:
    """A statement without its body."""
    match s:
        case ast.For():
            return f"for {to_source(s.target)} in {to_source(s.iter)}:"
        case ast.While():
            return f"while {to_source(s.test)}:"
        case ast.If():
            return f"if {to_source(s.test)}:"
    return to_source(s)
