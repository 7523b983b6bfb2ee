"""Reads elements from a part that is at hand under a name of the user, instead of from the whole
array.

y = s[i]; t = s[i, 0]                   becomes     y = s[i]; t = y[0]

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(reread_parts, '''
... (x: f8[n, m], i: pyi8):
...     y: f8[m] = index(x, i, key=(Slot(0),))
...     a = index(x, i, 0, key=(Slot(0), Slot(1)))
...     b = mul(a, y)
...     return b
... '''))
(x: f8[n, m], i: pyi8):
    y: f8[m] = index(x, i, key=(Slot(0),))
    a: f8 = index(y, 0, key=(Slot(0),))
    b: f8[m] = mul(a, y)
    return b
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import Block, For, If, Let, Statement, Var, While
from tapeless.transforms.ops.primitives.index_keys import Slot, without_full_slices
from tapeless.transforms.ops.primitives.slices_and_gathers import index

Place = tuple[Any, ...]  # an array, and where in it: integers and atoms
Parts = Mapping[Place, Var]


def reread_parts(block: Block, around: Parts | None = None) -> Block:
    """The block with reads of parts of parts; `around` are the parts that were read before it."""
    parts: dict[Place, Var] = dict(around or {})
    body: list[Statement] = []
    for s in block.body:
        match s:
            case Let() if s.op is index and not s.outs[0].type.shape:
                s = _shorter(s, parts)
            case Let() if s.op is index and s.outs[0].name and (place := _place(s)):
                parts.setdefault(place, s.outs[0])
            case If():
                s = replace(
                    s, then=reread_parts(s.then, parts), orelse=reread_parts(s.orelse, parts)
                )
            case For():
                s = replace(s, body=reread_parts(s.body, parts))
            case While():
                s = replace(s, test=reread_parts(s.test, parts), body=reread_parts(s.body, parts))
            case _:
                pass
        body.append(s)
    return Block(block.params, tuple(body), block.results)


def _place(s: Let) -> Place | None:
    """Which part of which array a statement reads; None if numbers alone do not tell."""
    keys: list[Any] = [s.args[0]]
    for e in without_full_slices(s.params["key"]):
        entry = s.args[1 + e.k] if isinstance(e, Slot) else e
        if not isinstance(e, (int, Slot)) or (isinstance(e, Slot) and entry.type.shape):
            return None
        keys.append(entry)
    return tuple(keys)


def _shorter(s: Let, parts: Parts) -> Let:
    """A read of one element, from the smallest part that is at hand."""
    place, key = _place(s), s.params["key"]
    for n in range(len(place or ()) - 1, 1, -1):
        part = parts.get(place[:n])  # type: ignore[index]
        if part is not None:
            before = sum(isinstance(e, Slot) for e in key[: n - 1])
            rest = [replace(e, k=e.k - before) if isinstance(e, Slot) else e for e in key[n - 1 :]]
            args = (part, *s.args[1 + before :])
            return replace(s, args=args, params={**s.params, "key": tuple(rest)})
    return s
