"""Finds variables that nothing reads any more after a branch, or from one pass of a loop to the
next: they are forgotten there, so that their values need not fit together.

for t in range(n):                       for t in range(n):
    trial = [f(x) for x in xs]               trial = [f(x) for x in xs]
    if better(trial):          becomes       if better(trial):
        xs = trial                               xs = trial
                                             forget trial, t

This is liveness of variables, on the tree of a function without `return`, `break`, `continue`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.python_text.tree_walk import walk

Names = frozenset[str]
NONE: Names = frozenset()
#: What is read where it stands, and may be read later, as well.
LATE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


class Used(NamedTuple):
    """What statements read of what was before them, what they surely set, and what they may set."""

    reads: Names
    sets: Names
    may_set: Names


def forgotten(body: list[ast.stmt]) -> dict[int, tuple[str, ...]]:
    """By the `id` of a branch or a loop in the body of a function: what is set in it that nothing
    reads after it, or after a pass of it."""
    late = {
        n.id
        for s in body
        for node in walk(s)
        if isinstance(node, LATE)
        for n in walk(node)
        if isinstance(n, ast.Name)
    }
    return LastReads(late).last_reads(body)


class LastReads:
    """`late` are the names that nested functions use: they may be read at any time."""

    def __init__(self, late: set[str]) -> None:
        self.late = late
        self.known: dict[int, Used] = {}
        self.found: dict[int, tuple[str, ...]] = {}

    def last_reads(self, body: list[ast.stmt]) -> dict[int, tuple[str, ...]]:
        self.block(body, frozenset({RESULT}))
        return self.found

    def block(self, body: list[ast.stmt], live: Names) -> None:
        """Looks into statements after which these names are read."""
        for s in reversed(body):
            self.statement(s, live)
            used = self.used(s)
            live = used.reads | (live - used.sets)

    def statement(self, s: ast.stmt, live: Names) -> None:
        match s:
            case ast.If():
                self.note(s, live)
                self.block(s.body, live)
                self.block(s.orelse, live)
            case ast.For() | ast.While():
                again = live | self.used(s).reads
                self.note(s, again)
                self.block(s.body, again)

    def note(self, s: ast.stmt, live: Names) -> None:
        names = self.used(s).may_set - live - self.late
        if names:
            self.found[id(s)] = tuple(sorted(names))

    # -- what statements read and set

    def used(self, s: ast.stmt) -> Used:
        if id(s) not in self.known:
            self.known[id(s)] = self.find(s)
        return self.known[id(s)]

    def find(self, s: ast.stmt) -> Used:
        match s:
            case ast.If():
                test, then, orelse = (
                    _plain(s.test),
                    self.sequence_use(s.body),
                    self.sequence_use(s.orelse),
                )
                return Used(
                    test.reads | then.reads | orelse.reads,
                    then.sets & orelse.sets,
                    test.may_set | then.may_set | orelse.may_set,
                )
            case ast.For():
                over, target, inner = _plain(s.iter), _plain(s.target), self.sequence_use(s.body)
                reads = over.reads | target.reads | (inner.reads - target.sets)
                may_set = over.may_set | target.may_set | inner.may_set
                return Used(reads | _stop(s), NONE, may_set)
            case ast.While():
                test, inner = _plain(s.test), self.sequence_use(s.body)
                return Used(test.reads | inner.reads | _stop(s), NONE, test.may_set | inner.may_set)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr():
                used = _plain(s)
                if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
                    return used._replace(reads=used.reads | {s.target.id})
                return used
            case _:  # what may be left halfway, or is not looked into
                names = frozenset(n.id for n in walk(s) if isinstance(n, ast.Name))
                return Used(names, NONE, NONE)

    def sequence_use(self, body: list[ast.stmt]) -> Used:
        reads, sets, may_set = NONE, NONE, NONE
        for s in body:
            used = self.used(s)
            reads |= used.reads - sets
            sets |= used.sets
            may_set |= used.may_set
        return Used(reads, sets, may_set)


def _plain(node: ast.AST) -> Used:
    """Of what has no statements in it; the values are read before names are set."""
    names = (n for n in walk(node) if isinstance(n, ast.Name))
    reads = frozenset(n.id for n in names if not isinstance(n.ctx, ast.Store))
    sets = frozenset(_set_by(node))
    walrus = (n.target.id for n in walk(node) if isinstance(n, ast.NamedExpr))
    return Used(reads, sets, sets | frozenset(walrus))


def _set_by(node: ast.AST) -> Iterable[str]:
    """The names that a statement, or a target, sets; not those in comprehensions, and not those
    that parts of expressions may set."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif not isinstance(node, (*COMPREHENSIONS, *LATE, ast.NamedExpr)):
        for child in ast.iter_child_nodes(node):
            yield from _set_by(child)


def _stop(s: ast.For | ast.While) -> Names:
    """The flag that ends a loop."""
    flag = getattr(s, "type_comment", None)
    return NONE if flag is None else frozenset({flag})
