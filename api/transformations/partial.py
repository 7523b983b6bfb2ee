"""Defines `Partial`, a function with some arguments, which are leaves of a pytree."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeless.staging.user_calls import call_user
from tapeless.tree_registry import register_pytree_node


class _Shim:
    """A partial whose arguments are no leaves: it is the function of another one."""

    def __init__(self, fun: functools.partial[Any]) -> None:
        self.fun = fun

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return call_user(self.fun, *args, **kwargs)

    def __hash__(self) -> int:
        return hash(self.fun)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shim) and self.fun == other.fun


class Partial(functools.partial[Any]):
    """`functools.partial` as a pytree: the arguments that it holds are leaves, the function is
    part of the structure.

    >>> from tapeless import tree
    >>> add = Partial(lambda x, y: x + y, 1.0)
    >>> add(2.0), tree.leaves(add), tree.map(lambda x: 10 * x, add)(2.0)
    (3.0, [1.0], 12.0)
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kw: Any) -> Partial:
        if isinstance(func, functools.partial):
            func = _Shim(func)
        return super().__new__(cls, func, *args, **kw)


def _flatten(p: Partial) -> Any:
    return (p.args, p.keywords), p.func


def _unflatten(func: Any, children: Any) -> Partial:
    args, kw = children
    return Partial(func, *args, **kw)


register_pytree_node(Partial, _flatten, _unflatten)
