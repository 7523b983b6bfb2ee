"""Rewrites patterns of `match` that ask for a class: Python's test does not know what a symbol
stands for.

case int(k) if k > 0:    becomes    case k if hooks.is_instance(k, int) and k > 0:
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tapeless.transforms.frontend.source.tree_building import hidden_name
from tapeless.transforms.python_text.tree_walk import walk

#: Classes whose one positional pattern is matched with the value itself.
THEMSELVES = ("bool", "bytearray", "bytes", "float", "int", "str", "tuple", "complex")


class Classes(ast.NodeTransformer):
    """Takes the classes out of a pattern, and True, False and None in the parts of one; `tests` are
    (name of the value, class), `constants` (name, what it may be)."""

    def __init__(self, names: Callable[[], int]) -> None:
        self.names = names
        self.tests: list[tuple[str, ast.expr]] = []
        self.constants: list[tuple[str, list[bool | None]]] = []

    def case(self, pattern: ast.pattern) -> ast.pattern:
        """A whole pattern: constants that are all of it are compared elsewhere."""
        alternatives = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        constants_only = all(
            isinstance(p, (ast.MatchSingleton, ast.MatchValue)) for p in alternatives
        )
        return pattern if constants_only else self.visit(pattern)

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> ast.pattern:
        return self.constant([node.value])

    def constant(self, values: list[bool | None]) -> ast.pattern:
        name = hidden_name(f"matched_{self.names()}")
        self.constants.append((name, values))
        return ast.MatchAs(None, name)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.pattern:
        self.generic_visit(node)
        itself = isinstance(node.cls, ast.Name) and node.cls.id in THEMSELVES
        if node.kwd_patterns or (node.patterns and not (itself and len(node.patterns) == 1)):
            return node
        return self.capture_pattern(node.cls, node.patterns[0] if node.patterns else None)

    def visit_MatchOr(self, node: ast.MatchOr) -> ast.pattern:
        classes = [p.cls for p in node.patterns if isinstance(p, ast.MatchClass) and _bare(p)]
        if len(classes) == len(node.patterns):
            return self.capture_pattern(ast.Tuple(classes, ast.Load()), None)
        constants = [p.value for p in node.patterns if isinstance(p, ast.MatchSingleton)]
        if len(constants) == len(node.patterns):
            return self.constant(constants)
        return node

    def capture_pattern(self, cls: ast.expr, inner: ast.pattern | None) -> ast.pattern:
        if isinstance(inner, ast.MatchAs) and inner.pattern is None and inner.name:
            self.tests.append((inner.name, cls))
            return inner
        if isinstance(inner, ast.MatchAs) and inner.name is None:
            inner = None
        name = hidden_name(f"matched_{self.names()}")
        self.tests.append((name, cls))
        return ast.MatchAs(inner, name)


def _bare(p: ast.MatchClass) -> bool:
    return not (p.patterns or p.kwd_patterns)


def split_alternatives(case: ast.match_case) -> list[ast.match_case]:
    """A case for each alternative where a class is one of them beside something else, or where
    True, False or None is a part of one."""
    p = case.pattern
    if not isinstance(p, ast.MatchOr):
        return [case]
    nested = [n for a in p.patterns for n in walk(a) if n is not a]
    if not any(isinstance(n, ast.MatchClass) for n in p.patterns) and not any(
        isinstance(n, ast.MatchSingleton) for n in nested
    ):
        return [case]
    if all(isinstance(n, ast.MatchClass) and _bare(n) for n in p.patterns):
        return [case]
    return [ast.match_case(each, case.guard, case.body) for each in p.patterns]
