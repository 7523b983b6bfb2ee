"""Hoists reads of elements of an array above a store to it, where they read what it held before:
then the store needs no copy.

y = x.copy(); y[i] = 0; a = x[i, 0]      becomes      a = x[i, 0]; x[i] = 0

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(hoist_reads, '''
... (x: f8[n], i: pyi8):
...     y = update(x, 0.0, i, key=(Slot(0),))
...     a = index(x, i, key=(Slot(0),))
...     return a, y
... '''))
(x: f8[n], i: pyi8):
    a: f8 = index(x, i, key=(Slot(0),))
    y: f8[n] = update(x, 0.0, i, key=(Slot(0),))
    return a, y
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import Block, Let, Statement, Var, outputs, with_blocks
from tapeless.transforms.core.uses import reads
from tapeless.transforms.ops.primitives.index_keys import is_element
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update


def hoist_reads(block: Block) -> Block:
    """The block with such reads in front of the stores."""
    before: dict[Statement, list[Statement]] = {}  # what goes in front of a store
    stores: dict[Var, Let] = {}  # the first store to each array
    places: dict[Var, int] = {}  # of what the block makes
    body: list[Statement] = []
    for k, s in enumerate(block.body):
        s = with_blocks(s, hoist_reads)
        store = _store_before_read(s, stores)
        at = -1 if store is None else places[store.outs[0]]
        if store is not None and all(places.get(v, -1) < at for v in reads(s)):
            before.setdefault(store, []).append(s)
            places.update(dict.fromkeys(outputs(s), at - 1))
            continue
        places.update(dict.fromkeys(outputs(s), k))
        if isinstance(s, Let) and s.op in (update, add_at) and isinstance(s.args[0], Var):
            stores.setdefault(s.args[0], s)
        body.append(s)
    if not before:
        return replace(block, body=tuple(body))
    reordered = [t for s in body for t in (*before.get(s, ()), s)]
    return replace(block, body=tuple(reordered))


def _store_before_read(s: Statement, stores: dict[Var, Let]) -> Let | None:
    """The store that comes before the read of an element, if the read is of the array before it."""
    if not isinstance(s, Let) or s.op is not index:
        return None
    x, rest = s.args[0], s.args[1:]
    element = is_element(s.params["key"], rest, x.type.ndim)
    return stores.get(x) if element and isinstance(x, Var) else None
