"""Provides names for parts of a program, and context managers of JAX that have little to do
here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import Token
from types import TracebackType
from typing import Any, TypeVar

from tapeless.dispatch.asynchronous.worker import wait_for_all
from tapeless.profiler.annotations import TraceAnnotation
from tapeless.staging.user_calls import call_user
from tapeless.transforms.errors import ArgumentTypeError, TapelessError
from tapeless.transforms.frontend.source.positions import open_scopes

F = TypeVar("F", bound=Callable[..., Any])


class _Nothing:
    """A context manager without effect."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass


class named_scope(TraceAnnotation):  # noqa: N801 (used like np.errstate)
    """A name for what is done inside: in the comments of emitted code, and as a span of a trace
    that runs (`tapeless.profiler`).

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> def f(x):
    ...     with named_scope("layer"):
    ...         y = np.tanh(x)
    ...     return y * y
    >>> "y = np.tanh(x)  # line 3, layer" in vmap(f).source(np.ones(2))
    True
    """

    category = "scope"

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"named_scope needs a name, not {name!r}")
        super().__init__(name)
        self.tokens: list[Token[tuple[str, ...]]] = []

    def __enter__(self) -> TraceAnnotation:
        line = " ".join(self.name.split())  # a comment is one line
        self.tokens.append(open_scopes.set((*open_scopes.get(), line)))
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        open_scopes.reset(self.tokens.pop())
        super().__exit__(kind, error, traceback)


class _Named:
    """A function with a scope around each call."""

    def __init__(self, fun: Callable[..., Any], name: str) -> None:
        self.fun, self.scope = fun, name
        functools.update_wrapper(self, fun, updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        with named_scope(self.scope):
            return call_user(self.fun, *args, **kwargs)

    __staged_call__ = __call__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def named_call(fun: F, *, name: str | None = None) -> F:
    """The function with a `named_scope` around each call; its own name where none is given.

    >>> named_call(lambda x: x + 1, name="increment")(1.0)
    2.0
    """
    named: Any = _Named(fun, name or str(getattr(fun, "__name__", fun)))
    return named  # type: ignore[no-any-return]


class ensure_compile_time_eval(_Nothing):  # noqa: N801 (as JAX names it)
    """Computations on known values are done at once, as they are everywhere in a staged run: what
    does not depend on arguments is Python as ever.

    >>> with ensure_compile_time_eval():
    ...     x = 1.0 + 1.0
    """


class no_tracing(_Nothing):  # noqa: N801 (as JAX names it)
    """Refuses to stage a function anew inside: a call with new types of arguments raises
    RuntimeError. For this thread and all others.

    >>> from tapeless import jit
    >>> f = jit(lambda x: x + 1)
    >>> f(1.0)
    2.0
    >>> with no_tracing():
    ...     f(2.0)
    3.0
    """

    def __enter__(self) -> None:
        from tapeless.configuration.instrumentation import watch  # noqa: PLC0415 (looks at all kinds of functions)

        self.watch = watch("compile", _refuse)

    def __exit__(self, *exception: Any) -> None:
        self.watch.close()


class TracingError(TapelessError, RuntimeError):
    """A function was to be staged where that is refused."""


def _refuse(this: Any, compile: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    raise TracingError(
        f"the {this.suffix} of {this.__name__} is staged anew inside no_tracing",
        "the arguments are of other types than before, or what it reads from outside has changed",
    )


def effects_barrier() -> None:
    """Waits until all calls are done whose results are pending, and so are their callbacks. What
    prints or acts in another way is done when a call returns.

    >>> effects_barrier()
    """
    wait_for_all()


def copy_to_host_async(x: Any) -> Any:
    """The value itself: arrays are in the memory of the host.

    >>> copy_to_host_async([1.0])
    [1.0]
    """
    return x


__all__ = [
    "copy_to_host_async",
    "effects_barrier",
    "ensure_compile_time_eval",
    "named_call",
    "named_scope",
    "no_tracing",
]
