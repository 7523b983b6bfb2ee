"""Rewrites what binds or deletes names, elements and attributes."""

from __future__ import annotations

import ast

from tapeless.transforms.frontend.source.rewrite_expressions import Expressions
from tapeless.transforms.frontend.source.tree_building import (
    hidden_name,
    hook,
    name_node,
    place,
    thunk,
)


class Bindings(Expressions):
    """Assignments in the scope of one function."""

    def store(self, target: ast.expr, value: ast.expr, like: ast.AST) -> list[ast.stmt]:
        """Statements that bind `target` to `value`."""
        match target:
            case ast.Name(id=name):
                holder = self.scope.find(name) if self.scope else None
                if holder is None:
                    return [place(ast.Expr(hook("store_outer", ast.Constant(name), value)), like)]
                return [place(ast.Assign([self.variable(name, ast.Store())], value), like)]
            case ast.Attribute(value=obj, attr=attr):
                attribute = ast.Constant(self.mangle(attr))
                return [place(ast.Expr(hook("store_attr", value, self.expr(obj), attribute)), like)]
            case ast.Subscript(value=obj, slice=key):
                return [
                    place(ast.Expr(hook("store_item", value, self.expr(obj), self.expr(key))), like)
                ]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                names = [hidden_name(f"t{next(self.counter)}") for _ in elements]
                parts: list[ast.expr] = [ast.Name(n, ast.Store()) for n in names]
                star = next((k for k, e in enumerate(elements) if isinstance(e, ast.Starred)), -1)
                args = [value, ast.Constant(len(elements))]
                taken = hook("unpack", *args)
                if star >= 0:
                    taken = hook("unpack_star", *args, ast.Constant(star))
                out: list[ast.stmt] = [
                    place(ast.Assign([ast.Tuple(parts, ast.Store())], taken), like)
                ]
                for n, e in zip(names, elements, strict=True):
                    target = e.value if isinstance(e, ast.Starred) else e
                    out += self.store(target, name_node(n), like)
                return out
        raise TypeError(ast.dump(target))

    def augmented_assignment(self, s: ast.AugAssign) -> list[ast.stmt]:
        kind = ast.Constant(type(s.op).__name__)
        match s.target:
            case ast.Name() as target:
                value = hook(
                    "inplace", kind, self.expr(ast.Name(target.id, ast.Load())), self.expr(s.value)
                )
                return self.store(target, value, s)
            case ast.Subscript(value=obj, slice=key):
                return [
                    ast.Expr(
                        hook(
                            "inplace_item",
                            kind,
                            self.expr(obj),
                            self.expr(key),
                            thunk(self.expr(s.value)),
                        )
                    )
                ]
            case ast.Attribute(value=obj, attr=attr):
                return [
                    ast.Expr(
                        hook(
                            "inplace_attr",
                            kind,
                            self.expr(obj),
                            ast.Constant(self.mangle(attr)),
                            thunk(self.expr(s.value)),
                        )
                    )
                ]
        raise TypeError(ast.dump(s))

    def delete(self, target: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name(id=name):
                holder = self.scope.find(name) if self.scope else None
                assert holder is not None
                return [ast.Expr(hook("delete_name", name_node(holder.frame), ast.Constant(name)))]
            case ast.Subscript(value=obj, slice=key):
                return [ast.Expr(hook("delete_item", self.expr(obj), self.expr(key)))]
            case ast.Attribute(value=obj, attr=attr):
                return [ast.Expr(hook("delete_attr", self.expr(obj), ast.Constant(attr)))]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [statement for e in elements for statement in self.delete(e)]
        raise TypeError(ast.dump(target))
