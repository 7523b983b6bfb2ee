"""Spells constants as Python expressions, in which only builtins and `np` are named.

>>> ast.unparse(literal(["loss", np.dtype("float32"), (float("inf"), np.float32)]))
"['loss', np.dtype('float32'), (np.inf, np.float32)]"
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapeless.transforms.python_text.python_source import number, template

LOAD = ast.Load()


class NotLiteral(Exception):  # noqa: N818 (said to the user in other words)
    """No expression of builtins and NumPy's names gives the value."""


def literal(value: Any) -> ast.expr:
    """The expression that gives the value; NotLiteral for others."""
    kind = type(value)
    if kind in (str, bytes, bool, type(None), type(...)):
        return ast.Constant(value)
    if kind in (int, float, complex):
        return number(value)
    if kind in CONTAINERS:
        return CONTAINERS[kind](value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        plain = literal(value.item())
        return _call(f"np.{_name_in_numpy(type(value))}", [plain])
    if isinstance(value, np.dtype) and value.names is None and value.subdtype is None:
        return _call("np.dtype", [ast.Constant(value.name if _is_plain(value) else value.str)])
    if isinstance(value, (type, np.ufunc, types.BuiltinFunctionType)):
        return _name_of_class(value)
    return _by_repr(value)


def is_literal(value: Any) -> bool:
    """Whether an expression gives the value."""
    try:
        literal(value)
    except NotLiteral:
        return False
    return True


def _literal_of_items(make: Callable[[list[ast.expr]], ast.expr]) -> Callable[[Any], ast.expr]:
    return lambda values: make([literal(v) for v in values])


def _call(name: str, args: Iterable[ast.expr]) -> ast.expr:
    arguments = list(args)
    text = f"{name}({', '.join(f'{{{k}}}' for k in range(len(arguments)))})"
    return template(text, {str(k): a for k, a in enumerate(arguments)})  # type: ignore[no-any-return]


def _range_or_slice(value: Any) -> ast.expr:
    parts = (value.start, value.stop, value.step)
    return _call(type(value).__name__, map(literal, parts))


CONTAINERS: dict[type, Callable[[Any], ast.expr]] = {
    tuple: _literal_of_items(lambda parts: ast.Tuple(parts, LOAD)),
    list: _literal_of_items(lambda parts: ast.List(parts, LOAD)),
    set: _literal_of_items(lambda parts: ast.Set(parts) if parts else _call("set", [])),
    frozenset: lambda value: _call("frozenset", [literal({*value})] if value else []),
    dict: lambda d: ast.Dict([literal(k) for k in d], [literal(v) for v in d.values()]),
    slice: _range_or_slice,
    range: _range_or_slice,
}


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether the name of a dtype stands for it."""
    return dtype.isnative and dtype.kind in "biufc"


def _name_in_numpy(value: Any) -> str:
    name = str(getattr(value, "__name__", ""))
    if getattr(np, name, None) is not value:
        raise NotLiteral
    return name


def _name_of_class(value: Any) -> ast.expr:
    name = str(value.__name__)
    if getattr(builtins, name, None) is value:
        return ast.Name(name, LOAD)
    return template(f"np.{_name_in_numpy(value)}", {})  # type: ignore[no-any-return]


def _by_repr(value: Any) -> ast.expr:
    """What the class says, if that names nothing but builtins: `ValueError('no root')`."""
    try:
        expression = ast.parse(repr(value), mode="eval").body
    except SyntaxError:
        raise NotLiteral from None
    names = {e.id for e in ast.walk(expression) if isinstance(e, ast.Name)}
    if not all(hasattr(builtins, name) for name in names) or not isinstance(expression, ast.Call):
        raise NotLiteral
    return expression
