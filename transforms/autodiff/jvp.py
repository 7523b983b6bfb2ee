"""Differentiates in forward mode: every statement is followed by the statement that computes its
tangent.

    y = sin(x)      becomes      y = sin(x); y_dot = x_dot * cos(x)

`linearize` uses the same rules but keeps the tangent statements apart.

>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(jvp, wrt=[0]), '''
... (x: f8, y: f8):
...     a = sin(x)
...     b = mul(a, y)
...     return b
... '''))
(x: f8, y: f8, x_dot: f8):
    a: f8 = sin(x)
    t1: f8 = cos(x)
    a_dot: f8 = mul(x_dot, t1)
    b: f8 = mul(a, y)
    b_dot: f8 = mul(a_dot, y)
    return b, b_dot
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.activity import active_parts
from tapeless.transforms.analysis.bit_patterns import made_of_bits
from tapeless.transforms.analysis.sign_analysis import CHOSEN
from tapeless.transforms.analysis.slopes import (
    chooses,
    has_zeros,
    note,
    note_branch,
    note_loop,
    on_side,
    zeros_of,
)
from tapeless.transforms.analysis.zero_masks import chosen_by_branch
from tapeless.transforms.autodiff.differentiable_form import differentiable_form
from tapeless.transforms.autodiff.kept_zeros import kept_zeros
from tapeless.transforms.autodiff.residuals.replay import computing
from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    is_undefined,
)
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import NotDifferentiableError, located
from tapeless.transforms.ops.numpy.creation import zero
from tapeless.transforms.ops.primitives.function_calls import enter, is_call
from tapeless.transforms.ops.primitives.new_arrays import zero_of
from tapeless.transforms.optimize.inline_calls import with_shape

Tangents = dict[Var, Any]


def tangent_of(t: Tangents, a: Atom) -> Any:
    return t.get(a) if isinstance(a, Var) else None


def name_tangent(value: Any, primal: Var) -> Any:
    if isinstance(value, Var) and _has_form(value.type):
        value.primal = form_of(primal)
    if isinstance(value, Var) and not value.name and primal.name:
        value.name = primal.name + "_dot"
    if isinstance(value, Var) and primal.partial:
        value.partial, value.primal = True, form_of(primal)
    return value


def zero_if_none(t: Any, like: Any) -> Atom:
    return zero(like) if t is None else t


def _sized_as(v: Var, out: Atom, tangents: tuple[Any, ...]) -> Atom:
    """A tangent with the sizes of its value, which are the same, by other names."""
    if not (isinstance(out, Var) and isinstance(v.type, Type)) or out.type.shape == v.type.shape:
        return out
    if any(out is t for t in tangents):  # of which it may be another name
        return with_shape(out, v.type.shape)
    out.type = Type(out.type.dtype, v.type.shape, out.type.weak)
    return out


def instantiate(t: Any, of: Atom) -> Atom:
    """The tangent of an atom: zero if it has none, nothing for a value that is never looked at."""
    if t is not None:
        return t  # type: ignore[no-any-return]
    return of if is_undefined(of) else zero_of(of)


def _has_form(kind: Any) -> bool:
    """Whether a zero of a type is made after the value that it stands for."""
    return isinstance(kind, StackType) or kind == TAPE


class ForwardMode:
    """Walks primal statements and records tangent statements in the open block.

    merged    the primal statements are recorded too (jvp); otherwise structured statements carry
              tangents only, mirror the primal statement and read its variables (linearize)
    run       the tangents are computed as they are; else they are transposed
    """

    def __init__(self, merged: bool, ahead: bool = False) -> None:
        self.merged, self.run = merged, merged or ahead
        self.inside = not merged  # or: what the linear statements belong to was looked at before

    def block(self, body: Iterable[Statement], t: Tangents) -> None:
        if not self.inside:
            body, self.inside = tuple(body), True
            refuse_bits(Block((), body, ()), t)
        for s in body:
            builder.current().origin = s.origin
            try:
                self.statement(s, t)
            except NotDifferentiableError as e:
                if e.where is None and s.origin is not None:
                    e.where = (s.origin.file, s.origin.line, 0, 0)
                raise

    def statement(self, s: Statement, t: Tangents) -> None:
        match s:
            case Let() if is_call(s):
                self.call(s, t)
            case Let():
                self.let(s, t)
            case If():
                self.branch(s, t)
            case For():
                self.loop(s, t)
            case While():
                self.while_(s, t)
            case Effect():
                if self.merged:
                    builder.current().emit(s)
            case _:
                raise TypeError(s)

    def let(self, s: Let, t: Tangents) -> None:
        if self.merged:
            b = builder.current()
            b.emit(s)
            for v in s.outs:
                b.definitions[v] = s
        s = computing(s)
        tangents = tuple(tangent_of(t, a) for a in s.args)
        note(s)
        if s.op.jvp is None or all(x is None for x in tangents):
            return
        body = builder.current().blocks[-1]
        start = len(body)
        outs = s.op.jvp(s.args, tangents, s.outs, s.params)
        if self.run:
            outs = kept_zeros(body, start, tangents, outs)
        for v, out in zip(s.outs, outs, strict=True):
            if out is not None and v.type.differentiable:
                t[v] = name_tangent(_sized_as(v, out, tangents), v)

    def call(self, s: Let, t: Tangents) -> None:
        """A call of a function becomes one of its forward mode, with tangents behind the arguments
        and results; or of the linear part that `linearize` split off."""
        active = [k for k, a in enumerate(s.args) if tangent_of(t, a) is not None]
        function = s.params["function"]
        if not active:
            if self.merged:
                builder.current().emit(s)
            return
        name_results(s)
        ahead: Any
        zeros = tuple(k for k in active if zeros_of(t[s.args[k]]))  # type: ignore[index]
        split = not self.merged
        ins, outs, ahead = (
            function.derived["linear"] if split else jvp_function(function, active, zeros)
        )
        if not outs:
            if self.merged:
                builder.current().emit(s)
            return
        dots = tuple(instantiate(tangent_of(t, s.args[k]), s.args[k]) for k in ins)
        tangents = tuple(tangent_variable(s.outs[k]) for k in outs)
        for v in tangents:
            may = not self.merged or zeros or chooses(function)
            has_zeros(v, CHOSEN if may else 0)
        if self.merged:
            enter(ahead, (*s.args, *dots), (*s.outs, *tangents), s.op.pure)
        else:
            ahead((s.outs[-1], *dots), tangents)
        t.update(zip((s.outs[k] for k in outs), tangents, strict=True))

    def nested_block(self, body: Block, t: Tangents) -> tuple[list[Statement], list[Any]]:
        """Statements of a nested block and the tangents of its results."""
        with builder.current().block() as statements:
            inner = dict(t)
            self.block(body.body, inner)
        return statements, [tangent_of(inner, a) for a in body.results]

    def branch(self, s: If, t: Tangents) -> None:
        with on_side(s.test, True):
            body_a, dots_a = self.nested_block(s.then, t)
        with on_side(s.test, False):
            body_b, dots_b = self.nested_block(s.orelse, t)
        active = [
            k
            for k, v in enumerate(s.outs)
            if v.type.differentiable and (dots_a[k] is not None or dots_b[k] is not None)
        ]
        if not active and not self.merged:
            return
        outs = [tangent_variable(s.outs[k]) for k in active]
        for k, v in zip(active, outs, strict=True):
            ends = (s.then.results[k], s.orelse.results[k])
            s.outs[k].partial |= any(is_undefined(a) or getattr(a, "partial", False) for a in ends)
            if s.outs[k].partial:
                v.partial, v.primal = True, form_of(s.outs[k])
        sides = []
        for body, dots, side in ((body_a, dots_a, s.then), (body_b, dots_b, s.orelse)):
            extra = self.fill(body, dots, side.results, active)
            sides.append(Block((), tuple(body), (*(side.results if self.merged else ()), *extra)))
        branch = If(
            (*(s.outs if self.merged else ()), *outs),
            s.test,
            sides[0],
            sides[1],
            None if self.merged else s,
            s.origin,
        )
        builder.current().emit(branch)
        note_branch(s)
        for k, v in zip(active, outs, strict=True):
            chosen_by_branch(v, s.test, dots_a[k], dots_b[k])
            t[s.outs[k]] = v

    def fill(
        self, body: list[Statement], dots: list[Any], results: tuple[Atom, ...], active: list[int]
    ) -> list[Atom]:
        b = builder.current()
        b.blocks.append(body)
        extra = [instantiate(dots[k], results[k]) for k in active]
        b.blocks.pop()
        return extra

    def settle(
        self,
        s: For | While,
        body: Block,
        yields: tuple[Atom, ...],
        params: tuple[Var, ...],
        t: Tangents,
    ) -> Any:
        """Which carries have tangents: those that start with one, or get one in a pass."""
        active = [
            tangent_of(t, a) is not None and p.type.differentiable
            for a, p in zip(s.inits, params, strict=True)
        ]
        zeros = [0] * len(active)
        while True:
            inner = dict(t)
            dots = [
                tangent_variable(p) if on else None for p, on in zip(params, active, strict=True)
            ]
            for d, may in zip(dots, zeros, strict=True):
                has_zeros(d, may)
            inner |= {p: d for p, d in zip(params, dots, strict=True) if d is not None}
            with builder.current().block() as statements:
                self.block(body.body, inner)
                results = [tangent_of(inner, a) for a in yields]
                new = [
                    on or (r is not None and p.type.differentiable)
                    for on, r, p in zip(active, results, params, strict=True)
                ]
                # joined with what earlier passes found: two carries that a pass exchanges would
                # exchange these facts for ever
                may_be = [
                    old | (0 if r is None else zeros_of(r))
                    for old, r in zip(zeros, results, strict=True)
                ]
                if new == active and (may_be == zeros or not self.run):
                    extra = [
                        instantiate(r, y)
                        for r, y, on in zip(results, yields, active, strict=True)
                        if on
                    ]
                    return active, statements, [d for d in dots if d is not None], extra
            active, zeros = new, may_be

    def loop(self, s: For, t: Tangents) -> None:
        active, statements, dots, extra = self.settle(s, s.body, s.yields, s.carries, t)
        note_loop(s, s.yields)
        if not any(active) and not self.merged:
            return
        outs = [tangent_variable(v) for v, on in zip(s.outs, active, strict=True) if on]
        inits = [
            instantiate(tangent_of(t, a), a) for a, on in zip(s.inits, active, strict=True) if on
        ]
        if self.merged:
            body = Block((s.index, *s.carries, *dots), tuple(statements), (*s.body.results, *extra))
            loop = replace(s, outs=(*s.outs, *outs), inits=(*s.inits, *inits), body=body)
        else:
            stop = s.start + s.count * s.step if s.count is not None else s.stop
            loop = For(
                tuple(outs),
                s.start,
                stop,
                s.step,
                tuple(inits),
                Block((s.index, *dots), tuple(statements), tuple(extra)),
                s.reverse,
                mirror=s,
                origin=s.origin,
            )
        builder.current().emit(loop)
        self.bind(s, active, outs, extra, t)

    def while_(self, s: While, t: Tangents) -> None:
        active, statements, dots, extra = self.settle(s, s.body, s.body.results, s.body.params, t)
        note_loop(s, s.body.results)
        if not any(active) and not self.merged:
            return
        outs = [tangent_variable(v) for v, on in zip(s.outs, active, strict=True) if on]
        inits = [
            instantiate(tangent_of(t, a), a) for a, on in zip(s.inits, active, strict=True) if on
        ]
        loop: Statement
        if self.merged:
            test_dots = [Var(d.type, d.name) for d in dots]
            loop = While(
                (*s.outs, *outs),
                (*s.inits, *inits),
                Block((*s.test.params, *test_dots), s.test.body, s.test.results),
                Block((*s.body.params, *dots), tuple(statements), (*s.body.results, *extra)),
                s.origin,
            )
        else:  # `prepare` made the first carry the number of passes
            loop = For(
                tuple(outs),
                atom(0),
                s.outs[0],
                atom(1),
                tuple(inits),
                Block((s.body.params[0], *dots), tuple(statements), tuple(extra)),
                mirror=s,
                origin=s.origin,
            )
        builder.current().emit(loop)
        self.bind(s, active, outs, extra, t)

    def bind(
        self, s: For | While, active: list[bool], outs: list[Var], ends: list[Atom], t: Tangents
    ) -> None:
        """What starts without a value has none after a loop without passes."""
        active_pairs = [(v, a) for v, a, on in zip(s.outs, s.inits, active, strict=True) if on]
        for (v, init), dot, end in zip(active_pairs, outs, ends, strict=True):
            start = tangent_of(t, init)
            has_zeros(dot, zeros_of(start) | zeros_of(end))
            lacking = is_undefined(init) or getattr(init, "partial", False)
            if lacking and isinstance(dot.type, Type):
                v.partial = True
                dot.partial, dot.primal = True, form_of(v)
            t[v] = dot


def name_tangents(t: Tangents) -> None:
    """Tangents without a name are called after what they belong to."""
    for v, dot in t.items():
        if isinstance(dot, Var) and not dot.name:
            dot.name = _dot(v)


def tangent_variable(v: Var) -> Var:
    """A new variable for the tangent of `v`."""
    return Var(v.type, _dot(v), primal=form_of(v) if _has_form(v.type) else None)


def form_of(v: Var) -> Var:
    """What the zero of a stack or tape is made after: of a tangent, what it is the tangent of. So
    to ask for its form is not to read it, and what is linear in it stays so."""
    return v if v.primal is None else v.primal


def _dot(v: Var) -> str:
    return v.name + "_dot" if v.name else ""


def jvp(
    block: Block,
    wrt: Iterable[int],
    outs: Iterable[int] | None = None,
    zeros: Iterable[int] = (),
) -> Block:
    """A block with a tangent parameter for each parameter in `wrt` and, after the results, the
    tangents of those in `outs`, or of all that may have one (zero where they do not depend).

    zeros  the parameters whose tangents may be exactly zero by choice
    """
    wrt = list(wrt)
    if outs is None:
        outs = [k for k, a in enumerate(block.results) if a.type.differentiable]
    block, _ = refresh(differentiable_form(block))  # the block itself lives on
    b = builder.Builder()
    with builder.building(b):
        dots = [tangent_variable(block.params[k]) for k in wrt]
        for k, d in zip(wrt, dots, strict=True):
            has_zeros(d, CHOSEN if k in zeros else 0)
        t: Tangents = {block.params[k]: d for k, d in zip(wrt, dots, strict=True)}
        ForwardMode(merged=True).block(block.body, t)
        tangents = [instantiate(tangent_of(t, a), a) for a in (block.results[k] for k in outs)]
    return Block((*block.params, *dots), tuple(b.blocks[0]), (*block.results, *tangents))


def refuse_bits(block: Block, inputs: Iterable[Var]) -> None:
    """Refuses floats that are made of the bits of what depends on the inputs."""
    s = made_of_bits(block, inputs)
    if s is not None:
        with located(s.origin):
            raise NotDifferentiableError(
                "a float is made of the bits of another one, and bits have no derivative",
                "write it with functions of NumPy, or take the bits of "
                "tapeless.lax.stop_gradient(x)",
            )


def name_results(s: Let) -> None:
    """Results of a call that the user gave no name are named after the function."""
    stem = s.params["function"].name.removesuffix("_fwd").removesuffix("_jvp")
    for v in s.outs:
        v.name = v.name or f"{stem}_value"


def jvp_function(
    function: Function, active_positions: list[int], zeros: tuple[int, ...]
) -> tuple[tuple[int, ...], list[int], Function]:
    """A called function in forward mode, and which of its parameters and results have tangents.

    zeros  the parameters whose tangents may be exactly zero by choice
    """
    ins, outs = active_parts(function, active_positions)
    if ("jvp", ins, zeros) not in function.derived:
        function.derived["jvp", ins, zeros] = Function(
            f"{function.name}_jvp", lambda: jvp(function.block, ins, outs, zeros)
        )
    return ins, outs, function.derived["jvp", ins, zeros]
