"""Splits the tangent program from the primal one: what is known, what is linear in the tangents.

    y = sin(x)      becomes      y = sin(x)      and      c = cos(x); y_dot = x_dot * c

The linear part mirrors the structure of the primal part and reads its variables, also those of
loop bodies and branches: `residuals` makes them available later.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.activity import active_parts, dependents
from tapeless.transforms.analysis.free_variables import (
    axes,
    close,
    defined_variables,
    dropped_lengths,
    missing_sizes,
    read_from_around,
)
from tapeless.transforms.analysis.sign_analysis import CHOSEN
from tapeless.transforms.analysis.slopes import has_zeros
from tapeless.transforms.analysis.suggested_names import word_for
from tapeless.transforms.autodiff.differentiable_form import differentiable_form
from tapeless.transforms.autodiff.jvp import (
    ForwardMode,
    Tangents,
    instantiate,
    name_results,
    refuse_bits,
    tangent_of,
    tangent_variable,
)
from tapeless.transforms.autodiff.loop_lengths import own_loop_lengths
from tapeless.transforms.autodiff.residuals.resolve import resolve
from tapeless.transforms.autodiff.transpose import transpose
from tapeless.transforms.core import builder, dims, passes
from tapeless.transforms.core.batching_context import is_looped
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    For,
    Function,
    If,
    Let,
    Statement,
    Var,
    While,
    is_undefined,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.substitution import refresh, retype
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.function_calls import (
    bundle,
    enter,
    is_call,
    linear_call,
    unbundle,
)
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.optimize.count_passes import count_passes
from tapeless.transforms.optimize.dead_code import dead_code
from tapeless.transforms.optimize.hoist_invariants import hoist_invariants
from tapeless.transforms.optimize.hoist_views import hoist_views
from tapeless.transforms.optimize.inline_calls import Closed
from tapeless.transforms.optimize.joined_lists import joined_lists
from tapeless.transforms.optimize.loop_cse import computed_once
from tapeless.transforms.optimize.simplify import simplify


@dataclass
class Linear:
    """primal: the statements with passes counted; body: the linear ones, `inputs` to `outputs`."""

    primal: list[Statement]
    body: list[Statement]
    inputs: list[Var]
    outputs: list[Atom | None]


def linearize(block: Block, wrt: Iterable[int], ahead: bool = False) -> Linear:
    """The two parts; with `ahead`, the linear one is to be run as it is, else transposed."""
    around = functools.partial(read_from_around, block)
    for p in (joined_lists, differentiable_form, computed_once):
        block = passes.verified(p(block), passes.name_of(p), around)
    refuse_bits(block, [block.params[k] for k in wrt])
    active = dependents(block, [block.params[k] for k in wrt])
    primal = [linearizable(s, active, ahead) for s in _count_passes(block, active, ahead)]
    b = builder.Builder()
    with builder.building(b):
        primals = [block.params[k] for k in wrt]
        dots = [tangent_variable(v) for v in primals]
        t: Tangents = dict(zip(primals, dots, strict=True))
        ForwardMode(merged=False, ahead=ahead).block(primal, t)
    return Linear(primal, b.blocks[0], dots, [tangent_of(t, a) for a in block.results])


def _count_passes(block: Block, active: set[Var], ahead: bool) -> Iterator[Statement]:
    for s in block.body:
        yield from count_passes(s, active) if is_looped() and not ahead else [s]


def linearizable(s: Statement, active: set[Var], ahead: bool = False) -> Statement:
    """Functions with a rule give way to the forward part of the rule, called ones to that of their
    halves, and while loops get a counter as their first carry, so that their derivative can be a
    `for`."""

    def rewrite_block(block: Block) -> Block:
        body = tuple(linearizable(s, active, ahead) for s in block.body)
        return Block(block.params, body, block.results)

    match s:
        case Let() if is_call(s):
            active_positions = [
                k for k, a in enumerate(s.args) if a in active and a.type.differentiable
            ]
            if not active_positions:
                return s
            forward = halves(s.params["function"], active_positions, ahead).forward
            tape = Var(TAPE, f"{forward.name.removesuffix('_fwd')}_saved")
            name_results(s)
            return replace(s, outs=(*s.outs, tape), params={"function": forward})
        case Let(op=Closed(reverse=reverse)) if reverse is not None and any(
            a in active for a in s.args if isinstance(a, Var)
        ):
            return reverse(s)
        case If():
            return replace(s, then=rewrite_block(s.then), orelse=rewrite_block(s.orelse))
        case For():
            return replace(s, body=rewrite_block(s.body))
        case While():
            n, n_test = Var(INT, "passes"), Var(INT, "passes")
            body = rewrite_block(s.body)
            b = builder.Builder()
            with builder.building(b):
                following = add(n, 1)
            body = Block((n, *body.params), (*body.body, *b.blocks[0]), (following, *body.results))
            test = Block((n_test, *s.test.params), s.test.body, s.test.results)
            return While((Var(INT, "passes"), *s.outs), (atom(0), *s.inits), test, body, s.origin)
        case _:
            return s


class ForwardAndBackward:
    """A called function in two: `forward` gives a tape too, from which the linear half starts.

    def f(x):              becomes    def f_fwd(x):                and    def f_bwd(saved, y_bar):
        if x < 1:                         ...                                 x, f_saved = saved
            return x                      y, f_saved = f_fwd(x / 2)           ...
        return x * f(x / 2)               return x * y, (x, y, f_saved)
    """

    def __init__(self, function: Function, ins: tuple[int, ...], outs: list[int], ahead: bool):
        self.function, self.ins, self.outs, self.ahead = function, ins, outs, ahead
        self.forward = Function(f"{function.name}_fwd", lambda: self.build_blocks[0])
        second = "tangent" if ahead else "bwd"
        self.second = Function(f"{function.name}_{second}", lambda: self.build_blocks[1])
        self.forward.derived["linear"] = (ins, outs, self.linear)

    def linear(self, args: tuple[Atom, ...], outs: tuple[Var, ...]) -> None:
        """Records what takes a tape and tangents to tangents."""
        if self.ahead:
            enter(self.second, args, outs)
        else:
            builder.current().let(outs, linear_call, args, {"backward": self.second})

    @functools.cached_property
    def build_blocks(self) -> tuple[Block, Block]:
        """The blocks of both halves."""
        block = hoist_views(hoist_invariants(simplify(self.function.block)))
        block, _ = refresh(own_loop_lengths(block), dropped_lengths(block))
        split = linearize(block, self.ins, self.ahead)
        tangents = [(split.outputs[k], block.results[k]) for k in self.outs]
        with builder.building(builder.Builder()) as b:
            if self.ahead:
                linear_inputs, body = split.inputs, split.body
                tangent_values = [instantiate(dot, a) for dot, a in tangents]
                body += b.blocks[0]
            else:
                linear_inputs = [_cotangent(a) for _, a in tangents]
                for v in linear_inputs:
                    has_zeros(v, CHOSEN)
                pairs = zip(tangents, linear_inputs, strict=True)
                seeds: list[tuple[Var, Atom]] = [
                    (dot, ct) for (dot, _), ct in pairs if isinstance(dot, Var)
                ]
                tangent_values = transpose(split.body, split.inputs, seeds)
                body = b.blocks[0]
        body = list(dead_code(Block((), tuple(body), tuple(tangent_values))).body)
        forward, body, new = resolve(split.primal, body)
        forward, body = with_lengths_ahead(block.params, forward, body)
        results = [new.get(a, a) if isinstance(a, Var) else a for a in tangent_values]
        first, second = close_both(block, forward, body, linear_inputs, results)
        return passes.verified(first, "linearize"), passes.verified(second, "transpose")


def halves(function: Function, active_positions: list[int], ahead: bool) -> ForwardAndBackward:
    ins, outs = active_parts(function, active_positions)
    key = ("halves", ins, ahead)
    if key not in function.derived:
        function.derived[key] = ForwardAndBackward(function, ins, outs, ahead)
    return function.derived[key]  # type: ignore[no-any-return]


def _cotangent(a: Atom) -> Var:
    name = f"{a.name}_bar" if isinstance(a, Var) and a.name else "out_bar"
    return Var(a.type, name, primal=a if a.type == TAPE else None)


def name_all(body: list[Statement], wanted: set[Var]) -> None:
    """Gives names to what a tape holds: both functions that know it say the same."""
    for s in statements(Block((), tuple(body), ())):
        if isinstance(s, Let) and len(s.outs) == 1 and s.outs[0] in wanted:
            s.outs[0].name = s.outs[0].name or word_for(s)


def maybe_undefined(body: list[Statement]) -> set[Var]:
    """Variables that one side of a branch gives no value."""
    branches = [s for s in statements(Block((), tuple(body), ())) if isinstance(s, If)]
    return {
        v
        for s in branches
        for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True)
        if is_undefined(a) or is_undefined(b)
    }


def with_lengths_ahead(
    params: Iterable[Var], forward: list[Statement], body: list[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """The two parts, where the lengths of the first one's lists that the second reads are taken in
    the first: then the lists, which may grow on, need not be kept as they were."""
    places = dict.fromkeys(params, 0) | {
        v: k + 1 for k, s in enumerate(forward) for v in outputs(s)
    }
    lengths = [
        (places[a], s)
        for s in body
        if isinstance(s, Let) and s.op is stack_length
        for a in s.args
        if isinstance(a, Var) and a in places
    ]
    ahead = list(forward)
    for place, s in sorted(lengths, key=lambda pair: -pair[0]):
        ahead.insert(place, s)
    taken = [s for _, s in lengths]
    return ahead, [s for s in body if s not in taken]


def close_both(
    block: Block,
    forward: list[Statement],
    body: list[Statement],
    linear_inputs: list[Var],
    results: Any,
) -> tuple[Block, Block]:
    """Two closed blocks: the first also gives a tape, which is what the second reads of it."""
    whole = close(body, results)
    read = [v for v in whole.params if v not in linear_inputs]
    first = Block(block.params, tuple(forward), ())
    unset = maybe_undefined(forward)
    for v in read:
        v.partial = v.partial or v in unset  # also where the first is differentiated itself
    shown = [v for v in read if not v.partial]  # None shows no length
    lengths = missing_sizes(
        whole, [*shown, *linear_inputs], axes([*block.params, *defined_variables(first)])
    )
    own = (*block.params, *defined_variables(first))
    certain = {x for v in own if not (v.partial or v in unset) for x in sizes_in(v.type)}
    for symbol, n in lengths.items():
        n.partial = symbol not in certain
    tape = Var(TAPE, "saved")
    new: dict[Any, Any] = {symbol: n.size for symbol, n in lengths.items()}
    name_all(forward, set(read))
    for v in sorted(read, key=lambda v: bool(getattr(v.type, "shape", ()))):  # lengths come first
        new[v] = Var(retype(v.type, new), v.name, partial=v.partial)
    kept = [new[v] for v in read]
    with builder.building(builder.Builder()) as b:
        for symbol, n in lengths.items():
            b.let((n,), size_value, (), {"size": dims.single(symbol)})
        saved = bundle(*read, *lengths.values())
        forward = [*forward, *b.blocks[0]]
    parts = (*kept, *lengths.values())
    opening = Let(parts, unbundle, (tape,), {"kinds": tuple(v.type for v in parts)})
    for v in linear_inputs:
        new.setdefault(v.primal, None)  # which the second function does not know
    rest, _ = refresh(Block(tuple(linear_inputs), whole.body, whole.results), new)
    body = [opening, *rest.body] if parts else list(rest.body)
    return (
        Block(block.params, tuple(forward), (*block.results, saved)),
        Block((tape, *rest.params), tuple(body), rest.results),
    )
