"""Rematerialises values between products: they are computed before a product and after it, and not
kept meanwhile.

t = a + b; y = maximum(t, 0); z = y @ w; s = z * (t > 0)
    becomes      t = a + b; y = maximum(t, 0); z = y @ w; u = a + b; s = z * (u > 0)

The derivative of a layer reads what the layer was made of, which is there anyway: less is written,
read and kept. Only of few cheap operations, which give the same numbers again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeGuard

from tapeless.transforms.core.language import Atom, Block, Let, Statement, Var
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.lowering.optimize.library_calls import CallPositions, of_elements
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.lowering.schedule.loop_nests import takes_long

MOST = 4  # operations that are done again


def rematerialize(block: Block) -> Block:
    """The block; what loops and branches in it do stays as it is."""
    if sum(map(is_apart, block.body)) < 2:
        return block
    body, copied = list(block.body), set[Var]()
    while True:
        program = _Twice(body, block.results)
        for s in body:
            if is_cheap(s) and s.outs[0] not in copied:
                program.make_twice(s)
        if not program.copies:
            return replace(block, body=tuple(body))
        body = program.with_copies()
        copied |= {t.outs[0] for copies in program.copies.values() for t in copies}


def is_cheap(s: Statement) -> TypeGuard[Let]:
    return of_elements(s) and not takes_long(s)


class _Twice(CallPositions):
    """The statements of a block, of which some are done again.

    copies   what is done again, by the place that it comes before
    renamed  what statements read instead, by their places
    changed  places of statements that read something else, or are read by others: what is known of
             them is not so any more
    """

    def __init__(self, body: list[Statement], results: Iterable[Atom]) -> None:
        super().__init__(body, results)
        self.copies: dict[int, list[Let]] = {}
        self.renamed: dict[int, dict[Var, Var]] = {}
        self.changed: set[int] = set()

    def make_twice(self, s: Let) -> None:
        """Lets those read a copy of a value that come after the first product which needs it."""
        v = s.outs[0]
        readers = self.readers.get(v, [])
        first = min((self.end[k] for k in readers), default=len(self.body))
        late = [k for k in readers if self.start[k] >= first]
        if v in self.kept or not late or len(late) == len(readers):
            return
        chain = self.chain(v)
        leaves = {a for t in chain for a in t.args} - {t.outs[0] for t in chain}
        large = [a for a in leaves if getattr(a.type, "shape", ()) == v.type.shape]
        if not 0 < len(chain) <= MOST or len(large) > 1 or not leaves <= self.available(leaves):
            return
        concerned = {self.defs[a] for a in leaves if a in self.defs}
        concerned |= {*readers, *(self.defs[t.outs[0]] for t in chain)}
        if not self.changed.isdisjoint(concerned):
            return
        self.changed |= concerned
        names: dict[Var, Var] = {t.outs[0]: Var(t.outs[0].type, t.outs[0].name) for t in chain}
        repeated = [replace(t, outs=(names[t.outs[0]],)) for t in chain]
        copies: Any = substitute(Block((), tuple(repeated), ()), names).body
        self.copies.setdefault(late[0], []).extend(copies)
        for k in late:
            self.renamed.setdefault(k, {})[v] = names[v]

    def with_copies(self) -> list[Statement]:
        """The statements with the copies, in which those that come late read them."""
        body: list[Statement] = []
        for k, s in enumerate(self.body):
            body += self.copies.get(k, ())
            names = self.renamed.get(k)
            body.append(substitute(Block((), (s,), ()), names).body[0] if names else s)
        return body

    def available(self, leaves: set[Atom]) -> set[Atom]:
        """Those that are kept, or are no arrays of the program's own."""
        return {a for a in leaves if a in self.kept or a not in self.defs or not a.type.shape}

    def chain(self, v: Atom, most: int = MOST) -> list[Let]:
        """What makes a value out of what is there; more than `most` may lack some."""
        s = self.body[self.defs[v]]
        if v in self.kept or not is_cheap(s):
            return []
        chain: list[Let] = []
        for a in s.args:
            if a in self.defs and len(chain) <= most:
                chain += self.chain(a, most - len(chain) - 1)
        return [*dict.fromkeys(chain), s]
