"""Finds the numbers to which each pass of a loop adds, so that the sum may be made in any order.

for x in xs: s = s + x * x      becomes      for i in range(n): s = plus_product(s, x[i], x[i])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tapeless.transforms.core.language import (
    Atom,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    blocks,
)
from tapeless.transforms.core.language import statements as all_statements
from tapeless.transforms.ops.primitives.arithmetic import add, sub

PLUS = '''
@njit(fastmath={"reassoc", "contract"})
def plus(a, b):
    """a + b; a loop that adds up in this way may do so in any order."""
    return a + b
'''


MULTIPLIED = '''
@njit(fastmath={"reassoc", "contract"})
def plus_product(total, a, b):
    """total + a * b; a loop that adds up in this way may do so in any order."""
    return total + a * b
'''


#: The same for sums that are to be added up as they are written.
IN_ORDER = {
    text.strip(): text.strip()
    .replace('@njit(fastmath={"reassoc", "contract"})', "@njit")
    .replace("; a loop that adds up in this way may do so in any order", "")
    for text in (PLUS, MULTIPLIED)
}

Totals = dict[Let, int]  # sums and differences, and which operand is the total so far


def totals(statements: Iterable[Statement], uses: Mapping[Var, int]) -> Totals:
    """The sums in innermost loops that nothing reads before the last pass."""
    sums: Totals = {}
    for s in statements:
        if isinstance(s, For) and not s.until and not any(map(is_loop, all_statements(s.body))):
            definitions = {v: t for t in s.body.body if isinstance(t, Let) for v in t.outs}
            for p, y in zip(s.carries, s.yields, strict=True):
                if isinstance(p.type, Type) and not p.type.shape and p.type.dtype.kind in "fc":
                    sums |= _terms(p, y, definitions, uses) or {}
        for b in blocks(s):
            sums |= totals(b.body, uses)
    return sums


def is_loop(s: Statement) -> bool:
    return isinstance(s, (For, While))


def _terms(
    p: Var, y: Atom, definitions: Mapping[Var, Let], uses: Mapping[Var, int]
) -> Totals | None:
    """The sums that lead from what a pass starts with to what it leaves; None if others read them,
    or something else is done on the way."""
    if not isinstance(y, Var) or uses.get(y) != 1:
        return None
    if y is p:
        return {}
    s = definitions.get(y)
    if s is None or s.op not in (add, sub) or y.type.dtype != p.type.dtype:
        return None
    for k in (0, 1) if s.op is add else (0,):
        if (before := _terms(p, s.args[k], definitions, uses)) is not None:
            return {s: k, **before}
    return None
