"""Rewrites masks as the indices at which they are true.

y = x[mask]      becomes      for i: if mask[i]: places[count] = i; count += 1
                              y = x[places[:count]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, If, Let, Statement, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import loop
from tapeless.transforms.lowering.sizes.size_equalities import (
    canonical,
    check_equal,
    check_mask,
    equal_sizes,
)
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import not_equal
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Key,
    Slot,
    add_at,
    gather,
    index,
    update,
)

Outs = tuple[Var, ...]


class Masks:
    """The places of each mask, found once; `relations` are sizes that are the same."""

    def __init__(self) -> None:
        self.places: dict[Var, tuple[Var, ...]] = {}
        self.totals: list[tuple[Size, Var]] = []  # how many places there are, as an integer
        self.relations: list[tuple[str, Size, Size]] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is found inside is not there outside."""
        before = self.places, self.totals
        self.places, self.totals = dict(self.places), list(self.totals)
        yield
        self.places, self.totals = before

    def places_of(self, mask: Atom, count: Size | None = None) -> tuple[Var, ...]:
        """For each axis of the mask, where it is true; `count` is the number of places, then."""
        if not isinstance(mask, Var) or mask.type.ndim not in (1, 2):
            raise NotTaken
        places = self.places.get(mask)
        if places is None:
            most = dims.product(mask.type.shape)
            new = dims.symbol("count", 0, upper=most) if count is None else count
            places, total = _places(mask, new)
            self.places[mask] = places
            self.totals.append((new, total))
        elif count is not None:
            self.relations.append(("==", count, places[0].type.shape[0]))
        return places

    def total(self, size: Size) -> Var:
        """The integer that a length is: the number of places of a mask."""
        totals = (total for count, total in self.totals if self.count_same_places(count, size))
        total = None if isinstance(size, int) else next(totals, None)
        if total is None:
            raise NotTaken
        return total

    def count_same_places(self, a: Size, b: Size) -> bool:
        """Whether both are known to count the same places."""
        sizes = equal_sizes(self.relations)
        return canonical(a, sizes) == canonical(b, sizes)


def is_mask(a: Any) -> bool:
    return isinstance(a, Var) and a.type.dtype.kind == "b" and bool(a.type.shape)


def _places(mask: Var, count: Size) -> tuple[tuple[Var, ...], Var]:
    """Where a mask is true, and how often."""
    room = dims.product(mask.type.shape)
    rows = mask.type.ndim

    def record_place(at: tuple[Any, ...], *carried: Any) -> tuple[Any, ...]:
        *places, taken = carried
        key = tuple(map(Slot, range(rows)))
        with current().block() as body:
            key_of_place = (Slot(0, within=True),)
            now = [update(p, i, taken, key=key_of_place) for p, i in zip(places, at, strict=True)]
            results = (*now, add(taken, 1))
        test = index(mask, *at, key=key)
        then, orelse = Block((), tuple(body), results), Block((), (), (*places, taken))
        outs = tuple(Var(a.type) for a in carried)
        current().emit(If(outs, test, then, orelse, origin=current().origin))
        return outs

    def loop_over_axis(axis: int, at: tuple[Any, ...], *carried: Any) -> tuple[Any, ...]:
        if axis == rows:
            return record_place(at, *carried)
        return loop(
            mask.type.shape[axis],
            carried,
            lambda i, *inner: loop_over_axis(axis + 1, (*at, i), *inner),
        )

    arrays = tuple(empty(shape=(room,), dtype=INDEX) for _ in range(rows))
    *filled, total = loop_over_axis(0, (), *arrays, atom(0))
    outs = tuple(Var(Type(INDEX, (count,)), "places") for _ in filled)
    for v, places in zip(outs, filled, strict=True):
        first_places = (slice(None, Slot(0, within=True)),)
        current().let((v,), index, (places, total), {"key": first_places})
    return outs, total


def seeks_places(s: Statement) -> bool:
    """Whether a statement is a loop that notes where a mask is true, which NumPy does faster than
    Python."""
    if not isinstance(s, For) or len(s.body.body) != 2:
        return False
    test, choice = s.body.body
    if not isinstance(choice, If) or not isinstance(test, Let) or test.op is not index:
        return False
    stores = [t for t in choice.then.body if isinstance(t, Let) and t.op is update]
    return any(t.args[1] is s.body.params[0] for t in stores)


def positions(small: Any, outs: Outs, mask: Atom) -> Any:
    test = mask if mask.type.dtype.kind == "b" else not_equal(mask, 0)
    return small.masks.places_of(test, outs[0].type.shape[0])


def length_of_mask(small: Any, outs: Outs, x: Atom, *, axis: int) -> Any:
    """The length of what a mask has picked."""
    return small.masks.total(x.type.shape[axis])


def _by_places(key: Key, places: tuple[Var, ...]) -> Key:
    """The key with places in place of the one mask."""
    entries: list[Any] = []
    for e in key:
        entries += [Slot(k, True, True) for k in range(len(places))] if isinstance(e, Slot) else [e]
    return tuple(entries)


def _only_mask(rest: tuple[Atom, ...], key: Key) -> Atom:
    """The mask that is all that is not a whole axis in a key."""
    plain = all(e == slice(None) or isinstance(e, Slot) for e in key)
    if len(rest) != 1 or not is_mask(rest[0]) or not plain:
        raise NotTaken
    return rest[0]


def _apply_slices(x: Atom, key: Key, ndim: int) -> tuple[Any, Key]:
    """The array with the slices of a key, and the key without them; the mask has `ndim` axes."""
    if not all(isinstance(e, (slice, Slot)) for e in key) or all(
        e == slice(None) or isinstance(e, Slot) for e in key
    ):
        return x, key
    parts: list[slice] = []
    for e in key:
        parts += [slice(None)] * ndim if isinstance(e, Slot) else [e]
    if any(isinstance(end, Slot) for e in parts for end in (e.start, e.stop)):
        raise NotTaken
    whole = tuple(e if isinstance(e, Slot) else slice(None) for e in key)
    return index(x, key=tuple(parts)), whole


def pick_by_mask(small: Any, outs: Outs, x: Atom, *rest: Atom, key: Key) -> Any:
    if len(rest) == 1 and is_mask(rest[0]):  # slices of other axes come first
        x, key = _apply_slices(x, key, rest[0].type.ndim)
    mask = _only_mask(rest, key)
    check_mask(x, key.index(Slot(0)), mask)
    places = small.masks.places_of(mask, outs[0].type.shape[key.index(Slot(0))])
    current().let(outs, gather, (x, *places), {"key": _by_places(key, places)})
    return outs


def store_by_mask(op: Any) -> Callable[..., Any]:
    def store(small: Any, outs: Outs, x: Atom, value: Atom, *rest: Atom, key: Key) -> Any:
        mask = _only_mask(rest, key)
        if key[0] != Slot(0):
            raise NotTaken
        check_mask(x, 0, mask)
        if not value.type.shape:
            return _select_everywhere(op, x, value, mask)
        if len(value.type.shape) != x.type.ndim - mask.type.ndim + 1:
            raise NotTaken
        places = small.masks.places_of(mask)
        _same_length(small, value.type.shape[0], places[0].type.shape[0])
        return op(x, value, *places, key=_by_places(key, places))

    return store


def _select_everywhere(op: Any, x: Atom, value: Atom, mask: Atom) -> Any:
    """One value for all places: x[:] = where(mask, value, x)."""
    if 0 in mask.type.shape:
        return x
    if mask.type.ndim < x.type.ndim:
        mask = reshape(mask, shape=(*mask.type.shape, *(1,) * (x.type.ndim - mask.type.ndim)))
    new = add(x, value) if op is add_at else value
    whole = (slice(None),) * x.type.ndim
    return update(x, select(mask, new, x), key=whole)


def _same_length(small: Any, count: Size, length: Size) -> None:
    """What is stored is as long as there are places; NumPy finds out when the program runs."""
    if count == 1 or small.masks.count_same_places(count, length):
        return
    check_equal(count, length)


MASKED: dict[Op, Callable[..., Any]] = {
    gather: pick_by_mask,
    update: store_by_mask(update),
    add_at: store_by_mask(add_at),
}
