"""Renames sizes whose variable is gone: values get the sizes of what they are made of.

n = len(v); t: f8[n] = neg(v)      becomes, where nothing reads n,      t: f8[v.shape[0]] = neg(v)
"""

from __future__ import annotations

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import Block, Let, Type, Var, blocks, outputs, statements
from tapeless.transforms.core.uses import sizes_in


def rename_sizes(block: Block) -> Block:
    """The block, in which types of results of elementwise operations are named anew."""
    defined = set(block.params)
    for s in statements(block):
        defined.update(outputs(s))
        defined.update(p for b in blocks(s) for p in b.params)
    for s in statements(block):
        if isinstance(s, Let) and s.op.elementwise and _is_gone(s.outs[0], defined):
            with building(Builder()):
                inferred = s.op.infer(*s.args, **s.params)
            s.outs[0].type = s.outs[0].type.with_shape(inferred.shape)
    return block


def _is_gone(v: Var, defined: set[Var]) -> bool:
    if not isinstance(v.type, Type):
        return False
    return any(x.var is not None and x.var not in defined for x in sizes_in(v.type))
