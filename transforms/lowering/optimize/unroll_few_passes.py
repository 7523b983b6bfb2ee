"""Writes out loops of few passes that add up arrays element by element: kernels make them in one.

for k in range(2): y = y + w[k] * x[k : n + k]      becomes      y = y + w[0] * x[0:n]
                                                                 y = y + w[1] * x[1 : n + 1]

Each pass would read the sums from memory, and store them there.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(unroll_few_passes, '''
... (x: f8[n], w: f8[3], n: pyi8):
...     z = zeros(shape=(n - 2,), dtype=float64)
...     y = for k in range(0, 3, 1) with a: f8[n - 2] = z:
...         c = index(w, k, key=(Slot(0),))
...         m = sub(n, 2)
...         e = add(k, m)
...         p: f8[n - 2] = index(x, k, e, key=(slice(Slot(0), Slot(1), None),))
...         d = mul(c, p)
...         b = add(a, d)
...         yield b
...     return y
... '''))
(x: f8[n], w: f8[3], n: pyi8):
    c: f8 = index(w, 0, key=(Slot(0),))
    m: pyi8 = sub(n, 2)
    p: f8[n - 2] = index(x, 0, m, key=(slice(Slot(0), Slot(1), None),))
    d: f8[n - 2] = mul(c, p)
    c_2: f8 = index(w, 1, key=(Slot(0),))
    e: pyi8 = sub(n, 1)
    p_2: f8[n - 2] = index(x, 1, e, key=(slice(Slot(0), Slot(1), None),))
    d_2: f8[n - 2] = mul(c_2, p_2)
    b: f8[n - 2] = add(d, d_2)
    c_3: f8 = index(w, 2, key=(Slot(0),))
    p_3: f8[n - 2] = index(x, 2, n, key=(slice(Slot(0), Slot(1), None),))
    d_3: f8[n - 2] = mul(c_3, p_3)
    b_2: f8[n - 2] = add(b, d_3)
    return b_2
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    blocks,
    with_blocks,
)
from tapeless.transforms.core.substitution import refresh, substitute
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.optimize.simplify import simplify

MOST = 64  # statements of all passes


def unroll_few_passes(block: Block) -> Block:
    """The block without such loops."""
    unrolled = _block(block)
    return block if unrolled is block else simplify(unrolled)


def _block(block: Block) -> Block:
    body: list[Statement] = []
    new: dict[Atom, Atom] = {}
    for s in block.body:
        inner = {b: _block(b) for b in blocks(s)}
        if any(new_block is not b for b, new_block in inner.items()):
            s = with_blocks(s, inner.__getitem__)
        passes = _passes(s) if isinstance(s, For) else None
        if passes is None:
            body.append(s)
            continue
        assert isinstance(s, For)
        carries = tuple(new.get(a, a) for a in s.inits)
        for k in passes:
            each, _ = refresh(
                replace(s.body, params=()),
                dict(zip(s.body.params, (Literal(k, s.index.type), *carries), strict=True)),
            )
            body += each.body
            carries = tuple(new.get(a, a) for a in each.results)
        new.update(zip(s.outs, carries, strict=True))
    same = len(body) == len(block.body) and all(
        a is b for a, b in zip(body, block.body, strict=True)
    )
    return block if same else substitute(replace(block, body=tuple(body)), new)  # type: ignore[arg-type]


def _passes(s: For) -> list[int] | None:
    """The indices of a loop that is written out; None if it stays."""
    ends = [a.value for a in (s.start, s.stop, s.step) if isinstance(a, Literal)]
    if len(ends) < 3 or s.until or s.count is not None or s.each:
        return None
    passes = list(range(*ends))
    if not 0 < len(passes) * len(s.body.body) <= MOST:
        return None
    if not all(isinstance(v.type, Type) for v in s.carries):
        return None  # lists
    arrays = {v for v in s.carries if v.type.shape}
    if not arrays or not all(_is_of_elements(t, arrays) for t in s.body.body):
        return None
    return passes[::-1] if s.reverse else passes


def _is_of_elements(s: Statement, changing: set[Var]) -> bool:
    """Whether a statement of a pass computes each element of those of the same place, or takes a
    part of an array that stays; what it makes of arrays that change is added to them."""
    if not isinstance(s, Let) or not s.op.pure or s.op.costly:
        return False
    if s.op.elementwise:
        changing.update(v for v in s.outs if v.type.shape)
        return True
    return s.op is index and changing.isdisjoint(s.args)
