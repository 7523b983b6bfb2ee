"""Runs a block a second time with some of the values of its first run.

    for t in range(n):                        for t in range(n):
        h = tanh(x @ w)                           h = tanh(x @ w); h_saved[t] = h
        x = x + h             becomes             x = x + h
    ...                                       ...
    <the same, run again>                     for t in range(n):
                                                  h = h_saved[t]
                                                  x = x + h

A value that is taken still has the derivative of the operation that computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import defined_variables
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    statements,
    with_blocks,
)
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.identities import identity

#: Says which value has a name; its result is never read.
value_name = Op("checkpoint_name", lambda x, *, name: x.type, "{0}", batch=batch_elementwise)

#: Of the statement that computes a value, or marks it with a name: whether the value is saved.
Saves = Callable[[Let], bool]


@dataclass(eq=False)
class Replayed(Op):
    """The operation `op`, whose result is known already: it is the last argument."""

    op: Op = identity


def _take_from_first_run(
    outs: tuple[Var, ...], op: Op, args: tuple[Atom, ...], of: Var, s: Any
) -> Let:
    replayed_op = Replayed(
        op.name, lambda *args, **_: args[-1].type, op.source, of_results=op.of_results, op=op
    )
    return Let(outs, replayed_op, (*args, of), getattr(s, "params", {}), s.origin)


def computing(s: Let) -> Let:
    """The statement that computes a value, also where it is taken: the one to differentiate."""
    return replace(s, op=s.op.op, args=s.args[:-1]) if isinstance(s.op, Replayed) else s


def reading(s: Let) -> Let:
    """The statement that reads a value, where it is taken: the one to run."""
    if not isinstance(s.op, Replayed):
        return s
    return replace(s, op=identity, args=s.args[-1:], params={})


def all_reading(body: Iterable[Statement]) -> list[Statement]:
    """The statements, in which values that are taken are not computed."""

    def rewrite_block(block: Block) -> Block:
        return replace(block, body=tuple(all_reading(block.body)))

    return [reading(s) if isinstance(s, Let) else with_blocks(s, rewrite_block) for s in body]


# -- what is saved


def saved_values(block: Block, saves: Saves, top: bool) -> set[Var]:
    """The values of a block that are saved; with `top`, not those of loops. Those of a branch that
    no loop is around are not: where the other side is taken they do not exist."""
    body = block.body if top else tuple(_with_passes(block.body))
    lets = {s.outs[0]: s for s in body if isinstance(s, Let) and s.op is not value_name}
    own = {*lets, *(v for s in body if isinstance(s, (If, For, While)) for v in s.outs)}
    if not top:
        own.update(v for s in body if isinstance(s, For) for v in s.carries)
    saved = {v for v, s in lets.items() if _may_be_taken(s) and saves(s)}
    for s in body:
        if isinstance(s, Let) and s.op is value_name and isinstance(v := s.args[0], Var):
            saved = saved | {v} if saves(s) else saved - {v}
    return saved & own


def _with_passes(body: Iterable[Statement], inside: bool = False) -> Iterator[Statement]:
    for s in body:
        yield s
        if inside or isinstance(s, For):
            for block in blocks(s):
                yield from _with_passes(block.body, True)


def _may_be_taken(s: Let) -> bool:
    return len(s.outs) == 1 and s.op.infer is not types_given and not is_call(s) and s.op.pure


def repeats_in_order(block: Block) -> bool:
    """Whether each loop has a known number of passes, so that a second run can follow it."""
    loops = [s for s in statements(block) if isinstance(s, (For, While))]
    return not any(isinstance(s, While) or s.until or s.each for s in loops)


# -- the second run


def take_saved_values(
    body: Iterable[Statement], copy: Iterable[Statement], saved: set[Var]
) -> list[Any]:
    """The copy of statements, in which values that are saved of the first run are taken from it."""
    statements_out: list[Any] = []
    for s, c in zip(body, copy, strict=True):
        if isinstance(s, Effect) or isinstance(c, Effect):
            statements_out.append(c)
            continue
        saved_pairs = [(v, w) for v, w in zip(s.outs, c.outs, strict=True) if v in saved]
        if isinstance(c, Let) and _may_be_taken(c):
            statements_out += [
                _take_from_first_run(c.outs, c.op, c.args, v, c) for v, _ in saved_pairs
            ] or [c]
            continue
        computed = _fresh_variables(saved_pairs)
        c = replace(c, outs=tuple(computed.get(w, w) for w in c.outs))
        statements_out.append(_follow_structure(s, c, saved))
        statements_out += [
            _take_from_first_run((w,), identity, (computed[w],), v, c) for v, w in saved_pairs
        ]
    return statements_out


def _fresh_variables(pairs: Iterable[tuple[Var, Var]]) -> dict[Var, Var]:
    """Variables for what is computed where another value is taken."""
    return {w: Var(w.type, w.name, w.origin, partial=w.partial) for _, w in pairs}


def _follow_structure(s: Statement, c: Statement, saved: set[Var]) -> Statement:
    """A structured statement, in whose blocks values are taken; they mirror the first run's."""
    match s, c:
        case If(), If() if _has_saved(s, saved):
            then, orelse = _block(s.then, c.then, saved), _block(s.orelse, c.orelse, saved)
            return replace(c, then=then, orelse=orelse, mirror=s)
        case For(), For() if _has_saved(s, saved):
            return replace(c, body=_block(s.body, c.body, saved), mirror=s)
        case _:
            return c


def _has_saved(s: Statement, saved: set[Var]) -> bool:
    return not saved.isdisjoint(v for block in blocks(s) for v in defined_variables(block))


def _block(block: Block, copy: Block, saved: set[Var]) -> Block:
    saved_pairs = [(v, w) for v, w in zip(block.params, copy.params, strict=True) if v in saved]
    computed = _fresh_variables(saved_pairs)
    first = [_take_from_first_run((w,), identity, (computed[w],), v, w) for v, w in saved_pairs]
    params = tuple(computed.get(w, w) for w in copy.params)
    return Block(params, (*first, *take_saved_values(block.body, copy.body, saved)), copy.results)
