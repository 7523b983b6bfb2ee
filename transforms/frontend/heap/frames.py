"""Holds the local variables of a call of a rewritten function."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Var
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.source.tree_building import RESULT, plain
from tapeless.transforms.frontend.trace.cells import undefined_error
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import Variables
from tapeless.transforms.frontend.values.structure import MISSING, Incompatible

DIVERGED = " diverged"  # where a frame keeps why variables must not be read; no variable's name


class FrameLocation(Location):
    """A local variable."""

    refusable = True

    def __init__(self, frame: Frame, name: str) -> None:
        self.frame, self.variable, self.name = frame, name, plain(name)
        self.key = ("frame", id(frame), name)
        self.birth = trace().birth(frame)

    def get(self) -> Any:
        values = self.frame.__dict__
        if self.variable in values:
            return values[self.variable]
        return values.get(DIVERGED, {}).get(self.variable, MISSING)

    def set(self, value: Any) -> None:
        values = self.frame.__dict__
        values.get(DIVERGED, {}).pop(self.variable, None)
        if value is MISSING:
            values.pop(self.variable, None)
        elif isinstance(value, Incompatible):
            values.pop(self.variable, None)
            values.setdefault(DIVERGED, {})[self.variable] = value
        else:
            values[self.variable] = value


class Frame(Variables):
    """The local variables of one call of a rewritten function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get(name, self) is value:
            return
        trace().touch(FrameLocation(self, name))
        if type(value) is Symbol:
            _assign_name(value, name)
        elif name != RESULT:
            name_after(value, plain(name))
        self.__dict__.get(DIVERGED, {}).pop(name, None)
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        diverged = self.__dict__.get(DIVERGED, {})
        if name in diverged:
            raise diverged[name].refusal()
        raise undefined_error(name)


def _assign_name(symbol: Symbol, name: str) -> None:
    """The variable must be set that is assigned to this one; a value without a name gets its."""
    absence = symbol.undefined
    if absence is not None and not absence.none and absence.name != plain(name):
        symbol.value()
    if name != RESULT:
        _name_value(symbol, plain(name))


def name_after(value: Any, name: str) -> None:
    """An array, a number or a list without a name gets that of what it is stored to."""
    if type(value) is Symbol:
        _name_value(value, name)
    elif type(value) is StagedList:
        value.name = value.name or name
        tail = value.tail
        if tail is not None:
            for stack, own_name in zip(tail.stacks, tail.names(name), strict=True):
                _name_value(stack, own_name)
    elif is_generator(value) and id(value) in trace().generators:
        var, _ = trace().generators[id(value)]
        var.name = var.name or name


def _name_value(symbol: Symbol, name: str) -> None:
    """A value without a name gets one, and what it stands for, too."""
    atom = symbol.cell.atom if symbol.cell is not None else None
    while isinstance(atom, Var) and not atom.name:
        atom.name = name
        atom = trace().namesakes.get(atom)
