"""Prints trees as Python text, and parses text with holes to trees; the only place that knows
astor.

>>> to_source(template("np.sin({0}) * {n}", {"0": number(-0.5), "n": number(3)}))
'np.sin(-0.5) * 3'
"""

from __future__ import annotations

import ast
import cmath
import copy
import functools
import re
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeless.transforms.python_text.line_breaking import bare

LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)


def to_source(tree: ast.AST) -> str:
    """Python text of an expression or of a statement without a body."""
    if isinstance(tree, ast.Name):
        return tree.id
    text = _by_astor(tree)
    if text is not None and "\n" not in text:
        return text if isinstance(tree, (ast.Tuple, ast.stmt)) else bare(text)
    if isinstance(tree, ast.stmt) and not hasattr(tree, "lineno"):
        tree = copy.copy(tree)
        tree.lineno = 0  # which Python asks assignments for
    if any(isinstance(node, ast.Constant) and type(node.value) is str for node in ast.walk(tree)):
        tree = _QuotedStrings().visit(copy.deepcopy(tree))
    text = ast.unparse(tree)
    alone = isinstance(tree, ast.JoinedStr) and text[:2] == "f'" and '"' not in text
    return f'f"{text[2:-1]}"' if alone else text


class _QuotedStrings(ast.NodeTransformer):
    """Writes strings in double quotes, which Python's own printer writes in single ones; those of
    formatted strings stay as they are."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name(quote(node.value), ast.Load()) if isinstance(node.value, str) else node


class _Formatted(Exception):  # noqa: N818 (none that a user sees)
    """Met a formatted string, which astor spells in a way that not all Pythons read."""


def _by_astor(tree: ast.AST) -> str | None:
    """The text that astor makes of a tree; None where it cannot."""
    astor = _astor()
    if astor is None:
        return None
    options = {"pretty_string": _quote, "pretty_source": "".join}
    try:
        text: str = astor.to_source(tree, source_generator_class=_generator(), **options)
    except _Formatted:
        return None
    return text.strip()


@functools.cache
def _generator() -> Any:
    class Generator(_astor().SourceGenerator):  # type: ignore[misc]
        def visit_JoinedStr(self, *_: Any) -> None:  # noqa: N802 (astor's name)
            raise _Formatted

    for name, part in {"Attribute": "value", "Subscript": "value", "Call": "func"}.items():
        visit = _in_brackets(getattr(Generator, f"visit_{name}"), part)
        setattr(Generator, f"visit_{name}", visit)
    return Generator


def _in_brackets(visit: Any, part: str) -> Any:
    """astor notes in a node what is around it, but not in what is asked for an attribute or item,
    or called: there would be what was around it elsewhere, where one node is in several places."""
    highest = _astor().op_util.Precedence.highest

    def run(self: Any, node: Any, **options: Any) -> None:
        getattr(node, part)._pp = highest
        visit(self, node, **options)

    return run


def _quote(text: str, *_: Any, **__: Any) -> str:
    return quote(text)


def quote(value: Any) -> str:
    """A constant as Python text; a string in double quotes where that needs no more escapes."""
    text = repr(value)
    if isinstance(value, str) and text[0] == "'" and '"' not in text and "\\" not in text:
        return f'"{text[1:-1]}"'
    return text


@functools.cache
def _astor() -> Any:
    if sys.version_info >= (3, 14):
        return None  # astor uses node classes that are gone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            import astor  # noqa: PLC0415 (not on every Python)
        except ImportError:
            return None
    return astor


# -- templates


@functools.lru_cache(4096)
def _parse_template(text: str) -> ast.expr | ast.stmt:
    (node,) = ast.parse(re.sub(r"\{(\w+)((?:\[\d+\])?)\}", _hole, text)).body
    return node.value if isinstance(node, ast.Expr) else node


def _hole(match: re.Match[str]) -> str:
    return f"_hole_{match[1]}{match[2].replace('[', '_').replace(']', '')}"


def template(text: str, holes: Mapping[str, ast.expr]) -> Any:
    """The tree of `text`; {name} and {name[3]} stand for holes["name"] and holes["name_3"]."""
    return _fill(_parse_template(text), holes)


def _fill(node: Any, holes: Mapping[str, ast.expr]) -> Any:
    """A copy, because the printer writes on inner nodes; leaves are shared."""
    if isinstance(node, ast.Name) and node.id.startswith("_hole_"):
        return holes[node.id[6:]]
    if isinstance(node, list):
        return [_fill(each, holes) for each in node]
    if not isinstance(node, ast.AST) or isinstance(node, LEAVES):
        return node
    return type(node)(**{name: _fill(getattr(node, name), holes) for name in node._fields})


def rename_variables(tree: ast.expr, names: Mapping[str, str]) -> ast.expr:
    """An expression that reads other variables."""

    class Renaming(ast.NodeTransformer):
        def visit_Name(self, e: ast.Name) -> ast.Name:
            return ast.Name(names.get(e.id, e.id), e.ctx)

    return Renaming().visit(copy.deepcopy(tree))  # type: ignore[no-any-return]


def write_template(text: str, *parts: ast.expr) -> str:
    """The text with these expressions as {0}, {1} and so on, in brackets where they need them."""
    return to_source(template(text, {str(k): part for k, part in enumerate(parts)}))


def number(value: Any) -> ast.expr:
    """A literal as Python writes it."""
    if isinstance(value, np.generic):
        plain = value.item()
        if value.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool), np.dtype(complex)):
            return number(plain)
        return template(f"np.{value.dtype.name}({{0}})", {"0": number(plain)})  # type: ignore[no-any-return]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return template({"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[repr(value)], {})  # type: ignore[no-any-return]
    if isinstance(value, complex) and not cmath.isfinite(value):
        parts = {"0": number(value.real), "1": number(value.imag)}
        return template("complex({0}, {1})", parts)  # type: ignore[no-any-return]
    return template(repr(value), {})  # type: ignore[no-any-return]
