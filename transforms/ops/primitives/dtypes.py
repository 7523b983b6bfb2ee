"""Computes the dtypes of results, as NumPy promotes them, and casts tangents to these."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast

PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


@functools.lru_cache(4096)
def _resolve(ufunc: np.ufunc, kinds: tuple[Any, ...]) -> np.dtype[Any]:
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[ufunc.nin]


def _kinds(types: tuple[Type, ...]) -> tuple[Any, ...]:
    """What NumPy asks for to resolve dtypes: for scalars of Python's their Python types."""
    weak_too = not all(t.weak for t in types)
    return tuple(
        [
            PYTHON[t.dtype.kind] if t.weak and weak_too and t.dtype.kind in "ifc" else t.dtype
            for t in types
        ]
    )


def computed_dtypes(
    ufunc: np.ufunc, types: tuple[Type, ...], dtype: np.dtype[Any]
) -> tuple[np.dtype[Any], ...]:
    """The dtypes in which `ufunc(..., dtype=dtype)` takes its arguments.

    Raises NumPy's own TypeError if there is no such loop, or arguments cannot be cast to it.
    """
    signature: Any = (*[None] * ufunc.nin, *[dtype] * ufunc.nout)
    resolved = ufunc.resolve_dtypes(
        (*_kinds(types), *[None] * ufunc.nout), signature=signature, casting="same_kind"
    )
    return resolved[: ufunc.nin]


def result_dtype(ufunc: np.ufunc, types: tuple[Type, ...]) -> np.dtype[Any]:
    """What NumPy says; Python scalars are passed as Python types."""
    kinds = _kinds(types)
    try:
        return _resolve(ufunc, kinds)
    except TypeError as e:
        if len(types) != ufunc.nin:
            count = f"takes {ufunc.nin} arguments but {len(types)} were given"
            raise TypeError(f"{ufunc.__name__}() {count}") from e
        kinds_text = ", ".join(str(t.dtype) for t in types)
        raise TypeError(f"np.{ufunc.__name__} does not take {kinds_text}") from e


def conform(value: Atom, like: Type) -> Atom:
    """`value` broadcast and cast to the type of the result it is the tangent of."""
    if value.type.dtype != like.dtype:
        value = cast(value, dtype=like.dtype)
    have = value.type.shape
    shorter = len(have) < like.ndim
    if shorter or any(a == 1 and b != 1 for a, b in zip(have, like.shape, strict=True)):
        value = broadcast_to(value, shape=like.shape)
    return value
