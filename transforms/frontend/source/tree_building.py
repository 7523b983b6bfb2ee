"""Builds the pieces of syntax trees that rewriting puts together."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from tapeless.transforms.python_text.tree_walk import names_in, walk

HOOKS = "__hooks__"
RESULT = ".return_value"  # no variable of a program can be called so
# a field since Python 3.12, whose absence is an error there
TYPE_PARAMS: dict[str, Any] = {"type_params": []}
Node = TypeVar("Node", bound=ast.AST)


def hidden_name(name: str) -> str:
    """A name that no program has: CPython calls its own variables `.0`."""
    return f".{name}"


def plain(name: str) -> str:
    """What a program may call the variable."""
    return name if name == RESULT else name.removeprefix(".")


def plain_arguments(names: list[str]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(n) for n in names],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )


def name_node(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def hook(name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Attribute(name_node(HOOKS), name, ast.Load()), list(args), keywords or [])


def thunk(body: ast.expr, *params: str) -> ast.Lambda:
    return ast.Lambda(plain_arguments(list(params)), body)


def pattern(target: ast.expr) -> ast.expr:
    """A comprehension's target as nested tuples of names."""
    if isinstance(target, ast.Name):
        return ast.Constant(target.id)
    if isinstance(target, ast.Starred):
        assert isinstance(target.value, ast.Name)
        return ast.Constant("*" + target.value.id)
    assert isinstance(target, (ast.Tuple, ast.List))
    return ast.Tuple([pattern(e) for e in target.elts], ast.Load())


def own_nodes(node: ast.AST) -> Any:
    """The node and its children, without those of nested functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own_nodes(child)


def place(node: Node, like: ast.AST) -> Node:
    if not hasattr(node, "lineno") and "lineno" in getattr(node, "_attributes", ()):
        ast.copy_location(node, like)
        line = getattr(node, "lineno", None)
        if isinstance(node, ast.Attribute) and line not in (None, node.end_lineno):
            # CPython takes a call to begin where its name ends
            node.end_lineno, node.end_col_offset = line, node.col_offset
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno") or isinstance(child, ast.expr_context):
            place(child, node if hasattr(node, "lineno") else like)
    return node


def spans_of(node: ast.expr) -> list[ast.expr] | None:
    """What `[[[] for j in b] for i in a]` runs over: a and b; of `[]` none, of `[[], []]` how many
    there are. None of other expressions."""
    match node:
        case ast.List(elts=[]) | ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
            return []
        case ast.List(elts=elements) if all(spans_of(e) == [] for e in elements):
            return [ast.Constant(len(elements))]
        case ast.ListComp(generators=[ast.comprehension(target, over, [], 0)], elt=element):
            inner = spans_of(element)
            names = names_in(target)
            reads = {n.id for e in inner or () for n in walk(e) if isinstance(n, ast.Name)}
            return None if inner is None or names & reads else [over, *inner]
    return None
