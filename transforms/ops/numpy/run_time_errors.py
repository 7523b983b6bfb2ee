"""Raises errors of NumPy that depend on run-time values, when the program runs.

total = np.sum(w)      becomes      total = np.sum(w)
                                    if total == 0: raise ZeroDivisionError(...)
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Effect, If, Literal
from tapeless.transforms.ops.numpy.argmax import argmin
from tapeless.transforms.ops.numpy.reductions import all_, any_
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater_equal,
    logical_not,
)
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index

NOTHING = Block((), (), ())
Raised = tuple[type[Exception], str]


def raise_where(test: Any, error: type[Exception], message: str) -> None:
    """Raises an error if a test holds, for one element of an array at least; now, if that is
    known."""
    if test.type.shape:
        test = any_(test, axes=tuple(range(test.type.ndim)), keepdims=False)
    test = atom(test)
    if isinstance(test, Literal):
        if test.value:
            raise error(message)
    elif not current().decides(error(message), lambda: test):
        _branch(test, _raise_block(error, message), NOTHING)


def require(fine: Any, error: type[Exception], message: str) -> None:
    """Raises an error unless a truth value, or each of an array, is true; now, if it is known."""
    if fine.type.shape:
        fine = all_(fine, axes=tuple(range(fine.type.ndim)), keepdims=False)
    if isinstance(fine, Literal):
        if not fine.value:
            raise error(message)
    elif not current().decides(error(message), lambda: logical_not(fine)):
        _branch(fine, NOTHING, _raise_block(error, message))


def raise_first(fine: Any, which: Any, error: Raised, otherwise: Raised) -> None:
    """Raises an error unless all numbers are fine: that of the first that is not, which is
    `error` where `which` holds of it."""
    flat_fine, flat_which = (reshape(x, shape=(dims.product(x.type.shape),)) for x in (fine, which))
    b = current()
    with b.block() as block:
        first = index(flat_which, argmin(flat_fine, axis=0, keepdims=False), key=(Slot(0),))
        _branch(atom(first), _raise_block(*error), _raise_block(*otherwise))
    axes = tuple(range(fine.type.ndim))
    _branch(all_(fine, axes=axes, keepdims=False), NOTHING, Block((), tuple(block), ()))


def require_at_least(n: Size, least: Size, error: type[Exception], message: str) -> None:
    """Raises an error unless a length is so large."""
    enough = current().at_least(n, least)
    if not enough.possible:
        raise error(message)
    if not enough.certain:
        require(greater_equal(atom_of_size(n), atom_of_size(least)), error, message)


def require_size(n: Size, size: Size, error: type[Exception], message: str) -> None:
    """Raises an error unless a length is this one."""
    same = current().equals(n, size)
    if not same.possible:
        raise error(message)
    if not same.certain:
        require(equal(atom_of_size(n), atom_of_size(size)), error, message)


def require_shape(
    shape: tuple[Size, ...], other: tuple[Size, ...], error: type[Exception], message: str
) -> None:
    """Raises an error unless two shapes are the same."""
    if len(shape) != len(other):
        raise error(message)
    for n, size in zip(shape, other, strict=True):
        require_size(n, size, error, message)


def require_other_size(n: Size, size: int, error: type[Exception], message: str) -> None:
    """Raises an error where a length is this one."""
    same = current().equals(n, size)
    if same.certain:
        raise error(message)
    if same.possible:
        raise_where(equal(atom_of_size(n), size), error, message)


def _raise_block(error: type[Exception], message: str) -> Block:
    params = {"type": error, "parts": (("value", message),)}
    return Block((), (Effect("raise", (), params, current().origin),), ())


def _branch(test: Atom, then: Block, orelse: Block) -> None:
    b = current()
    b.emit(If((), test, then, orelse, origin=b.origin))
