"""Hoists views of arrays that a loop does not change out of it, so that the backward loop adds to
one cotangent of the view, and does not make one of full size in each pass.

for i in range(n): t = x[1:]; y = t[i]      becomes      t = x[1:]; for i in range(n): y = t[i]

A view of all elements stays where no pass reads a part of it: its cotangent is of full size anyway.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.primitives.slices_and_gathers import gather


def hoist_views(block: Block) -> Block:
    """The block with views that no pass of a loop changes before that loop."""
    body: list[Statement] = []
    for s in block.body:
        inner = _hoist_in_blocks(s)
        lifted: dict[Any, Let] = {}
        if isinstance(inner, (For, While)):
            new: dict[Var, Atom] = {}
            inner = _without_liftable_views(
                inner, _defined_in_blocks(inner), _read_in_parts(inner), lifted, new
            )
            inner = _on_blocks(inner, lambda b: substitute(b, new))  # noqa: B023 (called at once)
        body += [*lifted.values(), inner]
    return Block(block.params, tuple(body), block.results)


def _hoist_in_blocks(s: Statement) -> Any:
    return _on_blocks(s, hoist_views)


def _on_blocks(s: Statement, change: Any) -> Any:
    match s:
        case If():
            return replace(s, then=change(s.then), orelse=change(s.orelse))
        case For():
            return replace(s, body=change(s.body))
        case While():
            return replace(s, test=change(s.test), body=change(s.body))
        case _:
            return s


def _defined_in_blocks(s: Statement) -> set[Var]:
    """The variables that the blocks of a statement define."""
    defined: set[Var] = set()
    for b in blocks(s):
        defined |= {*b.params, *(v for t in b.body for v in outputs(t))}
        defined |= {v for t in b.body for v in _defined_in_blocks(t)}
    return defined


def _read_in_parts(s: Statement) -> set[Any]:
    """What is indexed or viewed in the blocks of a statement."""
    inside = [t for b in blocks(s) for t in statements(b)]
    return {t.args[0] for t in inside if isinstance(t, Let) and (t.op.view or t.op is gather)}


def _without_liftable_views(
    s: Any, defined: set[Any], parted: set[Any], lifted: dict[Any, Let], new: dict[Any, Atom]
) -> Any:
    """The statement without the views that can be lifted out of it; equal ones become one."""

    def change(block: Block) -> Block:
        body: list[Statement] = []
        for t in block.body:
            if not isinstance(t, Let):
                body.append(_without_liftable_views(t, defined, parted, lifted, new))
            elif (
                _is_view(t)
                and new.get(t.args[0], t.args[0]) not in defined
                and (t.outs[0] in parted or not _of_all(t))
            ):
                moved = replace(t, args=tuple(new.get(a, a) for a in t.args))
                first = lifted.setdefault((t.op, moved.args, repr(t.params)), moved)
                defined.difference_update(t.outs)
                if first is not moved:
                    new[t.outs[0]] = first.outs[0]
            else:
                body.append(t)
        return Block(block.params, tuple(body), block.results)

    return _on_blocks(s, change)


def _of_all(s: Let) -> bool:
    """Whether a view shows all elements."""
    return all(e is None or e == slice(None) for e in s.params.get("key", ()))


def _is_view(s: Let) -> bool:
    """A view that no contents and no lengths can make fail, of sizes that inputs have."""
    if not s.op.view:
        return False
    key = s.params.get("key", ())
    bounds = tuple((e.start, e.stop, e.step) for e in key if isinstance(e, slice))
    sizes = sizes_in((bounds, s.outs[0].type, tuple(s.params.values())))
    plain = len(s.args) == 1 and all(e is None or isinstance(e, slice) for e in key)
    return plain and all(symbol.given for symbol in sizes)
