"""Rewrites the tree of a user's function so that control flow, calls and stores go through hooks.

    def f(x):                            def f(x):
        if x > 0:                            v0 = hooks.frame(); v0.x = x
            y = np.sin(x)        becomes     def then_1():
        else:                                    v0.y = hooks.call(hooks.attr(hooks.load('np'), 'sin'), v0.x)
            y = x                            def else_1(): v0.y = v0.x
        return y                             hooks.if_(v0.x > 0, then_1, else_1)
                                             v0.return_value = v0.y
                                             return hooks.result(v0)

Local variables live on a frame object, so that a branch can be run and undone. Positions stay the user's.
"""

from __future__ import annotations

import ast
import itertools
import types
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend import source
from tapeless.transforms.frontend.desugar import RESULT, desugar

HOOKS = "__hooks__"
_rewritten: dict[tuple[types.CodeType, str], types.CodeType] = {}
known_codes: set[types.CodeType] = set()


def rewritten(function: types.FunctionType, hooks: Any) -> types.FunctionType:
    """`function` with hooks in the place of control flow, calls and stores."""
    key = (function.__code__, function.__code__.co_filename)  # equal code may be of two files
    code = _rewritten.get(key)
    if code is None:
        code = _rewritten[key] = _compile(function)
    made = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(types.CellType(hooks) for _ in code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def _compile(function: types.FunctionType) -> types.CodeType:
    found = source.read(function)
    owner = function.__qualname__.split(".")[-2:-1]
    tree = Rewriter(found.file, owner[0] if owner and owner[0] != "<locals>" else "").function(
        found.node
    )
    factory = ast.FunctionDef(
        name="factory",
        args=_arguments([HOOKS]),
        body=[tree, ast.Return(_name(tree.name))],
        decorator_list=[],
        returns=None,
        type_params=[],
    )
    module = ast.fix_missing_locations(ast.Module([factory], []))
    code = compile(module, found.file, "exec", dont_inherit=True)
    inner = _child(_child(code, "factory"), tree.name)
    _register(inner)
    return inner.replace(co_name=function.__name__)


def _child(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _register(code: types.CodeType) -> None:
    known_codes.add(code)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            _register(c)


def _arguments(names: list[str]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(n) for n in names],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _hook(name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Attribute(_name(HOOKS), name, ast.Load()), list(args), keywords or [])


def _caught(kinds: list[ast.expr]) -> ast.expr:
    """The types that except clauses name, as one nested tuple."""
    return ast.Tuple(kinds, ast.Load())


def _thunk(body: ast.expr, *params: str) -> ast.Lambda:
    return ast.Lambda(_arguments(list(params)), body)


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
                ):  # type: ignore[attr-defined]
                    visit(d)
                return
            case ast.Lambda():
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                bound.update(
                    n.target.id
                    for n in ast.walk(node)
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


class Rewriter:
    """One pass over one function and the functions nested in it."""

    def __init__(self, file: str, owner: str) -> None:
        self.file, self.owner = file, owner
        self.scope: Scope | None = None
        self.counter = itertools.count(1)
        self.depth = itertools.count()

    # -- functions

    def function(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
        if isinstance(node, ast.AsyncFunctionDef):
            self.refuse(node, "async functions cannot be staged")
        body = (
            [ast.copy_location(ast.Return(node.body), node.body)]
            if isinstance(node, ast.Lambda)
            else list(node.body)
        )
        generator = any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for s in body for n in _own_nodes(s)
        )
        params = source._arguments(node.args)
        bound, _, _ = bound_names(body)
        frame = f"v{next(self.depth)}"
        lowered = body if generator else desugar(body)
        made_names, _, _ = bound_names(lowered)
        outer = self.scope
        self.scope = Scope(frame, (bound | made_names | set(params)), set(), outer, generator)
        first = body[0]
        start: list[ast.stmt] = [
            ast.Assign(
                [ast.Name(frame, ast.Store())],
                _hook("frame", ast.Constant(getattr(node, "name", "lambda"))),
            )
        ]
        start += [ast.Assign([self.variable(p, ast.Store())], _name(p)) for p in params]
        for s in start:
            _place(s, first)
        rewritten_body = self.block(lowered)
        if not generator:
            end = ast.Return(_hook("result", _name(frame)))
            rewritten_body.append(_place(end, body[-1]))
        self.scope = outer
        args = self.arguments(node.args, keep_defaults=False)
        made = ast.FunctionDef(
            name=getattr(node, "name", "lambda_"),
            args=args,
            body=start + rewritten_body,
            decorator_list=[],
            returns=None,
            type_params=[],
        )
        return ast.copy_location(made, node)

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

    def refuse(
        self,
        node: ast.AST,
        problem: str,
        hint: str = "move it out of the function that is transformed",
    ) -> None:
        where = (
            self.file,
            getattr(node, "lineno", 0),
            getattr(node, "col_offset", 0),
            (getattr(node, "end_col_offset", 0) or 0)
            if getattr(node, "end_lineno", 0) == getattr(node, "lineno", 0)
            else 10_000,
        )
        raise UnsupportedError(problem, hint, where)

    # -- names

    def variable(self, name: str, ctx: ast.expr_context) -> ast.expr:
        found = self.scope.find(name) if self.scope else None
        if found is None:
            return _hook("load", ast.Constant(name))
        if name in found.plain:
            return ast.Name(name, ctx)
        return ast.Attribute(_name(found.frame), name, ctx)

    def store(self, target: ast.expr, value: ast.expr, like: ast.AST) -> list[ast.stmt]:
        """Statements that bind `target` to `value`."""
        match target:
            case ast.Name(id=name):
                found = self.scope.find(name) if self.scope else None
                if found is None:
                    return [_place(ast.Expr(_hook("store_outer", ast.Constant(name), value)), like)]
                return [_place(ast.Assign([self.variable(name, ast.Store())], value), like)]
            case ast.Attribute(value=obj, attr=attr):
                return [
                    _place(
                        ast.Expr(
                            _hook(
                                "set_attr", self.expr(obj), ast.Constant(self.mangle(attr)), value
                            )
                        ),
                        like,
                    )
                ]
            case ast.Subscript(value=obj, slice=key):
                return [
                    _place(ast.Expr(_hook("set_item", self.expr(obj), self.expr(key), value)), like)
                ]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                names = [f"t{next(self.counter)}" for _ in elements]
                parts: list[ast.expr] = [
                    ast.Starred(ast.Name(n, ast.Store()), ast.Store())
                    if isinstance(e, ast.Starred)
                    else ast.Name(n, ast.Store())
                    for n, e in zip(names, elements, strict=True)
                ]
                star = next((k for k, e in enumerate(elements) if isinstance(e, ast.Starred)), -1)
                out = [
                    _place(
                        ast.Assign(
                            [ast.Tuple(parts, ast.Store())],
                            _hook("unpack", value, ast.Constant(len(elements)), ast.Constant(star)),
                        ),
                        like,
                    )
                ]
                for n, e in zip(names, elements, strict=True):
                    out += self.store(e.value if isinstance(e, ast.Starred) else e, _name(n), like)
                return out
        raise TypeError(ast.dump(target))

    def mangle(self, attr: str) -> str:
        private = self.owner and attr.startswith("__") and not attr.endswith("__")
        return f"_{self.owner.lstrip('_')}{attr}" if private else attr

    # -- statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in body:
            for made in self.statement(s):
                out.append(_place(made, s))
        return out or [ast.Pass()]

    def body_function(
        self, prefix: str, body: list[ast.stmt], *params: str
    ) -> tuple[str, ast.FunctionDef]:
        name = f"{prefix}_{next(self.counter)}"
        return name, ast.FunctionDef(
            name=name,
            args=_arguments(list(params)),
            body=body or [ast.Pass()],
            decorator_list=[],
            returns=None,
            type_params=[],
        )

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        native = self.scope is not None and self.scope.generator
        match s:
            case ast.Assign(targets=targets, value=value):
                if len(targets) == 1:
                    return self.store(targets[0], self.expr(value), s)
                name = f"t{next(self.counter)}"
                out: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], self.expr(value))]
                for t in targets:
                    out += self.store(t, _name(name), s)
                return out
            case ast.AnnAssign(target=target, value=value):
                return self.store(target, self.expr(value), s) if value is not None else []
            case ast.AugAssign():
                return self.augmented(s)
            case ast.Expr(value=value):
                return [ast.Expr(self.expr(value))]
            case ast.If() if native:
                return [
                    ast.If(
                        self.expr(s.test),
                        self.block(s.body),
                        self.block(s.orelse) if s.orelse else [],
                    )
                ]
            case ast.If():
                then, then_def = self.body_function("then", self.block(s.body))
                orelse, else_def = self.body_function(
                    "else", self.block(s.orelse) if s.orelse else []
                )
                return [
                    then_def,
                    else_def,
                    ast.Expr(_hook("if_", self.expr(s.test), _name(then), _name(orelse))),
                ]
            case ast.For() if native:
                item = f"t{next(self.counter)}"
                bind = self.store(s.target, _name(item), s)
                return [
                    ast.For(
                        ast.Name(item, ast.Store()),
                        self.expr(s.iter),
                        bind + self.block(s.body),
                        self.block(s.orelse) if s.orelse else [],
                    )
                ]
            case ast.For():
                item = f"item_{next(self.counter)}"
                bind = self.store(s.target, _name(item), s)
                name, made = self.body_function("body", bind + self.block(s.body), item)
                names = ast.Constant(s.target.id if isinstance(s.target, ast.Name) else "")
                return [
                    made,
                    ast.Expr(_hook("for_", self.expr(s.iter), _name(name), *self.flag(s), names)),
                ]
            case ast.While() if native:
                return [
                    ast.While(
                        self.expr(s.test),
                        self.block(s.body),
                        self.block(s.orelse) if s.orelse else [],
                    )
                ]
            case ast.While():
                name, made = self.body_function("body", self.block(s.body))
                return [
                    made,
                    ast.Expr(
                        _hook("while_", _thunk(self.expr(s.test)), _name(name), *self.flag(s))
                    ),
                ]
            case ast.Return(value=value):
                return [ast.Return(None if value is None else self.expr(value))]
            case ast.Raise(exc=None):
                return [s]
            case ast.Raise(exc=exc, cause=cause):
                parts = [self.expr(e) for e in (exc, cause) if e is not None]
                return [ast.Expr(_hook("raise_", *parts))]
            case ast.Assert(test=test, msg=msg):
                return [
                    ast.Expr(
                        _hook(
                            "assert_",
                            self.expr(test),
                            _thunk(self.expr(msg) if msg else ast.Constant(None)),
                        )
                    )
                ]
            case ast.Delete(targets=targets):
                return [made for t in targets for made in self.delete(t)]
            case ast.FunctionDef():
                return self.nested(s)
            case ast.ClassDef():
                return self.class_(s)
            case ast.Import() | ast.ImportFrom():
                names = [(a.asname or a.name).split(".")[0] for a in s.names]
                return [
                    s,
                    *(
                        made
                        for n in names
                        for made in self.store(ast.Name(n, ast.Store()), _name(n), s)
                    ),
                ]
            case ast.With(items=items, body=body):
                return self.with_(items, body, s)
            case ast.Try() | ast.TryStar():
                return [self.try_(s)]
            case ast.Match():
                return [self.match(s)]
            case ast.Global() | ast.Nonlocal():
                return []
            case ast.Pass() | ast.Break() | ast.Continue():
                return [s]
            case _:
                self.refuse(s, f"{type(s).__name__} statements cannot be staged")
        raise AssertionError

    def flag(self, s: ast.For | ast.While) -> list[ast.expr]:
        stop = getattr(s, "type_comment", None)
        assert self.scope is not None
        return [_name(self.scope.frame), ast.Constant(stop)]

    def augmented(self, s: ast.AugAssign) -> list[ast.stmt]:
        kind = ast.Constant(type(s.op).__name__)
        match s.target:
            case ast.Name() as target:
                value = _hook(
                    "inplace", kind, self.expr(ast.Name(target.id, ast.Load())), self.expr(s.value)
                )
                return self.store(target, value, s)
            case ast.Subscript(value=obj, slice=key):
                return [
                    ast.Expr(
                        _hook(
                            "inplace_item",
                            kind,
                            self.expr(obj),
                            self.expr(key),
                            _thunk(self.expr(s.value)),
                        )
                    )
                ]
            case ast.Attribute(value=obj, attr=attr):
                return [
                    ast.Expr(
                        _hook(
                            "inplace_attr",
                            kind,
                            self.expr(obj),
                            ast.Constant(self.mangle(attr)),
                            _thunk(self.expr(s.value)),
                        )
                    )
                ]
        raise TypeError(ast.dump(s))

    def delete(self, target: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name(id=name):
                return [
                    ast.Expr(
                        _hook("delete_name", _name(self.scope.find(name).frame), ast.Constant(name))
                    )
                ]  # type: ignore[union-attr]
            case ast.Subscript(value=obj, slice=key):
                return [ast.Expr(_hook("delete_item", self.expr(obj), self.expr(key)))]
            case ast.Attribute(value=obj, attr=attr):
                return [ast.Expr(_hook("delete_attr", self.expr(obj), ast.Constant(attr)))]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [made for e in elements for made in self.delete(e)]
        raise TypeError(ast.dump(target))

    def nested(self, s: ast.FunctionDef) -> list[ast.stmt]:
        made = self.function(s)
        made.args = self.arguments(s.args, keep_defaults=True)
        value: ast.expr = _name(s.name)
        for d in reversed(s.decorator_list):
            value = _hook("call", self.expr(d), value)
        return [made, *self.store(ast.Name(s.name, ast.Store()), value, s)]

    def class_(self, s: ast.ClassDef) -> list[ast.stmt]:
        outer, owner = self.scope, self.owner
        names, _, _ = bound_names(s.body)
        self.scope, self.owner = Scope("", set(), names, outer), s.name
        body: list[ast.stmt] = []
        for inner in s.body:
            if isinstance(inner, ast.FunctionDef):
                self.scope = Scope(
                    "", set(), set(), outer
                )  # methods do not see the names of the class
                made = self.function(inner)
                self.scope = Scope("", set(), names, outer)
                made.args = self.arguments(inner.args, keep_defaults=True)
                made.decorator_list = [self.expr(d) for d in inner.decorator_list]
                body.append(made)
            elif isinstance(inner, ast.AnnAssign):
                inner.value = inner.value and self.expr(inner.value)
                body.append(inner)
            else:
                body += self.statement(inner)
        self.scope, self.owner = outer, owner
        made_class = ast.ClassDef(
            name=s.name,
            bases=[self.expr(b) for b in s.bases],
            keywords=[ast.keyword(k.arg, self.expr(k.value)) for k in s.keywords],
            body=body,
            decorator_list=[self.expr(d) for d in s.decorator_list],
            type_params=[],
        )
        return [made_class, *self.store(ast.Name(s.name, ast.Store()), _name(s.name), s)]

    def with_(self, items: list[ast.withitem], body: list[ast.stmt], s: ast.stmt) -> list[ast.stmt]:
        item, *others = items
        name = f"t{next(self.counter)}"
        manager = ast.withitem(
            _hook("enter", self.expr(item.context_expr)), ast.Name(name, ast.Store())
        )
        bind = (
            self.store(item.optional_vars, _name(name), s) if item.optional_vars is not None else []
        )
        inner = self.with_(others, body, s) if others else self.block(body)
        return [ast.With([manager], bind + inner)]

    def try_(self, s: Any) -> ast.stmt:
        handlers: list[ast.ExceptHandler] = []
        body = self.block(s.body)
        if s.handlers:
            signals = ast.Attribute(_name(HOOKS), "signals", ast.Load())
            handlers.append(ast.ExceptHandler(signals, None, [ast.Raise()]))
            kinds = [self.expr(h.type) if h.type else _name("BaseException") for h in s.handlers]
            body = [ast.With([ast.withitem(_hook("trying", _thunk(_caught(kinds))))], body)]
        for h in s.handlers:
            bind = self.store(ast.Name(h.name, ast.Store()), _name(h.name), h) if h.name else []
            handlers.append(
                ast.copy_location(
                    ast.ExceptHandler(
                        h.type and self.expr(h.type), h.name, bind + self.block(h.body)
                    ),
                    h,
                )
            )
        return type(s)(
            body,
            handlers,
            self.block(s.orelse) if s.orelse else [],  # type: ignore[no-any-return]
            self.block(s.finalbody) if s.finalbody else [],
        )

    def match(self, s: ast.Match) -> ast.stmt:
        cases = []
        for c in s.cases:
            names = sorted(
                {
                    n.name
                    for n in ast.walk(c.pattern)
                    if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name
                }
                | {
                    n.rest
                    for n in ast.walk(c.pattern)
                    if isinstance(n, ast.MatchMapping) and n.rest
                }
            )
            bind = [
                made for n in names for made in self.store(ast.Name(n, ast.Store()), _name(n), s)
            ]
            guard = c.guard
            if guard is not None:
                assert self.scope is not None
                self.scope = Scope("", set(), set(names), self.scope)
                guard = self.expr(guard)
                self.scope = self.scope.parent
            cases.append(ast.match_case(c.pattern, guard, bind + self.block(c.body)))
        return ast.Match(self.expr(s.subject), cases)

    # -- expressions

    def expr(self, node: ast.expr) -> ast.expr:
        return _place(self._expr(node), node)

    def _expr(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant():
                return node
            case ast.Name(id=name):
                return self.variable(name, node.ctx)
            case ast.Call(func=ast.Name(id="super"), args=[]) if self.owner:
                return _hook("super_", ast.Constant(self.owner), _name(self.first_argument()))
            case ast.Call(func=func, args=args, keywords=keywords):
                return _hook(
                    "call",
                    self.expr(func),
                    *map(self.expr, args),
                    keywords=[ast.keyword(k.arg, self.expr(k.value)) for k in keywords],
                )
            case ast.Attribute(value=value, attr=attr):
                return _hook("attr", self.expr(value), ast.Constant(self.mangle(attr)))
            case ast.Subscript(value=value, slice=key):
                return _hook("item", self.expr(value), self.expr(key))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return _hook(
                    "slice",
                    *(
                        ast.Constant(None) if b is None else self.expr(b)
                        for b in (lower, upper, step)
                    ),
                )
            case ast.Starred(value=value):
                return ast.Starred(_hook("iterate", self.expr(value)), ast.Load())
            case ast.BinOp(left=left, op=op, right=right):
                return ast.BinOp(self.expr(left), op, self.expr(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _hook("not_", self.expr(operand))
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op, self.expr(operand))
            case ast.BoolOp(op=op, values=values):
                return _hook(
                    "and_" if isinstance(op, ast.And) else "or_",
                    *(_thunk(self.expr(v)) for v in values),
                )
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]):
                return _hook(
                    "contains",
                    self.expr(left),
                    self.expr(right),
                    ast.Constant(isinstance(op, ast.NotIn)),
                )
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return ast.Compare(self.expr(left), [op], [self.expr(right)])
            case ast.Compare(left=left, ops=ops, comparators=rights):
                kinds = ast.Tuple([ast.Constant(type(o).__name__) for o in ops], ast.Load())
                return _hook(
                    "compare", self.expr(left), kinds, *(_thunk(self.expr(r)) for r in rights)
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return _hook(
                    "if_expression",
                    self.expr(test),
                    _thunk(self.expr(body)),
                    _thunk(self.expr(orelse)),
                )
            case ast.Lambda():
                return self.lambda_(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node)
            case ast.List(elts=elements):
                return _hook("new", ast.List([self.expr(e) for e in elements], ast.Load()))
            case ast.Tuple(elts=elements):
                return ast.Tuple([self.expr(e) for e in elements], ast.Load())
            case ast.Set(elts=elements):
                return _hook("new", ast.Set([self.expr(e) for e in elements]))
            case ast.Dict(keys=keys, values=values):
                return _hook(
                    "new",
                    ast.Dict([k and self.expr(k) for k in keys], [self.expr(v) for v in values]),
                )
            case ast.JoinedStr(values=values):
                return _hook("format", *map(self.format_part, values))
            case ast.NamedExpr(target=target, value=value):
                found = self.scope.find(target.id) if self.scope else None
                if found is None or target.id in found.plain:
                    self.refuse(node, "an assignment expression cannot be staged here")
                return _hook(
                    "assign", _name(found.frame), ast.Constant(target.id), self.expr(value)
                )  # type: ignore[union-attr]
            case ast.Yield(value=value):
                return ast.Yield(value and self.expr(value))
            case ast.YieldFrom(value=value):
                return ast.YieldFrom(self.expr(value))
            case _:
                self.refuse(node, f"{type(node).__name__} expressions cannot be staged")
        raise AssertionError

    def first_argument(self) -> str:
        return "self"

    def format_part(self, part: ast.expr) -> ast.expr:
        if isinstance(part, ast.FormattedValue):
            spec = part.format_spec
            text: ast.expr = (
                _hook("format", *map(self.format_part, spec.values))
                if isinstance(spec, ast.JoinedStr)
                else ast.Constant("")
            )
            return ast.Tuple(
                [self.expr(part.value), ast.Constant(part.conversion), text], ast.Load()
            )
        return part

    def lambda_(self, node: ast.Lambda) -> ast.expr:
        outer = self.scope
        self.scope = Scope("", set(), set(source._arguments(node.args)), outer)
        body = self.expr(node.body)
        self.scope = outer
        return ast.Lambda(self.arguments(node.args, keep_defaults=True), body)

    def comprehension(self, node: Any) -> ast.expr:
        """A comprehension has a frame of its own, so that functions made in it see its variables change."""
        kind = type(node).__name__
        element = ast.Tuple([node.key, node.value], ast.Load()) if kind == "DictComp" else node.elt
        outer = self.scope
        first = self.expr(node.generators[0].iter)
        frame = f"v{next(self.depth)}"
        targets = {
            n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
        }
        self.scope = Scope(frame, targets, set(), outer)
        made = self.generators(node.generators, element, frame, first)
        self.scope = outer
        whole = ast.Call(_thunk(made, frame), [_hook("frame", ast.Constant(kind))], [])
        return _hook("comprehension", ast.Constant(kind), whole)

    def generators(
        self,
        generators: list[ast.comprehension],
        element: ast.expr,
        frame: str,
        first: ast.expr | None,
    ) -> ast.expr:
        """(iterable, function of an item giving (condition, element or a nested triple), is nested)."""
        g, rest = generators[0], generators[1:]
        iterable = self.expr(g.iter) if first is None else first
        test: ast.expr = ast.Constant(True)
        if g.ifs:
            test = _hook("and_", *(_thunk(self.expr(i)) for i in g.ifs))
        inner = self.generators(rest, element, frame, None) if rest else self.expr(element)
        item = f"item_{next(self.counter)}"
        bind = _hook("bind", _name(frame), _pattern(g.target), _name(item))
        parts = ast.Tuple([bind, ast.Tuple([_thunk(test), _thunk(inner)], ast.Load())], ast.Load())
        function = _thunk(ast.Subscript(parts, ast.Constant(1), ast.Load()), item)
        return ast.Tuple([iterable, function, ast.Constant(bool(rest))], ast.Load())


def _pattern(target: ast.expr) -> ast.expr:
    """A comprehension's target as nested tuples of names."""
    if isinstance(target, ast.Name):
        return ast.Constant(target.id)
    if isinstance(target, ast.Starred):
        assert isinstance(target.value, ast.Name)
        return ast.Constant("*" + target.value.id)
    assert isinstance(target, (ast.Tuple, ast.List))
    return ast.Tuple([_pattern(e) for e in target.elts], ast.Load())


def _own_nodes(node: ast.AST) -> Any:
    """The node and its children, without those of nested functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_nodes(child)


def _place(made: Any, like: ast.AST) -> Any:
    if not hasattr(made, "lineno") and "lineno" in getattr(made, "_attributes", ()):
        ast.copy_location(made, like)
        line = getattr(made, "lineno", None)
        if isinstance(made, ast.Attribute) and line not in (None, made.end_lineno):
            # CPython takes a call to begin where its name ends
            made.end_lineno, made.end_col_offset = line, made.col_offset
    for child in ast.iter_child_nodes(made):
        if not hasattr(child, "lineno") or isinstance(child, ast.expr_context):
            _place(child, made if hasattr(made, "lineno") else like)
    return made


__all__ = ["RESULT", "known_codes", "rewritten"]
