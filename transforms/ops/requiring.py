"""Errors of NumPy's that data decides: they are raised when the program runs."""

from __future__ import annotations

from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import Atom, Block, Effect, If, Literal
from tapeless.transforms.ops.reductions import all_


def require(fine: Atom, error: type[Exception], message: str) -> None:
    """Raises an error unless a truth value, or each of an array, is true."""
    if fine.type.shape:
        fine = all_(fine, axes=tuple(range(fine.type.ndim)), keepdims=False)
    if isinstance(fine, Literal):
        if not fine.value:
            raise error(message)
        return
    b = current()
    fail = Effect("raise", (), {"type": error, "parts": (("value", message),)}, b.origin)
    b.emit(If((), fine, Block((), (), ()), Block((), (fail,), ()), origin=b.origin))
