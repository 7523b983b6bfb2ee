"""Reads batch axes as users give them: an axis, None, or trees of these for parts of a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from tapeless import tree
from tapeless.staging.argument_checks import plural
from tapeless.staging.subprogram import describe, is_value, leaf_type, shape_text
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import active, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def axes_key(axes: Any, what: str, title: str) -> tuple[Any, ...]:
    """Axes as a key; refuses what are no axes, in the name of the transformation `title`."""
    leaves, structure = optree.tree_flatten(axes, none_is_leaf=True, namespace=tree.NAMESPACE)
    if isinstance(axes, dict) and what == "in_axes":
        raise ArgumentTypeError(
            f"{title}: in_axes must be an int, None, or a tuple with an entry for each positional "
            "argument, not a dict",
            "an argument passed by name is mapped over axis 0",
        )
    if any(not isinstance(k, (int, np.integer, type(None))) or k is True for k in leaves):
        raise ArgumentTypeError(
            f"{title}: {what} must be an int, None, or a tree of these, not {axes!r}",
            "an int is the axis of the batch, None stands for what all elements share",
        )
    return (structure, *leaves)


def check_axis_name(name: Any, title: str) -> None:
    """Refuses names of axes that are no keys."""
    try:
        hash(name)
    except TypeError:
        raise ArgumentTypeError(
            f"{title}: axis_name is {name!r}, which has no hash",
            'name the axis by text: axis_name="batch"',
        ) from None


def axis_per_leaf(axes: Any, value: Any, what: str) -> list[Any]:
    """An axis for each leaf of the value."""
    leaves, structure = optree.tree_flatten(axes, none_is_leaf=True, namespace=tree.NAMESPACE)
    try:
        parts = structure.flatten_up_to(tree.plain(value))
    except (ValueError, TypeError) as e:
        raise ArgumentError(
            f"vmap: {what} is {axes!r}, which does not fit {tree.structure_text(value)}",
            "it must be an axis, or be built like the value down to some level",
        ) from e
    if len(leaves) == 1:
        return leaves * len(tree.leaves(value))
    each = [tree.map(lambda _, k=k: k, part) for k, part in zip(leaves, parts, strict=True)]
    spread_out: list[Any] = tree.structure(value).flatten_up_to(structure.unflatten(each))
    return spread_out  # by keys: dicts and OrderedDicts have their leaves in other orders


def input_axes(in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> list[Any]:
    """A batch axis, counted from the front, or None for each leaf of (args, kwargs)."""
    if isinstance(in_axes, (list, tuple)) and len(in_axes) != len(args):
        raise ArgumentError(
            f"vmap: in_axes is for {plural(len(in_axes), 'positional argument')}, and "
            f"{name} is called with {len(args)}",
            "give an axis or None for each; an argument passed by name is mapped over axis 0",
        )
    if isinstance(in_axes, (list, tuple)):
        pairs = zip(in_axes, args, strict=True)
        leaf_axes = [k for axes, x in pairs for k in axis_per_leaf(axes, x, "an entry of in_axes")]
    else:
        leaf_axes = [in_axes] * len(tree.leaves(args))
    leaf_axes += [0 for _ in tree.leaves(kwargs)]
    leaves = tree.leaves((args, kwargs))
    whole = {id(x) for x in (*args, *kwargs.values())}
    return [
        None if k is None else _input_axis(k, x, id(x) not in whole)
        for k, x in zip(leaf_axes, leaves, strict=True)
    ]


def _input_axis(k: int, x: Any, in_container: bool) -> int:
    if not is_value(x):
        raise ArgumentTypeError(
            f"vmap: {describe(x)} has no axis {k}", "give None for it in in_axes"
        )
    ndim = leaf_type(x).ndim
    if not -ndim <= k < ndim:
        raise ArgumentError(
            f"vmap: axis {k} in in_axes is out of bounds for {describe(x)}",
            "lists, tuples and dicts hold arrays, each mapped along its own axis: make one array "
            "of numbers with np.array(...)"
            if in_container and not ndim
            else "give None for what is the same for all elements",
        )
    return int(k) % ndim


def batch_length(leaves: list[Any], axes: list[Any], axis_size: Any) -> Size:
    """The length that all mapped axes have."""
    lengths: list[tuple[Size, Any, int]] = [
        (leaf_type(x).shape[k], x, k) for x, k in zip(leaves, axes, strict=True) if k is not None
    ]
    if axis_size is not None:
        lengths.insert(0, (checked_axis_size(axis_size, "vmap"), None, 0))
    if not lengths:
        raise ArgumentError(
            "vmap: no argument is mapped", "give one of them an axis in in_axes, or give axis_size"
        )
    size = lengths[0][0]
    for n, x, k in lengths[1:]:
        if n != size and not (active() and current().same_size(size, n)):
            first, other = _size_source(*lengths[0]), _size_source(n, x, k)
            raise ArgumentError(
                f"vmap: the mapped axes differ in length: {first}, and {other}",
                "in_axes says which axis of each argument is mapped",
            )
    return next((n for n, _, _ in lengths if isinstance(n, int)), size)


def checked_axis_size(n: Any, title: str) -> Size:
    """`axis_size`, if it is a length."""
    if isinstance(n, dims.Dim):
        return n
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise ArgumentTypeError(
            f"{title}: axis_size must be an integer, not {n!r}", "give the length of the batch"
        )
    if n < 0:
        raise ArgumentError(
            f"{title}: axis_size must be a length, not {n}", "give the length of the batch"
        )
    return int(n)


def _size_source(n: Size, x: Any, k: int) -> str:
    if x is None:
        return f"axis_size is {n}"
    return f"axis {k} of {describe(x)} has length {shape_text((n,)).strip('(,)')}"


def output_axis(k: Any, ndim: int) -> int:
    """A place for the batch axis among the axes of a result whose elements have `ndim` axes."""
    if not -ndim - 1 <= k <= ndim:
        raise ArgumentError(
            f"vmap: axis {k} in out_axes is out of bounds for a result with {ndim + 1} axes"
        )
    return int(k) % (ndim + 1)
