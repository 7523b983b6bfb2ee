"""Turns a generator function into one that hands each item on to a function that it is given.

def pairs(n):                            def pairs(emit, n):
    for i in range(n):                       for i in range(n):
        for j in range(i):       becomes         for j in range(i):
            yield i, j                               emit((i, j))

The body of a loop over the generator is then code of these loops, which can be rolled: it runs
where the item is made, as it does in Python. A body that may leave its loop says so, and the
function returns: `if emit((i, j)): return`.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

from tapeless.transforms.frontend.source import find
from tapeless.transforms.frontend.source.tree_building import hidden_name, place
from tapeless.transforms.python_text.tree_walk import walk

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
EMIT, ITEM = hidden_name("emit"), hidden_name("item")


def can_push(function: types.FunctionType) -> bool:
    """Whether a generator function only gives items: it takes none, and no `try` or `with` around
    a `yield` would see what the body of a loop raises."""
    node = find.read(function).node
    if not isinstance(node, ast.FunctionDef):
        return False
    given_on = {id(s.value) for s in walk(node) if isinstance(s, ast.Expr)}
    return all(
        id(n) in given_on for n in _own(node.body) if isinstance(n, (ast.Yield, ast.YieldFrom))
    ) and not any(
        isinstance(inner, (ast.Yield, ast.YieldFrom))
        for n in _own(node.body)
        if isinstance(n, (ast.Try, ast.TryStar, ast.With))
        for inner in _own([n])
    )


def _own(body: list[ast.stmt]) -> list[ast.AST]:
    """The nodes of a function, without functions and classes inside of it."""
    pending: list[ast.AST] = [*body]
    nodes = []
    while pending:
        node = pending.pop()
        nodes.append(node)
        if not isinstance(node, INNER):
            pending += ast.iter_child_nodes(node)
    return nodes


def push_form(node: ast.FunctionDef, leaves: bool) -> ast.FunctionDef:
    """The function that calls its first argument with each item; `leaves`: it returns where that
    is true."""
    pushing = copy.deepcopy(node)
    pushing.body = [*map(_Pushing(leaves).visit, pushing.body)]
    pushing.args.posonlyargs.insert(0, ast.arg(EMIT))
    return pushing


class _Pushing(ast.NodeTransformer):
    """Calls in the place of yields."""

    def __init__(self, leaves: bool) -> None:
        self.leaves = leaves

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, INNER) else super().visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Yield(value=value):
                return place(self.push(value or ast.Constant(None)), node)
            case ast.YieldFrom(value=value):
                target = ast.Name(ITEM, ast.Store())
                body = [self.push(ast.Name(ITEM, ast.Load()))]
                return place(ast.For(target, value, body, []), node)
        return node

    def push(self, item: ast.expr) -> ast.stmt:
        call = ast.Call(ast.Name(EMIT, ast.Load()), [item], [])
        return ast.If(call, [ast.Return(None)], []) if self.leaves else ast.Expr(call)
