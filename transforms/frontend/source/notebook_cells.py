"""Reads a text as notebooks do, which compile a part of it at a time and rename private variables.

    import numpy as np                                        (np is not imported here)
    def f(x): return np.sin(x)          becomes               def f(x): return np.sin(x)

    @app.cell
    def _(np):                                                def _cell_Hbol_half(x): return x / 2
        def _half(x): return x / 2      becomes               def f(x): return _cell_Hbol_half(x)
        def f(x): return _half(x)

The code of a function depends on both: Python calls what it saw imported in another way than other
objects, and reads variables of functions around in another way than global ones. What is loaded
again has other line numbers, too.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterator, Mapping
from types import CodeType

#: A variable of one cell of a marimo notebook; its name in the source is the group.
PRIVATE = re.compile(r"_cell_[^\W_][\w-]*?(_\w*)")


def compiled_apart(tree: ast.AST, line: int) -> Iterator[ast.Module]:
    """What may have been compiled by itself and holds a line: of a Jupyter cell one statement, of
    a marimo application the body of a cell, or a function of `@app.function`."""
    for statement in getattr(tree, "body", ()):
        if first_line(statement) <= line <= statement.end_lineno:
            yield ast.Module([statement], [])
            yield ast.Module([without_decorators(statement)], [])
            body = getattr(statement, "body", ())
            yield ast.Module([s for s in body if not isinstance(s, ast.Return)], [])


def reloaded_modules(function: ast.stmt) -> Iterator[ast.Module]:
    """What IPython's `%autoreload 2` compiles of a function in a module that was edited: its text
    written anew, from line 1 on, also as a method of a class."""
    text = ast.unparse(function)
    method = f"class __autoreload_class__:\n{textwrap.indent(text, '    ')}"
    yield ast.parse(text)
    yield ast.parse(method)


def first_line(node: ast.stmt | ast.expr) -> int:
    """The line in which a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def without_decorators(statement: ast.stmt) -> ast.stmt:
    """The statement without decorators."""
    statement = copy.copy(statement)
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        statement.decorator_list = []
    return statement


def private_names(code: CodeType) -> dict[str, str]:
    """The variables of marimo's cells in the code of a function: from the name in the source to
    that in the code.

    >>> private_names(compile("_cell_Hbol_half(1.0)", "cell", "eval"))
    {'_half': '_cell_Hbol_half'}
    """
    names = {code.co_name, *code.co_names, *code.co_freevars, *code.co_varnames}
    matches = [match for name in sorted(names) if (match := PRIVATE.fullmatch(name))]
    inner = [private_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return {
        **{source: name for renamed in inner for source, name in renamed.items()},
        **{match[1]: match[0] for match in matches},
    }


def rename_variables(tree: ast.AST, names: Mapping[str, str]) -> ast.AST:
    """The tree with these variables and functions renamed.

    >>> ast.unparse(rename_variables(ast.parse("_half(x)"), {"_half": "_cell_Hbol_half"}))
    '_cell_Hbol_half(x)'
    """
    tree = copy.deepcopy(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = names.get(node.name, node.name)
    return tree
