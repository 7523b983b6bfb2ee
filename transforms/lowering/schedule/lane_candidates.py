"""Finds loops over a batch that may take several elements at a time, in step.

for i: while x > 1: x = sin(x)      yes: an element that is done can wait, and sines are for vectors

Whoever waits computes, too, and forgets it: nothing in the inner loops may raise, or read or store
elsewhere than in stacks. It pays where a pass takes long, be it that one step waits for the result
of the one before: elements make different numbers of passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    statements,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array
from tapeless.transforms.lowering.schedule.stack_capacity import of_numbers
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import left_shift, right_shift
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.ops.primitives.new_arrays import new_stack
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import index, update
from tapeless.transforms.ops.primitives.stacks import POPS, push
from tapeless.transforms.optimize.loop_carries import carries

#: Operations that may raise, or take a branch, where integers are divided.
RAISING = frozenset([floordiv, mod, power, left_shift, right_shift])


def in_step(memory: Dependences, s: For) -> bool:
    """Whether the elements of a loop over a batch can be taken some at a time, and it pays."""
    whole = s.reverse or s.until or s.count is not None or not _is(s.step, 1)
    if not s.each or whole or not s.carries:
        return False
    if not all(is_array(p) and memory.in_place(s, k) for k, p in enumerate(s.carries)):
        return False
    body = [t for t in s.body.body if not is_blank(t)]
    loops = [t for t in body if isinstance(t, (For, While))]
    inside = [u for t in loops for b in bodies(t) for u in statements(b)]
    pays = _costs(inside)
    fits = all(_loop(t) if isinstance(t, (For, While)) else _straight(t) for t in body)
    return pays and fits and all(_stacks(memory, t, loops) for t in loops)


#: Operations with floats in a pass, from which on vectors are faster though most of a group waits:
#: each takes some four cycles of a processor that waits for it.
CHAIN = 4


def _costs(inside: list[Statement]) -> bool:
    """Whether passes take so long that vectors pay."""
    elementwise = [u for u in inside if isinstance(u, Let) and u.op.elementwise]
    floats = [
        u
        for u in elementwise
        if isinstance(u.outs[0].type, Type) and u.outs[0].type.dtype.kind == "f"
    ]
    return len(floats) >= CHAIN or any(u.op.costly for u in elementwise)


def bodies(s: For | While) -> tuple[Block, ...]:
    return (s.test, s.body) if isinstance(s, While) else (s.body,)


def is_blank(s: Statement) -> bool:
    return isinstance(s, Effect) and s.kind in ("blank", "errstate")


def _is(a: Atom, value: int) -> bool:
    return isinstance(a, Literal) and type(a.value) is int and a.value == value


def _number(t: Any) -> bool:
    return (
        isinstance(t, Type) and not t.shape and t.dtype in operations.DTYPES and t.dtype.kind != "c"
    )


def _straight(s: Statement) -> bool:
    """Whether a statement beside the loops is one for each element."""
    if isinstance(s, Let) and s.op in (index, update, new_stack):
        values = s.outs if s.op is not update else s.args[1:2]
        return all(_number(v.type) or of_numbers(v.type) for v in values)
    return _calm(s)


def _calm(s: Statement) -> bool:
    """Whether numbers are made of numbers, whatever they are."""
    if isinstance(s, If):
        sides = (*s.then.body, *s.orelse.body)
        return all(_number(v.type) for v in s.outs) and all(map(_calm, sides))
    if not isinstance(s, Let) or not all(_number(a.type) for a in (*s.args, *s.outs)):
        return is_blank(s)
    if not (s.op.elementwise or s.op in (cast, copy)) or not operations.has_scalar_form(s):
        return False
    out = s.outs[0].type
    if s.op in RAISING and (out.weak or out.dtype.kind != "f"):
        by = s.args[1]
        return isinstance(by, Literal) and by.value > 0
    return s.op is not truediv or not out.weak or isinstance(s.args[1], Literal)


def _loop(s: For | While) -> bool:
    if not all(_number(p.type) or of_numbers(p.type) for p in carries(s)):
        return False
    stacked = [p for p in carries(s) if isinstance(p.type, StackType)]
    moved = [t for t in s.body.body if _moves(t)]
    if len(moved) != len(stacked) or any(t.op not in _moves_of(s) for t in moved):  # type: ignore[union-attr]
        return False
    if isinstance(s, For) and not (_is(s.step, 1) and isinstance(s.start, Literal)):
        return False
    if isinstance(s, For) and s.reverse and (s.until or s.count is not None):
        return False
    return all(_calm(t) or _moves(t) for b in bodies(s) for t in b.body)


def _moves_of(s: For | While) -> tuple[Op, ...]:
    """What a loop does to stacks."""
    return POPS if isinstance(s, For) and s.reverse else (push,)


def _moves(s: Statement) -> bool:
    return isinstance(s, Let) and s.op in (push, *POPS)


def _stacks(memory: Dependences, s: For | While, loops: Sequence[Any]) -> bool:
    """Whether what a loop takes from stacks lies there since the same pass of another one."""
    for p, a in zip(carries(s), s.inits, strict=True):
        if not isinstance(p.type, StackType):
            continue
        maker = memory.defs.get(a) if isinstance(a, Var) else None
        if push in _moves_of(s):
            if not isinstance(maker, Let) or maker.op is not new_stack:
                return False
        elif maker not in loops or not _counts(memory, maker, s):
            return False
    return True


def _counts(memory: Dependences, pushing: Any, popping: Any) -> bool:
    """Whether a backward loop makes the passes of another one again."""
    stop = popping.stop
    if isinstance(pushing, For):
        same = pushing.start == popping.start and pushing.stop == stop and not pushing.until
        return not pushing.reverse and (same or (stop is pushing.count and _is(popping.start, 0)))
    if stop not in pushing.outs or not _is(popping.start, 0):
        return False
    k = pushing.outs.index(stop)
    p, next_count = pushing.body.params[k], memory.defs.get(pushing.body.results[k])
    match next_count:
        case Let(op=op, args=(left, right)) if op is add:
            return left is p and _is(right, 1) and _is(pushing.inits[k], 0)
    return False
