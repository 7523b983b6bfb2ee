"""Splits the tangent program from the primal one: what is known, and what is linear in the tangents.

    y = sin(x)      becomes      y = sin(x)      and      c = cos(x); y_dot = x_dot * c

The linear part mirrors the structure of the primal part and reads its variables, also those of
loop bodies and branches: `residuals` makes them available later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Block, For, If, Statement, Var, While
from tapeless.transforms.jvp import Forward, Tangents, tangent_of
from tapeless.transforms.ops.elementwise import add
from tapeless.transforms.ops.sizes import INT


@dataclass
class Linear:
    """primal: the statements with passes counted; body: linear statements from `inputs` to `outputs`."""

    primal: list[Statement]
    body: list[Statement]
    inputs: list[Var]
    outputs: list[Atom | None]


def linearize(block: Block, wrt: list[int]) -> Linear:
    primal = [count_passes(s) for s in block.body]
    b = builder.Builder()
    with builder.building(b):
        dots = [Var(block.params[k].type, block.params[k].name and block.params[k].name + "_dot") for k in wrt]
        t: Tangents = {block.params[k]: d for k, d in zip(wrt, dots, strict=True)}
        Forward(merged=False).block(primal, t)
    return Linear(primal, b.blocks[0], dots, [tangent_of(t, a) for a in block.results])


def count_passes(s: Statement) -> Statement:
    """While loops get a counter as their first carry, so that their derivative can be a `for`."""
    match s:
        case If():
            return replace(s, then=_inside(s.then), orelse=_inside(s.orelse))
        case For():
            return replace(s, body=_inside(s.body))
        case While():
            n, n_test = Var(INT, "passes"), Var(INT, "passes")
            body = _inside(s.body)
            b = builder.Builder()
            with builder.building(b):
                following = add(n, 1)
            body = Block((n, *body.params), (*body.body, *b.blocks[0]), (following, *body.results))
            test = Block((n_test, *s.test.params), s.test.body, s.test.results)
            return While((Var(INT, "passes"), *s.outs), (atom(0), *s.inits), test, body, s.origin)
        case _:
            return s


def _inside(block: Block) -> Block:
    return Block(block.params, tuple(count_passes(s) for s in block.body), block.results)
