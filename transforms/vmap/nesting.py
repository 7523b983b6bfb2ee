"""Whether a function is batched inside another one that is: masks may then differ by element."""

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
