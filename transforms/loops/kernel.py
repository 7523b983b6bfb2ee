"""A run of statements as the text of one compiled function: loops over scalars.

y = x * x; s = sum(y)      becomes      for i in range(x.shape[0]): s = plus(s, x[i] * x[i])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Let,
    Statement,
    Type,
    Var,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.loops.control import Control
from tapeless.transforms.loops.lines import Names, NotCompiled
from tapeless.transforms.loops.memory import Memory, is_array
from tapeless.transforms.text import to_source
from tapeless.transforms.wrapping import wrap


@dataclass
class Kernel:
    """A finished kernel: its text, and what the driver passes and gets."""

    name: str
    text: str
    arguments: list[Atom | Size]
    scratch: list[tuple[Var, Type]]  # arrays that the driver makes first
    results: tuple[Var, ...]  # scalars that it returns
    same: dict[Var, Var]  # values that are found in the memory of another variable
    imports: set[tuple[str, str]]
    helpers: dict[str, None]


class Writer(Control):
    """Writes one kernel. `live` are the variables that are read after the run."""

    def __init__(self, name: str, memory: Memory, analysis: Any, names: Names) -> None:
        super().__init__(memory, analysis, names)
        self.kernel_name = name

    def run(self, body: list[Statement], live: set[Var]) -> Kernel:
        self.live = live
        self.count_uses(body)
        defined = {v for s in body for v in outputs(s)}
        for s in body:
            for v in sorted(self.memory.needs(s), key=self.memory.order.__getitem__):
                if v not in defined and is_array(v) and not self.seen_through(v):
                    self.know_sizes(v)
        made = [v for v in defined_in_order(body) if v in live]
        for v in made:
            if not isinstance(v.type, Type):
                raise NotCompiled
            if v.type.shape and not self.seen_through(v):
                self.keep(v)
        self.body(body, live)
        results = tuple(v for v in made if not v.type.shape)
        if results:
            values = [to_source(self.atom(v)) for v in results]
            self.put(f"return {', '.join(values)}")
        ours = {v: self.params.pop(v) for v in self.scratch}
        self.params |= ours
        head = wrap(f"def {self.kernel_name}({', '.join(self.params.values())}):")
        decorator = '@njit(nogil=True, error_model="numpy")'
        same = {v: self.memory.cell(v) for v in made if self.memory.cell(v) is not v}
        return Kernel(
            self.kernel_name,
            "\n".join([decorator, *head, *(self.lines or ["    pass"])]),
            list(self.params),
            list(self.scratch.items()),
            results,
            same,
            self.imports,
            self.helpers,
        )

    def count_uses(self, body: Iterable[Statement]) -> None:
        for s in body:
            for a in operands(s):
                self.use(a)
            for v in s.params.values() if isinstance(s, Let) else ():
                for x in _size_vars(v):
                    self.uses[x] = 2
            for b in blocks(s):
                self.count_uses(b.body)
                for a in b.results:
                    self.use(a)

    def use(self, a: Any) -> None:
        if isinstance(a, Var):
            self.uses[a] = self.uses.get(a, 0) + 1


def defined_in_order(body: Iterable[Statement]) -> list[Var]:
    return [v for s in body for v in outputs(s)]


def _size_vars(value: Any) -> list[Var]:
    if isinstance(value, dims.Dim):
        return [x.var for x in dims.symbols(value) if x.var is not None]
    if isinstance(value, tuple):
        return [x for v in value for x in _size_vars(v)]
    return []
