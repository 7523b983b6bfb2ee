"""Tracks what a batch is made in: another batch, where masks may differ by element, or a compiled
program, where a loop over the elements is as good as array code.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_open = threading.local()


def is_nested() -> bool:
    return getattr(_open, "depth", 0) > 0


@contextmanager
def batching(inside: bool = True) -> Iterator[None]:
    """What is staged now will be batched."""
    before = getattr(_open, "depth", 0)
    _open.depth = before + inside
    try:
        yield
    finally:
        _open.depth = before


def is_looped() -> bool:
    return getattr(_open, "looped", False)


@contextmanager
def looping(looped: bool) -> Iterator[None]:
    """Whether branches and loops that depend on the element become loops over the batch."""
    before = is_looped()
    _open.looped = looped
    try:
        yield
    finally:
        _open.looped = before
