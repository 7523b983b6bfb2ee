"""Holds the function that a transformed one is made of, and what was staged for it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tapeless.configuration.stepping import skip_ours
from tapeless.dispatch import pickling
from tapeless.dispatch.reloading import notice_reloads
from tapeless.dispatch.specialisation import Specialisation, shared_cache
from tapeless.staging.emitted_names import (
    argument_names,
    base_name,
    check_callable,
    global_name,
    root_function,
    unwrap,
)
from tapeless.view.in_notebooks import InNotebooks


class TransformationState(InNotebooks):
    """The function that is transformed, and what was staged for it."""

    suffix = "transformed"
    derived: frozenset[str] = frozenset(
        {"root", "code", "defaults", "cache", "last", "ordered", "on_gpu"}
    )
    reserved: frozenset[str] = frozenset()  # names of what emitted code calls: no parameters
    outlines = True  # functions that are called often may become functions of the program

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, self.suffix)
        skip_ours()
        notice_reloads()
        self.fun = fun
        self.__name__ = base_name(fun)  # of partials and objects; of functions, what wraps says
        functools.update_wrapper(self, fun, updated=())
        self.emitted_name = f"{base_name(fun)}_{self.suffix}"
        self.begin()

    def begin(self) -> None:
        """Finds what was staged for the function as it is now."""
        self.root = root_function(self.fun)
        self.code, self.defaults = self.root.__code__, self.root.__defaults__
        self.cache = shared_cache(type(self), self.fun, self.options())
        self.last: Specialisation | None = None
        code = getattr(unwrap(self.fun), "__code__", None)
        self.ordered = code is None or bool(code.co_flags & inspect.CO_VARKEYWORDS)

    def renew(self) -> None:
        """Begins anew if the function has got other code or defaults, as when a notebook loads a
        module again."""
        if self.root.__code__ is not self.code or self.root.__defaults__ is not self.defaults:
            self.begin()

    # -- what subclasses say

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def options(self) -> tuple[Any, ...]:
        """What tells this transformation of a function from others of the same kind."""
        return ()

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The transformation, inside a staged run."""
        raise NotImplementedError

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuses bad arguments before any work."""

    def with_static_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with those that are part of the program as one leaf each."""
        return args, kwargs

    def describe(self) -> str:
        return f"{self.suffix} of {base_name(self.fun)}"

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """A name for each argument as it is passed."""
        return argument_names(self.fun, args, kwargs)

    # -- copies

    def __repr__(self) -> str:
        return f"<{self.describe()}>"

    def cache_key(self) -> tuple[Any, ...]:
        return (type(self), self.options())

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in self.derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        pickling.take_text(self.__dict__, root_function(self.fun))
        self.begin()

    def __reduce_ex__(self, protocol: Any) -> Any:
        if pickling.copies(self, pickling.caller()):
            return pickling.with_text(super().__reduce_ex__(protocol), self.root)
        return global_name(self) or super().__reduce_ex__(protocol)
