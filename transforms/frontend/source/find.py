"""Finds the source of a Python function and parses it; the only place that knows gast."""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import linecache
import textwrap
import tokenize
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from tapeless.transforms.errors import SourceError


@dataclass(frozen=True)
class Source:
    """The tree of one function, with the line and column numbers of its file."""

    node: ast.FunctionDef | ast.Lambda
    file: str


def read(function: types.FunctionType) -> Source:
    """The parsed source of `function`; SourceError if there is none, or if the file has changed."""
    code = function.__code__
    file = code.co_filename
    linecache.checkcache(file)
    # `inspect` looks at all modules of the process, which takes longer than the rest
    node = _in_whole_file(file, code) or _in_lines(*_lines(function), code)
    if node is None and file == "<string>":  # from Python 3.13 on, what `python -c` runs is kept
        raise _unavailable(function)
    if node is None:
        raise SourceError(
            f"the source of {function.__qualname__} in {file} is not the code that runs",
            "the file has changed since it was imported: reload it",
        )
    return Source(copy.deepcopy(node), file)  # callers change theirs


def _lines(function: types.FunctionType) -> tuple[list[str], int]:
    """The lines of a function, and the number of the first."""
    try:
        return inspect.getsourcelines(function.__code__)
    except (OSError, TypeError, IndexError) as e:
        raise _unavailable(function) from e
    except (SyntaxError, tokenize.TokenError):  # of a file that is being edited
        return [], 1


def _unavailable(function: Any) -> SourceError:
    return SourceError(
        f"the source of {function.__qualname__} is not available",
        "define it in a file, a notebook cell or a function, not by exec",
    )


def _parse(text: str) -> ast.AST | None:
    try:
        return gast.gast_to_ast(gast.parse(text))  # type: ignore[no-any-return]
    except SyntaxError:
        return None


_files: dict[str, tuple[int, ast.AST | None]] = {}


def _in_whole_file(file: str, code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    lines = linecache.getlines(file)
    if not lines:
        return None
    text = "".join(lines)
    stamp = hash(text)
    if _files.get(file, (None,))[0] != stamp:
        _files[file] = (stamp, _parse(text))
    tree = _files[file][1]
    if tree is None or not _unchanged(text, file, code):
        return None
    return _find(tree, code)


def _in_lines(
    lines: list[str], start: int, code: types.CodeType
) -> ast.FunctionDef | ast.Lambda | None:
    """For text that is no Python as a whole; where it is, `_in_whole_file` has the last word."""
    file_functions = _files.get(code.co_filename)
    tree = None if file_functions and file_functions[1] else _parse(textwrap.dedent("".join(lines)))
    if tree is None:
        return None
    ast.increment_lineno(tree, start - 1)
    return _find(tree, code)


def _find(tree: ast.AST, code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """The one function in the tree that compiles to `code`."""
    candidates: list[Any]
    if code.co_name == "<lambda>":
        lambdas = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]
        candidates = [n for n in lambdas if _lambda_matches(n, code)]
        if not candidates:  # tests of constants, and what they leave out, have no place in the code
            same = [n for n in lambdas if n.lineno == code.co_firstlineno]
            candidates = [n for n in same if _compiles_to(n, code)]
    else:
        candidates = [
            n
            for n in ast.walk(tree)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
            and n.name == code.co_name
            and _first_line(n) == code.co_firstlineno
            and _arguments(n.args) == _argument_names(code)
        ]
    if len(candidates) > 1:
        exact = [n for n in candidates if _columns_match(n, code)] or candidates
        candidates = [n for n in exact if _compiles_to(n, code)] or exact
    return candidates[0] if candidates else None


def _compiles_to(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda has this code: Python 3.12 keeps no columns of those that give constants."""
    if not isinstance(node, ast.Lambda):
        return True
    compiled = compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True)
    inner = [c for c in compiled.co_consts if isinstance(c, types.CodeType)]
    return any(
        c.co_code == code.co_code and repr(c.co_consts) == repr(code.co_consts) for c in inner
    )


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _arguments(args: ast.arguments) -> list[str]:
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [a.arg for a in (args.vararg, args.kwarg) if a is not None]


def _argument_names(code: types.CodeType) -> list[str]:
    n = (
        code.co_argcount
        + code.co_kwonlyargcount
        + bool(code.co_flags & inspect.CO_VARARGS)
        + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    )
    return list(code.co_varnames[:n])


def _unchanged(text: str, file: str, code: types.CodeType) -> bool:
    """Whether compiling the text gives `code` again: not if the file was edited since."""
    if any(name.startswith("@py_assert") for name in code.co_varnames):
        return True  # pytest rewrote the assert statements
    try:
        module = compile(text, file, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    except SyntaxError:
        return False
    return any(_same_code(c, code) for c in _codes(module))


_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _codes(c)


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    return (
        a.co_name == b.co_name
        and a.co_firstlineno == b.co_firstlineno
        and a.co_code == b.co_code
        and a.co_names == b.co_names
        and len(a.co_consts) == len(b.co_consts)
        and all(
            isinstance(x, types.CodeType) or (type(x) is type(y) and repr(x) == repr(y))
            for x, y in zip(a.co_consts, b.co_consts, strict=True)
        )
    )


def _lambda_matches(node: ast.Lambda, code: types.CodeType) -> bool:
    if node.lineno != code.co_firstlineno and not node.lineno <= code.co_firstlineno <= (
        node.end_lineno or 0
    ):
        return False
    return _arguments(node.args) == _argument_names(code) and _columns_match(node, code)


def _columns_match(node: ast.FunctionDef | ast.Lambda, code: types.CodeType) -> bool:
    """Whether the instructions lie in the body of the node and start where it starts."""
    places = [
        p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[3] != p[2]
    ]
    body = node.body if isinstance(node, ast.Lambda) else node.body[0]
    if not isinstance(node, ast.Lambda) or not places:
        return True
    spans = {(p[0], p[2]) for p in places}
    inside = all(
        (node.lineno, node.col_offset) <= s <= (node.end_lineno or 0, node.end_col_offset or 0)
        for s in spans
    )
    ends = {(p[1], p[3]) for p in places}
    return inside and (body.end_lineno, body.end_col_offset) in ends
