"""What attempts at staging found must be known, for the next attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.errors import Signal, UnsupportedError


@dataclass
class Decisions:
    """What earlier attempts found must be known: values of inputs, lengths of axes, loops."""

    leaves: set[int] = field(default_factory=set)
    axes: set[tuple[Any, int]] = field(default_factory=set)  # of leaves, and of arrays from outside
    contents: set[str] = field(default_factory=set)  # names of integer arrays from outside
    unroll: dict[Any, str] = field(default_factory=dict)
    outlines: bool = True  # functions that are called often become functions of the program
    recursive: set[Any] = field(default_factory=set)  # code that becomes a function of the program
    counts: bool = True  # functions that call themselves often become such
    counted: bool = False  # one did
    homes: dict[dims.Symbol, tuple[Any, int]] = field(
        default_factory=dict
    )  # symbol -> leaf, axis (-1: value)
    exact: bool = False  # branches and loops carry which memory arrays are in
    aliased: bool = False  # an array was read that a store may have changed

    def recurse(self, code: Any) -> None:
        """A function calls itself to a depth that data decides: start again, calling it by name."""
        self.recursive.add(code)
        raise Restart

    def unroll_all(self, loops: dict[Any, str]) -> None:
        """Start again with these loops unrolled, if they were not."""
        if loops.keys() - self.unroll.keys():
            self.unroll |= loops
            raise Restart

    def fix_sizes(self, symbols: set[dims.Symbol]) -> None:
        """An axis whose length must be known after all: start again with it."""
        for s in symbols:
            if s not in self.homes:
                raise UnsupportedError(
                    f"the size {s} is one in this call, and not made from those of the arguments"
                )
            leaf, axis = self.homes[s]
            if axis < 0:
                self.leaves.add(leaf)
            else:
                self.axes.add((leaf, axis))
        raise Restart


class Restart(Signal):
    """Stage again with the decisions made so far."""
