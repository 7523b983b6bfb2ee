"""Rematerialises functions: reverse mode runs them again instead of saving what they compute
(`checkpoint`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.staging.derivative_blocks import VjpOfBlock, cotangent_variable
from tapeless.staging.emitted_names import base_name
from tapeless.staging.subprogram import continuing
from tapeless.transformations.custom_rule_calls import BackwardRule, RuleCall
from tapeless.transformations.custom_rules import Custom
from tapeless.transforms.autodiff.differentiable_form import differentiable_form
from tapeless.transforms.autodiff.jvp import ForwardMode, Tangents, tangent_of
from tapeless.transforms.autodiff.linearize import name_all
from tapeless.transforms.autodiff.residuals.replay import (
    Saves,
    all_reading,
    repeats_in_order,
    saved_values,
    take_saved_values,
)
from tapeless.transforms.autodiff.residuals.resolve import resolve
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import Atom, Block, Let, Var, statements
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.primitives.identities import again, identity
from tapeless.transforms.ops.primitives.random_draws import draws
from tapeless.transforms.ops.primitives.stacks import pop
from tapeless.transforms.optimize.inline_calls import argument_lengths


class Checkpoint(Custom):
    """What `checkpoint` makes."""

    kind = "checkpoint"

    def __init__(self, fun: Callable[..., Any], saves: Saves | None = None) -> None:
        super().__init__(fun)
        self.saves = saves

    def forward(self, call: RuleCall, primals: list[Atom], dots: list[Any]) -> list[Any]:
        t: Tangents = {}
        new: dict[Any, Any] = argument_lengths(call.block.params, primals)
        for p, a, dot in zip(call.block.params, primals, dots, strict=True):
            new[p] = v = Var(a.type, p.name, p.origin)
            current().let((v,), identity, (a,), {})
            if dot is not None:
                t[v] = dot
        block, _ = refresh(replace(differentiable_form(call.block), params=()), new)
        ForwardMode(merged=True).block(block.body, t)
        return [tangent_of(t, a) for a in block.results]

    def reverse(self, call: RuleCall, s: Let) -> Let:
        if draws(call.block):
            raise UnsupportedError(
                f"checkpoint({base_name(self.fun)}) would draw other random numbers again",
                "draw outside and pass the numbers in, or use tapeless.random with a key",
            )
        lengths = argument_lengths(call.block.params, s.args)
        new: dict[Any, Any] = lengths | dict(zip(call.block.params, s.args, strict=True))
        at = [k for k, a in enumerate(s.args) if isinstance(a, Var) and a.type.differentiable]
        with continuing(call.run), call.run.block() as body:
            for k in at:
                copy = Var(s.args[k].type, getattr(s.args[k], "name", ""))
                current().let((copy,), again, (s.args[k],), {})
                new[call.block.params[k]] = copy
        argument_of = lengths | dict(zip(call.block.params, s.args, strict=True))
        forward, inner = two_runs(call.block, argument_of, new, self.saves)
        smooth = [a for a, v in zip(inner.results, s.outs, strict=True) if v.type.differentiable]
        cts = [cotangent_variable(a) for a in smooth]
        inputs = tuple(v for k in at if isinstance(v := new[call.block.params[k]], Var))
        program = VjpOfBlock(Block(inputs, inner.body, tuple(smooth)), cts)
        program_body = all_reading([*body, *program.forward, *program.back])
        bars = dict(zip(at, program.bars, strict=True))
        back = BackwardRule(self.__name__, program_body, cts, bars)
        exports = back.exports(forward.body)
        name_all(list(forward.body), set(exports))
        forward = replace(forward, results=(*forward.results, *exports))
        return back.replacing(s, forward, exports, lambda dots: None)


def two_runs(block: Block, argument_of: Any, new: Any, saves: Saves | None) -> tuple[Block, Block]:
    """The first run of the block, on the arguments in `argument_of`, and the second, on copies
    of them, which takes from the first what is saved."""
    if saves is not None:
        block = differentiable_form(block)
    forward, _ = refresh(replace(block, params=()), argument_of)
    inner, _ = refresh(replace(block, params=()), new)
    if saves is None:
        return forward, inner
    deep = saved_values(forward, saves, top=False) if repeats_in_order(forward) else set()
    flat = saved_values(forward, saves, top=True)
    if deep - flat:
        second = take_saved_values(forward.body, inner.body, deep)
        first, second, renamed = resolve(list(forward.body), second)
        results = tuple(renamed.get(a, a) if isinstance(a, Var) else a for a in inner.results)
        inner_run = Block((), tuple(second), results)
        if not any(isinstance(s, Let) and s.op is pop for s in statements(inner_run)):
            return replace(forward, body=tuple(first)), inner_run
    return forward, replace(inner, body=tuple(take_saved_values(forward.body, inner.body, flat)))
