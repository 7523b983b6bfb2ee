"""Enters context managers of the user's own, which may suppress run-time errors."""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.transforms.errors import Signal, SourceError, TapelessError
from tapeless.transforms.frontend.effects.exception_handlers import suppressing, trying
from tapeless.transforms.frontend.source.find import read
from tapeless.transforms.frontend.source.original_code import original_function
from tapeless.transforms.frontend.trace.provenance import of_library

SIGNALS = (TapelessError, Signal)
FALSE = (None, False, 0)


def enter_manager(manager: Any, call: Callable[..., Any], given_up: Callable[..., None]) -> Any:
    """What a `with` statement enters for a manager, whose methods `call` calls."""
    if isinstance(manager, contextlib.suppress):
        return suppressing(vars(manager)["_exceptions"])
    start = getattr(type(manager), "__enter__", None)
    if not isinstance(start, types.FunctionType) or of_library(start):
        return manager
    managed = _Managed(manager, call, given_up)
    return _pass_errors_to(managed) if _may_suppress(manager) else managed


class _Managed:
    """A context manager whose methods are rewritten."""

    def __init__(
        self, manager: Any, call: Callable[..., Any], given_up: Callable[..., None]
    ) -> None:
        self.manager, self.call, self.given_up = manager, call, given_up

    def __enter__(self) -> Any:
        return self.call(type(self.manager).__enter__, self.manager)

    def __exit__(self, *what: Any) -> Any:
        def end() -> Any:
            return self.call(type(self.manager).__exit__, self.manager, *what)

        if isinstance(what[1], SIGNALS):
            self.given_up(end)
            return False
        return end()


@contextlib.contextmanager
def _pass_errors_to(managed: _Managed) -> Iterator[Any]:
    """Errors inside reach the manager, as they reach an except clause."""
    with managed as value, trying(lambda: Exception):
        yield value


def _may_suppress(manager: Any) -> bool:
    """Whether the source of a manager says that errors may end in it."""
    if isinstance(manager, contextlib._GeneratorContextManager):
        function = manager.func
        return any(map(_catches, _nodes(function, ast.Try, ast.TryStar, ast.With)))
    returns: Any = _nodes(type(manager).__exit__, ast.Return)
    return not all(r.value is None or _is_false(r.value) for r in returns)


def _catches(statement: Any) -> bool:
    """Whether a statement catches errors that are thrown into a generator."""
    body = [n for s in statement.body for n in ast.walk(s)]
    if not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in body):
        return False
    if isinstance(statement, ast.With):
        return any("suppress" in ast.dump(item.context_expr) for item in statement.items)
    return bool(statement.handlers)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in FALSE


def _nodes(function: Any, *kinds: type[ast.AST]) -> list[ast.AST]:
    if not isinstance(function, types.FunctionType):
        return []
    try:
        node = read(original_function(function)).node
    except SourceError:
        return []  # it is called as it is
    return [n for n in ast.walk(node) if isinstance(n, kinds)]
