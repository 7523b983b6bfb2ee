"""Names the variables of emitted code.

x = a; while x < 9: y = x * x; x = y      becomes      while x < 9: x = x * x

Values that hold the same thing at different times (a loop variable before and after a pass, an
array before and after a store) share a name. A name of the user is kept for what the user called
so.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tapeless.transforms.core.language import Atom, Block, For, If, Let, Var, While, statements
from tapeless.transforms.core.user_names import of_user, readable
from tapeless.transforms.emit.interference import Lifetimes
from tapeless.transforms.ops.primitives.slices_and_gathers import gather, index

PARTS = {index, gather}  # operations that give parts of an array
INDICES = "ijklm"  # of loops that have no variable of the user


class Naming:
    """Groups of variables that share a name."""

    def __init__(self, block: Block, folded: Mapping[Var, Any], sizes: Mapping[Any, Any]) -> None:
        self.lifetimes = Lifetimes(block, folded, sizes)
        self.order = dict.fromkeys(map(self.lifetimes.representative, self.lifetimes.order))
        self.group: dict[Var, Var] = {v: v for v in self.order}
        self.members: dict[Var, list[Var]] = {v: [v] for v in self.order}
        self.rivals = {v: set(self.lifetimes.rivals.get(v, ())) for v in self.order}
        self.keep_parameters(block)
        self.label: dict[Var, str] = {v: v.name for v in self.order}
        for v, stands in self.lifetimes.same.items():
            self.members[stands].append(v)
            self.label[stands] = self.label[stands] or v.name
        self.wanted = {v.name for v in self.lifetimes.order}
        self.ends: list[tuple[Var, Var]] = []  # results of blocks, and what they become
        for a, b in self.wishes(block):
            self.unite(a, b)

    def keep_parameters(self, block: Block) -> None:
        """A parameter keeps its name from its parts: x = x[mask] would read as a new x."""
        for s in statements(block):
            if isinstance(s, Let) and s.op in PARTS and s.args[0] in block.params:
                part, whole = (self.lifetimes.representative(v) for v in (s.outs[0], s.args[0]))  # type: ignore[arg-type]
                if part in self.rivals and whole is not part:
                    self.rivals[part].add(whole)

    def wishes(self, block: Block) -> Iterator[tuple[Var, Var]]:
        """Pairs that should share a name: with most passes first."""
        later = []
        for s in reversed(list(statements(block))):
            match s:
                case Let(outs=(v,), args=args) if not s.op.inplace:
                    same = [a for a in args if isinstance(a, Var) and a.name and a.name == v.name]
                    later += [(a, v) for a in same]
                case If():
                    arm_variables = {v for b in (s.then, s.orelse) for t in b.body for v in t.outs}
                    for v, *sides in zip(s.outs, s.then.results, s.orelse.results, strict=True):
                        self.ends += _pairs(sides, v)
                        yield from _pairs(sorted(sides, key=arm_variables.__contains__), v)
                case For(carries=carries) | While(body=Block(params=carries)):
                    yields = s.yields if isinstance(s, For) else s.body.results
                    for p, init, y in zip(carries, s.inits, yields, strict=True):
                        self.ends += _pairs([y], p)
                        yield from _pairs([y], p)
                        yield from _pairs([init], p)
        yield from reversed(later)

    def find(self, v: Var) -> Var | None:
        return self.group.get(self.lifetimes.representative(v))

    def unite(self, x: Var, y: Var) -> None:
        a, b = self.find(x), self.find(y)
        if a is None or b is None or a is b or self.interfere(a, b):
            return
        if self.label[a] and self.label[b] and self.label[a] != self.label[b]:
            return
        for m in self.members[b]:
            self.group[m] = a
        self.members[a] += self.members.pop(b)
        self.rivals[a] |= self.rivals.pop(b)
        self.label[a] = self.label[a] or self.label.pop(b)

    def interfere(self, a: Var, b: Var) -> bool:
        """Whether two groups are needed at the same time."""
        return not (
            self.rivals[a].isdisjoint(self.members[b])
            and self.rivals[b].isdisjoint(self.members[a])
        )

    def clash(self, some: Iterable[Var], others: Iterable[Var]) -> bool:
        """Whether one of some variables is needed at the same time as one of others."""
        roots = [{r for v in each if (r := self.find(v)) is not None} for each in (some, others)]
        return any(a is b or self.interfere(a, b) for a in roots[0] for b in roots[1])

    def renamed_at_end(self) -> Iterator[Var]:
        """What is computed in a block under one name, and at its end gets another."""
        return (y for y, p in self.ends if self.find(y) is not self.find(p))

    def names(self, reserved: set[str]) -> dict[Var, str]:
        named: dict[Var, str] = {}
        rivals: dict[str, set[Var]] = {}  # of what has the name
        for root in dict.fromkeys(map(self.group.__getitem__, self.order)):
            members = self.members[root]
            names_of_rivals = {*map(named.get, self.rivals[root])}
            for name in self.candidates(root):
                if name in names_of_rivals or name in reserved or keyword.iskeyword(name):
                    continue
                if rivals.setdefault(name, set()).isdisjoint(members):
                    break
            rivals[name] |= self.rivals[root]
            named |= dict.fromkeys(members, name)
        return named

    def candidates(self, root: Var) -> Iterator[str]:
        stem = self.stem(root)
        stems = [stem] if stem != "_" else [i for i in INDICES if i not in self.wanted] or ["i"]
        return itertools.chain(stems, (f"{stems[0]}_{k}" for k in itertools.count(2)))

    def stem(self, root: Var) -> str:
        wanted = [v.name for v in self.members[root] if v.name.isidentifier()]
        name = next(filter(of_user, wanted), "") or next(iter(wanted), "t")
        return readable(name)


def _pairs(values: list[Atom], v: Var) -> list[tuple[Var, Var]]:
    return [(a, v) for a in values if isinstance(a, Var)]
