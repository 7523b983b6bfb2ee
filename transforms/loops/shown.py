"""Views that the driver makes, for what it reads and for lengths that only they show."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tapeless.transforms.core.language import Block, Let, Var, outputs, statements
from tapeless.transforms.core.reads import sizes_in
from tapeless.transforms.loops.memory import Memory
from tapeless.transforms.loops.views import is_view


def shown(
    views: Iterable[Let], wanted: Collection[Var], inside: Collection[Var], memory: Memory
) -> list[Let]:
    """The views among the statements of a kernel that the driver needs, and can make: what is
    `inside` the kernel it has only where that is `wanted`."""
    have = set(wanted)
    possible: list[Let] = []
    for s in views:
        v = s.outs[0]
        if v not in wanted and shows_a_size(v) and not is_view(s):
            continue  # a constant, whose length something else shows
        if v in wanted or not (memory.needs(s) & set(inside)) - have:
            possible.append(s)
            have.add(v)
    needed = set(wanted)
    kept: list[Let] = []
    for s in reversed(possible):
        if s.outs[0] in needed or shows_a_size(s.outs[0]):
            kept.append(s)
            needed |= memory.needs(s)
    return kept[::-1]


def measures(block: Block) -> bool:
    """Whether a program has such lengths: what shows them must stay where it is."""
    return any(shows_a_size(v) for s in statements(block) for v in outputs(s))


def shows_a_size(v: Var) -> bool:
    """Whether a value has a length that is measured when the program runs."""
    return any(x.var is None and not x.given for x in sizes_in(v.type))
