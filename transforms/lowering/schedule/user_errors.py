"""Gives numbers to errors whose text tells of data, for kernels, which cannot make the text.

raise ValueError(f"{x[i]} < 0")      becomes      raise KernelError(0, x[i])
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Effect, Type, Var
from tapeless.transforms.lowering.scalars.operations import DTYPES


class UserErrors:
    """The errors that kernels of a program give by their numbers."""

    def __init__(self) -> None:
        self.effects: dict[Any, Effect] = {}

    def number(self, s: Effect) -> int:
        types = tuple(a.type if isinstance(a, Var) else a for a in s.args)
        key = (s.params["type"], repr(s.params["parts"]), types, s.origin)
        self.effects.setdefault(key, s)
        return list(self.effects).index(key)


def told_by_kernels(s: Effect) -> bool:
    """Whether all that an error tells of are numbers that kernels have."""
    return s.kind == "raise" and all(
        isinstance(a.type, Type) and not a.type.shape and a.type.dtype in DTYPES for a in s.args
    )


def values_of(s: Effect) -> list[Var]:
    """What a kernel gives with an error."""
    return list(dict.fromkeys(a for a in s.args if isinstance(a, Var)))
