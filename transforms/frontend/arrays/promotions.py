"""Refuses promotions of ranks and dtypes in the user's own code, where a setting asks for it.

Which operations are looked at, and what is said, follows JAX's `numpy_rank_promotion` and
`numpy_dtype_promotion`. Code of tapeless itself, such as the prelude, may promote.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import active, atom
from tapeless.transforms.core.language import Type
from tapeless.transforms.errors import ShapeError, TypePromotionError
from tapeless.transforms.frontend.source.rewrite import known_codes
from tapeless.transforms.frontend.trace.cells import Value


class PromotionSettings:
    """What is refused: ranks ("allow", "warn" or "raise") and dtypes ("standard" or "strict")."""

    def __init__(self) -> None:
        self.rank, self.dtype = "allow", "standard"

    @property
    def current_key(self) -> tuple[str, str]:
        """Both, as a key."""
        return self.rank, self.dtype


settings = PromotionSettings()
PERMISSIVE = settings.current_key


class RankPromotionError(ShapeError):
    """Arrays of different ranks are combined, and `numpy_rank_promotion` is "raise"."""


class RankPromotionWarning(UserWarning):
    """Arrays of different ranks are combined, and `numpy_rank_promotion` is "warn"."""


def check(name: str, args: Iterable[Any], shapes: bool = True) -> None:
    """Refuses or reports what the settings do not allow an operation to combine.

    shapes  whether the operation broadcasts ranks
    """
    if settings.current_key == PERMISSIVE:
        return
    place = _user_place()
    if place is None:
        return
    kinds = [kind for a in args if (kind := _kind(a)) is not None]
    if shapes and settings.rank != "allow":
        _check_ranks(name, kinds, place)
    if settings.dtype == "strict":
        _check_dtypes(name, kinds, place)


def _kind(a: Any) -> Type | None:
    if isinstance(a, Value):
        return a.type
    if isinstance(a, (np.ndarray, np.generic)):
        return Type(a.dtype, a.shape)
    return atom(a).type if isinstance(a, (bool, int, float, complex)) else None


def _check_ranks(name: str, kinds: list[Type], place: tuple[str, int]) -> None:
    shapes = [kind.shape for kind in kinds if kind.shape]
    if len({len(shape) for shape in shapes}) < 2:
        return
    told = " and ".join(f"({', '.join(map(str, s))}{',' * (len(s) == 1)})" for s in shapes)
    problem = f"{name} joins arrays of different ranks, of the shapes {told}"
    if settings.rank == "raise":
        raise RankPromotionError(
            f"{problem}, and numpy_rank_promotion is 'raise'",
            "write the axes out, as in x[None, :], or set numpy_rank_promotion to 'allow'",
            (*place, 0, 0),
        )
    warnings.warn_explicit(
        f"{problem}; set numpy_rank_promotion to 'allow' to hear no more of it",
        RankPromotionWarning,
        *place,
    )


def _check_dtypes(name: str, kinds: list[Type], place: tuple[str, int]) -> None:
    strong = {kind.dtype for kind in kinds if not kind.weak}
    weak = {kind.dtype.kind for kind in kinds if kind.weak}
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    highest = max((ranks.get(dtype.kind, 4) for dtype in strong), default=4)
    if len(strong) < 2 and all(ranks.get(kind, 0) <= highest for kind in weak):
        return
    told = ", ".join(kind.dtype.name + " of Python" * kind.weak for kind in kinds)
    raise TypePromotionError(
        f"{name} joins different dtypes ({told}), and numpy_dtype_promotion is 'strict'",
        "convert them, as in x.astype(np.float64), or set numpy_dtype_promotion to 'standard'",
        (*place, 0, 0),
    )


#: What stands between an eager call of an array operation and its user.
EAGER = frozenset(
    f"tapeless.{name}"
    for name in ("configuration.promotion_settings", "numpy.array_functions", "staging.jax_arrays")
)


def _user_place() -> tuple[str, int] | None:
    """File and line of the user's code that is staged, or that calls; None in code of tapeless."""
    staging = active()
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame.f_code in known_codes if staging else module not in EAGER:
            ours = f"{module}.".startswith("tapeless.")
            return None if ours else (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
