"""Differentiates the statements that a call of a user's function recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import defined_variables, read_from_around
from tapeless.transforms.autodiff.differentiable_form import differentiable_form
from tapeless.transforms.autodiff.jvp import ForwardMode, Tangents, tangent_of, zero_if_none
from tapeless.transforms.autodiff.linearize import linearize
from tapeless.transforms.autodiff.residuals.resolve import resolve
from tapeless.transforms.autodiff.transpose import transpose
from tapeless.transforms.core import dims, passes
from tapeless.transforms.core.builder import Builder, building, current
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Function,
    Let,
    Statement,
    Var,
    While,
    statements,
)
from tapeless.transforms.core.operation import types_given
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import nested_reads, sizes_in
from tapeless.transforms.frontend.trace.recorded_reads import Captured
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.ops.primitives.stacks import pop
from tapeless.transforms.optimize.inline_calls import expand


def _readable_around(block: Block, passed: Iterable[Any]) -> set[Any]:
    """What the derivative of a block may read of the program around it: what the block reads, what
    is passed, and what rules took from outside of the program."""
    captured = (v[0] for v in trace().reads.values() if type(v) is tuple)
    of_sizes = {v for s in block.body for v in nested_reads(s)} - set(defined_variables(block))
    return {
        *read_from_around(block),
        *of_sizes,
        *passed,
        *(c.var for c in captured if isinstance(c, Captured)),
    }


class VjpOfBlock:
    """A region run forwards and then backwards.

    forward  its statements, which also save what the backward part needs
    back     from cotangents of the results to `bars`, the cotangents of the inputs
    """

    def __init__(self, block: Block, cotangents: list[Any]) -> None:
        split = linearize(block, list(range(len(block.params))))
        pairs = zip(split.outputs, cotangents, strict=True)
        cotangents_given = [(o, ct) for o, ct in pairs if isinstance(o, Var) and ct is not None]
        b = Builder()
        b.definitions = current().definitions
        with building(b):
            bars = transpose(split.body, split.inputs, cotangents_given)
        forward, back, new = resolve(split.primal, b.blocks[0])
        self.forward = expand(forward, rules=False)
        self.back = expand(back, rules=False)
        self.bars: list[Atom] = [new.get(a, a) if isinstance(a, Var) else a for a in bars]
        whole = Block(block.params, (*self.forward, *self.back), tuple(self.bars))
        passes.verified(whole, "transpose", lambda: _readable_around(block, cotangents))


class LinearizedBlock:
    """A region split into its value and its tangent.

    forward  its statements, which also save what the tangent needs
    body     from `dots`, the tangents of the inputs, to `tangents`, those of the results
    """

    def __init__(self, block: Block) -> None:
        split = linearize(block, list(range(len(block.params))), ahead=True)
        forward, body, new = resolve(split.primal, split.body)
        self.forward = expand(forward, rules=False)
        self.body = expand(body, rules=False)
        self.dots = split.inputs
        linear_results: list[Any] = [
            new.get(a, a) if isinstance(a, Var) else a for a in split.outputs
        ]
        if not _runs_ahead(Block((), tuple(self.body), ()), set()):
            self.forward = list(block.body)
            linear_results = self.restart_forward(block)
        b = Builder()
        with building(b):
            pairs = zip(linear_results, block.results, strict=True)
            self.tangents = [zero_if_none(dot, a.type) for dot, a in pairs]
        self.body += b.blocks[0]
        whole = Block(block.params, (*self.forward, *self.body), tuple(self.tangents))
        passes.verified(whole, "linearize", lambda: _readable_around(block, self.dots))

    def restart_forward(self, block: Block) -> list[Any]:
        """Forward mode from the start, for what cannot be split."""
        new: dict[Any, Any] = {v: v for v in block.params}
        lengths = sizes_in([v.type for v in defined_variables(block)]) - sizes_in(
            [v.type for v in new]
        )
        for n in sorted(lengths, key=lambda n: n.uid):  # the forward part has them, too
            if n.var is None and not n.given:
                new[n] = dims.symbol(n.name, n.lower)
        inner, _ = refresh(replace(differentiable_form(block), params=()), new)
        t: Tangents = dict(zip(block.params, self.dots, strict=True))
        b = Builder()
        b.definitions = current().definitions
        with building(b):
            ForwardMode(merged=True).block(inner.body, t)
        self.body = b.blocks[0]
        return [tangent_of(t, a) for a in inner.results]


def _runs_ahead(block: Block, seen: set[Function]) -> bool:
    """Whether a block, with the functions that it calls, may run in the order of the program."""
    called = [f for f in calls(block) if f not in seen]
    seen.update(called)
    own = all(map(_takes_in_order, statements(block)))
    return own and all(_runs_ahead(f.block, seen) for f in called)


def _takes_in_order(s: Statement) -> bool:
    """Stacks hold what was saved last on top, and rules of users are made for backward runs."""
    if isinstance(s, Let):
        return s.op is not pop and s.op.infer is not types_given
    return not isinstance(s, While)


def cotangent_variable(a: Atom) -> Var:
    """A variable for the cotangent of a result."""
    return Var(a.type, f"{a.name}_bar" if isinstance(a, Var) and a.name else "out_bar")
