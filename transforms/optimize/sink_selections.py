"""Sinks numbers that a test chooses into the branch by the same test, where they are computed once.

if m: r_bar = 2 * s                          if m:
else: r_bar = 0.0                                t_bar = 2 * s / r
x_bar = r_bar / r * x if m else 0.0   becomes    x_bar, y_bar = t_bar * x, t_bar * y
y_bar = r_bar / r * y if m else 0.0          else: x_bar = y_bar = 0.0

Only numbers that are computed of a result of the branch, and from what is there before it.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(sink_selections, '''
... (m: b1, r: f8, x: f8):
...     r_bar = if m:
...         a = mul(2.0, x)
...         yield a
...     else:
...         yield 0.0
...     b = truediv(r_bar, r)
...     x_bar = select(m, b, 0.0)
...     return x_bar
... '''))
(m: b1, r: f8, x: f8):
    r_bar, x_bar = if m:
        a: f8 = mul(2.0, x)
        b: f8 = truediv(a, r)
        yield a, b
    else:
        yield 0.0, 0.0
    return x_bar
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tapeless.transforms.core.language import (
    Atom,
    Block,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.selection import select


def sink_selections(block: Block) -> Block:
    """The block with selections in branches; the block itself if none is."""
    body = tuple(map(_sink_in_blocks, block.body))
    if any(new is not old for new, old in zip(body, block.body, strict=True)):
        block = replace(block, body=body)
    if not any(isinstance(s, Let) and s.op is select for s in body):
        return block
    for s in body:
        if isinstance(s, If) and s.outs:
            block = _sink_into(block, s)
    return block


def _sink_in_blocks(s: Statement) -> Statement:
    new = with_blocks(s, sink_selections)
    same = all(a is b for a, b in zip(blocks(s), blocks(new), strict=True))
    return s if same else new


def _sink_into(block: Block, branch: If) -> Block:
    """The block with the selections by the test of this branch in it."""
    later = block.body[block.body.index(branch) + 1 :]
    movable = _movable(later, branch)
    chosen = [s for s in movable if _side(s, branch) is not None]
    if not chosen:
        return block
    uses = reads_of(block)
    for side in (True, False):
        chosen_here = [s for s in chosen if _side(s, branch) is side]
        moved = _closure(movable, chosen_here, uses)
        if any(set(s.args) & set(branch.outs) for s in moved):
            return _with_moved(block, branch, moved, [s for s in moved if s in chosen_here], side)
    return block


def _movable(later: Sequence[Statement], branch: If) -> list[Let]:
    """Arithmetic of numbers after a branch that needs nothing else that comes after it."""
    after = {v for s in later for v in outputs(s)}
    movable = []
    for s in later:
        if isinstance(s, Let) and _is_arithmetic(s) and not after.intersection(s.args):
            movable.append(s)
            after -= set(s.outs)
    return movable


def _is_arithmetic(s: Let) -> bool:
    return s.op.elementwise and s.op.pure and all(map(_is_number, (*s.outs, *s.args)))


def _is_number(a: Atom) -> bool:
    return isinstance(a.type, Type) and not a.type.shape


def _side(s: Let, branch: If) -> bool | None:
    """The side of the branch on which a selection is not zero; None if it is no such selection."""
    if s.op is not select or s.args[0] != branch.test or s.outs[0].type.dtype.kind != "f":
        return None
    _, a, b = s.args
    if is_number(b, 0) and a.type == s.outs[0].type:
        return True
    return False if is_number(a, 0) and b.type == s.outs[0].type else None


def _closure(movable: list[Let], chosen: list[Let], uses: Counter[Var]) -> list[Let]:
    """Selections, and what is computed for them only; none that needs anything else."""
    while True:
        inside = set(chosen)
        for s in reversed(movable):
            reads = Counter(a for t in inside for a in t.args if isinstance(a, Var))
            if s not in inside and 0 < uses[s.outs[0]] == reads[s.outs[0]]:
                inside.add(s)
        outside = {v for s in movable if s not in inside for v in s.outs}
        last_first = [s for s in reversed(movable) if s in inside]
        held = [s for s in chosen if not outside & _needs(s, last_first)]
        if held == chosen:
            return [s for s in movable if s in inside]
        chosen = held


def _needs(s: Let, inside: Iterable[Let]) -> set[Atom]:
    """What a selection is computed from, by statements of which the last comes first."""
    needs: set[Atom] = set(s.args)
    for t in inside:
        if needs.intersection(t.outs):
            needs |= set(t.args)
    return needs


def _with_moved(block: Block, branch: If, moved: list[Let], chosen: list[Let], side: bool) -> Block:
    """The block with statements at the end of one side of a branch, which gives the selections."""
    taken_side = branch.then if side else branch.orelse
    values = {v: _with_type_of(a, v) for v, a in zip(branch.outs, taken_side.results, strict=True)}
    values |= {s.outs[0]: s.args[1 if side else 2] for s in chosen}
    inner = Block((), tuple(s for s in moved if s not in chosen), tuple(s.outs[0] for s in chosen))
    for _ in chosen:  # one selection may be computed from another
        inner = substitute(inner, values)
    zeros = tuple(Literal(0.0, s.outs[0].type) for s in chosen)
    here = replace(
        taken_side,
        body=(*taken_side.body, *inner.body),
        results=(*taken_side.results, *inner.results),
    )
    other = branch.orelse if side else branch.then
    other = replace(other, results=(*other.results, *zeros))
    then, orelse = (here, other) if side else (other, here)
    outs = (*branch.outs, *(s.outs[0] for s in chosen))
    new = replace(branch, outs=outs, then=then, orelse=orelse)
    body = [new if s is branch else s for s in block.body if s not in moved]
    return replace(block, body=tuple(body))


def _with_type_of(a: Atom, v: Var) -> Atom:
    """What a branch gives for a variable, with the type of that."""
    return Literal(a.value, v.type) if isinstance(a, Literal) and isinstance(v.type, Type) else a
