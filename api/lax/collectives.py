"""Exchanges values between the elements of a named axis of `vmap` or `pmap`: `psum`, `all_gather`,
`ppermute`, ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeless.lax.collective_arguments import (
    Groups,
    apply_over_axes,
    merge_axes,
    named_axes,
    on_leaves,
    one_axis,
    over_axes,
    size_value,
    split_axis_of,
    taking_part,
    tuples,
)
from tapeless.staging.subprogram import leaf_atom, symbol
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.joining import axis_of
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.spmd import collectives as ops
from tapeless.transforms.spmd.axes import Axis


def psum(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """The sum over all elements of an axis, which each of them gets.

    x                  a number, an array, or a tree of them; of a Python number the sum is a
                       Python number, so that `psum(1, "i")` is the length of the axis
    axis_name          the name of a mapped axis, or a tuple of names
    axis_index_groups  lists of positions, of one length, which have each position once: the sum is
                       then over each group

    Raises AxisError, a NameError, where the axis is not mapped.

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    axes, groups = named_axes(axis_name, "psum", axis_index_groups)

    def sum_leaf(leaf: Any) -> Any:
        if isinstance(leaf, (bool, int, float, complex)):
            return leaf * size_value(taking_part(axes, groups))
        return apply_over_axes(ops.psum, leaf, axes, groups)

    return on_leaves(sum_leaf, x, "psum")


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """The mean over all elements of an axis. Arguments are those of `psum`.

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    axes, groups = named_axes(axis_name, "pmean", axis_index_groups)
    n = atom_of_size(taking_part(axes, groups))

    def mean_leaf(leaf: Any) -> Any:
        return symbol(truediv(over_axes(ops.psum, leaf_atom(leaf), axes, groups), n), leaf)

    return on_leaves(mean_leaf, x, "pmean")


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """The greatest value over all elements of an axis. Arguments are those of `psum`."""
    axes, groups = named_axes(axis_name, "pmax", axis_index_groups)
    return on_leaves(lambda leaf: apply_over_axes(ops.pmax, leaf, axes, groups), x, "pmax")


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """The least value over all elements of an axis. Arguments are those of `psum`."""
    axes, groups = named_axes(axis_name, "pmin", axis_index_groups)
    return on_leaves(lambda leaf: apply_over_axes(ops.pmin, leaf, axes, groups), x, "pmin")


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Groups = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The values of all elements, which each of them gets, along a new axis.

    axis   where the new axis is
    tiled  the values are joined along an axis that they have instead
    to     of JAX, where types say over which axes values vary; says nothing here

    Other arguments are those of `psum`; of several names the first is the slowest.

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: all_gather(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([[1., 3.],
           [1., 3.]])
    """
    axes, groups = named_axes(axis_name, "all_gather", axis_index_groups)

    def gather_leaf(leaf: Any) -> Any:
        a = leaf_atom(leaf)
        dim = axis_of(axis, a.type.ndim + (not tiled))
        gathered = a
        for each in reversed(axes):
            gathered = ops.all_gather(gathered, axis=each, groups=groups, dim=dim)
        if tiled or len(axes) > 1:
            last = dim + len(axes) + tiled
            gathered = merge_axes(gathered, dim, last)
        return symbol(gathered, leaf)

    return on_leaves(gather_leaf, x, "all_gather")


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """The sum over all elements, of which each gets its part along an axis.

    scatter_dimension  the axis, as long as the mapped axis; it vanishes
    tiled              the axis is a multiple as long, and each gets a part of it

    Other arguments are those of `psum`.

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    axis, groups = one_axis(axis_name, "psum_scatter", axis_index_groups)
    n = taking_part((axis,), groups)

    def scatter_leaf(leaf: Any) -> Any:
        a = leaf_atom(leaf)
        dim = axis_of(scatter_dimension, a.type.ndim)
        a = split_axis_of(a, dim, n, tiled, "psum_scatter")
        return symbol(ops.psum_scatter(a, axis=axis, groups=groups, dim=dim), leaf)

    return on_leaves(scatter_leaf, x, "psum_scatter")


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """Each element gives a part of its value to each, and gets one from each.

    split_axis   the axis along which the parts lie, as long as the mapped axis; it vanishes
    concat_axis  where the new axis is, along which the parts that were got lie
    tiled        the parts are pieces of an axis, and are joined along one

    Other arguments are those of `psum`.
    """
    axis, groups = one_axis(axis_name, "all_to_all", axis_index_groups)
    n = taking_part((axis,), groups)

    def exchange_leaf(leaf: Any) -> Any:
        a = leaf_atom(leaf)
        split, concat = (axis_of(k, a.type.ndim) for k in (split_axis, concat_axis))
        a = split_axis_of(a, split, n, tiled, "all_to_all")
        exchanged = ops.all_to_all(a, axis=axis, groups=groups, split=split, concat=concat)
        return symbol(merge_axes(exchanged, concat, concat + 2) if tiled else exchanged, leaf)

    return on_leaves(exchange_leaf, x, "all_to_all")


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Groups = None) -> Any:
    """A mapped axis in the place of an axis of the value, which becomes the mapped one.

    axis  of the value, as long as the mapped axis

    Other arguments are those of `psum`.
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def ppermute(x: Any, axis_name: Any, perm: Iterable[tuple[int, int]]) -> Any:
    """Values are sent from element to element.

    perm  pairs (from, to) of positions, each at most once in each place; who gets nothing gets
          zeros

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(np.arange(3.0) + 1)
    array([0., 1., 2.])
    """
    axis, _ = one_axis(axis_name, "ppermute", None)
    must = "ppermute: perm must be pairs (from, to) of positions"
    pairs = tuples(perm, must)
    if any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(f"{must}, not {perm!r}")
    places = range(axis.length)
    for k, what in enumerate(("sent from", "sent to")):
        ends = [pair[k] for pair in pairs]
        if len(set(ends)) < len(ends) or not all(i in places for i in ends):
            raise ArgumentError(
                f"ppermute: the positions {what} must be different, and in range({len(places)}), "
                f"not {ends}"
            )
    return on_leaves(
        lambda leaf: symbol(
            ops.ppermute(leaf_atom(leaf), axis=axis, groups=None, perm=pairs), leaf
        ),
        x,
        "ppermute",
    )


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """The value of element perm[k] goes to element k; `perm` has each position once."""
    axis, _ = one_axis(axis_name, "pshuffle", None)
    if sorted(perm) != list(range(axis.length)):
        raise ArgumentError(f"pshuffle: {list(perm)} is no permutation of range({axis.length})")
    return ppermute(x, axis_name, [(i, j) for j, i in enumerate(perm)])


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value of one element, which all get.

    source  its position
    """
    axis, _ = one_axis(axis_name, "pbroadcast", None)

    def broadcast_leaf(leaf: Any) -> Any:
        every = ops.all_gather(leaf_atom(leaf), axis=axis, groups=None, dim=0)
        return symbol(index(every, key=(_position(source, axis),)), leaf)

    return on_leaves(broadcast_leaf, x, "pbroadcast")


def _position(source: int, axis: Axis) -> int:
    if source < 0 or (isinstance(axis.size, int) and source >= axis.size):
        raise ArgumentError(f"pbroadcast: there is no position {source} on the axis {axis!r}")
    return int(source)


def axis_index(axis_name: Any) -> Any:
    """The position of the element on the axis; of several axes the first is the slowest.

    >>> import numpy as np
    >>> from tapeless import vmap
    >>> vmap(lambda x: x * axis_index("i"), axis_name="i")(np.ones(3))
    array([0., 1., 2.])
    """
    position: Any = None
    for axis in named_axes(axis_name, "axis_index", None)[0]:
        own = symbol(ops.axis_index(axis=axis, groups=None))
        position = own if position is None else position * size_value(axis.size) + own
    return position


def axis_size(axis_name: Any) -> Any:
    """The length of the axis; the product for several names."""
    return size_value(taking_part(named_axes(axis_name, "axis_size", None)[0], None))


__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pbroadcast",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
]
