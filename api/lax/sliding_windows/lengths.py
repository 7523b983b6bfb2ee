"""Computes the lengths of padded axes and of windows on them, as expressions of sizes.

A staged run that computes with lengths as a user's program would, tests and all, has numbers of
which nothing is known; expressions of sizes say which lengths are equal, and what is within bounds.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tapeless.lax.loop_body_types import same_size
from tapeless.staging.subprogram import leaf_type, symbol
from tapeless.transforms.core.builder import atom_of_size, size_of
from tapeless.transforms.core.dims import Size, at_least, maximum
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms


def length_of(n: Any) -> Size:
    """A length as an expression of sizes; a staged run is made for the value of one that is none,
    or that may be negative."""
    if isinstance(n, Symbol) and n.type.weak and n.dtype.kind == "i":
        size = size_of(atoms(n))
        if isinstance(size, int) or at_least(size, 0):
            return size
    return operator.index(n)


def number_of(size: Size) -> Any:
    """A size as the user's code sees it: Python's integer if it is the same in all calls."""
    return size if isinstance(size, int) else symbol(atom_of_size(size))


def simplest(n: Any) -> Any:
    """A length: Python's integer if it is the same in all calls."""
    return number_of(length_of(n))


def is_positive(n: Any) -> bool:
    """Whether a length is more than zero; one that may be zero counts as such."""
    return isinstance(n, Symbol) or n > 0


def is_negative(n: Any) -> bool:
    return not isinstance(n, Symbol) and n < 0


def known_lengths(x: Any, axes: Sequence[int]) -> tuple[int, ...]:
    """Lengths of axes as Python's integers: a staged run is for arrays of these lengths."""
    return tuple(operator.index(x.shape[k]) for k in axes)


def lengths(x: Any, axes: Sequence[int]) -> tuple[Any, ...]:
    """Lengths of axes, for arrays of any."""
    return tuple(x.shape[k] for k in axes)


def same_lengths(arrays: Sequence[Any], axes: Sequence[int]) -> bool:
    """Whether arrays are as long as the first one along some axes; a staged run relies on it."""
    first, *others = [leaf_type(x).shape for x in arrays]
    return all(same_size(shape[k], first[k]) for shape in others for k in axes)


def dilated_length(n: Any, dilation: int) -> Any:
    """The length of an axis with dilation - 1 places put in between."""
    size = length_of(n)
    return number_of(maximum((size - 1) * dilation + 1, 0) if dilation > 1 else size)


def same_padding(n: Any, window: Any, stride: int) -> tuple[Any, Any]:
    """How many places to put around an axis so that a window that moves by the stride stands
    `n / stride` times, rounded up: those of the smaller half, and of the other.

    With a stride they depend on the remainder of n: a staged run is for this n then.
    """
    size: Size = length_of(n) if stride == 1 else operator.index(n)
    steps = size if stride == 1 else (size + stride - 1) // stride
    total = maximum((steps - 1) * stride + length_of(window) - size, 0)
    return number_of(total // 2), number_of((total + 1) // 2)


def places(n: Any, low: Any, high: Any, window: Any, stride: int) -> Any:
    """How often a window stands on an axis of length n with places before and after it."""
    room = length_of(n) + length_of(low) + length_of(high) - length_of(window)
    return number_of(maximum((room if stride == 1 else room // stride) + 1, 0))


def end(start: Any, n: Any, step: int) -> Any:
    """Where n elements end that lie in steps from `start` on."""
    size = length_of(n)
    if isinstance(start, Symbol):
        return start + number_of(maximum((size - 1) * step + 1, 0))
    return number_of(maximum((size - 1) * step + 1, 0) + start)
