"""Which values depend on the inputs that a function is differentiated with respect to."""

from __future__ import annotations

from collections.abc import Iterable

from tapeless.transforms.core.language import (
    Block,
    Function,
    Let,
    Statement,
    Var,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.ops.calls import is_call


def dependents(block: Block, inputs: Iterable[Var]) -> set[Var]:
    """The inputs and all variables that may depend on them."""
    found = set(inputs)
    while True:
        before = len(found)
        _spread(block.body, found)
        if len(found) == before:
            return found


def _spread(body: tuple[Statement, ...], found: set[Var]) -> None:
    for s in body:
        inner = blocks(s)
        known = (*operands(s), *(a for b in inner for a in b.results))
        if any(isinstance(a, Var) and a in found for a in known):
            found.update(outputs(s), *(b.params for b in inner))
        for b in inner:
            _spread(b.body, found)


def active_parts(function: Function, given: Iterable[int]) -> tuple[tuple[int, ...], list[int]]:
    """The positions of the parameters and results of a function that have tangents, where those
    in `given` have one: those that the function gives to itself do, too."""
    block, wanted = function.block, set(given)
    while True:
        found = dependents(block, [block.params[k] for k in wanted])
        before = len(wanted)
        for s in statements(block):
            if is_call(s) and isinstance(s, Let) and s.params["function"] is function:
                wanted |= {k for k, a in enumerate(s.args) if a in found and a.type.differentiable}
        if len(wanted) == before:
            outs = [
                k
                for k, a in enumerate(block.results)
                if isinstance(a, Var) and a in found and a.type.differentiable
            ]
            return tuple(sorted(wanted)), outs
