"""Rewrites reads and additions at the indices of `np.pad` with edges as slices, which are vectors.

y = x[np.pad(np.arange(n), (1, 2), "edge")]
    becomes      y[1 : n + 1] = x; y[:1] = x[:1]; y[-2:] = x[-1:]

np.add.at(x_bar, np.pad(np.arange(n), (1, 2), "edge"), y_bar)
    becomes      x_bar += y_bar[1 : n + 1]
                 x_bar[0] += y_bar[:1].sum(); x_bar[-1] += y_bar[-2:].sum()
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    If,
    Let,
    Statement,
    Type,
    outputs,
)
from tapeless.transforms.lowering.rewrite.concatenate import require_elements, store_range
from tapeless.transforms.lowering.rewrite.formulas import Definitions, parts_of, rewritten_lets
from tapeless.transforms.ops.numpy.padding import pad_index
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import broadcast_to
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    FIRST_PLACE,
    Slot,
    add_at,
    gather,
    part,
)


def padded_edges(block: Block) -> Block:
    """The program, in which such additions are slices."""
    return rewritten_lets(block, _statement)


def _statement(s: Let, definitions: Definitions) -> Iterator[Statement]:
    axis = _padded_axis(s)
    index = _definition(s.args[-1], definitions) if axis is not None else None
    is_edge = index is not None and index.op is pad_index and index.params["mode"] == "edge"
    if axis is None or index is None or not is_edge:
        yield s
        return
    if s.args[0].type.shape[axis] == 0:
        yield s  # which raises an error
        return
    width = index.params["width"]
    if s.op is add_at:
        yield from parts_of(s, lambda x, y, _, key: _add_slices(x, y, axis, width))
    else:
        yield from parts_of(s, lambda x, _, key: _pad_by_slices(s.outs[0].type, x, axis, width))


def _padded_axis(s: Let) -> int | None:
    """The one axis along which a statement reads or adds at indices, where it has all of the
    others; None for other statements."""
    if s.op not in (add_at, gather) or len(s.args) != FIRST_PLACE[s.op] + 1:
        return None
    x, key, of_indices = s.args[0], s.params["key"], s.args[-1].type
    axes = [k for k, e in enumerate(key) if isinstance(e, Slot)]
    whole = all(e == slice(None) for k, e in enumerate(key) if k not in axes)
    other = s.outs[0] if s.op is gather else s.args[1]
    alike = x.type.ndim == other.type.ndim and x.type.dtype == other.type.dtype
    return axes[0] if alike and whole and of_indices.ndim == 1 and len(axes) == 1 else None


def _definition(a: Atom, definitions: Definitions) -> Let | None:
    """The statement that computes a value, also under the test of whether a loop runs."""
    s = definitions.get(a)
    if isinstance(s, If):
        result = s.then.results[s.outs.index(a)]
        return _definition(result, {v: t for t in s.then.body for v in outputs(t)})
    return s if isinstance(s, Let) else None


def _add_slices(x: Atom, y: Atom, axis: int, width: tuple[Size, Size]) -> Atom:
    """x with the middle of y added, and at its first and last element what is beyond."""
    (before, after), n = width, x.type.shape[axis]
    x = add(x, part(y, axis, before, before + n))
    lead = (slice(None),) * axis
    for size, start, place in ((before, 0, 0), (after, before + n, -1)):
        if size != 0:
            beyond = part(y, axis, start, start + size)
            total = total_of(beyond, axes=(axis,), keepdims=False)
            x = add_at(x, total, key=(*lead, place))
    return x


def _pad_by_slices(out: Type, x: Atom, axis: int, width: tuple[Size, Size]) -> Atom:
    """x between its first element and its last one, as often as they are wanted."""
    (before, after), n = width, x.type.shape[axis]
    require_elements(n)
    y = store_range(empty(shape=out.shape, dtype=out.dtype), x, axis, before, before + n)
    for size, start, place in ((before, 0, 0), (after, before + n, n - 1)):
        if size != 0:
            shape = tuple(size if k == axis else m for k, m in enumerate(x.type.shape))
            edge = broadcast_to(part(x, axis, place, place + 1), shape=shape)
            y = store_range(y, edge, axis, start, start + size)
    return y  # type: ignore[no-any-return]
