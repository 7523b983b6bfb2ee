"""Where saved values are kept."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    For,
    Literal,
    StackType,
    Type,
    Var,
)
from tapeless.transforms.core.reads import sizes_in
from tapeless.transforms.ops import creation, indexing, stacks
from tapeless.transforms.ops.arithmetic import floordiv, sub
from tapeless.transforms.residuals.plan import Plan


class Storage:
    """Where saved values are kept: in arrays with an entry a pass, stacks, or their variables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run = builder.current()

    def in_array(self, v: Var) -> bool:
        """An array with one entry a pass, if all trip counts and the shape are known beforehand."""
        loops = self.plan.loops(v)
        for loop in loops:
            if not isinstance(loop, For) or not all(
                self.plan.outside(a) for a in (loop.start, loop.stop, loop.step)
            ):
                return False
            if not isinstance(loop.step, Literal):
                return False
        if isinstance(v.type, StackType) or v.type == TAPE:
            return False
        for symbol in sizes_in(v.type):
            if symbol in self.plan.primal.homes or (
                symbol.var is not None and not self.plan.outside(symbol.var)
            ):
                return False
        return True

    def kind(self, v: Var) -> str:
        if not self.plan.loops(v):
            return "branch"
        return "array" if self.in_array(v) else "stack"

    def position(self, v: Var, new: dict[Var, Atom]) -> tuple[Any, list[Atom]]:
        """The key and index atoms of this pass in the array that saves v."""
        rest: list[Atom] = []
        for loop in self.plan.loops(v):
            k: Atom = new.get(loop.index, loop.index)
            if not (isinstance(loop.start, Literal) and loop.start.value == 0):
                k = sub(k, new.get(loop.start, loop.start))
            if loop.step.value != 1:
                k = floordiv(k, loop.step)
            rest.append(k)
        key = tuple(indexing.Slot(k) for k in range(len(rest))) + (slice(None),) * v.type.ndim
        return key, rest

    def trips(self, loop: For) -> dims.Size:
        """How many passes a loop makes; the run may know that its bounds are in order."""
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
            made = stacks.new_stack(item=item)
        else:
            counts = tuple(self.trips(loop) for loop in self.plan.loops(v))
            made = creation.empty(shape=(*counts, *v.type.shape), dtype=v.type.dtype)
        made.name = storage_name(v)
        return made  # type: ignore[no-any-return]

    def save(self, v: Var, storage: Atom) -> Atom:
        match self.kind(v):
            case "branch":
                return v
            case "stack":
                made = stacks.push(storage, v)
            case _:
                key, rest = self.position(v, {})
                made = indexing.update(storage, v, *rest, key=key)
        if isinstance(made, Var):
            made.name = storage.name if isinstance(storage, Var) else ""
        return made  # type: ignore[no-any-return]


def storage_name(v: Var) -> str:
    """x_saved for x."""
    if v.type == TAPE:
        return f"{v.name.removesuffix('_saved')}_tapes"
    return f"{v.name}_saved" if v.name else "saved"
