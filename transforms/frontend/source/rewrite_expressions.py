"""Rewrites expressions: calls, reads and tests go through hooks."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.source import find
from tapeless.transforms.frontend.source.scopes import Scope, bound_names
from tapeless.transforms.frontend.source.tree_building import (
    hidden_name,
    hook,
    name_node,
    pattern,
    place,
    spans_of,
    thunk,
)
from tapeless.transforms.python_text.tree_walk import walk


class Expressions:
    """Expressions in the scope of one function."""

    def __init__(self, file: str, owner: str) -> None:
        self.file, self.owner = file, owner
        self.scope: Scope | None = None
        self.first = "self"  # the first parameter of the function around, which super() takes
        self.counter = itertools.count(1)
        self.depth = itertools.count()

    def refusal(
        self,
        node: ast.AST,
        problem: str,
        hint: str = "move it out of the function that is transformed",
    ) -> UnsupportedError:
        where = (
            self.file,
            getattr(node, "lineno", 0),
            getattr(node, "col_offset", 0),
            (getattr(node, "end_col_offset", 0) or 0)
            if getattr(node, "end_lineno", 0) == getattr(node, "lineno", 0)
            else 10_000,
        )
        return UnsupportedError(problem, hint, where)

    def variable(self, name: str, ctx: ast.expr_context) -> ast.expr:
        holder = self.scope.find(name) if self.scope else None
        if holder is None:
            return hook("load", ast.Constant(name))
        if name in holder.plain:
            return ast.Name(name, ctx)
        return ast.Attribute(name_node(holder.frame), name, ctx)

    def mangle(self, attr: str) -> str:
        private = self.owner and attr.startswith("__") and not attr.endswith("__")
        return f"_{self.owner.lstrip('_')}{attr}" if private else attr

    def arguments(self, args: ast.arguments, keep_defaults: bool) -> ast.arguments:
        def plain(a: ast.arg | None) -> ast.arg | None:
            return None if a is None else ast.arg(a.arg)

        none = ast.Constant(None)
        return ast.arguments(
            posonlyargs=[ast.arg(a.arg) for a in args.posonlyargs],
            args=[ast.arg(a.arg) for a in args.args],
            vararg=plain(args.vararg),
            kwonlyargs=[ast.arg(a.arg) for a in args.kwonlyargs],
            kwarg=plain(args.kwarg),
            kw_defaults=[d and (self.expr(d) if keep_defaults else none) for d in args.kw_defaults],
            defaults=[self.expr(d) if keep_defaults else none for d in args.defaults],
        )

    def expr(self, node: ast.expr) -> ast.expr:
        return place(self._expr(node), node)

    def test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth is used."""
        if not isinstance(node, ast.BoolOp):
            return self.expr(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        parts = (place(hook("truth", self.test(v)), v) for v in node.values)
        return place(hook(name, *map(thunk, parts)), node)

    def _expr(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant():
                return node
            case ast.Name(id=name):
                return self.variable(name, node.ctx)
            case ast.Call(func=ast.Name(id="super"), args=[]) if self.owner:
                return hook("super_", ast.Constant(self.owner), name_node(self.first))
            case ast.Call(func=func, args=[ast.Starred(value=items)], keywords=[]):
                return hook("call_spread", self.expr(func), self.expr(items))
            case ast.Call(func=func, args=args, keywords=keywords):
                return hook(
                    "call",
                    self.expr(func),
                    *map(self.expr, args),
                    keywords=[self.keyword(k) for k in keywords],
                )
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp():
                return self.operation(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self.lists(node, self.display(node))
            case ast.Attribute(value=value, attr=attr):
                return hook("attr", self.expr(value), ast.Constant(self.mangle(attr)))
            case ast.Subscript(value=value, slice=key):
                return hook("item", self.expr(value), self.expr(key))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return hook(
                    "slice",
                    *(
                        ast.Constant(None) if b is None else self.expr(b)
                        for b in (lower, upper, step)
                    ),
                )
            case ast.Starred(value=value):
                return ast.Starred(hook("iterate", self.expr(value)), ast.Load())
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return hook(
                    "if_expression",
                    self.test(test),
                    thunk(self.expr(body)),
                    thunk(self.expr(orelse)),
                )
            case ast.Lambda():
                return self.lambda_(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.lists(node, self.comprehension(node))
            case ast.JoinedStr(values=values):
                return hook("format", *map(self.format_part, values))
            case ast.NamedExpr(target=target, value=value):
                holder = self.scope.find(target.id) if self.scope else None
                if holder is None or target.id in holder.plain:
                    raise self.refusal(node, "an assignment expression cannot be staged here")
                return hook(
                    "assign", name_node(holder.frame), ast.Constant(target.id), self.expr(value)
                )
            case ast.Yield(value=value):
                return ast.Yield(value and self.expr(value))
            case ast.YieldFrom(value=value):
                return ast.YieldFrom(self.expr(value))
            case _:
                raise self.refusal(node, f"{type(node).__name__} expressions cannot be staged")

    def keyword(self, keyword: ast.keyword) -> ast.keyword:
        """name=value, or **values"""
        value = self.expr(keyword.value)
        return ast.keyword(keyword.arg, value if keyword.arg else hook("spread_names", value))

    def operation(self, node: ast.BinOp | ast.UnaryOp | ast.BoolOp) -> ast.expr:
        match node:
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                return hook("mod", self.expr(left), self.expr(right))
            case ast.BinOp(left=left, op=op, right=right):
                return hook(
                    "binary", self.expr(left), ast.Constant(type(op).__name__), self.expr(right)
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return hook("not_", self.test(operand))
            case ast.UnaryOp(operand=ast.Constant()):
                return node
            case ast.UnaryOp(op=op, operand=operand):
                return hook("unary", ast.Constant(type(op).__name__), self.expr(operand))
            case ast.BoolOp(op=op, values=values):
                return hook(
                    "and_" if isinstance(op, ast.And) else "or_",
                    *(thunk(self.expr(v)) for v in values),
                )

    def comparison(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]):
                return hook(
                    "contains",
                    self.expr(left),
                    self.expr(right),
                    ast.Constant(isinstance(op, ast.NotIn)),
                )
            case ast.Compare(
                left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]
            ):
                return hook("is_none", self.expr(left), ast.Constant(isinstance(op, ast.IsNot)))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return hook(
                    "binary", self.expr(left), ast.Constant(type(op).__name__), self.expr(right)
                )
        kinds = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        rights = (thunk(self.expr(right)) for right in node.comparators)
        return hook("compare", self.expr(node.left), kinds, *rights)

    def display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> ast.expr:
        match node:
            case ast.List(elts=[]):
                return hook("list", ast.Constant(self.place_of(node)))
            case ast.List(elts=elements) if any(isinstance(e, ast.Starred) for e in elements):
                return self.spread_list(elements)
            case ast.List(elts=elements):
                return hook("new", ast.List([self.expr(e) for e in elements], ast.Load()))
            case ast.Tuple(elts=elements):
                return ast.Tuple([self.expr(e) for e in elements], ast.Load())
            case ast.Set(elts=elements):
                name = ast.Constant(self.place_of(node))
                return hook("set", name, *(self.expr(e) for e in elements))
            case ast.Dict(keys=keys, values=values):
                name = ast.Constant(self.place_of(node))
                pairs = zip(keys, values, strict=True)
                parts = ([*filter(None, [k and self.expr(k), self.expr(v)])] for k, v in pairs)
                return hook("dict", name, *(ast.Tuple(p, ast.Load()) for p in parts))

    def spread_list(self, elements: list[ast.expr]) -> ast.expr:
        """[x, *items, y]      becomes      [x] + list(items) + [y]"""
        parts: list[ast.expr] = []
        for spread, run in itertools.groupby(elements, lambda e: isinstance(e, ast.Starred)):
            if spread:
                starred = (e for e in run if isinstance(e, ast.Starred))
                parts += [hook("list_of", self.expr(e.value)) for e in starred]
            else:
                items = ast.List([self.expr(e) for e in run], ast.Load())
                parts.append(hook("new", items))
        return functools.reduce(lambda whole, part: hook("join_lists", whole, part), parts)

    def place_of(self, node: ast.expr) -> str:
        """What tells a display from others."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return f"{self.file}:{line}:{column} {next(self.counter)}"

    def format_part(self, part: ast.expr) -> ast.expr:
        if isinstance(part, ast.FormattedValue):
            spec = part.format_spec
            text: ast.expr = (
                hook("format", *map(self.format_part, spec.values))
                if isinstance(spec, ast.JoinedStr)
                else ast.Constant("")
            )
            conversion = chr(part.conversion) if part.conversion > 0 else ""
            return ast.Tuple([self.expr(part.value), ast.Constant(conversion), text], ast.Load())
        return part

    def lambda_(self, node: ast.Lambda) -> ast.expr:
        """A lambda that assigns has a frame for what it assigns to."""
        outer, params = self.scope, set(find._arguments(node.args))
        assigned = bound_names([ast.Expr(node.body)])[0] - params
        frame = hidden_name(f"v{next(self.depth)}") if assigned else ""
        self.scope = Scope(frame, assigned, params, outer)
        body = self.expr(node.body)
        if assigned:
            body = ast.Call(thunk(body, frame), [hook("frame", ast.Constant("lambda"))], [])
        self.scope = outer
        return ast.Lambda(self.arguments(node.args, keep_defaults=True), body)

    def lists(self, node: ast.expr, expression: ast.expr) -> ast.expr:
        """Empty lists in a list may become rows."""
        spans = spans_of(node)
        if not spans:
            return expression
        name = ast.Constant(f"rows_{next(self.counter)}")
        lengths = (thunk(self.expr(copy.deepcopy(n))) for n in spans)
        return hook("rows", name, thunk(expression), *lengths)

    def comprehension(self, node: Any) -> ast.expr:
        """A comprehension has its own frame: functions made in it see its variables change."""
        kind = type(node).__name__
        element = ast.Tuple([node.key, node.value], ast.Load()) if kind == "DictComp" else node.elt
        outer = self.scope
        first = self.expr(node.generators[0].iter)
        frame = hidden_name(f"v{next(self.depth)}")
        targets = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
        self.scope = Scope(frame, targets, set(), outer)
        generators = self.generators(node.generators, element, frame, first)
        self.scope = outer
        call = ast.Call(thunk(generators, frame), [hook("frame", ast.Constant(kind))], [])
        return hook("comprehension", ast.Constant(kind), call)

    def generators(
        self,
        generators: list[ast.comprehension],
        element: ast.expr,
        frame: str,
        first: ast.expr | None,
    ) -> ast.expr:
        """(iterable, function of an item to (condition, element or a nested triple), is nested)."""
        g, rest = generators[0], generators[1:]
        iterable = hook("iterate", self.expr(g.iter) if first is None else first)
        test: ast.expr = ast.Constant(True)
        if g.ifs:
            test = hook("and_", *(thunk(self.expr(i)) for i in g.ifs))
        inner = self.generators(rest, element, frame, None) if rest else self.expr(element)
        item = hidden_name(f"item_{next(self.counter)}")
        bind = hook("bind", name_node(frame), pattern(g.target), name_node(item))
        parts = ast.Tuple([bind, ast.Tuple([thunk(test), thunk(inner)], ast.Load())], ast.Load())
        function = thunk(ast.Subscript(parts, ast.Constant(1), ast.Load()), item)
        return ast.Tuple([iterable, function, ast.Constant(bool(rest))], ast.Load())
