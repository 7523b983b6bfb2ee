"""Which axes of a stored value NumPy may stretch, where only the program says how long they are.

y[a > 0] = b[b > 1]     the axis 0: of b there may be one element, which is then stored many times
y[a > 0] = b[a > 0]     none: the mask is the same
"""

from __future__ import annotations

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Var
from tapeless.transforms.ops.primitives.index_keys import Key, Slot, result_shape

DEEP = 20  # statements that are compared, or followed, behind each other


def stretched_axes(x: Atom, v: Atom, key: Key, rest: tuple[Atom, ...]) -> dict[int, int]:
    """The axes of v that may have one element where x[key] has more, and those of x[key]."""
    have = v.type.shape
    if not any(map(dims.symbols, have)):
        return {}
    target = result_shape(x.type.shape, key, rest)
    lead = len(target) - len(have)
    return {
        k: lead + k
        for k, n in enumerate(have)
        if lead + k >= 0 and _undecided(n, target[lead + k]) and not _same_part(x, v, n, key, rest)
    }


def _undecided(n: Size, part: Size) -> bool:
    """Whether neither the arguments nor a check of the program say that two lengths are equal."""
    if n == part or isinstance(n, int) or dims.at_least(n, 2):
        return False
    return not all(s.given or s.var is not None for s in dims.symbols(n - part))


def _same_part(x: Atom, v: Atom, n: Size, key: Key, rest: tuple[Atom, ...]) -> bool:
    """Whether the length n of v is that of a part that was read by the same key."""
    let: Let | None = None
    for _ in range(DEEP):
        let = defining_statement(v)
        longer = [a for a in (let.args if let else ()) if n in getattr(a.type, "shape", ())]
        if not longer:
            break
        v = longer[0]
    if let is None or let.params.get("key") != key or len(let.args) != len(rest) + 1:
        return False
    of_places = all(isinstance(e, Slot) for e in key)  # which alone say how many there are
    return (of_places or let.args[0].type.shape == x.type.shape) and all(
        _same_value(a, b, DEEP) for a, b in zip(let.args[1:], rest, strict=True)
    )


def _same_value(a: Atom, b: Atom, deep: int) -> bool:
    """Whether two values are computed in the same way."""
    if a == b or not (isinstance(a, Var) and isinstance(b, Var)):
        return a == b
    s, t = defining_statement(a), defining_statement(b)
    if not deep or s is None or t is None or s.op is not t.op or not s.op.pure:
        return False
    if s.params != t.params or len(s.args) != len(t.args) or s.outs.index(a) != t.outs.index(b):
        return False
    return all(_same_value(p, q, deep - 1) for p, q in zip(s.args, t.args, strict=True))
