"""Finds the source of a Python function and parses it; the only place that knows gast."""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import inspect
import itertools
import linecache
import sys
import textwrap
import tokenize
import types
from collections.abc import Iterator
from typing import Any

import gast

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import SourceError
from tapeless.transforms.frontend.source.notebook_cells import (
    compiled_apart,
    first_line,
    private_names,
    reloaded_modules,
    rename_variables,
    without_decorators,
)
from tapeless.transforms.python_text.tree_walk import walk

RELOADER = "IPython.extensions.autoreload"


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
    return Source(_normalise(node), file)


def own_lines(function: types.FunctionType) -> tuple[int, list[str]]:
    """The number of the first line of `function`, and its lines; SourceError as from `read`."""
    source = read(function)
    node: Any = source.node
    first, of_file = first_line(node), linecache.getlines(source.file)
    return first, [line.rstrip() for line in of_file[first - 1 : node.end_lineno]]


def _normalise(node: ast.FunctionDef | ast.Lambda) -> Any:
    """A tree of the caller's own, in the same form on all versions of Python."""
    return gast.gast_to_ast(gast.ast_to_gast(node))


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
        "define it in a file, a notebook cell without %%time, or at the prompt of IPython or "
        "Python 3.13, not by exec",
    )


class File:
    """What a text holds of functions: their trees, and the code that it compiles to."""

    def __init__(self, text: str, start: int = 1) -> None:
        self.text = text
        self.tree = _parse(text)
        if self.tree is not None and start > 1:
            ast.increment_lineno(self.tree, start - 1)
        self.compiled: dict[int, dict[tuple[str, int], list[types.CodeType]]] = {}

    @functools.cached_property
    def functions(self) -> dict[tuple[str, int], list[ast.FunctionDef]]:
        """Functions by name and first line, which that of a decorator may or may not be."""
        functions: dict[tuple[str, int], list[ast.FunctionDef]] = {}
        for n in walk(self.tree) if self.tree else ():
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for line in {n.lineno, first_line(n)}:
                    functions.setdefault((n.name, line), []).append(n)  # type: ignore[arg-type]
        return functions

    @functools.cached_property
    def lambdas(self) -> list[ast.Lambda]:
        return [n for n in walk(self.tree) if isinstance(n, ast.Lambda)] if self.tree else []

    def holds(self, code: types.CodeType) -> bool:
        """Whether compiling the text gives `code` again: not if the file was edited since."""
        if _is_asserting(code):
            return True
        flags = code.co_flags & _FUTURES
        if flags not in self.compiled:
            self.compiled[flags] = self._compile(code.co_filename, flags)
        alike = self.compiled[flags].get((code.co_name, code.co_firstlineno), ())
        return any(
            _same_code(c, code) for c in itertools.chain(alike, self._cell_code(code, flags))
        )

    def _compile(self, file: str, flags: int) -> dict[tuple[str, int], list[types.CodeType]]:
        """The code of all functions by name and first line."""
        codes: dict[tuple[str, int], list[types.CodeType]] = {}
        for c in _codes_of(self.text, file, flags):
            codes.setdefault((c.co_name, c.co_firstlineno), []).append(c)
        return codes

    def _cell_code(self, code: types.CodeType, flags: int) -> Iterator[types.CodeType]:
        """The code that notebooks make of the part of the text that holds the function."""
        for module in compiled_apart(self.tree, code.co_firstlineno) if self.tree else ():
            yield from _codes_of(module, code.co_filename, flags)

    def loaded_again(self, code: types.CodeType) -> ast.FunctionDef | None:
        """The function that compiles to the code where IPython loads the file again."""
        if RELOADER not in sys.modules:
            return None
        every = (n for nodes in self.functions.values() for n in nodes)
        for node in dict.fromkeys(n for n in every if n.name == code.co_name):
            plain = without_decorators(node)
            for module in (m for n in (node, plain) for m in reloaded_modules(n)):
                if any(_same_code(c, code) for c in _codes_of(module, code.co_filename, 0)):
                    return node
        return None

    def as_notebook(self, code: types.CodeType) -> File:
        """The file with the variables renamed that a notebook renamed in this code."""
        names = private_names(code)
        if not names or self.tree is None:
            return self
        file = File(self.text)
        file.tree = rename_variables(self.tree, names)
        return file


def _codes_of(module: str | ast.Module, file: str, flags: int) -> Iterator[types.CodeType]:
    """The code of a module and of all functions in it; none of what is no Python."""
    with contextlib.suppress(SyntaxError):
        yield from _codes(compile(module, file, "exec", flags=flags, dont_inherit=True))


def _parse(text: str) -> ast.AST | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


_files: dict[str, File] = {}


def _in_whole_file(name: str, code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    lines = linecache.getlines(name)
    if not lines:
        return None
    text = "".join(lines)
    file = _files.get(name)
    if file is None or file.text != text:
        file = _files[name] = File(text)
    file = file.as_notebook(code)
    if file.tree is None:
        return None
    return _find(file, code) if file.holds(code) else file.loaded_again(code)


def _in_lines(
    lines: list[str], start: int, code: types.CodeType
) -> ast.FunctionDef | ast.Lambda | None:
    """For text that is no Python as a whole; where it is, `_in_whole_file` has the last word."""
    whole = _files.get(code.co_filename)
    if whole and whole.tree:
        return None
    return _find(File(textwrap.dedent("".join(lines)), start), code)


def _find(file: File, code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """The one function in a file that compiles to `code`."""
    candidates: list[Any]
    if code.co_name == "<lambda>":
        candidates = [n for n in file.lambdas if _lambda_matches(n, code)]
        if not candidates:  # tests of constants, and what they leave out, have no place in the code
            same = [n for n in file.lambdas if n.lineno == code.co_firstlineno]
            candidates = [n for n in same if _compiles_to(n, code)]
    else:
        named = file.functions.get((code.co_name, code.co_firstlineno), ())
        candidates = [n for n in named if _arguments(n.args) == _argument_names(code)]
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


_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _codes(c)


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two functions have the same code, with all functions inside of them."""
    if _is_asserting(b):
        return True
    return (
        a.co_name == b.co_name
        and a.co_firstlineno == b.co_firstlineno
        and a.co_code == b.co_code
        and a.co_names == b.co_names
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_same_constant, a.co_consts, b.co_consts))
    )


def _same_constant(a: Any, b: Any) -> bool:
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same_code(a, b)
    return type(a) is type(b) and repr(a) == repr(b)


def _is_asserting(code: types.CodeType) -> bool:
    """Whether pytest rewrote assert statements of a function: its code is not that of its text."""
    return any(name.startswith("@py_assert") for name in code.co_varnames)


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
