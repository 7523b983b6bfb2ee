"""Makes parameters of a program for the leaves of arguments."""

from __future__ import annotations

import enum
import re
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.core.user_names import short_name
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.decisions import Decisions
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object
from tapeless.transforms.frontend.trace.recorded_reads import (
    Constants,
    Guard,
    input_type,
    number_type,
)
from tapeless.transforms.frontend.trace.trace import Trace
from tapeless.transforms.ops.primitives.callbacks import CALLABLE


@dataclass
class Leaf:
    """One leaf of the arguments: a parameter of the program (`var`), or a value it relies on."""

    value: Any
    name: str
    var: Var | None = None
    static: bool = False
    axes: tuple[int, ...] = ()
    copy: Any = None  # what the program gets of a set

    def refuse_change(self, obj: Any) -> None:
        """Of a set that the program has changed: the caller's would stay as it was."""
        if obj is not None and self.copy is obj:
            raise UnsupportedError(
                f"the {type(self.value).__name__} '{self.name}', an argument, is changed",
                "return a new one: s | {k}",
            )


def is_dynamic(value: Any) -> bool:
    """Whether a leaf becomes a parameter: arrays and numbers do, flags and other objects do not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(
        value, (bool, enum.Enum)
    )


def may_be_input(guard: Guard) -> bool:
    """Whether what is guarded is a number, or constants, of which some may be numbers."""
    return isinstance(guard, Constants) or is_dynamic(guard.value)


def leaf_parameter(k: int, leaf: Leaf, decisions: Decisions, trace: Trace) -> Any:
    """What the program gets for an argument leaf: a symbol, or the value itself."""
    value = leaf.value
    if is_generator(value) and id(value) not in trace.generators:
        leaf.var = Var(CALLABLE, short_name(leaf.name))
        trace.inputs[leaf.var] = value
        trace.generators[id(value)] = leaf.var, value
        return value
    if not is_dynamic(value) or k in decisions.leaves:
        leaf.static = True
        if isinstance(value, np.ndarray):  # the caller may change what it holds
            leaf.value = value.copy()
            leaf.value.setflags(write=False)
        if isinstance(value, (set, bytearray)):
            leaf.value, leaf.copy = value.copy(), value.copy()
            return leaf.copy
        if is_plain_object(value):
            trace.paths.setdefault(id(value), leaf.name)
        return leaf.value
    if isinstance(value, np.ndarray):
        kind, symbols = input_type(value, leaf.name)
        shape = list(kind.shape)
        for axis, s in enumerate(symbols):
            if (k, axis) in decisions.axes:
                shape[axis] = int(value.shape[axis])
            elif s is not None:
                trace.hints[s] = value.shape[axis]
                decisions.homes[s] = (k, axis)
        leaf.axes = tuple(axis for axis in range(value.ndim) if (k, axis) in decisions.axes)
        leaf.var = Var(Type(kind.dtype, tuple(shape)), _name(leaf.name))
        trace.inputs[leaf.var] = value
        symbol = Symbol(leaf.var, is_array=True)
        symbol.read_only = not value.flags.writeable
        if symbol.cell is not None and getattr(value, "functional", False):
            symbol.cell.functional = trace.functional = True
        return symbol
    leaf.var = Var(number_type(value), short_name(leaf.name))
    if leaf.var.type.dtype.kind in "iu":
        leaf.var.size = dims.symbol(leaf.var.name, None, leaf.var)
        (s,) = dims.symbols(leaf.var.size)
        trace.hints[s] = int(value)
        decisions.homes[s] = (k, -1)
    return Symbol(leaf.var)


def name_nameless(leaves: list[Leaf]) -> None:
    """Arrays that no variable of the user was given are called by their place."""
    for leaf in leaves:
        if leaf.var is not None and not leaf.var.name:
            leaf.var.name = short_name(leaf.name)


def _name(name: str) -> str:
    """A name for an array: elements of tuples and lists get that of the first variable that they
    are given."""
    return "" if re.search(r"\[\d+\]$", name) else short_name(name)
