"""Rewrites `match` statements with patterns that compare as branches.

match k:
    case 1 | 2: ...          if k == 1 or k == 2: ...
    case None: ...           elif k is None: ...
    case other: ...          else: other = k; ...
"""

from __future__ import annotations

import ast
import copy
import itertools
from typing import Any

from tapeless.transforms.frontend.source.tree_building import hidden_name

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Matching(ast.NodeTransformer):
    """Replaces such statements in a function; functions inside have their own turn."""

    def __init__(self) -> None:
        self.names = itertools.count(1)

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        return as_branches(node, hidden_name(f"subject_{next(self.names)}")) or node

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, INNER) else super().visit(node)


def as_branches(s: ast.Match, subject: str) -> list[ast.stmt] | None:
    """The statement with `if` and `elif`; None for patterns that look into things."""
    if not all(_compares(c) for c in s.cases):
        return None
    first = ast.Assign([ast.Name(subject, ast.Store())], s.subject)
    statements = [first, *_branches(s.cases, subject)]
    for node in statements:
        ast.fix_missing_locations(ast.copy_location(node, s))
    return list(statements)


def _compares(case: ast.match_case) -> bool:
    p = case.pattern
    if isinstance(p, ast.MatchAs):
        return p.pattern is None and (p.name is None or case.guard is None)
    alternatives = p.patterns if isinstance(p, ast.MatchOr) else [p]
    return all(isinstance(a, (ast.MatchValue, ast.MatchSingleton)) for a in alternatives)


def _branches(cases: list[ast.match_case], subject: str) -> list[ast.stmt]:
    if not cases:
        return []
    case, *others = cases
    test = _test(case, subject)
    if test is None:
        return [*_bound(case, subject), *case.body]
    return [ast.copy_location(ast.If(test, case.body, _branches(others, subject)), test)]


def _test(case: ast.match_case, subject: str) -> ast.expr | None:
    """What the case asks; None if it always fits."""
    p, guard = case.pattern, case.guard
    if isinstance(p, ast.MatchAs):
        return guard
    tests = [
        _value_pattern(a, subject) for a in (p.patterns if isinstance(p, ast.MatchOr) else [p])
    ]
    test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), tests), p)
    return test if guard is None else ast.copy_location(ast.BoolOp(ast.And(), [test, guard]), p)


def _value_pattern(p: ast.pattern, subject: str) -> ast.expr:
    assert isinstance(p, (ast.MatchValue, ast.MatchSingleton))
    single = isinstance(p, ast.MatchSingleton)
    value = ast.Constant(p.value) if isinstance(p, ast.MatchSingleton) else copy.deepcopy(p.value)
    same: ast.cmpop = ast.Is() if single else ast.Eq()
    return ast.copy_location(ast.Compare(ast.Name(subject, ast.Load()), [same], [value]), p)


def _bound(case: ast.match_case, subject: str) -> list[ast.stmt]:
    name = case.pattern.name if isinstance(case.pattern, ast.MatchAs) else None
    if name is None:
        return []
    assignment = ast.Assign([ast.Name(name, ast.Store())], ast.Name(subject, ast.Load()))
    return [ast.copy_location(assignment, case.pattern)]
