"""Carries through loops whether a variable is set that only some passes set, or give another value
than None.
"""

from __future__ import annotations

import copy
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Literal
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.truth import undefined_flag
from tapeless.transforms.frontend.trace.cells import MaybeUndefined
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import MISSING, Structure
from tapeless.transforms.ops.primitives.new_arrays import zero


class SetLocation(Location):
    """Whether the variable in a location is set, or is something else than None."""

    def __init__(self, of: Location, none: bool) -> None:
        self.none = none
        self.of, self.key, self.birth = of, ("set", of.key), of.birth
        self.name = f"{of.name}_set" if of.name.isidentifier() else ""

    def get(self) -> Any:
        current = self.of.get()
        if (current is None and self.none) or current is MISSING:
            return Symbol(atom(False))
        flag = undefined_flag(current)
        return Symbol(atom(True) if flag is None else flag)

    def set(self, value: Any) -> None:
        previous, flag = (
            self.of.get(),
            value.present() if isinstance(value, Symbol) else atom(value),
        )
        if isinstance(previous, Symbol):
            certain = isinstance(flag, Literal) and bool(flag.value)
            own = copy.copy(previous)  # the value may have other names, which are set
            of = self.of
            before = previous.undefined or MaybeUndefined(of.name, flag, self.none, owner=of.owner)
            own.undefined = None if certain else before._replace(flag=flag)
            self.of.set(own)


def not_yet(name: str, spec: Structure) -> Symbol:
    """What a variable holds before the first pass that sets it."""
    symbol = unread_zeros(spec)
    symbol.undefined = spec.value.undefined._replace(name=name, flag=atom(False), origin=None)
    return symbol


def unread_zeros(spec: Structure) -> Symbol:
    """Zeros of a type to come, that nobody reads; none of them along axes whose length is not known
    before the loop."""
    assert spec.atom is not None
    kind, hints = spec.atom.type, trace().hints
    shape = tuple(n if dims.symbols(n) <= hints.keys() else 0 for n in kind.shape)
    symbol = Symbol(atom(zero(kind.with_shape(shape) if shape else kind)))
    symbol.is_array = isinstance(spec.value, Symbol) and spec.value.mutable
    return symbol
