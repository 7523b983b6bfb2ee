"""Flattens all numbers of a tree to one vector, and back (`ravel_pytree`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.subprogram import is_value, leaf_type, shape_text
from tapeless.staging.user_calls import call_user
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All numbers of a tree as one vector, and the function that makes the tree of such a vector.

    pytree  numbers and arrays, of any shapes; the vector has the dtype that holds them all

    Returns (vector, unravel). `unravel` gives each leaf its shape and dtype back; it raises
    ValueError for a vector of another length. Leaves that are no numbers raise TypeError.

    >>> vector, unravel = ravel_pytree({"w": np.ones((2, 2)), "b": 3.0})
    >>> vector.tolist(), unravel(2 * vector)["b"].item()
    ([3.0, 1.0, 1.0, 1.0, 1.0], 6.0)
    """
    leaves, structure = tree.flatten(pytree)
    for x in leaves:
        if not is_value(x):
            raise ArgumentTypeError(
                f"ravel_pytree: {type(x).__name__} {str(x)[:40]!r} is not a number or an array"
            )
    kinds = [leaf_type(x).dtype for x in leaves]
    shapes = [np.shape(x) if not hasattr(x, "shape") else x.shape for x in leaves]
    common = np.result_type(*kinds) if kinds else np.dtype(float)
    parts = [call_user(np.ravel, x).astype(common) for x in leaves]
    flat = call_user(np.concatenate, parts) if parts else np.zeros(0)
    stops = [0]
    for part in parts:
        stops.append(stops[-1] + part.shape[0])

    def unravel(vector: Any) -> Any:
        if leaf_type(vector).ndim != 1 or _differ(vector.shape[0], stops[-1]):
            raise ArgumentError(
                f"unravel: a vector of length {stops[-1]} is needed, not one of shape "
                f"{shape_text(leaf_type(vector).shape)}"
            )
        parts = []
        for k, (shape, kind) in enumerate(zip(shapes, kinds, strict=True)):
            part = vector[stops[k] : stops[k + 1]] if shape else vector[stops[k]]
            part = call_user(np.reshape, part, shape) if len(shape) > 1 else part
            parts.append(part if leaf_type(part).dtype == kind else part.astype(kind))
        return tree.unflatten(structure, parts)

    return flat, unravel


def _differ(n: Any, m: Any) -> bool:
    return isinstance(n, int) and isinstance(m, int) and n != m
