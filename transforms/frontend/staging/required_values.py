"""Decides which inputs, lengths and loops must be known for a value that Python needs."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.errors import NeedStaticError
from tapeless.transforms.frontend.source.positions import where_of
from tapeless.transforms.frontend.staging.parameters import Leaf
from tapeless.transforms.frontend.trace.decisions import Decisions
from tapeless.transforms.frontend.trace.recorded_reads import Captured
from tapeless.transforms.frontend.trace.trace import Trace

SEVERAL = 8  # integers of one argument
ALIKE = 2  # lengths of arrays that have the same place in the items of a list
TABLE = 4096  # elements of an array from outside that is compared at each call


def resolve(need: NeedStatic, run: Trace, leaves: list[Leaf], decisions: Decisions) -> None:
    """Decides which inputs or loops must be known for `need`; refuses what arrays contain."""
    sources = Sources(run, leaves, decisions, need)
    sources.follow()
    if sources.blame or not sources.progress():
        named = [v for v in (need.atom, *sources.blame) if isinstance(v, Var) and v.name]
        what = f"'{named[0].name}'" if named else "a value"
        error = NeedStaticError(
            f"{need.why}, but {what} depends on the contents of arrays",
            need.hint
            or "use np.where, a loop or an array operation, or pass the value as an int argument",
        )
        error.where = where_of(need)
        raise error from None
    decisions.leaves |= sources.inputs
    decisions.leaves |= _with_them(leaves, decisions.leaves)
    decisions.axes |= sources.axes
    decisions.axes |= _of_items_alike(leaves, decisions.axes)
    decisions.contents |= sources.contents
    decisions.unroll |= sources.loops
    if need.hint:
        decisions.hints[need.why] = need.hint


def _with_them(leaves: list[Leaf], indices: set[int]) -> set[int]:
    """Of an argument of which several integers must be known, one by one, the others."""
    several = Counter(_argument(leaves[k]) for k in indices)
    return {
        k
        for k, leaf in enumerate(leaves)
        if several[_argument(leaf)] >= SEVERAL
        and leaf.var is not None
        and leaf.var.type.dtype.kind in "iu"
        and not leaf.var.type.shape
    }


def _of_items_alike(leaves: list[Leaf], axes: set[tuple[Any, int]]) -> set[tuple[Any, int]]:
    """Of arrays that have the same place in the items of a list, and an axis that must be known of
    several, one by one: this axis of the others."""
    several = Counter((_place(leaves[k]), axis) for k, axis in axes if isinstance(k, int))
    return {
        (k, axis)
        for k, leaf in enumerate(leaves)
        if leaf.var is not None and "[" in leaf.name
        for axis in range(leaf.var.type.ndim)
        if several[_place(leaf), axis] >= ALIKE
    }


def _place(leaf: Leaf) -> str:
    """The name of a leaf without the numbers of items."""
    return re.sub(r"\[\d+\]", "[]", leaf.name)


def _argument(leaf: Leaf) -> str:
    """The name of the argument that a leaf is in."""
    return re.split(r"[.\[]", leaf.name, maxsplit=1)[0]


def _shape(v: Var) -> tuple[dims.Size, ...]:
    return v.type.shape if isinstance(v.type, Type) else ()


class Sources:
    """What a value comes from: what can be made known, and the `blame` that cannot."""

    def __init__(
        self, run: Trace, leaves: list[Leaf], decisions: Decisions, need: NeedStatic
    ) -> None:
        self.run, self.decisions, self.need = run, decisions, need
        self.by_var = {leaf.var: k for k, leaf in enumerate(leaves) if leaf.var is not None}
        self.loops: dict[Any, str] = {}
        self.inputs: set[int] = set()
        self.axes: set[tuple[int, int]] = set()
        self.contents: set[str] = set()
        self.blame: list[Any] = []
        self.left: list[Any] = [need.atom]

    def follow(self) -> None:
        seen: set[Any] = set()
        while self.left:
            a = self.left.pop()
            if isinstance(a, Var) and a not in seen:
                seen.add(a)
                self.variable(a)

    def variable(self, a: Var) -> None:
        if a in self.by_var:
            if a.type.shape or a.type.dtype.kind not in "iu":
                self.blame.append(a)
            else:
                self.inputs.add(self.by_var[a])
        elif a in self.run.parents:
            kind, key, sources = self.run.parents[a]
            if kind == "loop":
                self.loops[key] = self.need.why
            else:
                self.left += sources
        elif a in self.run.definitions:
            let = self.run.definitions[a]
            self.left += let.args
            if let.op is size_value:
                self.size(let.params["size"])
        elif (table := self.table(a)) is not None:
            self.contents.add(table)
        else:
            self.blame.append(a)

    def table(self, a: Var) -> str | None:
        """The name of what may as well be known from outside: an integer, or a table of them."""
        if a not in self.run.inputs:
            return None
        array = np.asarray(self.run.inputs[a])
        if array.dtype.kind not in "biu" or array.size > TABLE:
            return None
        tables = (r[0] for r in self.run.reads.values() if isinstance(r, tuple))
        captured = [c for c in tables if isinstance(c, Captured) and c.var is a]
        return next((c.name for c in captured if not on_gpu(c.array)), None)

    def size(self, s: dims.Size) -> None:
        for symbol in dims.symbols(s):
            if symbol in self.decisions.homes:
                k, axis = self.decisions.homes[symbol]
                if axis < 0 and isinstance(k, tuple):
                    self.contents.add(k[1])
                elif axis < 0:
                    self.inputs.add(k)
                else:
                    self.axes.add((k, axis))
            elif symbol.var is not None:
                self.left.append(symbol.var)
            else:
                self.left.append(self.maker(symbol))

    def maker(self, symbol: dims.Symbol) -> Any:
        """The first value that is as long: what decides its length decides this size."""
        recorded = (*self.run.definitions, *self.run.parents)
        makers = (v for v in recorded if any(symbol in dims.symbols(n) for n in _shape(v)))
        return next(makers, Var(self.need.atom.type, ""))

    def progress(self) -> bool:
        """Whether something is found that was not known before."""
        return bool(
            self.inputs - self.decisions.leaves
            or self.axes - self.decisions.axes
            or self.contents - self.decisions.contents
            or self.loops.keys() - self.decisions.unroll.keys()
        )
