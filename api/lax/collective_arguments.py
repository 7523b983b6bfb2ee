"""Checks the arguments of collectives: names of axes, groups of positions, and trees of values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tapeless import tree
from tapeless.staging.subprogram import describe, is_value, leaf_atom, symbol
from tapeless.transforms.core.builder import active, atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.spmd.axes import Axis, AxisError, axis_named

Groups = Sequence[Sequence[int]] | None

# -- axes


def named_axes(
    names: Any, what: str, groups: Groups
) -> tuple[tuple[Axis, ...], tuple[tuple[int, ...], ...] | None]:
    """The axes with these names, and the groups of their positions."""
    name_tuple = tuple(names) if isinstance(names, (tuple, list)) else (names,)
    if not active():
        raise AxisError(
            f"{what}: no axis {names!r} is mapped here",
            f"map a function over it: vmap(f, axis_name={names!r}), or pmap",
        )
    axes = tuple(axis_named(name, what) for name in name_tuple)
    if not axes or len(set(name_tuple)) < len(name_tuple):
        raise ArgumentError(f"{what}: {names!r} is no name of an axis, nor different names")
    if groups is None:
        return axes, None
    if len(axes) > 1:
        raise ArgumentError(f"{what}: axis_index_groups go with one axis, not with {len(axes)}")
    positions = tuples(groups, f"{what}: axis_index_groups must be lists of positions")
    n = axes[0].length
    lengths = {len(group) for group in positions}
    if len(lengths) != 1 or sorted(k for group in positions for k in group) != list(range(n)):
        raise ArgumentError(
            f"{what}: axis_index_groups must be of one length, and have each position of "
            f"range({n}) once, not {[list(group) for group in positions]}"
        )
    return axes, positions


def tuples(lists: Any, must: str) -> tuple[tuple[int, ...], ...]:
    """Lists of positions as tuples; `must` says what they must be."""
    try:
        return tuple(tuple(operator.index(k) for k in each) for each in lists)
    except TypeError as e:
        raise ArgumentTypeError(f"{must}, not {lists!r}") from e


def one_axis(name: Any, what: str, groups: Groups) -> tuple[Axis, Any]:
    axes, positions = named_axes(name, what, groups)
    if len(axes) > 1:
        raise ArgumentError(
            f"{what} over several axes at once", "use it over one of them after the other"
        )
    return axes[0], positions


def taking_part(axes: tuple[Axis, ...], groups: Any) -> Size:
    n: Size = 1
    for axis in axes:
        n = n * (axis.size if groups is None else len(groups[0]))
    return n


def size_value(n: Size) -> Any:
    """A size, as user code sees it."""
    return symbol(atom_of_size(n))


# -- leaves


def on_leaves(of_leaf: Callable[[Any], Any], x: Any, what: str) -> Any:
    def check_leaf(leaf: Any) -> Any:
        if not is_value(leaf):
            raise ArgumentTypeError(f"{what}: {describe(leaf)} is not a number or an array")
        return of_leaf(leaf)

    return tree.map(check_leaf, x)


def over_axes(op: Any, a: Atom, axes: tuple[Axis, ...], groups: Any) -> Any:
    for axis in reversed(axes):
        a = op(a, axis=axis, groups=groups)
    return a


def apply_over_axes(op: Any, leaf: Any, axes: tuple[Axis, ...], groups: Any) -> Any:
    return symbol(over_axes(op, leaf_atom(leaf), axes, groups), leaf)


def merge_axes(a: Atom, first: int, last: int) -> Any:
    """The axes first:last as one."""
    shape = a.type.shape
    n: Size = 1
    for size in shape[first:last]:
        n = n * size
    return reshape(a, shape=(*shape[:first], n, *shape[last:]))


def split_axis_of(a: Atom, dim: int, n: Size, tiled: bool, what: str) -> Any:
    """The value with an axis of length n at `dim`, made of a longer one if `tiled`."""
    shape = a.type.shape
    here = shape[dim]
    are_known = isinstance(here, int) and isinstance(n, int)
    if tiled and not (are_known and here % n):
        return reshape(a, shape=(*shape[:dim], n, here // n, *shape[dim + 1 :]))
    if not tiled and (here == n or current().same_size(here, n)):
        return a
    raise ArgumentError(
        f"{what}: axis {dim} of {describe(symbol(a))} is split for {n} elements",
        "pass tiled=True where each gets several parts" if not tiled else "",
    )
