"""Finds the lines of source that give a variable or an attribute its value."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass

MODULE = "<module>"


@dataclass(frozen=True)
class Assignment:
    """A line that assigns, and the function that it is in."""

    function: str
    line: int


Assignments = dict[tuple[str, str], list[Assignment]]  # by scope and name


def variable(file: str, function: str, name: str, until: int) -> int:
    """The last line of a function that assigns a variable, up to the line `until`; `until` where
    none does."""
    lines = [a.line for a in _assignments(file).get((function, name), ()) if a.line <= until]
    return max(lines, default=until)


def attribute(file: str, cls: str, name: str) -> Assignment | None:
    """The first line in the methods of a class that assigns an attribute of its objects."""
    assignments = _assignments(file).get((cls, f".{name}"))
    return assignments[0] if assignments else None


#: What was read of files, beside the lines that they had.
_known: dict[str, tuple[list[str], Assignments]] = {}


def _assignments(file: str) -> Assignments:
    lines = linecache.getlines(file)
    if file not in _known or _known[file][0] is not lines:
        _known[file] = (lines, _read("".join(lines)))
    return _known[file][1]


def _read(source: str) -> Assignments:
    """
    >>> _read("x = 1\\nclass A:\\n    def f(self):\\n        self.y = x\\n")[("A", ".y")]
    [Assignment(function='A.f', line=4)]
    """
    assignments: Assignments = {}
    try:
        tree = ast.parse(source)
    except SyntaxError:  # no Python, such as a notebook's magic
        return assignments
    _walk(tree, MODULE, "", assignments)
    return assignments


def _walk(node: ast.AST, scope: str, cls: str, assignments: Assignments) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _walk(child, _qualified_name(scope, cls, child.name), cls, assignments)
        elif isinstance(child, ast.ClassDef):
            inner = _qualified_name(scope, cls, child.name)
            _walk(child, inner, inner, assignments)
        else:
            match child:
                case ast.Name(id=name, ctx=ast.Store(), lineno=line):
                    assignments.setdefault((scope, name), []).append(Assignment(scope, line))
                case ast.Attribute(value=ast.Name(), attr=name, ctx=ast.Store(), lineno=line):
                    assignments.setdefault((cls, f".{name}"), []).append(Assignment(scope, line))
            _walk(child, scope, cls, assignments)


def _qualified_name(scope: str, cls: str, name: str) -> str:
    """The qualified name of a function or class in a scope, as Python has it."""
    if scope == MODULE:
        return name
    return f"{scope}.{name}" if scope == cls else f"{scope}.<locals>.{name}"
