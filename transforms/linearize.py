"""Splits the tangent program from the primal one: what is known, what is linear in the tangents.

    y = sin(x)      becomes      y = sin(x)      and      c = cos(x); y_dot = x_dot * c

The linear part mirrors the structure of the primal part and reads its variables, also those of
loop bodies and branches: `residuals` makes them available later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom
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
    operands,
    outputs,
)
from tapeless.transforms.core.sizes import INT
from tapeless.transforms.expand import Closed
from tapeless.transforms.jvp import Forward, Tangents, tangent_of
from tapeless.transforms.ops.elementwise import add


@dataclass
class Linear:
    """primal: the statements with passes counted; body: the linear ones, `inputs` to `outputs`."""

    primal: list[Statement]
    body: list[Statement]
    inputs: list[Var]
    outputs: list[Atom | None]


def linearize(block: Block, wrt: list[int]) -> Linear:
    active = dependents(block, [block.params[k] for k in wrt])
    primal = [prepare(s, active) for s in block.body]
    b = builder.Builder()
    with builder.building(b):
        dots = [
            Var(block.params[k].type, block.params[k].name and block.params[k].name + "_dot")
            for k in wrt
        ]
        t: Tangents = {block.params[k]: d for k, d in zip(wrt, dots, strict=True)}
        Forward(merged=False).block(primal, t)
    return Linear(primal, b.blocks[0], dots, [tangent_of(t, a) for a in block.results])


def dependents(block: Block, inputs: list[Var]) -> set[Var]:
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


def prepare(s: Statement, active: set[Var]) -> Statement:
    """Functions with a rule give way to the forward part of the rule, and while loops get a counter
    as their first carry, so that their derivative can be a `for`."""
    match s:
        case Let(op=Closed(reverse=reverse)) if reverse is not None and any(
            a in active for a in s.args if isinstance(a, Var)
        ):
            return reverse(s)
        case If():
            return replace(s, then=_inside(s.then, active), orelse=_inside(s.orelse, active))
        case For():
            return replace(s, body=_inside(s.body, active))
        case While():
            n, n_test = Var(INT, "passes"), Var(INT, "passes")
            body = _inside(s.body, active)
            b = builder.Builder()
            with builder.building(b):
                following = add(n, 1)
            body = Block((n, *body.params), (*body.body, *b.blocks[0]), (following, *body.results))
            test = Block((n_test, *s.test.params), s.test.body, s.test.results)
            return While((Var(INT, "passes"), *s.outs), (atom(0), *s.inits), test, body, s.origin)
        case _:
            return s


def _inside(block: Block, active: set[Var]) -> Block:
    return Block(block.params, tuple(prepare(s, active) for s in block.body), block.results)
