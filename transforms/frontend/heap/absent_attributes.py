"""Answers code that asks for attributes before the program sets them: by `hasattr`, by `getattr`
with a default, as a cached property that is computed at its first read, through `obj.__dict__`.

In a rolled loop a pass stands for all passes, and so must what it was answered. After a test on
data, or a loop that may make no pass, a truth value of the program says whether one is there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.heap.locations import AttributeLocation
from tapeless.transforms.frontend.trace.cells import MaybeUndefined
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.memoized import run_observed, same_in_each_pass
from tapeless.transforms.frontend.values.structure import MISSING, Structure

ALL = "__dict__"


@dataclass(frozen=True)
class Absence:
    """That an attribute was not there, and was asked for; `computed` is what a cached property then
    gave, if computing it again gives the same and does nothing else."""

    obj: Any
    serial: int
    computed: Structure | None = None


def note_absence(obj: Any, name: str) -> None:
    """Code learns that an object does not hold an attribute itself, or which ones it holds."""
    t = trace()
    if t.loops.rolling and (name == ALL or AttributeLocation(obj, name).get() is MISSING):
        t.flags.absences["attribute", id(obj), name] = Absence(obj, next(t.serials))


def computed_once(obj: Any, name: str, compute: Callable[[], Any]) -> Any:
    """What a cached property gives that is not there yet."""
    t = trace()
    if not t.loops.rolling:
        return compute()
    value, computed = run_observed(compute)
    t.flags.absences["attribute", id(obj), name] = Absence(obj, next(t.serials), computed)
    return value


def asked_in_vain(
    location: Location, final: Structure, began: int, varies: Callable[[Atom], bool]
) -> bool:
    """Whether a pass that began then sets an attribute, and was told before that it is not there,
    which is another answer than the next pass gets; not where that computes the same anew."""
    absences = trace().flags.absences
    for key in (location.key, (*location.key[:2], ALL)):
        absence = absences.get(key)
        if absence is None or absence.serial < began:
            continue
        if absence.computed is None or not same_in_each_pass(absence.computed, final, varies):
            return True
    return False


def maybe_set(location: Location, final: Structure) -> Structure:
    """The number or array of an attribute that is not there before the first pass."""
    value = copy.copy(final.value) if isinstance(final.value, Symbol) else Symbol(final.atom)
    value.undefined = MaybeUndefined(location.name, atom(True), owner=location.owner)
    return replace(final, value=value)


def presence(obj: Any, name: str) -> Symbol | None:
    """The truth value that says whether an object holds an attribute, known at run time."""
    value = AttributeLocation(obj, name).get()
    if not isinstance(value, Symbol) or value.undefined is None or value.undefined.none:
        return None
    flag = value.undefined.flag
    if flag is None or isinstance(flag, Literal):
        return None
    trace().flags.means[flag, True] = trace().flags.means.get((flag, True), frozenset()) | {flag}
    truth: Symbol = wrap(flag)
    return truth
