"""Merges stores into one place.

x[i] = 0; x[j] += b; x[i] += a      becomes      x[i] = a; x[j] += b

Additions may change their order, for they commute; a store `x[i] = a` is only joined by additions
to the same place, and only if no element is named twice. Nothing may look at the array in between.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(merge_stores, '''
... (x: f8[n], v: f8[n], w: f8[n]):
...     y = update(x, v, key=(slice(None, None, None),))
...     z = add_at(y, w, key=(slice(None, None, None),))
...     return z
... '''))
(x: f8[n], v: f8[n], w: f8[n]):
    t1: f8[n] = add(v, w)
    z: f8[n] = update(x, t1, key=(slice(None, None, None),))
    return z
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
)
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, may_repeat, update
from tapeless.transforms.ops.primitives.stacks import add_item, set_item
from tapeless.transforms.optimize.algebra.stores import are_disjoint_stores

#: Stores to arrays and to lists, and which argument is stored.
VALUE = {update: 1, add_at: 1, set_item: 2, add_item: 2}
ADDITIONS = (add_at, add_item)


def merge_stores(block: Block) -> Block:
    """The block with stores merged; the block itself if there is nothing to do."""
    return _Merger(block).block(block)


class _Merger:
    def __init__(self, block: Block) -> None:
        self.uses = reads_of(block)

    def block(self, block: Block) -> Block:
        stores: dict[Var, Let] = {}
        body: list[Statement] = []
        for s in block.body:
            match s:
                case Let() if s.op in VALUE:
                    chain = self.chain(s, stores)
                    if chain:
                        body = [t for t in body if not any(t is old for old in chain)]
                    merged = self.merge(s, chain) if chain else [s]
                    stores |= {t.outs[0]: t for t in merged if t.op in VALUE}
                    body += merged
                    continue
                case If():
                    s = replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
                case For() | While():
                    s = replace(s, body=self.block(s.body))
                case _:
                    pass
            body.append(s)
        return Block(block.params, tuple(body), block.results)

    def chain(self, s: Let, stores: dict[Var, Let]) -> list[Let]:
        """The stores from one that the addition `s` can join up to `s`; empty if there is none."""
        stores_before: list[Let] = []
        x = s.args[0]
        if s.op not in ADDITIONS:
            return []
        repeats = s.op is add_at and may_repeat(s.params["key"], s.args[2:])
        while isinstance(x, Var) and x in stores and self.uses.get(x, 0) == 1:
            stores_before.insert(0, stores[x])
            if same_place(stores[x], s):
                return [] if repeats and stores[x].op is update else stores_before
            if stores[x].op is set_item:
                return []
            if stores[x].op is update and not are_disjoint_stores(stores[x], s):
                return []
            x = stores[x].args[0]
        return []

    def merge(self, s: Let, chain: list[Let]) -> list[Let]:
        """The stores of the chain with the value of `s` added to the first."""
        b = builder.Builder()
        b.origin = s.origin
        with builder.building(b):
            value = add(chain[0].args[VALUE[s.op]], s.args[VALUE[s.op]])
        merged: list[Let] = [t for t in b.blocks[0] if isinstance(t, Let)]
        x = chain[0].args[0]
        for k, old in enumerate(chain):
            out = s.outs[0]
            if k < len(chain) - 1:
                out = Var(out.type, out.name, out.origin)
                self.uses[out] = 1
            args = [x, *old.args[1:]]
            if k == 0:
                args[VALUE[old.op]] = value
            merged.append(Let((out,), old.op, tuple(args), old.params, old.origin))
            x = out
        return merged


def same_place(a: Let, b: Let) -> bool:
    """Whether two stores write the same elements, with values of the type of the array."""
    if a.op in (set_item, add_item):
        item = a.args[0].type.item
        return a.args[1] == b.args[1] and not item.shape and item.dtype.kind in "fc"
    return (
        a.params["key"] == b.params["key"]
        and a.args[2:] == b.args[2:]
        and all(s.args[1].type.weak or s.args[1].type.dtype == s.args[0].type.dtype for s in (a, b))
        and a.args[0].type.dtype.kind in "fc"
    )
