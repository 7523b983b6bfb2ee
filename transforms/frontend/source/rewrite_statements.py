"""Rewrites statements: branches and loop bodies become functions that hooks call."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable

from tapeless.transforms.frontend.source import find
from tapeless.transforms.frontend.source.class_patterns import Classes, split_alternatives
from tapeless.transforms.frontend.source.desugar_exits import desugar
from tapeless.transforms.frontend.source.liveness import forgotten
from tapeless.transforms.frontend.source.rewrite_bindings import Bindings
from tapeless.transforms.frontend.source.scopes import Scope, bound_names
from tapeless.transforms.frontend.source.tree_building import (
    HOOKS,
    TYPE_PARAMS,
    hidden_name,
    hook,
    name_node,
    own_nodes,
    place,
    plain_arguments,
    thunk,
)
from tapeless.transforms.python_text.tree_walk import walk


class Rewriter(Bindings):
    """One pass over one function and the functions nested in it."""

    def function(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
        if isinstance(node, ast.AsyncFunctionDef):
            raise self.refusal(node, "async functions cannot be staged")
        body: list[ast.stmt] = (
            [ast.copy_location(ast.Return(node.body), node.body)]
            if isinstance(node, ast.Lambda)
            else list(node.body)
        )
        generator = any(
            isinstance(n, (ast.Yield, ast.YieldFrom)) for s in body for n in own_nodes(s)
        )
        params = find._arguments(node.args)
        bound, _, _ = bound_names(body)
        frame = hidden_name(f"v{next(self.depth)}")
        lowered = body if generator else desugar(body)
        made_names, _, _ = bound_names(lowered)
        outer, outer_first = self.scope, self.first
        self.first = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), "self")
        self.scope = Scope(frame, (bound | made_names | set(params)), set(), outer, generator)
        first = body[0]
        start: list[ast.stmt] = [
            ast.Assign(
                [ast.Name(frame, ast.Store())],
                hook("frame", ast.Constant(getattr(node, "name", "lambda"))),
            )
        ]
        for p in params:
            fresh = node.args.kwarg is not None and p == node.args.kwarg.arg  # a dict of its own
            value = hook("new", name_node(p)) if fresh else name_node(p)
            start.append(ast.Assign([self.variable(p, ast.Store())], value))
        for s in start:
            place(s, first)
        if not generator:
            self.scope.forgotten = forgotten(lowered)
        rewritten_body = self.block(lowered)
        if not generator:
            end = ast.Return(hook("result", name_node(frame)))
            rewritten_body.append(place(end, body[-1]))
        self.scope, self.first = outer, outer_first
        args = self.arguments(node.args, keep_defaults=False)
        definition = ast.FunctionDef(
            name=getattr(node, "name", "lambda_"),
            args=args,
            body=start + rewritten_body,
            decorator_list=[],
            returns=None,
            **TYPE_PARAMS,
        )
        return ast.copy_location(definition, node)

    def nested_function(self, s: ast.FunctionDef) -> list[ast.stmt]:
        definition = self.function(s)
        definition.args = self.arguments(s.args, keep_defaults=True)
        value = hook("new", name_node(s.name))
        for d in reversed(s.decorator_list):
            value = hook("call", self.expr(d), value)
        return [definition, *self.store(ast.Name(s.name, ast.Store()), value, s)]

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
                definition = self.function(inner)
                self.scope = Scope("", set(), names, outer)
                definition.args = self.arguments(inner.args, keep_defaults=True)
                definition.decorator_list = [self.expr(d) for d in inner.decorator_list]
                body.append(definition)
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
            decorator_list=[*map(self.expr, s.decorator_list), hook("new").func],
            **TYPE_PARAMS,
        )
        return [made_class, *self.bound([s.name], s)]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in body:
            out += [place(statement, s) for statement in self.statement(s)]
        return out or [ast.Pass()]

    def body_function(
        self, prefix: str, body: list[ast.stmt], *params: str
    ) -> tuple[str, ast.FunctionDef]:
        name = hidden_name(f"{prefix}_{next(self.counter)}")
        return name, ast.FunctionDef(
            name=name,
            args=plain_arguments(list(params)),
            body=body or [ast.Pass()],
            decorator_list=[],
            returns=None,
            **TYPE_PARAMS,
        )

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        match s:
            case ast.If() | ast.For() | ast.While():
                return self.control(s)
            case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.List() as value):
                return self.store(target, self.new_list(name, value), s)
            case ast.Assign(targets=[target], value=value):
                return self.store(target, self.expr(value), s)
            case ast.Assign():
                return self.assign_to_each(s)
            case ast.AnnAssign(target=target, value=value):
                return self.store(target, self.expr(value), s) if value is not None else []
            case ast.AugAssign():
                return self.augmented_assignment(s)
            case ast.Expr(value=value):
                return [ast.Expr(self.expr(value))]
            case ast.Return(value=value):
                return [ast.Return(None if value is None else self.expr(value))]
            case ast.Raise() | ast.Assert():
                return [self.raise_statement(s)]
            case ast.Delete(targets=targets):
                return [statement for t in targets for statement in self.delete(t)]
            case ast.FunctionDef():
                return self.nested_function(s)
            case ast.ClassDef():
                return self.class_(s)
            case ast.Import() | ast.ImportFrom():
                return [s, *self.bound([(a.asname or a.name).split(".")[0] for a in s.names], s)]
            case ast.With(items=items, body=body):
                return self.with_(items, body, s)
            case ast.Try() | ast.TryStar():
                return self.repeatable_try(s)
            case ast.Match():
                return [self.match(s)]
            case ast.Global() | ast.Nonlocal():
                return []
            case ast.Pass() | ast.Break() | ast.Continue():
                return [s]
            case _:
                raise self.refusal(s, f"{type(s).__name__} statements cannot be staged")

    def new_list(self, name: str, value: ast.List) -> ast.expr:
        """A new list for a variable of the function."""
        expression = self.expr(value)
        variable = self.variable(name, ast.Load())
        if not isinstance(variable, ast.Attribute):
            return expression
        return hook("renewed", variable.value, ast.Constant(variable.attr), expression)

    def assign_to_each(self, s: ast.Assign) -> list[ast.stmt]:
        """a = b = value"""
        name = hidden_name(f"t{next(self.counter)}")
        out: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], self.expr(s.value))]
        for t in s.targets:
            out += self.store(t, name_node(name), s)
        return out

    def bound(
        self, names: list[str], like: ast.AST, containers: Collection[str | None] = ()
    ) -> list[ast.stmt]:
        """Stores what Python itself bound to plain names, as variables of the function;
        `containers`: those that got containers which Python made."""
        stores: list[ast.stmt] = []
        for n in names:
            value = hook("new", name_node(n)) if n in containers else name_node(n)
            stores += self.store(ast.Name(n, ast.Store()), value, like)
        return stores

    def raise_statement(self, s: ast.Raise | ast.Assert) -> ast.stmt:
        if isinstance(s, ast.Assert):
            message = self.expr(s.msg) if s.msg else ast.Constant(None)
            return ast.Expr(hook("assert_", self.test(s.test), thunk(message)))
        if s.exc is None:
            return s
        parts = [self.expr(e) for e in (s.exc, s.cause) if e is not None]
        return ast.Expr(hook("raise_", *parts))

    # -- control flow

    def control(self, s: ast.If | ast.For | ast.While) -> list[ast.stmt]:
        if self.in_generator:
            return [self.native(s)]
        match s:
            case ast.If():
                end = self.forget(s)
                then, then_def = self.body_function("then", self.block(s.body) + end)
                orelse, else_def = self.body_function("else", self.else_block(s) + end)
                call = hook("if_", self.test(s.test), name_node(then), name_node(orelse))
                return [then_def, else_def, ast.Expr(call)]
            case ast.For():
                item = hidden_name(f"item_{next(self.counter)}")
                bind = self.store(s.target, name_node(item), s)
                body = bind + self.block(s.body) + self.forget(s)
                name, definition = self.body_function("body", body, item)
                index = ast.Constant(s.target.id if isinstance(s.target, ast.Name) else "")
                over = (
                    ast.Tuple(s.iter.elts, ast.Load()) if isinstance(s.iter, ast.List) else s.iter
                )
                call = hook("for_", self.expr(over), name_node(name), *self.flag(s), index)
                return [*self.forget(s), definition, ast.Expr(call)]
            case ast.While():
                name, definition = self.body_function("body", self.block(s.body) + self.forget(s))
                call = hook("while_", thunk(self.test(s.test)), name_node(name), *self.flag(s))
                return [*self.forget(s), definition, ast.Expr(call)]

    def forget(self, s: ast.stmt) -> list[ast.stmt]:
        """Forgets variables of a branch or a loop that nothing reads any more."""
        assert self.scope is not None
        scope = self.scope
        names = [n for n in scope.forgotten.get(id(s), ()) if n in scope.variables]
        if not names:
            return []
        return [
            place(ast.Expr(hook("forget", name_node(scope.frame), *map(ast.Constant, names))), s)
        ]

    def native(self, s: ast.If | ast.For | ast.While) -> ast.stmt:
        """In a generator, which is run out while staging: `yield` must stay in its own function."""
        if not isinstance(s, ast.For):
            test = place(hook("known", self.test(s.test)), s.test)
            return type(s)(test, self.block(s.body), self.else_block(s))
        item = hidden_name(f"t{next(self.counter)}")
        bind = self.store(s.target, name_node(item), s)
        return ast.For(
            ast.Name(item, ast.Store()),
            hook("iterate", self.expr(s.iter)),
            bind + self.block(s.body),
            self.else_block(s),
        )

    def else_block(self, s: ast.If | ast.For | ast.While) -> list[ast.stmt]:
        return self.block(s.orelse) if s.orelse else []

    def flag(self, s: ast.For | ast.While) -> list[ast.expr]:
        stop = getattr(s, "type_comment", None)
        assert self.scope is not None
        return [name_node(self.scope.frame), ast.Constant(stop)]

    def with_(self, items: list[ast.withitem], body: list[ast.stmt], s: ast.stmt) -> list[ast.stmt]:
        item, *others = items
        name = hidden_name(f"t{next(self.counter)}")
        manager = ast.withitem(
            hook("enter", self.expr(item.context_expr)), ast.Name(name, ast.Store())
        )
        bind = (
            self.store(item.optional_vars, name_node(name), s)
            if item.optional_vars is not None
            else []
        )
        inner = self.with_(others, body, s) if others else self.block(body)
        return self.run_again([ast.With([manager], bind + inner)])

    def repeatable_try(self, s: ast.Try | ast.TryStar) -> list[ast.stmt]:
        """A try statement that can be run several times."""
        definition = self.try_(s)
        if not s.handlers or isinstance(s, ast.TryStar):
            return definition
        return self.run_again(definition)

    def run_again(self, definition: list[ast.stmt]) -> list[ast.stmt]:
        """Statements that can be run several times: they may catch what run-time values decide."""
        if self.in_generator:
            return definition
        name, function = self.body_function("tried", definition)
        return [function, ast.Expr(hook("try_", name_node(name)))]

    def try_(self, s: ast.Try | ast.TryStar) -> list[ast.stmt]:
        handlers: list[ast.ExceptHandler] = []
        body = self.block(s.body)
        if s.handlers:
            signals = ast.Attribute(name_node(HOOKS), "signals", ast.Load())
            handlers.append(ast.ExceptHandler(signals, None, [ast.Raise()]))
            kinds = [
                self.expr(h.type) if h.type else name_node("BaseException") for h in s.handlers
            ]
            body = [ast.With([ast.withitem(hook("trying", *map(thunk, kinds)))], body)]
        for h in s.handlers:
            bind = self.bound([h.name], h) if h.name else []
            handlers.append(
                ast.copy_location(
                    ast.ExceptHandler(
                        h.type and self.expr(h.type), h.name, bind + self.block(h.body)
                    ),
                    h,
                )
            )
        orelse = self.block(s.orelse) if s.orelse else []
        statements: list[ast.stmt] = [type(s)(body, handlers, orelse, [])] if handlers else body
        return self.finally_(statements, s.finalbody) if s.finalbody else statements

    @property
    def in_generator(self) -> bool:
        return self.scope is not None and self.scope.generator

    def finally_(self, body: list[ast.stmt], final: list[ast.stmt]) -> list[ast.stmt]:
        """What is done in the end, also where errors of the user's pass; where staging itself ends
        early, what that raises is the last word."""
        if self.in_generator:
            return [
                self.try_with_finally(body, [ast.Raise()], self.block(final), self.block(final))
            ]
        name, function = self.body_function("final", self.block(final))
        done = ast.Expr(ast.Call(name_node(name), [], []))
        given_up = [ast.Expr(hook("given_up", name_node(name))), ast.Raise()]
        return [function, self.try_with_finally(body, given_up, [done], [done])]

    @staticmethod
    def try_with_finally(
        body: list[ast.stmt],
        signalled: list[ast.stmt],
        failed: list[ast.stmt],
        done: list[ast.stmt],
    ) -> ast.stmt:
        signals = ast.Attribute(name_node(HOOKS), "signals", ast.Load())
        handlers = [
            ast.ExceptHandler(signals, None, signalled),
            ast.ExceptHandler(name_node("BaseException"), None, [*failed, ast.Raise()]),
        ]
        return ast.Try(body, handlers, done, [])

    def match(self, s: ast.Match) -> ast.stmt:
        cases = []
        for c in copy.deepcopy(
            [alternative for case in s.cases for alternative in split_alternatives(case)]
        ):
            classes = Classes(lambda: next(self.counter))
            c.pattern = classes.case(c.pattern)
            names = _captured_names(c.pattern)
            bind = self.bound([n for n in names if n.isidentifier()], s, _containers(c.pattern))
            assert self.scope is not None
            self.scope = Scope("", set(), set(names), self.scope)
            tests: list[ast.expr] = [
                hook("is_instance", ast.Name(name, ast.Load()), self.expr(cls))
                for name, cls in classes.tests
            ]
            tests += [self.expr(_is_one_of(*constant)) for constant in classes.constants]
            tests += [self.expr(c.guard)] if c.guard is not None else []
            self.scope = self.scope.parent
            guard = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0] if tests else None
            cases.append(ast.match_case(c.pattern, guard, bind + self.block(c.body)))
        return ast.Match(hook("subject", self.expr(s.subject)), cases)


def _is_one_of(name: str, values: Iterable[bool | None]) -> ast.expr:
    """name is True or name is None"""
    tests: list[ast.expr] = [
        ast.Compare(ast.Name(name, ast.Load()), [ast.Is()], [ast.Constant(v)]) for v in values
    ]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


def _containers(pattern: ast.pattern) -> set[str | None]:
    """The names that a pattern gives the rest of a list or a dict."""
    lists = {n.name for n in walk(pattern) if isinstance(n, ast.MatchStar)}
    return lists | {n.rest for n in walk(pattern) if isinstance(n, ast.MatchMapping)}


def _captured_names(pattern: ast.pattern) -> list[str]:
    """The names that a pattern gives values."""
    names: set[str | None] = set()
    for n in walk(pattern):
        if isinstance(n, (ast.MatchAs, ast.MatchStar)):
            names.add(n.name)
        elif isinstance(n, ast.MatchMapping):
            names.add(n.rest)
    return sorted(name for name in names if name)
