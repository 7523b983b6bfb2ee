"""Rewrites operations on whole arrays, for targets that have no library at all.

y = diag(x)      becomes      y = zeros((n, n)); for i: y[i, i] = x[i]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken, roll_by_stores
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.diagonals import diag
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.primitives.arithmetic import mod, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.new_arrays import count_up, empty, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Key,
    Slot,
    gather,
    index,
    last_store,
    update,
)


def _diag(out: Type, x: Atom, k: int) -> Any:
    def body(i: Any, y: Any) -> tuple[Any, ...]:
        places = i + max(-k, 0), i + max(k, 0)
        return (update(y, element(x, i, 0), *places, key=(Slot(0, True), Slot(1, True))),)

    return loop(x.type.shape[0], (zeros(shape=out.shape, dtype=out.dtype),), body)[0]


def _roll(out: Type, x: Atom, shift: Atom, axis: int) -> Any:
    """By indices, where it is not known that there are as many elements as places."""
    try:
        return roll_by_stores(out, x, shift, axis=axis)
    except NotTaken:
        n = out.shape[axis]
        places = mod(sub(count_up(n), shift), atom_of_size(n))
        return gather(x, places, key=(*(slice(None),) * axis, Slot(0, True)))


def _last_store(out: Type, *rest: Atom, key: Key, shape: tuple[Size, ...]) -> Any:
    """The stores whose number is at their place when all have stored theirs."""
    order = reshape(count_up(dims.product(out.shape)), shape=out.shape)
    numbers = update(empty(shape=shape, dtype=order.type.dtype), order, *rest, key=key)
    return equal(gather(numbers, *rest, key=key), order)


def _backwards(out: Type, x: Atom, *rest: Atom, key: Key) -> Any:
    """A slice that counts down from a constant: of the part that ends there, from its end."""
    ends, steps = [], []
    for e in key:
        down = isinstance(e, slice) and isinstance(e.step, int) and e.step < 0
        if not down or not isinstance(e.start, int):
            ends.append(slice(None) if e is not None else None)
            steps.append(e)
            continue
        if isinstance(e.stop, int) and e.stop < 0 and e.start != -1:
            raise NotTaken
        ends.append(slice(None) if e.start == -1 else slice(None, e.start + 1, None))
        steps.append(slice(None, e.stop, e.step))
    if None in key or all(e == slice(None) for e in ends):
        raise NotTaken
    return index(index(x, key=tuple(ends)), *rest, key=tuple(steps))


def _product(out: Type, a: Atom, b: Atom) -> Any:
    """Of numbers of one dtype."""
    if a.type.dtype == b.type.dtype == out.dtype:
        raise NotTaken
    return matmul(cast_to(a, out.dtype), cast_to(b, out.dtype))


#: By the type of the result, the arguments and the parameters.
WHOLE_ARRAYS: dict[Op, Callable[..., Any]] = {
    diag: _diag,
    roll: _roll,
    last_store: _last_store,
    index: _backwards,
    matmul: _product,
}
