"""Errors of NumPy that depend on data: raised when the program runs.

total = np.sum(w)      becomes      total = np.sum(w)
                                    if total == 0: raise ZeroDivisionError(...)
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import atom, current
from tapeless.transforms.core.language import Block, Effect, If
from tapeless.transforms.ops.reductions import any_

NOTHING = Block((), (), ())


def raise_where(test: Any, error: type[Exception], message: str) -> None:
    """Raises when the program runs, if the test holds for an element."""
    b = current()
    if test.type.shape:
        test = any_(test, axes=tuple(range(test.type.ndim)), keepdims=False)
    fail = Effect("raise", (), {"type": error, "parts": (("value", message),)}, b.origin)
    b.emit(If((), atom(test), Block((), (fail,), ()), NOTHING, origin=b.origin))
