"""Adds spans of the user's own to a trace."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tapeless.profiler.recorder import recorder
from tapeless.staging.user_calls import call_user


class TraceAnnotation:
    """A span of a trace around what is done inside.

    name    what it is called
    kwargs  what is shown with it

    Without a trace it does nothing. Inside of a transformed function it shows when that is staged,
    not when it runs.

    >>> with TraceAnnotation("load", rows=3):
    ...     x = [1.0, 2.0, 3.0]
    """

    category = "user"

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name, self.about = name, kwargs

    def __enter__(self) -> TraceAnnotation:
        self.start = time.perf_counter_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        now = recorder()
        if now is not None:
            now.add(self.name, self.category, self.start, self.about)


class StepTraceAnnotation(TraceAnnotation):
    """A span around one step of a program: `step_num` says which.

    >>> for step in range(3):
    ...     with StepTraceAnnotation("train", step_num=step):
    ...         pass
    """

    category = "step"


class SpanContext:
    """A function each call of which is a span."""

    def __init__(self, fun: Callable[..., Any], name: str, about: dict[str, Any]) -> None:
        self.fun, self.name, self.about = fun, name, about
        functools.update_wrapper(self, fun, updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(self.name, **self.about):
            return call_user(self.fun, *args, **kwargs)

    __staged_call__ = __call__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def annotate_function(
    func: Callable[..., Any] | None = None, name: str | None = None, **decorator_kwargs: Any
) -> Any:
    """A function each call of which is a span of the trace; also as a decorator.

    name              what the span is called: the name of the function, where it is left out
    decorator_kwargs  what is shown with it

    >>> @annotate_function
    ... def load(n):
    ...     return list(range(n))
    >>> load(2)
    [0, 1]
    """
    if func is None:
        return lambda f: annotate_function(f, name, **decorator_kwargs)
    return SpanContext(func, name or str(getattr(func, "__qualname__", func)), decorator_kwargs)
