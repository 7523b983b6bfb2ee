"""Finds variables that may be undefined, and need a value only because a statement must return one.

if c: y = 1.0; else: (y unset)
z = y                                    needs      y = None in the other branch
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
    outputs,
    statements,
)
from tapeless.transforms.core.uses import sizes_in, written_params
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
#: Operations that take what has no value.
TAKING = (bundle, size_if_set, length_if_set, *NONE_OF_NONE)


Reads = Callable[[Statement | Block], Iterable[Atom]]


def copied_unset(block: Block) -> set[Var]:
    """Variables that one side of a branch, or a loop without passes, leaves unset, and that are
    handed on where that may have happened: they need a value, though nobody looks at it."""
    return _unset_where(block, _handed_on)


def unset_sizes(block: Block) -> set[Var]:
    """Lengths that one side of a branch, or a loop without passes, leaves unset, and that arrays
    are made with where that may have happened, though nobody looks at these."""
    return _unset_where(block, _lengths)


def _unset_where(block: Block, reads: Reads) -> set[Var]:
    """Variables that may be unset where they are read."""
    sources: dict[Var, tuple[Var | None, Atom | None, int]] = {}  # to what is assigned: test, side
    unset: set[Var] = set()

    def read(by: Statement | Block, guards: frozenset[tuple[Atom, int]]) -> None:
        for a in reads(by):
            if isinstance(a, Var) and a in sources:
                name, test, side = sources[a]
                if test is None or (test, side) not in guards:
                    unset.add(a if name is None else name)

    def walk(b: Block, guards: frozenset[tuple[Atom, int]]) -> None:
        for s in b.body:
            inits = s.inits if isinstance(s, (For, While)) else ()
            read(s, guards)
            for p, init in zip(_carries_of(s), inits, strict=True):
                if is_undefined(init) or init in sources:
                    sources[p] = (p, None, 0)  # in the first pass
            for k, inner in enumerate(blocks(s)):
                walk(inner, guards | {(s.test, k)} if isinstance(s, If) else guards)
            match s:
                case If():
                    for k, v in enumerate(s.outs):
                        for side, inner in enumerate((s.then, s.orelse)):
                            a = inner.results[k]
                            if is_undefined(a) or a in sources:
                                sources[v] = (v, s.test, 1 - side)
                case For() | While():
                    runs = isinstance(s, For) and _runs(s)
                    for v, p, init in zip(s.outs, _carries_of(s), inits, strict=True):
                        if (is_undefined(init) or init in sources) and not runs:
                            sources[v] = (p, None, 0)
        read(b, guards)

    walk(block, frozenset())
    return unset


def _handed_on(by: Statement | Block) -> tuple[Atom, ...]:
    """What a statement takes whether it has a value or not, and the results of a block."""
    match by:
        case Block():
            return by.results
        case For() | While():
            return by.inits
        case Let() if by.op in TAKING or is_call(by):
            return by.args
    return ()


def _lengths(by: Statement | Block) -> list[Var]:
    """The lengths in variables that a statement makes arrays with."""
    sizes = sizes_in(tuple(written_params(by).values())) if isinstance(by, Let) else ()
    return [size.var for size in sizes if isinstance(size.var, Var)]


def _carries_of(s: Statement) -> tuple[Var, ...]:
    """What loops carry from pass to pass."""
    match s:
        case For():
            return s.carries
        case While():
            return s.body.params
    return ()


def may_lack(block: Block, partial: Iterable[Var] = ()) -> set[Var]:
    """What may have no value where a branch, or a loop, hands it on, or where it comes from a tape
    or an argument: also what is made of those that are `partial`."""
    undefined = {*partial, *(v for v in _variables(block) if v.partial)}
    handed = [pair for s in statements(block) for pair in _assignments(s)]
    while more := {
        v for v, a in handed if v not in undefined and (is_undefined(a) or a in undefined)
    }:
        undefined |= more
    return undefined


def _variables(block: Block) -> Iterator[Var]:
    yield from block.params
    for s in statements(block):
        yield from outputs(s)
        for b in blocks(s):
            yield from b.params


def _assignments(s: Statement) -> Iterator[tuple[Var, Atom]]:
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
