"""Errors of NumPy that depend on data: raised when the program runs.

total = np.sum(w)      becomes      total = np.sum(w)
                                    if total == 0: raise ZeroDivisionError(...)
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import atom, current
from tapeless.transforms.core.language import Atom, Block, Effect, If, Literal
from tapeless.transforms.ops.reductions import all_, any_

NOTHING = Block((), (), ())


def raise_where(test: Any, error: type[Exception], message: str) -> None:
    """Raises an error if the test holds for an element."""
    if test.type.shape:
        test = any_(test, axes=tuple(range(test.type.ndim)), keepdims=False)
    _branch(atom(test), _raised(error, message), NOTHING)


def require(fine: Any, error: type[Exception], message: str) -> None:
    """Raises an error unless a truth value, or each of an array, is true; now, if it is known."""
    if fine.type.shape:
        fine = all_(fine, axes=tuple(range(fine.type.ndim)), keepdims=False)
    if not isinstance(fine, Literal):
        _branch(fine, NOTHING, _raised(error, message))
    elif not fine.value:
        raise error(message)


def _raised(error: type[Exception], message: str) -> Block:
    params = {"type": error, "parts": (("value", message),)}
    return Block((), (Effect("raise", (), params, current().origin),), ())


def _branch(test: Atom, then: Block, orelse: Block) -> None:
    b = current()
    b.emit(If((), test, then, orelse, origin=b.origin))
