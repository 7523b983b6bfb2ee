"""Removes the first items of lists in place.

a = np.array(queue); queue = a[1:].tolist()      becomes      del queue[:1]
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.ops.primitives.new_arrays import has_zeros, stack_length
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.ops.primitives.stacks import push, shift, to_array, unstack


def shifted_lists(block: Block) -> Block:
    """The block in which such lists are shifted; arrays that nothing else needs are dead then."""
    definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    if not any(s.op is unstack for s in definitions.values()):
        return block
    return _Shifting(definitions).block(block)


class _Shifting:
    def __init__(self, definitions: dict[Var, Let]) -> None:
        self.definitions = definitions

    def block(self, block: Block) -> Block:
        body = tuple(t for s in block.body for t in self.statement(s))
        return block if body == block.body else replace(block, body=body)

    def statement(self, s: Statement) -> list[Statement]:
        if not isinstance(s, Let):
            return [with_blocks(s, self.block)]
        part = self.argument_of(s, unstack)
        array = part and self.argument_of(part, index)
        if part is None or array is None or array.op is not to_array:
            return [s]
        stack = array.args[0]
        match part.params["key"]:
            case (slice(start=int(start), stop=None, step=None | 1), *sides) if start:
                is_alike = stack.type == s.outs[0].type and has_zeros(stack.type.item)
                if is_alike and all(e == slice(None) for e in sides):
                    return self.shift(s, stack, start)
        return [s]

    def shift(self, s: Let, stack: Atom, start: int) -> list[Statement]:
        """What takes away the items in front of a place, which counts from the end if it is
        negative."""
        if 0 < start <= self.pushes(stack):
            return [Let(s.outs, shift, (stack, atom(start)), {}, s.origin)]
        length, k = Var(INT), Var(INT)
        n = var_size(length, 0)
        count: Size = dims.minimum(n, start) if start > 0 else dims.maximum(n + start, 0)
        return [
            Let((length,), stack_length, (stack,), {}, s.origin),
            Let((k,), size_value, (), {"size": count}, s.origin),
            Let(s.outs, shift, (stack, k), {}, s.origin),
        ]

    def pushes(self, stack: Atom) -> int:
        """How many items a list has at least: those that were just put at its end."""
        count = 0
        while isinstance(stack, Var) and (let := self.definitions.get(stack)) is not None:
            if let.op is not push:
                break
            count, stack = count + 1, let.args[0]
        return count

    def argument_of(self, s: Let, op: Op) -> Let | None:
        """What makes the only argument of an operation."""
        a = s.args[0] if s.op is op and len(s.args) == 1 else None
        return self.definitions.get(a) if isinstance(a, Var) else None
