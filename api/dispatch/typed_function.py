"""Tells type checkers that a transformed function takes and returns what the function does that it
was made of. The classes are for annotations: public functions return what these derive from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from tapeless.dispatch.transformation import Transformed

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")


class Typed(Generic[P, R]):
    """A function of parameters P that returns R; as a method, one without the first of them."""

    if TYPE_CHECKING:

        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...

        @overload
        def __get__(self, instance: None, owner: Any = None) -> Self: ...
        @overload
        def __get__(
            self: Typed[Concatenate[Any, Q], T], instance: object, owner: Any = None
        ) -> Callable[Q, T]: ...
        def __get__(self, instance: Any, owner: Any = None) -> Any: ...


class TypedFunction(Typed[P, R], Transformed):
    """A transformed function with parameters P that returns R."""
