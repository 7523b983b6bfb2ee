"""All families together: which NumPy function, method or ufunc is which operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.op import Op
from tapeless.transforms.ops import creation, elementwise, indexing, linalg, reductions, shapes, stacks
from tapeless.transforms.ops.elementwise import UFUNCS

FAMILIES = (creation, elementwise, indexing, linalg, reductions, shapes, stacks)


def _ufunc(op: Op) -> Callable[..., Any]:
    def call(*args: Any, dtype: Any = None) -> Any:
        atoms = [creation.as_array(a) for a in args]
        if dtype is not None:
            atoms = [creation.cast_to(a, np.dtype(dtype)) for a in atoms]
        return op(*atoms)

    return call


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        return np.nonzero(condition)
    return elementwise.select(*(creation.as_array(a) for a in (condition, x, y)))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:  # noqa: A002 (NumPy's)
    low, high = (a_min if a_min is not None else min), (a_max if a_max is not None else max)
    out = creation.as_array(a)
    if low is not None:
        out = elementwise.maximum(out, creation.as_array(low))
    return out if high is None else elementwise.minimum(out, creation.as_array(high))


FUNCTIONS: dict[Any, Callable[..., Any]] = {ufunc: _ufunc(op) for ufunc, op in UFUNCS.items()}
METHODS: dict[str, Callable[..., Any]] = {"clip": _clip}
for _family in FAMILIES:
    FUNCTIONS |= getattr(_family, "NUMPY", {})
    METHODS |= getattr(_family, "METHODS", {})
FUNCTIONS |= {np.where: _where, np.clip: _clip}
FUNCTIONS |= {
    getattr(math, name): FUNCTIONS[ufunc]
    for name, ufunc in {
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log1p": np.log1p, "log2": np.log2, "log10": np.log10,
        "sqrt": np.sqrt, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos,
        "atan": np.arctan, "atan2": np.arctan2, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
        "expm1": np.expm1, "fabs": np.fabs, "pow": np.power, "hypot": np.hypot, "copysign": np.copysign,
        "fmod": np.fmod, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "radians": np.radians,
        "degrees": np.degrees, "cbrt": np.cbrt, "exp2": np.exp2,
    }.items()
}
FUNCTIONS[math.log] = lambda x, base=None: (
    FUNCTIONS[np.log](x) if base is None else elementwise.truediv(FUNCTIONS[np.log](x), FUNCTIONS[np.log](base)))


def operations() -> dict[str, Op]:
    """Every operation by name."""
    found = {}
    for family in FAMILIES:
        for value in vars(family).values():
            if isinstance(value, Op):
                found[value.name] = value
    return found
