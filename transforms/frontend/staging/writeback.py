"""Writes what a program leaves in objects from outside after each call, object by object.

The staged run works on copies of containers and on inputs for arrays. A call first fetches the
objects that these stand for, so that `o.a, o.b = o.b, o.a` and stores to what was `o.a` mean what
they do in Python, whatever name the objects have afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import arrays_in, is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.locations import ContentsLocation, entry_spec, fill
from tapeless.transforms.frontend.staging.results import Outgoing
from tapeless.transforms.frontend.trace.cells import CellLocation
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.trace import Trace
from tapeless.transforms.frontend.values.container_aliases import MUTABLE
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    Incompatible,
    Structure,
    flatten,
    require_defined,
)


@dataclass(frozen=True)
class Held:
    """An array or container from outside, fetched at each call before the program runs."""

    number: int
    get: Callable[[], Any]


@dataclass
class Write:
    """A value, and where it goes: a variable, an attribute, or into what is held."""

    location: Location | Held
    spec: Structure

    @property
    def is_to_array(self) -> bool:
        """Whether the elements of an array of NumPy are stored to."""
        return isinstance(self.location, Held) and isinstance(self.location.get(), np.ndarray)

    def carry_out(self, value: Any, held_objects: list[Any]) -> None:
        if not isinstance(self.location, Held):
            self.location.set(value)
        elif isinstance(held_objects[self.location.number], MUTABLE):
            fill(held_objects[self.location.number], value)
        else:
            held_objects[self.location.number][...] = value


def written(run: Trace, outgoing: Outgoing) -> tuple[list[Write], list[Held]]:
    """What the program left in objects from outside; they get their old contents back."""
    homes = _homes(run)
    held_objects = {h.number: h for h in homes.values()}
    journal = run.journals[0]
    changed = [(loc, old) for loc, old in journal.changed_locations() if not loc.birth]
    writes = [_write(location, old, run, homes, outgoing) for location, old in changed]
    for location, old in journal.old.values():
        if not location.birth:
            location.set(old)
    return writes, list(held_objects.values()) if writes else []


def _write(
    location: Location, old: Any, run: Trace, homes: dict[int, Held], outgoing: Outgoing
) -> Write:
    final = location.get()
    if final is MISSING:
        raise UnsupportedError(f"'{location.name}' is deleted from an outer object")
    if isinstance(final, Incompatible):
        raise final.refusal()
    if (
        old is MISSING
        and isinstance(final, Symbol)
        and final.undefined
        and not final.undefined.none
    ):
        raise UnsupportedError(
            f"data decides whether '{location.name}' of an outer object is set",
            "give it a value before the test or loop",
        )
    if isinstance(location, CellLocation):
        arrays = ((s, get) for kind, s, get in _read(run) if kind == "array")
        symbol, get = next((s, get) for s, get in arrays if s.cell is location.cell)
        _refuse_shared(get(), location.name, run)
        return Write(homes[id(location.cell)], require_defined(flatten(symbol)))
    contents = isinstance(location, ContentsLocation)
    spec = require_defined(entry_spec(location, final, outgoing.spec))
    before = None if old is MISSING else entry_spec(location, old)
    _refuse_choices(spec, before, run, homes)
    spec = _by_object(spec, homes, top=contents)
    return Write(_home(location, final, homes), spec)


def _refuse_shared(array: Any, name: str, run: Trace) -> None:
    """Refuses stores to an array that an object of another library has, too, which the program is
    not known to read after them."""
    guards = [read for read in run.reads.values() if isinstance(read, Guard)]
    held = [x for guard in guards if is_foreign(guard.value) for x in arrays_in(guard.value)]
    if any(np.may_share_memory(array, x) for x in held):
        raise UnsupportedError(
            f"{name} is overwritten, which an object of another library has, too",
            "make the object of a copy",
        )


def _home(location: Location, final: Any, homes: dict[int, Held]) -> Location | Held:
    if not isinstance(location, ContentsLocation) or id(location.obj) not in homes:
        return location
    if own_attribute(final, "tail") is not None:
        raise UnsupportedError(
            "a list from outside gets as many elements as data says",
            "append to a list of the function, and store that at the end",
        )
    return homes[id(location.obj)]


def _read(run: Trace) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """What was read from outside: its kind, what the program has for it, how it is fetched."""
    for key, read in run.reads.items():
        if key[0] == "array":
            yield "array", read[1], read[0].get
        elif key[0] == "container":
            yield "container", read[1], read[2]


def _homes(run: Trace) -> dict[int, Held]:
    """By the cell of an array, or a copied container: what it stands for."""
    return {
        id(home.cell if kind == "array" else home): Held(number, get)
        for number, (kind, home, get) in enumerate(_read(run))
    }


def _by_object(spec: Structure, homes: dict[int, Held], top: bool = False) -> Structure:
    """The spec of a value in which arrays and containers from outside are these themselves."""
    array = isinstance(spec.value, Symbol)
    home = homes.get(id(spec.value.base_cell() if array else spec.value))
    if home is None or top:
        return replace(spec, children=tuple(_by_object(c, homes) for c in spec.children))
    if array and not spec.value.is_whole:
        raise UnsupportedError(
            "a view of an array from outside is stored in an object from outside",
            "store a copy, or take the view where it is used",
        )
    return Structure("held", home)


def _refuse_choices(
    final: Structure, old: Structure | None, run: Trace, homes: dict[int, Held]
) -> None:
    """Data may decide whether an array is another one, but not which one of those from outside."""
    own = _held_before(old, run) if old is not None else set()
    for cell in _cells(final):
        if id(cell) not in homes and any(
            id(m) in homes for m in run.memory.memories_of(cell) - own
        ):
            raise UnsupportedError(
                "an object from outside gets, by data, one of several arrays from outside",
                "store a copy, or an index that says which",
            )


def _held_before(old: Structure, run: Trace) -> set[Any]:
    """The cells of the arrays that were there."""
    old_ids = {id(v) for v in old.leaf_values()}
    reads = [r for key, r in run.reads.items() if key[0] == "array"]
    return {s.base_cell() for c, s in reads if {id(s), id(run.inputs[c.var])} & old_ids}


def _cells(spec: Structure) -> set[Any]:
    return {v.base_cell() for v in spec.leaf_values() if isinstance(v, Symbol) and v.mutable}
