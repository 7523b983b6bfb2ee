"""Represents tuples, and numbers in containers, that may be None at run time: a flag says whether
they are.

best = (None, np.inf); for ...: best = (i, v)      carries i, v, and whether i is a number
found = None; for ...: found = (i, v)              carries i, v, and whether found is a tuple
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.control_flow.definite_assignment import unread_zeros
from tapeless.transforms.frontend.control_flow.truth import may_be_none, undefined_flag
from tapeless.transforms.frontend.trace.cells import MaybeUndefined
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.structure import (
    EnumCoded,
    Structure,
    is_reference,
    rebuild,
)

NONE = Structure("static", None)


class Maybe(EnumCoded):
    """The kind of a spec for a number that may be None: the number, and whether it is one."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Symbol:
        value, flag = children
        symbol = copy.copy(value) if isinstance(value, Symbol) else Symbol(atom(value))
        symbol.undefined = MaybeUndefined(spec.keys[0], _flag(flag), True)
        return symbol


def _flag(value: Any) -> Atom:
    return value.present() if isinstance(value, Symbol) else atom(value)


# -- of a tuple


def optional(value: Any, flag: Atom) -> Any:
    """A tuple where a flag is true, else None."""
    if isinstance(flag, Literal):
        return value if flag.value else None
    return Either(wrap(flag), value, None)


def is_optional(spec: Structure) -> bool:
    """Whether it is a tuple or None, by run-time values."""
    return spec.kind is Either and is_plain(spec.children[1]) and spec.children[2].value is None


def is_plain(spec: Structure) -> bool:
    """Whether it is a tuple of numbers, arrays and such tuples, which nobody can change."""
    return (
        isinstance(spec.kind, type)
        and issubclass(spec.kind, tuple)
        and all(
            c.kind in ("leaf", "static", Maybe) or is_reference(c) or is_plain(c) or is_optional(c)
            for c in spec.children
        )
    )


def lacks(a: Structure, b: Structure) -> bool:
    """Whether one is None, or may be, where the other is a tuple, or may be."""
    both = (a, b)
    return any(x.value is None or is_optional(x) for x in both) and all(
        (x.kind == "static" and x.value is None) or is_optional(x) or is_plain(x) for x in both
    )


def halves(spec: Structure) -> tuple[Atom, Structure | None]:
    """Whether it is a tuple, and which."""
    if is_optional(spec):
        test, value, _ = spec.children
        assert test.atom is not None
        return test.atom, value
    return (atom(False), None) if spec.value is None else (atom(True), spec)


# -- in a loop


class Maybes:
    """What the variables of a loop are like that hold such values in some pass."""

    def __init__(self) -> None:
        self.like: dict[Any, Structure] = {}

    def spec(self, key: Any, spec: Structure) -> Structure:
        """A spec with flags for what may be None in some pass."""
        spec = with_presence_flags(spec)
        return _with_flags_of(spec, self.like[key]) if key in self.like else spec

    def meet(self, key: Any, entry: Structure, final: Structure) -> bool:
        """Notes what a pass left beside what it began with; True if that is news."""
        final = self.spec(key, final)
        news = any(_differing(entry, final))
        if news:
            self.like[key] = _with_flags_of(final, entry)
        return news


def with_presence_flags(spec: Structure) -> Structure:
    """Numbers in containers that may be None as two leaves: the number, and whether it is one."""
    children = tuple(map(_part, spec.children))
    same = all(a is b for a, b in zip(children, spec.children, strict=True))
    return spec if same else replace(spec, children=children)


def _part(spec: Structure) -> Structure:
    if spec.kind != "leaf" or not may_be_none(spec.value):
        return spec if spec.kind is Maybe else with_presence_flags(spec)
    flag = undefined_flag(spec.value)
    return spec if flag is None else _number(spec, spec.value.undefined.name, flag)


def _number(leaf: Structure, name: str, flag: Atom) -> Structure:
    flag_structure = Structure("leaf", Symbol(flag), atom=flag)
    return Structure(Maybe, leaf.value, (name,), (leaf, flag_structure))


def _differing(entry: Structure, final: Structure) -> Iterator[bool]:
    """Whether one may be None where the other cannot, for each of their parts."""
    if (entry.kind is Maybe) != (final.kind is Maybe):
        other = final if entry.kind is Maybe else entry
        yield other.kind == "leaf" or other.value is None
    elif is_optional(entry) != is_optional(final):
        yield lacks(entry, final)
    elif entry.kind is final.kind and entry.keys == final.keys:
        for a, b in zip(entry.children, final.children, strict=True):
            yield from _differing(a, b)


def _with_flags_of(spec: Structure, like: Structure) -> Structure:
    """A spec with flags wherever another one has some."""
    if like.kind is Maybe and spec.kind != like.kind:
        (name,), leaf = like.keys, like.children[0]
        if spec.value is None:
            return _number(_blank(leaf), name, atom(False))
        return _number(spec, name, atom(True)) if spec.kind == "leaf" else spec
    if is_optional(like) and not is_optional(spec):
        value = like.children[1]
        if spec.value is None:
            return _tuple(_blank(value), atom(False), None)
        return (
            _tuple(_with_flags_of(spec, value), atom(True), spec.value) if is_plain(spec) else spec
        )
    if spec.kind is like.kind and spec.keys == like.keys:
        pairs = zip(spec.children, like.children, strict=True)
        return replace(spec, children=tuple(_with_flags_of(a, b) for a, b in pairs))
    return spec


def _tuple(spec: Structure, flag: Atom, value: Any) -> Structure:
    test = Structure("leaf", Symbol(flag), atom=flag)
    return Structure(Either, value, ("test", "yes", "no"), (test, spec, NONE))


def _blank(spec: Structure) -> Structure:
    """Values of the types to come, that nobody reads."""
    if spec.kind == "leaf":
        dummy = unread_zeros(spec)
        return Structure("leaf", dummy, atom=dummy.present())
    children = tuple(map(_blank, spec.children))
    if not children:
        return spec
    return replace(spec, value=rebuild(spec, [c.value for c in children]), children=children)
