"""Maps a function that is traced on values: its elements take ways of their own, one after another.

vmap(f)(x)      becomes      np.stack([f(x[0]), f(x[1]), f(x[2])])

Of many elements there is no program (`element_calls.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.staging.subprogram import as_program_value, is_value, leaf_atom, leaf_type, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.mapping.vmap_axes import axis_per_leaf, output_axis
from tapeless.transforms.core.builder import NeedStatic, atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.errors import (
    AliasError,
    InternalError,
    ManyElementsError,
    StructureError,
    UndefinedError,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.numpy.derived_arrays import elements_of

WRITTEN_OUT = 32  # elements: of more, the function is called for each
REFUSALS = (NeedStatic, AliasError, StructureError, UndefinedError, UnsupportedError, InternalError)


class Refusable:
    """A context in which all elements are staged at once: what is refused is forgotten, where a
    program is traced, and `error` says why."""

    def __init__(self) -> None:
        self.run = trace()
        self.block = self.run.blocks[-1]
        self.start, self.stale = len(self.block), dict(self.run.memory.stale)
        self.drawn = len(self.run.call.draws)
        self.error: BaseException | None = None

    def __enter__(self) -> Refusable:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, where: Any) -> bool:
        if not (self.run.observing and isinstance(error, REFUSALS)):
            return False
        del self.block[self.start :]
        del self.run.call.draws[self.drawn :]
        self.run.memory.stale, self.error = self.stale, error
        return True


def one_by_one(
    fun: Any,
    leaves: list[Any],
    structure: Any,
    axes: list[Any],
    size: Size,
    out_axes: Any,
    most: int | None = None,
) -> Any:
    """The results for the elements of a batch, each staged for itself, put together again; raises
    ManyElementsError for more than `most`."""
    run = trace()
    why = "the elements of a batch take ways of their own"
    length = atom_of_size(size)
    count = size if isinstance(size, int) else run.require(length, why)
    if most is not None and count > most:
        raise ManyElementsError(
            f"{why}, and there are {count} of them",
            "call the function for each of them",
        )
    run.note(f"{why}: vmap maps one after another")
    if count == 0:
        raise UnsupportedError(
            "vmap over no elements of a function that is traced on its values",
            "test the length first",
        )
    values = [_element(fun, leaves, structure, axes, k) for k in range(int(count))]
    return as_program_value(join_elements(values, out_axes, _stack))


def _element(fun: Any, leaves: list[Any], structure: Any, axes: list[Any], k: int) -> Any:
    """The value for one element, which gets arrays of its own."""
    own = []
    for x, axis in zip(leaves, axes, strict=True):
        if axis is None:
            shared = isinstance(x, Symbol) and x.mutable
            own.append(symbol(leaf_atom(x), x) if shared else x)
        else:
            whole = x if isinstance(x, Symbol) else symbol(leaf_atom(x), x)
            part = whole[(slice(None),) * axis + (k,)]
            own.append(symbol(leaf_atom(part), part) if isinstance(part, Symbol) else part)
    args, kwargs = as_program_value(tree.unflatten(structure, own))
    return call_user(fun, *args, **kwargs)


def _stack(values: list[Any], axis: Any) -> Any:
    ndim = leaf_type(values[0]).ndim
    return apply(FUNCTIONS[np.stack], values, axis=output_axis(axis, ndim))


def join_elements(values: list[Any], out_axes: Any, stack: Callable[[list[Any], Any], Any]) -> Any:
    """The results for all elements as one: leaves of the same place are stacked along the axis
    that `out_axes` says."""
    parts = [tree.flatten(value) for value in values]
    first, built = parts[0]
    if any(other != built for _, other in parts):
        raise StructureError(
            "the elements of a batch give values that are built differently",
            "let each call return the same containers",
        )
    axes = axis_per_leaf(out_axes, values[0], "out_axes")
    columns = ([leaves[k] for leaves, _ in parts] for k in range(len(first)))
    leaves = [_leaf(column, axis, stack) for column, axis in zip(columns, axes, strict=True)]
    return tree.unflatten(built, leaves)


def _leaf(values: list[Any], axis: Any, stack: Callable[[list[Any], Any], Any]) -> Any:
    values = list(map(elements_of, values))
    if not is_value(values[0]):
        _refuse_other(values)
        return values[0]
    return values[0] if axis is None else stack(values, axis)


def _refuse_other(values: list[Any]) -> None:
    """Refuses results that are no numbers, and differ between the elements."""
    if any(type(v) is not type(values[0]) or v != values[0] for v in values):
        raise StructureError(
            "the elements of a batch give values that are no numbers, and differ",
            "return numbers or arrays",
        )
