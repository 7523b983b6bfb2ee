"""Makes arrays of lists that are kept in lists.

push(saved, items) ... items = pop(saved)
    becomes      push(saved, to_array(items)) ... x = pop(saved); items = unstack(x)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(lists_in_lists, '''
... (x: f8[n], n: pyi8):
...     saved = new_stack(item=stack(f8))
...     items = unstack(x)
...     saved_2 = push(saved, items)
...     saved_3, back = pop(saved_2)
...     y = peek(back, 0)
...     return y
... '''))
(x: f8[n], n: pyi8):
    saved: stack(f8[n]) = new_stack(item=f8[n])
    items: stack(f8) = unstack(x)
    t1: f8[n] = to_array(items, size=n)
    saved_2: stack(f8[n]) = push(saved, t1)
    saved_3: stack(f8[n]), t2: f8[n] = pop(saved_2)
    back: stack(f8) = unstack(t2, weak=False)
    y: f8 = peek(back, 0)
    return y
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Effect,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.value_replacement import ValueReplacer
from tapeless.transforms.lowering.lists.chosen_lists import equated_values
from tapeless.transforms.ops.primitives.new_arrays import has_zeros, new_stack
from tapeless.transforms.ops.primitives.stacks import (
    POPS,
    push,
    to_array,
    unstack,
)


def lists_in_lists(block: Block) -> Block:
    """The block with lists of arrays in the place of such lists, which are only pushed to and
    popped."""
    if not any(_holds_lists(v) for s in statements(block) for v in outputs(s)):
        return block
    others: list[Any] = [*block.params, *block.results]
    for s in statements(block):
        match s:
            case Let(op=op) if op is new_stack or op is push or op in POPS:
                others += s.args[1:]
            case Let() | Effect():
                others += (*operands(s), *outputs(s))
            case _:  # a list that is not there on one side of a branch, or before a loop
                others += [
                    v for v, *held in equated_values(s) if any(isinstance(a, Literal) for a in held)
                ]
    return block if any(map(_holds_lists, others)) else _Arrays().block(block)


def _holds_lists(a: Any) -> bool:
    """Whether a value is a list of lists of numbers, or of arrays of one shape."""
    item: Any = a.type.item if isinstance(a, Var) and isinstance(a.type, StackType) else None
    return isinstance(item, StackType) and bool(has_zeros(item.item))


class _Arrays(ValueReplacer):
    """Writes the program again; `lists` are those of arrays."""

    def __init__(self) -> None:
        self.lists: dict[Var, Var] = {}

    def atom(self, a: Any) -> Any:
        if not _holds_lists(a):
            return a
        if a not in self.lists:
            row = a.type.item.item
            array = Type(row.dtype, (dims.symbol("n", 0), *row.shape))
            self.lists[a] = Var(StackType(array), a.name)
        return self.lists[a]

    def values_for(self, a: Var) -> tuple[Any, ...]:
        return (self.atom(a),)

    def let(self, s: Let) -> Iterator[Statement]:
        if not s.outs or not _holds_lists(s.outs[0]):
            yield s
            return
        new = self.atom(s.outs[0])
        if s.op is new_stack:
            yield replace(s, outs=(new,), params={"item": new.type.item})
            return
        before = self.atom(s.args[0])
        array = Var(Type(new.type.item.dtype, dims.of_its_own(new.type.item.shape)))
        if s.op is push:
            size = {"size": array.type.shape[0]}
            yield Let((array,), to_array, s.args[1:], size, s.origin)
            yield Let((new,), push, (before, array), {}, s.origin)
        else:
            yield Let((new, array), s.op, (before,), {}, s.origin)
            weak = s.outs[1].type.item.weak
            yield Let(s.outs[1:], unstack, (array,), {"weak": weak}, s.origin)
