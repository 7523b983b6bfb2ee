"""Says whether functions of numbers in loops are saved rather than computed again.

A sine takes as long as some ten loads: compiled code is faster if it saves them. Code for NumPy is
shorter if it computes them again, and not slower.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from tapeless.transforms.core.language import Let

_saved: contextvars.ContextVar[bool] = contextvars.ContextVar("saved", default=False)


@contextlib.contextmanager
def saving_functions() -> Iterator[None]:
    """Inside, they are saved."""
    token = _saved.set(True)
    try:
        yield
    finally:
        _saved.reset(token)


def functions_are_saved() -> bool:
    """Whether they are saved."""
    return _saved.get()


def is_function(let: Let) -> bool:
    """Whether a statement computes a function of numbers that takes long."""
    op = let.op
    return op.costly and op.elementwise and op.pure and not let.outs[0].type.shape
