"""Rewrites reshaped arrays as copies of their rows, where the index of an element has no simple
form.

y = reshape(x, (n * m,))      becomes      for i in range(n): y[i * m : (i + 1) * m] = x[i]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken, store_range
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.lowering.sizes.size_equalities import check_equal, fitted
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, part, update


def reshape_by_copy(out: Type, x: Atom, *, shape: tuple[Size, ...]) -> Any:
    have = [n for n in x.type.shape if n != 1]
    want = [n for n in out.shape if n != 1]
    if have == want or 0 in (*have, *want):
        raise NotTaken
    total, wanted, ndim = dims.product(have), dims.product(want), x.type.ndim
    x = reshape(x, shape=tuple(have))
    if total != wanted and len(out.shape) == 1 < ndim:  # reshape(-1), of a length not known yet
        return fitted(_merge_axes(x, 0, len(have)) if len(have) > 1 else x, shape=out.shape)
    if total != wanted:
        check_equal(total, wanted)
    if _differ_by_one_name(have, want):
        return reshape(fitted(x, shape=tuple(want)), shape=out.shape)
    axis = 0
    for count, lengths in _stretches(have, want):
        if count > 1:
            x = _merge_axes(x, axis, count)
        if len(lengths) > 1:
            x = _split(x, axis, lengths)
        axis += len(lengths)
    return reshape(x, shape=out.shape)


def _differ_by_one_name(have: list[Size], want: list[Size]) -> bool:
    """Whether the axes are the same, where the products of their lengths are: one length has
    another name, as that of a product has where an array of known length is its operand."""
    if len(have) != len(want):
        return False
    others = [m for m, n in zip(have, want, strict=True) if m == n]
    return len(others) == len(have) - 1 and all(dims.at_least(n, 1) for n in others)


def _stretches(have: list[Size], want: list[Size]) -> list[tuple[int, list[Size]]]:
    """How many axes, and the lengths of those that they become: as few at a time as hold the same
    number of elements; all if that is not seen.

    >>> _stretches([2, 3, 4, 5], [6, 2, 2, 5])
    [(2, [6]), (1, [2, 2]), (1, [5])]
    """
    stretches = []
    i = j = 0
    while i < len(have) and j < len(want):
        ends = itertools.product(range(i + 1, len(have) + 1), range(j + 1, len(want) + 1))
        for p, q in sorted(ends, key=sum):
            if dims.product(have[i:p]) == dims.product(want[j:q]):
                break
        else:
            return [(len(have), want)]
        stretches.append((p - i, want[j:q]))
        i, j = p, q
    return stretches if (i, j) == (len(have), len(want)) else [(len(have), want)]


def _merge_axes(x: Atom, axis: int, count: int) -> Any:
    """Axes as one: the last of them is copied row by row."""
    lengths = x.type.shape[axis : axis + count]
    shape = (*x.type.shape[:axis], dims.product(lengths), *x.type.shape[axis + count :])

    def store(y: Any, rows: Atom, at: Size, *lengths: Size) -> Any:
        n, *inner = lengths
        if not inner:
            return store_range(y, rows, axis, at * n, at * n + n)

        def body(i: Any, y: Any) -> tuple[Any, ...]:
            return (store(y, element(rows, i, axis), at * n + size_of(i), *inner),)

        return loop(n, (y,), body)[0]

    return store(empty(shape=shape, dtype=x.type.dtype), x, 0, *lengths)


def _split(x: Atom, axis: int, lengths: list[Size]) -> Any:
    """An axis as several: the last of them is copied row by row."""
    lead, rest = x.type.shape[:axis], x.type.shape[axis + 1 :]
    m = lengths[-1]

    def store(y: Any, at: Size, places: list[Any], *outer: Size) -> Any:
        if not outer:
            row = fitted(part(x, axis, at * m, at * m + m), shape=(*lead, m, *rest))
            slots = map(Slot, range(len(places)))
            return update(y, row, *places, key=(*(slice(None),) * axis, *slots))
        n, *inner = outer

        def body(i: Any, y: Any) -> tuple[Any, ...]:
            return (store(y, at * n + size_of(i), [*places, i], *inner),)

        return loop(n, (y,), body)[0]

    y = empty(shape=(*lead, *lengths, *rest), dtype=x.type.dtype)
    return store(y, 0, [], *lengths[:-1])


RESHAPED: dict[Op, Callable[..., Any]] = {reshape: reshape_by_copy}
