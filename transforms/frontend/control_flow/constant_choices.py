"""Texts, members of enumerations and None as the state of a loop: an index into those it can be.

state = "low"; for v in x: state = "high" if v > 1 else state      carries 0 or 1
"""

from __future__ import annotations

import dataclasses
import enum
import operator
from collections.abc import Iterator
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.trace.trace import Location, trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.structure import EnumCoded, Structure, flatten
from tapeless.transforms.frontend.values.text import ChosenText

CONSTANT = (str, enum.Enum, type(None))
Path = tuple[Any, ...]  # where in a variable, which is its first entry
Options = tuple[Any, ...]


class Label(EnumCoded):
    """The kind of a spec for one of several constants: its keys are these, its child the index."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Any:
        return labelled(children[0], spec.keys)


class Labels:
    """What each variable of a loop can be, or a part of it, of those that hold constants."""

    def __init__(self) -> None:
        self.options: dict[Path, Options] = {}

    def spec(self, key: Any, spec: Structure) -> Structure:
        return self.at((key,), spec) if self.options else spec

    def at(self, path: Path, spec: Structure) -> Structure:
        options = self.options.get(path)
        if options is not None:
            index = flatten(index_of(spec.value, options))
            return Structure(Label, spec.value, options, (index,))
        children = [self.at((*path, k), c) for k, c in enumerate(spec.children)]
        if all(a is b for a, b in zip(children, spec.children, strict=True)):
            return spec
        return dataclasses.replace(spec, children=tuple(children))

    def explain(self, locations: dict[Any, Location]) -> None:
        """Says in the emitted text which number stands for what."""
        t = trace()
        for (key, *inside), options in self.options.items():
            name = locations[key].name.removeprefix(".")
            stand = ", ".join(f"{k} for {o}" for k, o in enumerate(map(_shown, options)))
            text = f"{'In ' if inside else ''}{name}: {stand}." if name else f"In a loop: {stand}."
            if text not in t.legend:
                t.legend.append(text)

    def meet(self, key: Any, entry: Structure, final: Structure) -> bool:
        """Notes what a pass left beside what it began with; True if that is news."""
        differing = _differing((key,), entry, final)
        new = {path: _different((*self.options.get(path, a), *b)) for path, a, b in differing}
        news = any(len(new[path]) != len(self.options.get(path, ())) for path in new)
        self.options |= new
        return news


def _differing(path: Path, a: Structure, b: Structure) -> Iterator[tuple[Path, Options, Options]]:
    """The parts of two values that are other constants, with what each can be."""
    if a.value is b.value and a.kind is not Label:
        return
    was, now = options_of(a.value), options_of(b.value)
    if was is not None and now is not None:
        if len(_different(was + now)) > 1:
            yield path, was, now
    elif a.kind is b.kind and a.keys == b.keys:
        for k, (x, y) in enumerate(zip(a.children, b.children, strict=True)):
            yield from _differing((*path, k), x, y)


def _different(options: Options) -> Options:
    """Each once."""
    return tuple(dict.fromkeys(options))


def _shown(option: Any) -> str:
    return str(option) if isinstance(option, enum.Enum) else repr(option)


def options_of(value: Any) -> Options | None:
    """The constants that a value can be; None if it can be something else."""
    if isinstance(value, CONSTANT):
        return (value,)
    if not isinstance(value, (ChosenText, Either)):
        return None
    yes, no = options_of(value.yes), options_of(value.no)
    return None if yes is None or no is None else _different(yes + no)


def index_of(value: Any, options: Options) -> Any:
    """Which of the options it is."""
    if isinstance(value, CONSTANT):
        return options.index(value)
    choice_symbol, index, constants = trace().labels.get(id(value), (None, None, ()))
    if choice_symbol is value and constants == options[: len(constants)]:
        return index
    return choose(
        value.test, lambda: index_of(value.yes, options), lambda: index_of(value.no, options)
    )


def labelled(index: Any, options: Options) -> Any:
    """The option of this index."""
    if not isinstance(index, Symbol):
        return options[index]
    kind = ChosenText if all(isinstance(o, str) for o in options) else Either
    selected = options[-1]
    for k in reversed(range(len(options) - 1)):
        selected = kind(operator.eq(index, k), options[k], selected)
    trace().labels[id(selected)] = (selected, index, options)
    return selected
