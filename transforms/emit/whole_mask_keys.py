"""Merges a mask into the key of the part of the array that it selects from.

p = x[k]; t = p[mask]                                    becomes      t = x[k, mask]
p = x[k]; q = update(p, v, mask); y = update(x, q, k)    becomes      y = update(x, v, k, mask)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    all_blocks,
    statements,
    with_blocks,
)
from tapeless.transforms.core.uses import reads as read_by
from tapeless.transforms.ops.primitives.index_keys import WHOLE, Slot, without_full_slices
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, gather, index, update

STORES = (update, add_at)
BY_KEY = (gather, *STORES)


def whole_mask_keys(block: Block) -> Block:
    """The block with such keys, also inside of its loops and branches."""
    if not any(isinstance(s, Let) and s.op in BY_KEY and _is_by_mask(s) for s in statements(block)):
        return block
    reads: Counter[Atom] = Counter(v for s in statements(block) for v in read_by(s))
    reads.update(a for b in all_blocks(block) for a in b.results if isinstance(a, Var))
    return _rewritten(block, reads)


def _rewritten(block: Block, reads: Counter[Atom]) -> Block:
    makers: dict[Any, Let] = {v: s for s in block.body if isinstance(s, Let) for v in s.outs}
    body: list[Statement] = []
    unread = set[int]()

    def drop_read(s: Let) -> None:
        """Notes that nothing reads the result of a statement any more."""
        (v,) = s.outs
        reads[v] -= 1
        if not reads[v]:
            unread.add(id(s))

    for s in block.body:
        whole: list[Let] | None = None
        if isinstance(s, Let) and s.op is gather and _is_by_mask(s):
            part = makers.get(s.args[0])
            if part is not None and _is_part(part):
                (v,) = part.outs
                whole = _in_one(s, part, [s]) if reads[v] == 1 or not v.name else None
        elif isinstance(s, Let) and s.op is update:
            stores = _stores_by_masks(s.args[1], makers, reads)
            part = makers.get(stores[0].args[0]) if stores else None
            if part is not None and _puts_back(s, part):
                whole = _in_one(s, part, stores)
                for store in stores if whole is not None else ():
                    drop_read(store)
        if whole is None:
            body.append(with_blocks(s, lambda b: _rewritten(b, reads)))
            continue
        assert part is not None
        drop_read(part)
        body += whole
    return replace(block, body=tuple(s for s in body if id(s) not in unread))


def _stores_by_masks(v: Any, makers: dict[Any, Let], reads: Counter[Atom]) -> list[Let]:
    """The stores by masks, one after the other, of which a value is the last; nothing else reads
    what they make."""
    stores: list[Let] = []
    while (s := makers.get(v)) is not None and s.op in STORES and _is_by_mask(s) and reads[v] == 1:
        stores.insert(0, s)
        v = s.args[0]
    return stores


def _is_by_mask(s: Any) -> bool:
    """Whether a statement reads or stores to where a mask is true, and whole axes behind it."""
    first_place = 2 if s.op in STORES else 1
    if len(s.args) != first_place + 1:
        return False
    first, *others = s.params["key"]
    kind = s.args[first_place].type
    is_mask = first == Slot(0) and kind.dtype.kind == "b" and kind.ndim > 0
    return is_mask and all(e == WHOLE for e in others)


def _is_part(part: Let) -> bool:
    """Whether a statement reads a part of an array that integers and slices name."""
    plain = part.op is index and None not in part.params["key"]
    return plain and not any(a.type.shape for a in part.args[1:])


def _puts_back(s: Let, part: Let) -> bool:
    """Whether a statement stores to the part of an array that another one has read."""
    if not _is_part(part) or s.args[0] is not part.args[0]:
        return False
    return (
        without_full_slices(s.params["key"]) == without_full_slices(part.params["key"])
        and s.args[2:] == part.args[1:]
    )


def _in_one(s: Let, part: Let, by_masks: list[Let]) -> list[Let] | None:
    """Statements with the key of the part and a mask in one; None if a mask's axes are not whole in
    the part, right behind integers.

    s         what reads, or puts the part back
    by_masks  what has masks for keys, one after the other
    """
    x, *places = part.args
    key = list(part.params["key"])
    key += [WHOLE] * (x.type.ndim - sum(e is not None for e in key))
    first = next((k for k, e in enumerate(key) if not isinstance(e, (int, Slot))), len(key))
    whole: list[Let] = []
    for k, by_mask in enumerate(by_masks):
        mask = by_mask.args[-1]
        last = first + mask.type.ndim
        if key[first:last] != [WHOLE] * mask.type.ndim:
            return None
        whole_key = without_full_slices((*key[:first], Slot(len(places)), *key[last:]))
        args = (x, *by_mask.args[1:-1], *places, mask)
        outs = s.outs if k == len(by_masks) - 1 else (Var(x.type, s.outs[0].name),)
        whole.append(replace(s, outs=outs, op=by_mask.op, args=args, params={"key": whole_key}))
        (x,) = outs
    return whole
