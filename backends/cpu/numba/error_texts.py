"""Leaves it to Python to make the texts of errors that show numbers: Numba compiles text slowly.

raise IndexError(f"no {i}")      becomes      raise TellingError("IndexError", "no {}", i)
"""

from __future__ import annotations

import ast
import builtins
import linecache
from types import CodeType, FunctionType
from typing import Any

#: The name that compiled code has for the class.
TELLING = "TellingError"


class TellingError(Exception):
    """An error of a builtin class; the numbers that its text shows are those of the call.

    >>> TellingError("IndexError", "no {}", 3)
    IndexError('no 3')
    """

    def __new__(cls, kind: str, text: str, *values: Any) -> Any:
        return getattr(builtins, kind)(text.format(*values))


def without_texts(function: Any) -> Any:
    """The function of an emitted module, if none of its errors shows numbers, or one that gives
    them to what `TELLING` names."""
    names = function.__code__.co_names
    if not any(hasattr(builtins, name) and name.endswith("Error") for name in names):
        return function
    file = function.__code__.co_filename
    tree = ast.parse("".join(linecache.getlines(file)))
    definition = next(
        s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == function.__name__
    )
    if not any(isinstance(e, ast.JoinedStr) for e in ast.walk(definition)):
        return function
    definition.decorator_list = []
    module = ast.Module([_Texts().visit(definition)], [])
    code = compile(ast.fix_missing_locations(module), file, "exec", dont_inherit=True)
    body = next(c for c in code.co_consts if isinstance(c, CodeType))
    return FunctionType(body, function.__globals__, function.__name__, function.__defaults__)


class _Texts(ast.NodeTransformer):
    """Replaces errors whose texts show numbers."""

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        match node.exc:
            case ast.Call(func=ast.Name(id=kind), args=[ast.JoinedStr(values=parts)]):
                values = [p.value for p in parts if isinstance(p, ast.FormattedValue)]
                text = "".join(_field(p) for p in parts)
                told = [ast.Constant(kind), ast.Constant(text), *values]
                call = ast.Call(ast.Name(TELLING, ast.Load()), told, [])
                return ast.copy_location(ast.Raise(ast.copy_location(call, node)), node)
        return node


def _field(part: ast.expr) -> str:
    """A piece of a text for `str.format`."""
    if not isinstance(part, ast.Constant):
        return "{}"
    return str(part.value).replace("{", "{{").replace("}", "}}")
