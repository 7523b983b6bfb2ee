"""Resolves names of a function: which are variables of its frame, which stay plain names."""

from __future__ import annotations

import ast

from tapeless.transforms.python_text.tree_walk import walk


class Scope:
    """The names of one function: `frame` holds its variables; plain names stay plain."""

    def __init__(
        self,
        frame: str,
        variables: set[str],
        plain: set[str],
        parent: Scope | None,
        generator: bool = False,
    ) -> None:
        self.frame, self.variables, self.plain, self.parent = frame, variables, plain, parent
        self.generator = generator
        self.forgotten: dict[int, tuple[str, ...]] = {}  # by branch or loop: what is not read again

    def find(self, name: str) -> Scope | None:
        if name in self.plain or name in self.variables:
            return self
        return self.parent.find(name) if self.parent else None


def bound_names(body: list[ast.stmt]) -> tuple[set[str], set[str], set[str]]:
    """Names that a function body binds, and those it declares global or nonlocal."""
    bound: set[str] = set()
    outer: set[str] = set()
    nonlocal_: set[str] = set()

    def visit(node: ast.AST) -> None:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                bound.add(name)
                for d in (
                    *node.decorator_list,
                    *getattr(getattr(node, "args", None), "defaults", ()),
                ):
                    visit(d)
                return
            case ast.Lambda():
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                bound.update(
                    n.target.id
                    for n in walk(node)
                    if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)
                )
                return
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.Global(names=names):
                outer.update(names)
            case ast.Nonlocal(names=names):
                nonlocal_.update(names)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound.update((a.asname or a.name).split(".")[0] for a in names)
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                bound.add(name)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for s in body:
        visit(s)
    return bound - outer - nonlocal_, outer, nonlocal_
