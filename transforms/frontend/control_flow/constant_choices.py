"""Carries texts, members of enumerations and None through loops as an index into those that they
can be.

state = "low"; for v in x: state = "high" if v > 1 else state      carries 0 or 1

So are the containers and objects older than the loop, where which of them a variable stands for is
carried, and not what they hold.
"""

from __future__ import annotations

import dataclasses
import enum
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.heap.coded_constants import option_text
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, has_identity
from tapeless.transforms.frontend.values.container_aliases import mutable
from tapeless.transforms.frontend.values.structure import (
    EnumCoded,
    Incompatible,
    Missing,
    Structure,
    flatten,
)
from tapeless.transforms.frontend.values.text import ChosenText

CONSTANT = (str, enum.Enum, type(None))
Path = tuple[Any, ...]  # where in a variable, which is its first entry
Options = tuple[Any, ...]


class Label(EnumCoded):
    """The kind of a spec for one of several constants: its keys are these, its child the index."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Any:
        return option_at(children[0], spec.keys)


def has_labels(spec: Structure) -> bool:
    return spec.kind is Label or any(map(has_labels, spec.children))


class Labels:
    """What each variable of a loop can be, or a part of it, of those that hold constants."""

    def __init__(self) -> None:
        self.options: dict[Path, Options] = {}
        self.began = 0  # when the loop did: what is older can be told by an index

    def spec(self, key: Any, spec: Structure) -> Structure:
        return self.structure_at((key,), spec) if self.options else spec

    def structure_at(self, path: Path, spec: Structure) -> Structure:
        options = self.options.get(path)
        if options is not None:
            index = flatten(index_of(spec.value, options))
            return Structure(Label, spec.value, options, (index,))
        children = [self.structure_at((*path, k), c) for k, c in enumerate(spec.children)]
        if all(a is b for a, b in zip(children, spec.children, strict=True)):
            return spec
        return dataclasses.replace(spec, children=tuple(children))

    def explain(self, locations: dict[Any, Location]) -> None:
        """Says in the emitted text which number stands for what."""
        t = trace()
        for (key, *inside), options in self.options.items():
            name = locations[key].name.removeprefix(".")
            stand = ", ".join(f"{k} for {o}" for k, o in enumerate(map(option_text, options)))
            text = f"{'In ' if inside else ''}{name}: {stand}." if name else f"In a loop: {stand}."
            if text not in t.legend:
                t.legend.append(text)

    def meet(self, key: Any, entry: Structure, final: Structure) -> bool:
        """Notes what a pass left beside what it began with; True if that is news."""
        differing = self.differing((key,), entry, final)
        new = {path: _different((*self.options.get(path, a), *b)) for path, a, b in differing}
        news = any(len(new[path]) != len(self.options.get(path, ())) for path in new)
        self.options |= new
        return news

    def differing(
        self, path: Path, a: Structure, b: Structure
    ) -> Iterator[tuple[Path, Options, Options]]:
        """The parts of two values that are other constants, with what each can be."""
        if (a.value is b.value and a.kind is not Label) or "leaf" in (a.kind, b.kind):
            return
        was, now = self.options_of(a.value), self.options_of(b.value)
        if was is not None and now is not None:
            if len(_different(was + now)) > 1:
                yield path, was, now
        elif a.kind is b.kind and a.keys == b.keys:
            for k, (x, y) in enumerate(zip(a.children, b.children, strict=True)):
                yield from self.differing((*path, k), x, y)

    def options_of(self, value: Any) -> Options | None:
        """The constants that a value can be; None if it can be something else."""
        if isinstance(value, (ChosenText, Either)):
            yes, no = self.options_of(value.yes), self.options_of(value.no)
            return None if yes is None or no is None else _different(yes + no)
        return (value,) if isinstance(value, CONSTANT) or self.is_older(value) else None

    def is_older(self, value: Any) -> bool:
        """Whether it is a container, or an object, that the loop found."""
        if isinstance(value, (Missing, Incompatible)):
            return False
        coded = trace().decisions.codes and not mutable(value)
        identities = (trace().identities or coded) and has_identity(value)
        return identities and trace().birth(value) < self.began

    def holds_younger(self, spec: Structure) -> bool:
        """Whether a value is, or has in it, a container that a pass made."""
        parts = (spec.value.yes, spec.value.no) if isinstance(spec.value, Either) else ()
        if spec.kind != "static":
            return any(map(self.holds_younger, spec.children))
        if parts:
            return any(self.holds_younger(Structure("static", part)) for part in parts)
        return has_identity(spec.value) and not self.is_older(spec.value)


def _different(options: Options) -> Options:
    """Each once."""
    different: list[Any] = []
    for option in options:
        if _position(different, option) is None:
            different.append(option)
    return tuple(different)


def _position(options: Iterable[Any], option: Any) -> int | None:
    """Where it is among the options; containers are told apart by which they are."""
    for k, other in enumerate(options):
        alike = isinstance(option, CONSTANT) and isinstance(other, CONSTANT) and option == other
        if other is option or alike:
            return k
    return None


def index_of(value: Any, options: Options) -> Any:
    """Which of the options it is."""
    if not isinstance(value, (ChosenText, Either)):
        return _position(options, value)
    choice_symbol, index, constants = trace().containers.labels.get(id(value), (None, None, ()))
    if choice_symbol is value and all(map(operator.is_, constants, options)):
        return index
    return choose(
        value.test, lambda: index_of(value.yes, options), lambda: index_of(value.no, options)
    )


def option_at(index: Any, options: Options) -> Any:
    """The option of this index."""
    if not isinstance(index, Symbol):
        return options[index]
    kind = ChosenText if all(isinstance(o, str) for o in options) else Either
    selected = options[-1]
    for k in reversed(range(len(options) - 1)):
        selected = kind(operator.eq(index, k), options[k], selected)
    trace().containers.labels[id(selected)] = (selected, index, options)
    return selected
