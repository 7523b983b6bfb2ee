"""Says whether functions of numbers in loops are saved rather than computed again, and quotients.

A sine takes as long as some ten loads: compiled code is faster if it saves them. Code for NumPy is
shorter if it computes them again, and not slower. A quotient or a chain of sums and products takes
as long as few loads: it is saved where nothing is around the derivative. In another derivative, or
under vmap, each saved number has tangents or elements of its own, which vectors compute faster than
memory gives them back.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from tapeless.transforms.core.language import Let

_saved: contextvars.ContextVar[bool] = contextvars.ContextVar("saved", default=False)
_inner: contextvars.ContextVar[bool] = contextvars.ContextVar("inner", default=False)


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


@contextlib.contextmanager
def inside_of_transformation() -> Iterator[None]:
    """Inside, what is differentiated is differentiated again, or mapped over a batch."""
    token = _inner.set(True)
    try:
        yield
    finally:
        _inner.reset(token)


def arithmetic_is_saved() -> bool:
    """Whether quotients are saved, too, and arithmetic that takes as long as loads."""
    return _saved.get() and not _inner.get()


def is_function(let: Let) -> bool:
    """Whether a statement computes a function of numbers that takes long."""
    op = let.op
    return op.costly and op.elementwise and op.pure and not let.outs[0].type.shape
