"""Moves the making of arrays of lists to where these are filled: one kernel fills all lists of a
loop.

for ...: push(a, x); push(b, y)          for ...: push(a, x); push(b, y)
u = to_array(a); s = sum(u)      becomes      u = to_array(a); v = to_array(b)
v = to_array(b); t = sum(v)              s = sum(u); t = sum(v)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(materialize_early, '''
... (x: f8, n: pyi8):
...     r = new_stack(item=f8)
...     s = new_stack(item=f8)
...     r_2, s_2 = for i in range(0, n, 1) with p: stack(f8) = r, q: stack(f8) = s:
...         v = mul(x, i)
...         p_2 = push(p, v)
...         q_2 = push(q, x)
...         yield p_2, q_2
...     a = to_array(r_2, size=n)
...     b = sum(a, axes=(0,), keepdims=False)
...     c = to_array(s_2, size=n)
...     d = sum(c, axes=(0,), keepdims=False)
...     return b, d
... '''))
(x: f8, n: pyi8):
    r: stack(f8) = new_stack(item=f8)
    s: stack(f8) = new_stack(item=f8)
    r_2, s_2 = for i in range(0, n, 1) with p: stack(f8) = r, q: stack(f8) = s:
        v: f8 = mul(x, i)
        p_2: stack(f8) = push(p, v)
        q_2: stack(f8) = push(q, x)
        yield p_2, q_2
    a: f8[n] = to_array(r_2, size=n)
    c: f8[n] = to_array(s_2, size=n)
    b: f8 = sum(a, axes=(0,), keepdims=False)
    d: f8 = sum(c, axes=(0,), keepdims=False)
    return b, d
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import Block, Let, Statement, Var, outputs, with_blocks
from tapeless.transforms.core.uses import reads
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.ops.primitives.stacks import to_array

TAKING = (to_array, stack_length)


def materialize_early(block: Block) -> Block:
    """The block, with these statements right behind those that make what they read."""
    body: list[Statement] = []
    for s in block.body:
        s = with_blocks(s, materialize_early)
        if isinstance(s, Let) and s.op in TAKING:
            body.insert(_place(body, {*reads(s)}), s)
        else:
            body.append(s)
    return replace(block, body=tuple(body))


def _place(body: list[Statement], needed: set[Var]) -> int:
    """Where all of these have a value, behind others that are taken there."""
    last = max((k for k, s in enumerate(body) if needed & {*outputs(s)}), default=-1) + 1
    while last < len(body) and isinstance(s := body[last], Let) and s.op in TAKING:
        last += 1
    return last
