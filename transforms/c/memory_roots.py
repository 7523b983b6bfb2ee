"""Finds the variable whose memory an array or a list of a driver is in: what is stored to keeps its
place, also from pass to pass of a loop, and in either branch.

y = x; for t in range(n): y[t] = 1      gives      y is in the memory of x
"""

from __future__ import annotations

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update
from tapeless.transforms.ops.primitives.stacks import CHANGING

STORES = frozenset([update, add_at, *CHANGING])


class MemoryRoots:
    """Those of a program. Its kernels rely on them: they are told to store to the root."""

    def __init__(self, block: Block) -> None:
        self.makers: dict[Var, tuple[Statement, int]] = {}
        self.carried: dict[Var, list[tuple[For | While, int]]] = {}
        for s in statements(block):
            for k, v in enumerate(outputs(s)):
                self.makers[v] = s, k
            if isinstance(s, (For, While)):
                for b in blocks(s):
                    params = b.params[len(b.params) - len(s.inits) :]
                    for k, v in enumerate(params):
                        self.carried.setdefault(v, []).append((s, k))
        self.kept: dict[tuple[int, int], bool] = {}
        self.roots: dict[Var, Var | None] = {}  # as long as what `kept` supposes holds

    def root_of(self, a: Atom) -> Var | None:
        """The variable whose memory a value is in; None of a constant."""
        if not isinstance(a, Var):
            return None
        if a not in self.roots:
            root = self.find_root(a)
            self.roots[a] = root
        return self.roots[a]

    def find_root(self, a: Var) -> Var | None:
        """The same, by what makes the value."""
        for loop, k in self.carried.get(a, ()):
            return self.root_of(loop.inits[k]) if self.in_place(loop, k) else a
        match self.makers.get(a):
            case Let(op=op, args=(old, *_)), 0 if op in STORES:
                return self.root_of(old)
            case (For() | While()) as loop, k if k < len(loop.inits):
                return self.root_of(loop.inits[k]) if self.in_place(loop, k) else a
            case If() as s, k:
                then, orelse = (self.root_of(b.results[k]) for b in (s.then, s.orelse))
                return then if then is not None and then is orelse else a
        return a

    def in_place(self, loop: For | While, k: int) -> bool:
        """Whether what passes hand on stays where it is before the first pass: it does if that
        follows from itself."""
        key = id(loop), k
        if key not in self.kept:
            self.kept[key] = True
            before = dict(self.kept)
            results = loop.body.results[len(loop.body.results) - len(loop.inits) :]
            root = self.root_of(loop.inits[k])
            if root is None or self.root_of(results[k]) is not root:
                self.kept = before
                self.kept[key] = False
                self.roots.clear()
        return self.kept[key]
