"""Counts the passes of while loops first: the derivative in compiled code then knows how many
arrays it will save, where it would append each of them to a list.

while d > tol: x = f(x)      becomes      n = 0
                                          while d > tol: x = f(x); n += 1
                                          for k in range(n): x = f(x)
"""

from __future__ import annotations

from tapeless.transforms.analysis.free_variables import defined_variables
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    blocks,
    statements,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.function_calls import acts

SHORT = 1 << 15  # elements that a pass has to do with: above, to count takes longer than to append


def count_passes(s: Statement, active: set[Var]) -> list[Statement]:
    """The statement, or two loops in its place where it carries arrays that a derivative needs."""
    if not isinstance(s, While) or not _saves_arrays(s, active):
        return [s]
    if any(map(_acts, blocks(s))) or any(map(_varies, blocks(s))) or _elements(s.body) > SHORT:
        return [s]
    passes, pass_count, index = (Var(INT, name) for name in ("passes", "passes", "_"))
    passes.size = dims.symbol("passes", 0, passes)  # not negative
    test, _ = refresh(s.test)
    body, _ = refresh(s.body)
    b = builder.Builder()
    with builder.building(b):
        more = add(pass_count, 1)
    outs = tuple(Var(v.type, v.name) for v in s.outs)
    count = While(
        (passes, *outs),
        (atom(0), *s.inits),
        Block((Var(INT, "passes"), *test.params), test.body, test.results),
        Block((pass_count, *body.params), (*body.body, *b.blocks[0]), (more, *body.results)),
        s.origin,
    )
    inner = Block((index, *s.body.params), s.body.body, s.body.results)
    return [count, For(s.outs, atom(0), passes, atom(1), s.inits, inner, origin=s.origin)]


def _saves_arrays(s: While, active: set[Var]) -> bool:
    return any(
        v in active and isinstance(v.type, Type) and v.type.shape and v.type.differentiable
        for v in s.outs
    )


def _acts(block: Block) -> bool:
    """Whether a pass must not be made twice."""
    inner = (t for t in statements(block) if not (isinstance(t, Effect) and t.kind == "check"))
    return acts(Block((), tuple(t for t in inner if not blocks(t)), ()))


def _varies(block: Block) -> bool:
    """Whether there are lengths that differ from pass to pass: they have names in one loop only."""
    kinds = [v.type for v in (*block.params, *defined_variables(block))]
    return any(not x.given and x.var is None for x in sizes_in(kinds))


def _elements(body: Block) -> int:
    """How many elements a pass makes and reads in the call that is staged."""
    value = getattr(builder.current(), "value", lambda size: size if type(size) is int else None)
    lets = [s for s in statements(body) if isinstance(s, Let)]
    kinds = [a.type for s in lets for a in (*s.args, *s.outs) if isinstance(a.type, Type)]
    return sum(value(dims.product(t.shape)) or 0 for t in kinds if t.shape)
