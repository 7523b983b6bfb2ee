"""Brings the views that lead from an array to a part of it into one form: what is picked, then the
axes that are turned, then their order.

x[1:].T[::-1][i]      is      x[1:, -1 - i]      so a store to it is a store to elements of x
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.ops.numpy import indexing
from tapeless.transforms.ops.primitives import index_keys, shapes
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.index_keys import (
    TURNED,
    WHOLE,
    Key,
    Slot,
    bound,
    clamp,
    is_advanced,
    result_shape,
    without_unnamed,
)
from tapeless.transforms.ops.primitives.shapes import Atoms

Step = tuple[Any, Atoms, dict[str, Any]]  # an operation, its other arguments, its params
Chain = tuple[Step, ...]


def merge_steps(chain: Chain, shape: tuple[Size, ...]) -> Chain:
    """A chain of views of an array of this shape, in which steps that can be are one."""
    steps: list[Step] = []
    for step in chain:
        _push(steps, step, shape)
    return tuple(steps)


def _push(steps: list[Step], step: Step, shape: tuple[Size, ...]) -> None:
    """Adds a view to a chain, where its place is."""
    op, rest, params = step
    if op is shapes.transpose:
        if steps and steps[-1][0] is shapes.transpose:
            first = steps.pop()[2]["axes"]
            step = _transpose_step(tuple(first[k] for k in params["axes"]))
        if step[2]["axes"] != tuple(range(len(step[2]["axes"]))):
            steps.append(step)
        return
    if op is not indexing.index:
        steps.append(step)
        return
    picked, turned = _split_key(params["key"], rest)
    if picked is not None and any(e != WHOLE for e in picked):
        _pick(steps, (op, rest, {"key": picked}), shape)
    elif picked is None:
        _pick(steps, step, shape)
    if turned is not None:
        _turn(steps, turned)


def _transpose_step(axes: tuple[int, ...]) -> Step:
    return shapes.transpose, (), {"axes": axes}


def _index_step(key: Key, rest: Atoms = ()) -> Step:
    key, rest = without_unnamed(key, tuple(rest))
    return indexing.index, rest, {"key": key}


def is_turn(step: Step) -> bool:
    return step[0] is indexing.index and index_keys.is_turn(step[2]["key"])


def _split_key(key: Key, rest: Atoms) -> tuple[Key | None, Key | None]:
    """x[i, ::-1] is x[i][::-1]: what is picked (None: the key itself), and the axes that are turned
    (None if none is)."""
    if TURNED not in key or None in key or is_advanced(key, rest):
        return None, None
    outer_key = tuple(e if e == TURNED else WHOLE for e in key if isinstance(e, slice))
    return tuple(WHOLE if e == TURNED else e for e in key), outer_key


def _turn(steps: list[Step], key: Key) -> None:
    """Turns axes of what a chain leads to."""
    order = steps.pop() if steps and steps[-1][0] is shapes.transpose else None
    if order is not None:
        axes = order[2]["axes"]
        full = _full(key, len(axes))
        key = tuple(full[axes.index(k)] for k in range(len(axes)))
    if steps and is_turn(steps[-1]):
        before = steps.pop()[2]["key"]
        ndim = max(len(before), len(key))
        pairs = zip(_full(before, ndim), _full(key, ndim), strict=True)
        key = tuple(TURNED if (a == TURNED) != (b == TURNED) else WHOLE for a, b in pairs)
    if TURNED in key:
        steps.append(_index_step(key))
    if order is not None:
        steps.append(order)


def _pick(steps: list[Step], step: Step, shape: tuple[Size, ...]) -> None:
    """Picks a part of what a chain leads to."""
    _, rest, params = step
    key: Key = params["key"]
    if steps and steps[-1][0] is shapes.transpose:
        moved = _before_order(steps[-1][2]["axes"], key, rest)
        if moved is not None:
            steps.pop()
            _pick(steps, _index_step(moved[0], rest), shape)
            _push(steps, _transpose_step(moved[1]), shape)
            return
    elif steps and is_turn(steps[-1]):
        length = _lengths(steps[:-1], shape)
        turned = _before_turn(steps[-1][2]["key"], key, rest, length)
        if turned is not None:
            steps.pop()
            _pick(steps, turned[0], shape)
            _turn(steps, turned[1])
            return
    elif steps and steps[-1][0] is indexing.index:
        first, then = (steps[-1][2]["key"], steps[-1][1]), (key, rest)
        composed = indexing.compose(*first, *then)
        if composed is None and len(steps) == 1:
            composed = compose_keys(*first, *then, shape)
        if composed is not None:
            steps[-1] = _index_step(*composed)
            return
    steps.append(step)


def _full(key: Key, ndim: int) -> Key:
    return (*key, *(WHOLE,) * (ndim - len(key)))


def _lengths(steps: list[Step], shape: tuple[Size, ...]) -> tuple[Size, ...] | None:
    """The shape of a part, if it is known without a new name."""
    if not steps:
        return shape
    if len(steps) > 1 or steps[0][0] is not indexing.index:
        return None
    return result_shape(shape, steps[0][2]["key"], steps[0][1])


def _before_order(axes: tuple[int, ...], key: Key, rest: Atoms) -> Any:
    """The key of x, and the order of axes then, for the key of x.transpose(axes)."""
    if None in key or not _stays_in_place(key, rest):
        return None
    key = _full(key, len(axes))
    remaining = [axes[k] for k, e in enumerate(key) if _has_axis(e, rest)]
    order = tuple(sorted(remaining).index(k) for k in remaining)
    return tuple(key[axes.index(k)] for k in range(len(axes))), order


def _has_axis(e: Any, rest: Atoms) -> bool:
    """Whether an entry leaves an axis where it is."""
    return isinstance(e, slice) or (isinstance(e, Slot) and bool(rest[e.k].type.shape))


def _stays_in_place(key: Key, rest: Atoms) -> bool:
    """Whether the axes that a key leaves are those of the array: of arrays that pick, one may be
    there, of one axis, and no number, with which it would count as a second."""
    if not is_advanced(key, rest):
        return True
    picking = [rest[e.k] if isinstance(e, Slot) else e for e in key if not isinstance(e, slice)]
    return len(picking) == 1 and picking[0].type.ndim == 1


def _before_turn(turn: Key, key: Key, rest: Atoms, lengths: tuple[Size, ...] | None) -> Any:
    """What to pick of x, and the axes to turn then, for the key of x[turn]."""
    if None in key or not _stays_in_place(key, rest):
        return None
    ndim = max(len(turn), len(key))
    values, picked, remaining = [*rest], [], []
    for axis, (t, e) in enumerate(zip(_full(turn, ndim), _full(key, ndim), strict=True)):
        if t == TURNED:
            n = None if lengths is None else lengths[axis]
            e = _mirrored_slice(e, n, values) if isinstance(e, slice) else _mirror_entry(e, values)
            if e is None:
                return None
        picked.append(e)
        if _has_axis(e, tuple(values)):
            remaining.append(t if isinstance(e, slice) else WHOLE)
    return _index_step(tuple(picked), tuple(values)), tuple(remaining)


def _mirror_entry(e: Any, values: list[Atom]) -> Any:
    """i of x[::-1] is -1 - i of x, which is out of bounds where that is."""
    if isinstance(e, int):
        return -1 - e
    if values[e.k].type.dtype.kind != "i":
        return None
    values.append(sub(-1, values[e.k]))
    return Slot(len(values) - 1, e.once)


def _mirrored_slice(e: slice, n: Size | None, values: list[Atom]) -> slice | None:
    """The elements of x that a slice of x[::-1] has, where n, the length of x, is known."""
    if e == WHOLE:
        return e
    start, stop = (None, None) if n is None else _ends(e, n, values)
    if n is None or start is None or stop is None:
        return None
    return _slice_between(n - stop, n - start, n, values)


def _slice_between(low: Size, high: Size, n: Size, values: list[Atom]) -> slice:
    """The slice of an axis of length n from a place to another."""
    ends = (None if low == 0 else low, None if high == n else high)
    return slice(*(None if at is None else _entry(at, n, values) for at in ends))


def _entry(size: Size, n: Size, values: list[Atom]) -> Any:
    """A place in an axis of length n as an entry of a key."""
    if isinstance(size, int):
        return size
    beyond = size - n
    if isinstance(beyond, int) and beyond < 0:
        return beyond
    values.append(atom_of_size(size))
    return Slot(len(values) - 1)


def compose_keys(
    first: Key, rest: Atoms, then: Key, then_rest: Atoms, shape: tuple[Size, ...]
) -> Any:
    """The key and atoms of x[first][then] where `then` is known to name places of the part."""
    values, later, key = [*rest], list(then), []
    if None in (*first, *then) or is_advanced(first, rest) or is_advanced(then, then_rest):
        return None
    for e, n in zip(_full(first, len(shape)), shape, strict=True):
        if not isinstance(e, slice):
            key.append(e)
            continue
        f = later.pop(0) if later else WHOLE
        start, stop = _ends(e, n, values)
        if start is None or stop is None:
            return None
        if isinstance(f, slice):
            low, high = _ends(f, stop - start, then_rest)
            if low is None or high is None:
                return None
            key.append(_slice_between(start + low, start + high, n, values))
        else:
            place = _place(f, stop - start, then_rest)
            if place is None:
                return None
            if isinstance(f, Slot) and isinstance(start, int) and place == bound(f, then_rest):
                values.append(add(then_rest[f.k], start))
                key.append(Slot(len(values) - 1))
            else:
                key.append(_entry(start + place, n, values))
    return tuple(key), tuple(values)


def _ends(e: slice, n: Size, rest: Any) -> tuple[Size | None, Size | None]:
    """Where a slice of an axis of length n starts and stops; None where that is not known."""
    if e.step not in (None, 1):
        return None, None
    start, stop = bound(e.start, rest), bound(e.stop, rest)
    return 0 if start is None else clamp(start, n), n if stop is None else clamp(stop, n)


def _place(e: Any, n: Size, rest: Atoms) -> Size | None:
    """An index as a place in 0 to n - 1, where it is known to be one."""
    at: Size = bound(e, rest)
    if isinstance(at, int) and at < 0:
        return clamp(at, n)
    if clamp(at, n - 1) == at:
        return at
    mirrored = -1 - at
    return n - 1 - mirrored if clamp(mirrored, n - 1) == mirrored else None


def picked_first(chain: Chain, ndim: int) -> Chain:
    """The chain with a step in front that picks, if there is none."""
    picks = bool(chain) and chain[0][0] is indexing.index and not is_turn(chain[0])
    return chain if picks else (_index_step((WHOLE,) * ndim), *chain)


def turned_back(value: Any, shape: tuple[Size, ...], chain: Sequence[Step]) -> Any:
    """A value for a part of this shape, as it was before axes were turned and put in another order;
    None where a chain does more, or the value is broadcast."""
    if value.type.shape and value.type.shape != shape and chain:
        return None
    for op, rest, params in reversed(chain):
        if op is not shapes.transpose and not is_turn((op, rest, params)):
            return None
        if value.type.shape and op is shapes.transpose:
            value = shapes.transpose(value, axes=shapes.inverse(params["axes"]))
        elif value.type.shape:
            value = indexing.index(value, **params)
    return value
