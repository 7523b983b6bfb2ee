"""Converts Python's fractions beside floats of the program to floats, as Python does there.

Fraction(1, 3) * x      is      0.3333333333333333 * x
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.ops.primitives.shapes import cast

MIRRORED = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE", "Eq": "Eq", "NotEq": "NotEq"}


def beside_fraction(kind: str, left: Any, right: Any) -> tuple[str, Any, Any]:
    """An operator and its operands, of which one is a fraction, so that both are floats."""
    if not isinstance(left, Symbol) and not isinstance(right, Symbol):
        return kind, left, right
    if isinstance(left, Fraction) and kind in MIRRORED:
        return beside_fraction(MIRRORED[kind], right, left)
    if kind in MIRRORED:
        return _exactly(kind, right), _float(left), float(right)
    return kind, _float(left), _float(right)


def _exactly(kind: str, fraction: Fraction) -> str:
    """How a float is compared with the float next to a fraction, to be compared with the fraction
    itself."""
    nearest = Fraction(float(fraction))
    if nearest == fraction:
        return kind
    if kind in ("Eq", "NotEq"):
        raise UnsupportedError(
            f"a test whether a float is {fraction}, which no float is", "compare with float(...)"
        )
    below = nearest < fraction
    return ("LtE" if below else "Lt") if kind in ("Lt", "LtE") else ("Gt" if below else "GtE")


def _float(value: Any) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    dtype = value.type.dtype
    if value.mutable or value.type.shape or dtype.kind not in "fc":
        what = "an array" if value.mutable or value.type.shape else "an integer"
        raise UnsupportedError(
            f"a Fraction beside {what} of the program, of which Python makes fractions or objects",
            "make the fraction a float: float(...)",
        )
    single = dtype.itemsize < np.dtype(float).itemsize
    return wrap(cast(value.value(), dtype=np.dtype(float), python=True)) if single else value
