"""Decides comparisons of axis lengths in three-valued logic: what is unknown has no truth value.

>>> from tapeless.transforms.core.dims import symbol
>>> n = symbol("n", lower=2)
>>> compare("ge", n, 2), compare("ge", n, 3)
(<Ternary.TRUE: 1>, <Ternary.UNKNOWN: 2>)
>>> "long" if compare("ge", n, 3).certain else "long or short"
'long or short'
"""

from __future__ import annotations

import enum

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.errors import UnsupportedError


class Ternary(enum.Enum):
    """Whether a relation holds, as far as is known before the program runs.

    A rule that tests UNKNOWN as if it were known raises; `certain` and `possible` ask for what
    holds whatever the run says.
    """

    FALSE, TRUE, UNKNOWN = range(3)

    @property
    def certain(self) -> bool:
        return self is Ternary.TRUE

    @property
    def possible(self) -> bool:
        return self is not Ternary.FALSE

    def __bool__(self) -> bool:
        if self is Ternary.UNKNOWN:
            raise UnsupportedError(
                "which of two lengths is the larger one decides what is computed, and is known "
                "only when the program runs",
                "test the lengths with if and else, and write both sides",
            )
        return self.certain


def compare(kind: str, a: Size, b: Size) -> Ternary:
    """A comparison of sizes, by the name of its operator."""
    answer = dims.compare(kind, a, b)
    return Ternary.UNKNOWN if answer is None else Ternary(int(answer))
