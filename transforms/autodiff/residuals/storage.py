"""Chooses how saved values are stored: an array with an entry for each pass, or a stack."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.autodiff.residuals.min_cut_plan import MinCutPlan
from tapeless.transforms.autodiff.residuals.shifted_saves import find_shifted, init_of
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.batching_context import is_looped
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    For,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.numpy import creation, indexing
from tapeless.transforms.ops.primitives import stacks
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, sub

_NOTHING: dims.Size = 0


class Storage:
    """Where saved values are kept: in arrays with an entry a pass, stacks, or their variables."""

    def __init__(self, plan: MinCutPlan) -> None:
        self.plan = plan
        self.run = builder.current()
        arrays = [v for v in plan.saved if self.kind(v) == "array"]
        self.behind = find_shifted(arrays, plan.primal.path)  # those that others are saved with
        self.leads = set(self.behind.values())

    def home(self, v: Var) -> Var:
        """The variable whose array v is saved in."""
        return self.behind.get(v, v)

    def saved_under(self, s: Statement) -> list[Var]:
        """The variables in a statement that are saved in arrays or stacks of their own."""
        return [v for v in self.plan.saved_under(s) if v not in self.behind]

    def is_entry_ahead(self, v: Var) -> bool:
        """Whether v is an entry further than its pass, in the array that it shares."""
        if v in self.behind or v in self.leads:
            return bool((v in self.behind) != self.plan.loops(v)[-1].reverse)
        return False

    def in_array(self, v: Var) -> bool:
        """An array with one entry a pass, if all trip counts and the shape are known beforehand."""
        for loop in self.plan.loops(v):
            if not isinstance(loop, For) or not isinstance(loop.step, Literal):
                return False
            if not self.is_known(loop) and (not is_looped() or self.greatest_count(loop) is None):
                return False
        if isinstance(v.type, StackType) or v.type == TAPE:
            return False
        for symbol in sizes_in(v.type):
            if symbol in self.plan.primal.homes or (
                symbol.var is not None and not self.plan.is_outside_loops(symbol.var)
            ):
                return False
        return True

    def is_known(self, loop: For) -> bool:
        """Whether the bounds of a loop are known before the outermost loop around."""
        return self.plan.is_outside_loops(loop.start) and self.plan.is_outside_loops(loop.stop)

    def greatest_count(self, loop: For) -> dims.Size | None:
        """How many passes a loop makes at most, whose bounds are made of the indices around it:
        compiled code has room for so many, and needs no list."""
        start, stop = map(self.plan.size, (loop.start, loop.stop))
        up = isinstance(loop.step, Literal) and loop.step.value > 0
        extent = self.extreme(stop - start if up else start - stop, True)
        if extent is None or not all(self.is_outside(x) for x in dims.symbols(extent)):
            return None
        return dims.maximum(extent, 0)

    def is_outside(self, x: dims.Symbol) -> bool:
        return x.given or (x.var is not None and self.plan.is_outside_loops(x.var))

    def extreme(self, size: dims.Size, largest: bool) -> dims.Size | None:
        """The largest or the least value of a sum of indices of loops, and of other sizes."""
        bounds, bound = self.plan.standing.places.bounds, _NOTHING
        for factors, c in dims.terms_of(size):
            inside = [f for f in factors if f in bounds]
            if not inside:
                bound = bound + dims.product([c, *map(dims.single, factors)])
                continue
            if len(factors) > 1:
                return None
            start, stop, step = bounds[inside[0]]
            low, high = (start, stop - 1) if step > 0 else (stop + 1, start)
            end = self.extreme(high if (c > 0) == largest else low, largest == (c > 0))
            if end is None:
                return None
            bound = bound + c * end
        return bound

    def kind(self, v: Var) -> str:
        if not self.plan.loops(v):
            return "branch"
        return "array" if self.in_array(v) else "stack"

    def position(self, v: Var, new: dict[Var, Atom]) -> tuple[Any, list[Atom]]:
        """The key and index atoms of this pass in the array that saves v."""
        rest = [self.passes(loop, new) for loop in self.plan.loops(v)]
        if self.is_entry_ahead(v):
            rest[-1] = add(rest[-1], 1)
        return self.key(v), rest

    def passes(self, loop: Any, new: dict[Var, Atom]) -> Atom:
        """How many passes come before this one, by the order of the range."""
        k: Atom = new.get(loop.index, loop.index)
        if not (isinstance(loop.start, Literal) and loop.start.value == 0):
            k = sub(k, new.get(loop.start, loop.start))
        return k if loop.step.value == 1 else floordiv(k, loop.step)

    def key(self, v: Var) -> Any:
        places = tuple(map(indexing.Slot, range(len(self.plan.loops(v)))))
        return places + (slice(None),) * v.type.ndim

    def trips(self, loop: For) -> dims.Size:
        """How many passes a loop makes; the run may know that its bounds are in order."""
        if not self.is_known(loop):
            most = self.greatest_count(loop)
            assert most is not None
            return most if abs(loop.step.value) == 1 else most // abs(loop.step.value) + 1  # type: ignore[union-attr]
        start, stop, step = map(self.plan.size, (loop.start, loop.stop, loop.step))
        assert isinstance(step, int)
        low, high = (start, stop) if step > 0 else (stop, start)
        length = self.run.length(low, high)
        return length if abs(step) == 1 else (length + (abs(step) - 1)) // abs(step)

    def allocate(self, v: Var) -> Atom:
        kind = self.kind(v)
        if kind == "branch":
            return Literal(None, v.type)
        if kind == "stack":
            item = v.type if not isinstance(v.type, Type) else Type(v.type.dtype, v.type.shape)
            storage = stacks.new_stack(item=item)
        else:
            counts = [self.trips(loop) for loop in self.plan.loops(v)]
            counts[-1] += v in self.leads
            storage = creation.empty(shape=(*counts, *v.type.shape), dtype=v.type.dtype)
        storage.name = storage_name(v)
        return storage  # type: ignore[no-any-return]

    def begin(self, v: Var, loop: For, storage: Atom) -> Atom:
        """What v holds in the first pass is saved before the loop."""
        first = atom_of_size(self.trips(loop)) if loop.reverse else atom(0)
        rest = [*(self.passes(around, {}) for around in self.plan.loops(v)[:-1]), first]
        updated = indexing.update(storage, init_of(v, loop), *rest, key=self.key(v))
        updated.name = storage_name(v)
        return updated  # type: ignore[no-any-return]

    def save(self, v: Var, storage: Atom) -> Atom:
        match self.kind(v):
            case "branch":
                return v
            case "stack":
                updated = stacks.push(storage, v)
            case _:
                key, rest = self.position(v, {})
                updated = indexing.update(storage, v, *rest, key=key)
        if isinstance(updated, Var):
            updated.name = storage.name if isinstance(storage, Var) else ""
        return updated  # type: ignore[no-any-return]


def storage_name(v: Var) -> str:
    """x_saved for x."""
    if v.type == TAPE:
        return f"{v.name.removesuffix('_saved')}_tapes"
    return f"{v.name}_saved" if v.name else "saved"
