"""Replaces methods of all transformed functions for a time, so that calls cost nothing extra
otherwise.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.backends.fork_safe_locks import SHARING
from tapeless.dispatch.transformation import Transformed
from tapeless.dispatch.transformation_state import TransformationState

Around = Callable[[Transformed, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
_watches: list[Watch] = []


class Watch:
    """`around(function, method, args, kwargs)` in the place of a method of transformed functions.

    A method that goes on to that of a base class is replaced once.
    """

    def __init__(self, name: str, around: Around) -> None:
        self.name, self.around = name, around
        self.running = threading.local()
        self.replaced: list[tuple[type, Any]] = []

    def open(self) -> None:
        for cls in kinds(TransformationState):
            if self.name in vars(cls):
                old = vars(cls)[self.name]
                self.replaced.append((cls, old))
                setattr(cls, self.name, self.replacing(old))

    def replacing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        around, running = self.around, self.running

        @functools.wraps(method)
        def run(this: Transformed, /, *args: Any, **kwargs: Any) -> Any:
            if getattr(running, "of", None) is this:
                return method(this, *args, **kwargs)
            before, running.of = getattr(running, "of", None), this
            try:
                return around(this, functools.partial(method, this), args, kwargs)
            finally:
                running.of = before

        return run

    def restore(self) -> None:
        for cls, old in reversed(self.replaced):
            setattr(cls, self.name, old)
        self.replaced.clear()

    def close(self) -> None:
        """Ends it, in whatever order watches were begun."""
        with SHARING:
            later = _watches[_watches.index(self) :]
            for each in reversed(later):
                each.restore()
            _watches.remove(self)
            for each in later[1:]:
                each.open()


def watch(name: str, around: Around) -> Watch:
    """Begins to look at a method, in all threads, until the watch is closed."""
    with SHARING:
        new_watch = Watch(name, around)
        new_watch.open()
        _watches.append(new_watch)
        return new_watch


def kinds(cls: type[TransformationState]) -> Iterator[type[TransformationState]]:
    """A class and all that derive from it."""
    yield cls
    for each in cls.__subclasses__():
        yield from kinds(each)
