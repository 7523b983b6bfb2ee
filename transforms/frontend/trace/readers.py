"""Readers of places outside of a program: callables that also say by which expression they read.

>>> KeyOf({"rate": 0.1}, "rate").expression(lambda value: "c0")
"c0['rate']"
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Gives the name that stands for an object in an expression.
Naming = Callable[[Any], str]
#: What a reader raises where the place is no more.
GONE = (AttributeError, KeyError, IndexError, NameError, ValueError)


@dataclass(frozen=True, eq=False)
class KeyOf:
    """What a mapping holds under a key, such as a global variable."""

    mapping: Any
    key: str

    def __call__(self) -> Any:
        return self.mapping[self.key]

    def expression(self, naming: Naming) -> str:
        return f"{naming(self.mapping)}[{self.key!r}]"


@dataclass(frozen=True, eq=False)
class AttributeOf:
    """The attribute of an object."""

    obj: Any
    name: str

    def __call__(self) -> Any:
        return getattr(self.obj, self.name)

    def expression(self, naming: Naming) -> str:
        if not self.name.isidentifier() or keyword.iskeyword(self.name):
            return f"getattr({naming(self.obj)}, {self.name!r})"
        return f"{naming(self.obj)}.{self.name}"


@dataclass(frozen=True, eq=False)
class CellOf:
    """The variable of a function around."""

    cell: Any

    def __call__(self) -> Any:
        return self.cell.cell_contents

    def expression(self, naming: Naming) -> str:
        return f"{naming(self.cell)}.cell_contents"


@dataclass(frozen=True, eq=False)
class BuiltinOf:
    """A builtin name, as long as no global variable has it."""

    mapping: Any
    name: str

    def __call__(self) -> Any:
        return self.mapping[self.name] if self.name in self.mapping else vars(builtins)[self.name]

    def expression(self, naming: Naming) -> str:
        free = f"{self.name!r} not in {naming(self.mapping)}"
        return f"({free} and {naming(vars(builtins))}[{self.name!r}])"
