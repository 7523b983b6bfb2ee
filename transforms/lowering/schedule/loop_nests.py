"""Represents statements as loops: over which space they run, and which elements they read and write
there.

y = sum(t, axis=1)      becomes      for all (i, k): y[i] += t[i, k]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Let, Type, Var
from tapeless.transforms.core.size_inequalities import Facts, Relied
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.products.row_products import row_products
from tapeless.transforms.lowering.rewrite.array_routines import searched
from tapeless.transforms.lowering.rewrite.rolled_indices import cyclic
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.view_indices import Entry, Place, ViewSpan, key_entries
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.bits import bits
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS, all_, amax, amin, any_
from tapeless.transforms.ops.primitives.elementwise import conjugate, imag, power, real
from tapeless.transforms.ops.primitives.in_place_arithmetic import OVERWRITING
from tapeless.transforms.ops.primitives.new_arrays import arange, empty, eye, full, ones, tri, zeros
from tapeless.transforms.ops.primitives.random_draws import draw, is_compiled
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    add_at,
    gather,
    index,
    result_shape,
    update,
)

Axes = tuple[int | None, ...]  # for each axis of an array the axis of the space; None: index 0
Equal = Callable[[Size, Size], bool]

CONSTANTS = frozenset([zeros, ones, full, arange, eye, tri, empty, cyclic])
OVERWRITES = {op.name: name for name, op in OVERWRITING.items()}
STORES = frozenset(["update", "add_at", *OVERWRITES])
STORING = frozenset([update, add_at, *OVERWRITING.values()])
ELEMENTWISE = frozenset([cast, copy, real, imag, conjugate, bits])  # of one operand, and a param


@dataclass(eq=False)
class LoopNest:
    """One statement. `maps` are the elements that each argument is read at; `reduced` the axes of
    the space that are summed over; `entries` the part of argument 0 that is picked or stored to."""

    let: Let
    space: tuple[Size, ...]
    maps: tuple[Axes | None, ...]
    out: Axes = ()
    reduced: frozenset[int] = frozenset()
    entries: tuple[Entry, ...] = ()
    fits: tuple[int, ...] = ()  # axes of argument 0 whose part must be as long as the value
    places: tuple[tuple[Size, Size], ...] = ()  # how many, and how long the value must be

    @property
    def var(self) -> Var:
        return self.let.outs[0]

    @property
    def stores(self) -> bool:
        return self.let.op in STORING

    def entries_axes(self) -> Axes:
        """For each axis of argument 0 the axis of the space that runs along all of it."""
        return tuple(
            e.axis if isinstance(e, ViewSpan) and e.is_whole else None for e in self.entries
        )

    @property
    def constant(self) -> bool:
        wide = self.let.op is full and bool(self.let.args[0].type.shape)
        return self.let.op in CONSTANTS and not wide


def stage_of(s: Let, equal: Equal, relied: Relied | None = None) -> LoopNest | None:
    """The statement as loops; None where it is not compiled. `relied` knows of sizes that are not
    negative."""
    if s.op is draw:
        return LoopNest(s, (), (None, *[()] * (len(s.args) - 1))) if is_compiled(s) else None
    if not all(_is_compilable(a.type) for a in (*s.args, *s.outs)):
        return None
    if s.op.elementwise or s.op in ELEMENTWISE:
        return _elementwise(s, equal)
    if s.op in REDUCTIONS:
        return _reduction(s)
    if s.op in CONSTANTS:
        space = s.outs[0].type.shape
        maps = tuple(broadcast_axes(a.type.shape, space, equal) for a in s.args if s.op is full)
        return None if None in maps else LoopNest(s, space, maps, _all(space))
    if s.op in (index, gather):
        return _picked_entries(s)
    if s.op in STORING:
        return _store(s, equal, relied or Relied(Facts()))
    if s.op is matmul:
        return _product(s, equal)
    if s.op is size_value:
        return LoopNest(s, (), ())
    if s.op is row_products:
        rows = (0,) + (None,) * (s.args[0].type.ndim - 1)
        out = (0,) + (None,) * (s.outs[0].type.ndim - 1)
        return LoopNest(s, s.outs[0].type.shape[:1], (rows, (None, None)), out)
    if s.op is searched:  # the first argument is read as a whole
        space = s.outs[0].type.shape
        return LoopNest(s, space, ((None,), _all(space)), _all(space))
    return None


def _is_compilable(t: Any) -> bool:
    return isinstance(t, Type) and t.dtype in operations.DTYPES


def _all(space: tuple[Size, ...]) -> Axes:
    return tuple(range(len(space)))


def broadcast_axes(have: tuple[Size, ...], space: tuple[Size, ...], equal: Equal) -> Axes | None:
    """The axes of an operand that is broadcast to the space; None where sizes may not fit."""
    lead = len(space) - len(have)
    if lead < 0:
        return None
    axes = tuple(None if n == 1 else lead + k for k, n in enumerate(have))
    fits = all(k is None or equal(have[k - lead], space[k]) for k in axes)
    return axes if fits else None


def _elementwise(s: Let, equal: Equal) -> LoopNest | None:
    space = s.outs[0].type.shape
    maps = tuple(broadcast_axes(a.type.shape, space, equal) for a in s.args)
    if None in maps or not operations.has_scalar_form(s):
        return None
    return LoopNest(s, space, maps, _all(space))


def _reduction(s: Let) -> LoopNest | None:
    space, axes, keep = s.args[0].type.shape, s.params["axes"], s.params["keepdims"]
    if s.args[0].type.dtype.kind == "c" and s.op in (amax, amin, any_, all_):
        return None
    out = tuple(None if k in axes else k for k in range(len(space)) if keep or k not in axes)
    return LoopNest(s, space, (_all(space),), out, frozenset(axes))


def _slots(entries: tuple[Entry, ...], count: int, first: int) -> tuple[Axes | None, ...]:
    """The axes at which the index arguments are read, for `count` arguments."""
    maps: list[Axes | None] = [None] * count
    for e in entries:
        if isinstance(e, Place) and not isinstance(e.at, int):
            maps[first + e.at.k] = e.axes
    return tuple(() if m is None and k >= first else m for k, m in enumerate(maps))


def _picked_entries(s: Let) -> LoopNest | None:
    entries = key_entries(s.params["key"], s.args[1:], s.args[0].type.shape)
    if entries is None:
        return None
    space = s.outs[0].type.shape
    return LoopNest(s, space, _slots(entries, len(s.args), 1), _all(space), entries=entries)


def _store(s: Let, equal: Equal, relied: Relied) -> LoopNest | None:
    target, value = s.args[:2]
    if target.type.dtype.kind != "c" == value.type.dtype.kind:
        return None
    if s.op in OVERWRITING.values():
        space = target.type.shape
        whole = tuple(ViewSpan(k) for k in range(len(space)))
        axes = broadcast_axes(value.type.shape, space, equal)
        return None if axes is None else LoopNest(s, space, (None, axes), entries=whole)
    entries = key_entries(s.params["key"], s.args[2:], target.type.shape)
    if entries is None:
        return None
    have = value.type.shape
    with building(relied):
        space = result_shape(target.type.shape, s.params["key"], s.args[2:])
    if len(have) > len(space):
        return None
    lengths = space
    space, fits = _fit_lengths(space, have, entries)
    picked = {k for e in entries if isinstance(e, Place) for k in e.axes if k is not None}
    places = [(lengths[k], space[k]) for k in sorted(picked) if not equal(space[k], lengths[k])]
    axes = broadcast_axes(have, space, equal)
    slots = _slots(entries, len(s.args), 2)
    maps = (None, axes, *slots[2:])
    return (
        None
        if axes is None
        else LoopNest(s, space, maps, entries=entries, fits=fits, places=tuple(places))
    )


def _fit_lengths(
    space: tuple[Size, ...], have: tuple[Size, ...], entries: tuple[Entry, ...]
) -> tuple[tuple[Size, ...], tuple[int, ...]]:
    """Lengths of parts that only the program knows are those of the value; for which axes."""
    lead = len(space) - len(have)
    fitted = list(space)
    for k, n in enumerate(have, lead):
        if n != 1 and not _is_spellable(space[k]):
            fitted[k] = n
    axes = [
        k
        for k, e in enumerate(entries)
        if isinstance(e, ViewSpan) and e.axis is not None and fitted[e.axis] != space[e.axis]
    ]
    return tuple(fitted), tuple(axes)


def _is_spellable(size: Size) -> bool:
    """Whether the symbols of a size are those of arrays or integers, not new ones."""
    return all(x.given or x.var is not None for x in dims.symbols(size))


def _product(s: Let, equal: Equal) -> LoopNest | None:
    """a @ b as the sum over k of a[i, k] * b[k, j]."""
    a, b = s.args
    if b.type.ndim > 2 or not equal(a.type.shape[-1], b.type.shape[0]):
        return None
    if a.type.dtype != b.type.dtype or a.type.dtype.kind not in "f":
        return None
    rows, columns = a.type.shape[:-1], b.type.shape[1:]
    space = (*rows, a.type.shape[-1], *columns)
    k = len(rows)
    left, right = (*range(k), k), (k, *range(k + 1, len(space)))
    out = tuple(j for j in range(len(space)) if j != k)
    return LoopNest(s, space, (left, right), out, frozenset([k]))


def permute_space(stage: LoopNest, order: tuple[int, ...]) -> LoopNest:
    """The stage with its space in another order."""
    place = {old: new for new, old in enumerate(order)}

    def permute_axes(axes: Axes | None) -> Axes | None:
        return None if axes is None else tuple(None if k is None else place[k] for k in axes)

    return replace(
        stage,
        space=tuple(stage.space[k] for k in order),
        maps=tuple(map(permute_axes, stage.maps)),
        out=permute_axes(stage.out) or (),
        reduced=frozenset(place[k] for k in stage.reduced),
    )


def takes_long(s: Let) -> bool:
    """Whether an operation is more than some products."""
    few = s.op is power and getattr(s.args[1], "value", None) in (2, 3)
    return s.op.costly and not few
