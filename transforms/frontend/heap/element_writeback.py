"""Writes a store to an array that was taken from a list back to the stack in which the list holds
it.

sums[k] += x      becomes      sums[k] = sums[k] + x

It is so as long as the array is nowhere else: not twice in the list, in no other list, and the
list has not changed since. Otherwise the list is out of date after the store, as ever.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.list_columns import other_holders
from tapeless.transforms.frontend.trace.cells import Cell, CellLocation, named_like
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives import stacks


@dataclass(eq=False)
class ElementRef:
    """Where an array was taken from."""

    owner: Any
    tail: Any
    stack: Symbol
    at: Atom | None  # None: it is the last one
    changes: tuple[int, int]
    cell: Cell
    block: list[Any]

    def present(self) -> bool:
        """Whether the list has the array there, and nothing else has it."""
        t, holder = trace(), self.stack.cell
        mine = t.memory.holding(holder)
        return (
            self.owner.tail is self.tail
            and any(self.block is b for b in t.blocks)
            and self.tail.alone
            and self.changes == _changes(self.tail, holder, self.at)
            and not (t.loops.began and self.cell.birth < t.loops.began[-1])
            and holder not in t.memory.stale
            and self.cell not in t.memory.stale
            and not self.tail.inside
            and id(self.owner) not in t.containers.elements
            and all(m is holder or _is_new(m) for m in mine)
            and all(h is holder for h in other_holders(holder, mine))
        )

    def store(self, new: Atom) -> None:
        """What was stored to the array is in the list, too."""
        t, holder = trace(), self.stack.cell
        assert holder is not None
        at = atom(-1) if self.at is None else self.at
        t.touch(CellLocation(holder))
        t.memory.changed_list(holder)
        holder.atom = named_like(holder.atom, stacks.set_item(holder.atom, at, new))
        t.memory.stale.pop(holder, None)
        t.memory.loans.given_back.add(holder)


def _is_new(memory: Any) -> bool:
    """Whether memory is that of an array which the program makes."""
    return isinstance(memory, Cell) and memory.made in trace().definitions


def track_element(owner: Any, symbol: Symbol, stack: Symbol, at: Atom | None) -> None:
    """Remembers of an array where it was taken from."""
    t = trace()
    assert symbol.cell is not None
    changes = _changes(owner.tail, stack.cell, at)
    t.memory.loans.places[symbol.cell] = ElementRef(
        owner, owner.tail, stack, at, changes, symbol.cell, t.blocks[-1]
    )


def _changes(tail: Any, holder: Any, at: Atom | None) -> tuple[int, int]:
    """How often a list was changed in a way that an index in it may stand for another item."""
    return trace().memory.loans.moves.get(holder, 0), len(tail.log) if at is None else 0


def track_elements(owner: Any, spec: Any, at: Atom | None) -> None:
    """The same of the arrays in an element that is put in a list."""
    for stack, value in zip(owner.tail.stacks, spec.leaf_values(), strict=False):
        track_leaf(owner, stack, value, at)


def track_leaf(owner: Any, stack: Symbol, value: Any, at: Atom | None) -> None:
    """The same of one array."""
    own = isinstance(value, Symbol) and value.parent is None and value.cell is not None
    if own and value.type.shape and value.listing is None:
        track_element(owner, value, stack, at)


def is_same_element(owner: Any, value: Any, at: Atom) -> bool:
    """Whether an array was taken from this very place of a list: `a[k] += v` puts it there."""
    if not isinstance(value, Symbol) or value.parent is not None:
        return False
    place = trace().memory.loans.places.get(value.cell)
    return place is not None and place.owner is owner and place.at == at and place.present()


def is_same_leaf(owner: Any, stack: Symbol, value: Any, leaf: Atom, at: Atom) -> bool:
    """Whether a leaf of an element is what its stack has at this place: an object that was taken
    from a list, and put back, has changed in some attributes only."""
    if isinstance(value, Symbol) and value.cell is not None and value.type.shape:
        places = trace().memory.loans.places
        return is_same_element(owner, value, at) and places[value.cell].stack is stack
    taken = trace().definitions.get(leaf) if isinstance(leaf, Var) else None
    return taken is not None and taken.op is stacks.peek and taken.args == (stack.value(), at)
