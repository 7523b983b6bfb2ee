"""Finds the names that only ever hold Python or NumPy scalars, so that `x += y` cannot change an
array.

A 0-dimensional array is none: those come in as arguments, and out of np.where, np.array and copies.
"""

from __future__ import annotations

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Type,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.reductions import amax, amin, mean, prod
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.slices_and_gathers import index

SCALAR_RESULTS = frozenset({shapes.sum, mean, prod, amax, amin, matmul})


def plain_scalars(block: Block, names: dict[Var, str]) -> set[str]:
    finder = _Finder(names)
    for p in block.params:
        if not _is_python(p):
            finder.arrays.add(names.get(p, ""))
    finder.block(block)
    while True:  # a name that is set from another one holds what that one holds
        more = {to for to, source in finder.copies if source in finder.arrays} - finder.arrays
        if not more:
            return set(names.values()) - finder.arrays
        finder.arrays |= more


def _is_python(a: Atom) -> bool:
    return isinstance(a.type, Type) and a.type.weak


class _Finder:
    def __init__(self, names: dict[Var, str]) -> None:
        self.names = names
        self.arrays: set[str] = set()  # names that may hold an array
        self.copies: set[tuple[str, str]] = set()
        self.lets: dict[Var, Let | If] = {}

    def block(self, block: Block) -> None:
        for s in block.body:
            for b in blocks(s):
                self.block(b)
            match s:
                case Let():
                    self.let(s)
                case If(outs=outs, then=then, orelse=orelse):
                    for v in outs:
                        self.lets[v] = s
                    self.flow(outs, then.results)
                    self.flow(outs, orelse.results)
                case For():
                    self.flow(s.carries, s.inits)
                    self.flow(s.carries, s.yields)
                    self.flow(s.outs, s.carries)
                case While():
                    for params in (s.body.params, s.test.params):
                        self.flow(params, s.inits)
                        self.flow(params, s.body.results)
                    self.flow(s.outs, s.body.params)
                case Effect():
                    continue
            for v in outputs(s):
                if not isinstance(v.type, Type) or v.type.shape:
                    self.arrays.add(self.names.get(v, ""))

    def let(self, s: Let) -> None:
        for v in s.outs:
            self.lets[v] = s
            if not self.scalar(v):
                self.arrays.add(self.names.get(v, ""))

    def scalar(self, v: Atom) -> bool:
        """Whether a value is computed by something that gives no array."""
        s = self.lets.get(v) if isinstance(v, Var) else None
        if _is_python(v):
            return True
        if not isinstance(s, Let) or not isinstance(v.type, Type) or v.type.shape:
            return False
        return (
            (s.op.elementwise and s.op is not select)
            or s.op in SCALAR_RESULTS
            or (s.op is index and bool(s.params["key"]))
        )

    def flow(self, outs: tuple[Var, ...], values: tuple[Atom, ...]) -> None:
        for v, a in zip(outs, values, strict=True):
            if not isinstance(a, Var):
                continue
            if a in self.names:  # also of a Python number: its first value may be an array
                self.copies.add((self.names.get(v, ""), self.names[a]))
            elif not self.scalar(a):
                self.arrays.add(self.names.get(v, ""))
