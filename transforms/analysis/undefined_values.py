"""Which variables need a value that nobody looks at.

if c: y = 1.0; else: (y unset)
z = y                                    needs      y = None in the other branch
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    is_undefined,
    statements,
)
from tapeless.transforms.ops.primitives.axis_lengths import (
    batch_if_set,
    copy_if_set,
    length_if_set,
    size_if_set,
)
from tapeless.transforms.ops.primitives.function_calls import (
    bundle,
    is_call,
    repeat_tape,
    sum_tape,
)
from tapeless.transforms.ops.primitives.new_arrays import zero_tape

#: Operations that give None where they are given it.
NONE_OF_NONE = (copy_if_set, batch_if_set, zero_tape, repeat_tape, sum_tape)


def copied_unset(block: Block) -> set[Var]:
    """Variables that one side of a branch, or a loop without passes, leaves unset, and that are
    handed on where that may have happened: they need a value, though nobody looks at it."""
    sources: dict[Var, tuple[Var | None, Atom | None, int]] = {}  # to what is assigned: test, side
    unset: set[Var] = set()

    def hand_on(a: Atom, guards: frozenset[tuple[Atom, int]]) -> None:
        if isinstance(a, Var) and a in sources:
            name, test, side = sources[a]
            if test is None or (test, side) not in guards:
                unset.add(a if name is None else name)

    def walk(b: Block, guards: frozenset[tuple[Atom, int]]) -> None:
        for s in b.body:
            inits = s.inits if isinstance(s, (For, While)) else ()
            for a in (*inits, *_packed(s)):
                hand_on(a, guards)
            for p, init in zip(_carried(s), inits, strict=True):
                if is_undefined(init):
                    sources[p] = (p, None, 0)  # in the first pass
            for k, inner in enumerate(blocks(s)):
                walk(inner, guards | {(s.test, k)} if isinstance(s, If) else guards)
            match s:
                case If():
                    for k, v in enumerate(s.outs):
                        for side, inner in enumerate((s.then, s.orelse)):
                            if is_undefined(inner.results[k]):
                                sources[v] = (v, s.test, 1 - side)
                case For() | While():
                    runs = isinstance(s, For) and _runs(s)
                    for v, p, init in zip(s.outs, _carried(s), inits, strict=True):
                        if is_undefined(init) and not runs:
                            sources[v] = (p, None, 0)
        for a in b.results:
            hand_on(a, guards)

    walk(block, frozenset())
    return unset


def _carried(s: Statement) -> tuple[Var, ...]:
    """What loops carry from pass to pass."""
    match s:
        case For():
            return s.carries
        case While():
            return s.body.params
    return ()


def _packed(s: Statement) -> tuple[Atom, ...]:
    """What a statement takes whether it has a value or not."""
    taking = (bundle, size_if_set, length_if_set, *NONE_OF_NONE)
    return s.args if isinstance(s, Let) and (s.op in taking or is_call(s)) else ()


def may_lack(block: Block, partial: Iterable[Var] = ()) -> set[Var]:
    """What may have no value where a branch, or a loop, hands it on: also what is made of those
    that are `partial`."""
    undefined = set(partial)
    handed = [pair for s in statements(block) for pair in _handed(s)]
    while more := {
        v for v, a in handed if v not in undefined and (is_undefined(a) or a in undefined)
    }:
        undefined |= more
    return undefined


def _handed(s: Statement) -> Iterator[tuple[Var, Atom]]:
    """What branches and loops set their variables to, and what is None where its argument is."""
    match s:
        case Let() if s.op in NONE_OF_NONE:
            yield s.outs[0], s.args[0]
        case If():
            for side in blocks(s):
                yield from zip(s.outs, side.results, strict=True)
        case For() | While():
            names = [s.carries] if isinstance(s, For) else [b.params for b in blocks(s)]
            yields = s.yields if isinstance(s, For) else s.body.results
            for targets in (*names, s.outs):
                if targets is not s.outs or isinstance(s, While) or not _runs(s):
                    yield from zip(targets, s.inits, strict=True)
                yield from zip(targets, yields, strict=True)


def _runs(s: For) -> bool:
    """Whether a loop is sure to make a pass."""
    bounds = [a.value for a in (s.start, s.stop, s.step) if isinstance(a, Literal)]
    return len(bounds) == 3 and bool(range(*bounds))
