"""Turns stores of loops that add to an element of an array into additions: threads may share those.

for i: t = index(h, k); h = update(h, t + v, k)      becomes      for i: h = add_at(h, v, k)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(scatter_additions, '''
... (h: f8[m], x: i8[n], n: pyi8):
...     h_2 = for i in range(0, n, 1) with c: f8[m] = h:
...         k = index(x, i, key=(Slot(0),))
...         t = index(c, k, key=(Slot(0),))
...         u = add(t, 1.0)
...         c_2 = update(c, u, k, key=(Slot(0),))
...         yield c_2
...     return h_2
... '''))
(h: f8[m], x: i8[n], n: pyi8):
    h_2 = for i in range(0, n, 1) with c: f8[m] = h:
        k: i8 = index(x, i, key=(Slot(0),))
        c_2: f8[m] = add_at(c, 1.0, k, key=(Slot(0),))
        yield c_2
    return h_2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tapeless.transforms.core.language import Atom, Block, For, Let, Statement, Var, with_blocks
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update

Uses = Mapping[Var, int]


def scatter_additions(block: Block) -> Block:
    """The block with such additions in its loops."""
    return _in_block(block, reads_of(block), False)


def _in_block(block: Block, uses: Uses, in_loop: bool) -> Block:
    defs = {v: s for s in block.body if isinstance(s, Let) for v in s.outs}
    body: list[Statement] = []
    folded: set[Let] = set()
    for s in block.body:
        if isinstance(s, Let):
            addition = _addition(s, defs, uses) if in_loop and s.op is update else None
            if addition is not None:
                s, parts = addition
                folded.update(parts)
            body.append(s)
        else:
            inside = in_loop or isinstance(s, For)
            body.append(with_blocks(s, partial(_in_block, uses=uses, in_loop=inside)))
    body = [s for s in body if not (isinstance(s, Let) and s in folded)]
    return replace(block, body=tuple(body))


def _addition(s: Let, defs: Mapping[Var, Let], uses: Uses) -> tuple[Let, list[Let]] | None:
    """The addition that a store is, and the statements that it is made of."""
    array, total, *places = s.args
    definition = defs.get(total) if isinstance(total, Var) else None
    if definition is None or definition.op is not add or uses[total] > 1:  # type: ignore[index]
        return None
    if total.type.dtype != array.type.dtype or not _is_scattered(s, places):
        return None
    for old, value in (definition.args, definition.args[::-1]):
        read = defs.get(old) if isinstance(old, Var) else None
        if read is None or read.op is not index or uses[old] > 1:  # type: ignore[index]
            continue
        same = read.args[0] is array and read.params["key"] == s.params["key"]
        if same and all(a is b or a == b for a, b in zip(read.args[1:], places, strict=True)):
            return replace(s, op=add_at, args=(array, value, *places)), [definition, read]
    return None


def _is_scattered(s: Let, places: list[Atom]) -> bool:
    """Whether run-time values say which element along the first axis is stored to."""
    key = s.params["key"]
    return bool(key) and isinstance(key[0], Slot) and not any(a.type.shape for a in places)
