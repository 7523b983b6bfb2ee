"""Batches functions with a derivative rule of their own: the rule becomes one for batches.

A rule is run on variables for one element, and what it records is batched like everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tapeless.transforms.analysis.free_variables import close
from tapeless.transforms.core.builder import Builder, building, current
from tapeless.transforms.core.language import Atom, Block, Let, Statement, Var
from tapeless.transforms.core.operation import Op, types_given
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.ops.primitives.shapes import repeat_batch
from tapeless.transforms.optimize.inline_calls import Closed, closed_operation, expand
from tapeless.transforms.vmap.masked_parts import has_axes

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch, Pair


def is_ruled(s: Let) -> bool:
    """Whether a statement is a call of a function with a rule, or the linear part of one."""
    return s.op.infer is types_given and (isinstance(s.op, Closed) or s.op.transpose is not None)


def apply(batch: Batch, s: Let) -> None:
    """Records what takes the place of the statement, and binds its results."""
    if isinstance(s.op, Closed) and s.op.reverse is None and s.op.jvp is None:
        batch.block(expand([s], rules=False), s.outs)
        return
    args = tuple(batch.front(a) if batch.is_batched(a) else batch.value(a)[0] for a in s.args)
    outs = tuple(Var(batch.kind(v.type), v.name) for v in s.outs)
    for v, out in zip(s.outs, outs, strict=True):
        batch.env[v] = (out, 0)
    flags = [batch.is_batched(a) for a in s.args]
    rule = Rule(batch, s, flags)
    current().let(outs, rule.op, args, s.params)


class Rule:
    """The rule of the statement `s` for one element, as one for batches of the flagged arguments.

    env  what became of the variables around, which a rule may read
    """

    def __init__(self, batch: Batch, s: Let, flags: list[bool]) -> None:
        self.batch, self.s, self.flags = batch, s, flags
        self.env = dict(batch.env)
        if isinstance(s.op, Closed):
            reverse = None if s.op.reverse is None else self.reverse
            self.op: Op = closed_operation(s.op.name, self.block(s.op), self.jvp, reverse)
        else:
            self.op = Op(s.op.name, types_given, transpose=self.transpose)

    def inner_batch(self, batches: Iterable[Any] = ()) -> Batch:
        """A batch in which what a rule records is put. Its length is that of `batches`, batch
        first: where a part of the program runs again it has another name."""
        sizes = (a.type.shape[0] for a in batches if a is not None and has_axes(a.type))
        size = next(sizes, self.batch.size)
        element_batch = type(self.batch)(size, self.batch.nested, self.batch.masked)
        element_batch.mask, element_batch.uneven = self.batch.mask, self.batch.uneven
        element_batch.env = dict(self.env)
        return element_batch

    def batched_arguments(self, args: Iterable[Any]) -> list[Any]:
        """The arguments that are batches."""
        return [a for a, on in zip(args, self.flags, strict=True) if on]

    def block(self, op: Closed) -> Block:
        """What the operation stands for, for a batch."""
        inner = self.inner_batch()
        block, _ = refresh(op.block)
        params = tuple(
            Var(inner.kind(p.type), p.name) if on else p
            for p, on in zip(block.params, self.flags, strict=True)
        )
        inner.env = {p: (v, 0) for p, v in zip(block.params, params, strict=True) if v is not p}
        inner.valued = True  # what the forward part of a rule saves is a batch
        with building(Builder()) as b:
            inner.block(block.body, block.results)
            results = tuple(inner.front(a) for a in block.results)
        return Block(params, tuple(b.blocks[0]), results)

    # -- the rule

    def element(self, a: Atom, like: Atom, batched: bool, env: dict[Var, Pair]) -> Atom:
        """A variable for one element of `a`, of the type of `like`."""
        if not batched:
            return a
        v = Var(like.type, getattr(a, "name", ""))
        env[v] = (a, 0)
        return v

    def run(self, inner: Batch, values: Iterable[Any], results: Sequence[Any]) -> list[Any]:
        """Batches what was recorded; the results for the batch."""
        inner.block(values, [r for r in results if r is not None])
        return [None if r is None else inner.front(r) for r in results]

    def jvp(self, primals: Any, dots: Any, outs: Any, params: Any) -> Any:
        inner, s = self.inner_batch(self.batched_arguments(primals)), self.s
        ins = [
            self.element(a, like, on, inner.env)
            for a, like, on in zip(primals, s.args, self.flags, strict=True)
        ]
        wide = [
            None if d is None else repeat_batch(d, 0 if on else None, inner.size)
            for d, on in zip(dots, self.flags, strict=True)
        ]
        ds = [
            None if d is None else self.element(d, like, True, inner.env)
            for d, like in zip(wide, s.args, strict=True)
        ]
        ends = [
            self.element(v, like, True, inner.env) for v, like in zip(outs, s.outs, strict=True)
        ]
        assert s.op.jvp is not None
        with self.batch.for_elements(), current().block() as block:
            tangents = s.op.jvp(tuple(ins), tuple(ds), tuple(ends), params)
        return tuple(self.run(inner, block, tangents))

    def transpose(self, ct: Any, args: Any, used: Any, params: Any) -> Any:
        cts = ct if isinstance(ct, tuple) else (ct,)
        inner, s = self.inner_batch(cts), self.s
        each = tuple(
            self.element(c, like, True, inner.env) for c, like in zip(cts, s.outs, strict=True)
        )
        assert s.op.transpose is not None
        b = current()
        with b.block() as body:
            with self.batch.for_elements(), b.block() as block:
                cotangents = s.op.transpose(
                    each if len(each) > 1 else each[0], s.args, used, params
                )
            bars = self.run(inner, block, cotangents)
        return self.kept_closed(body, bars)

    def kept_closed(self, body: list[Statement], bars: list[Any]) -> tuple[Any, ...]:
        """Cotangents from one operation: a backward part may have loops that save nothing, which
        only a forward part can have before it is known what is saved."""
        results = [a for a in bars if isinstance(a, Var)]
        block = close(body, results)
        outs = tuple(Var(v.type, v.name) for v in results)
        if outs:
            current().let(outs, closed_operation(f"{self.s.op.name}_bwd", block), block.params, {})
        new = dict(zip(results, outs, strict=True))
        return tuple(new.get(a, a) if isinstance(a, Var) else a for a in bars)

    def reverse(self, s: Let) -> Let:
        assert isinstance(self.s.op, Closed)
        assert self.s.op.reverse is not None
        with self.batch.for_elements():
            reversed_statement = self.s.op.reverse(self.s)
        saved = reversed_statement.outs[len(s.outs) :]
        inner = self.inner_batch(self.batched_arguments(s.args))
        wide = tuple(Var(inner.kind(v.type), v.name) for v in saved)
        inner.env |= {v: (w, 0) for v, w in zip(saved, wide, strict=True)}
        inner.env |= {v: (w, 0) for v, w in zip(self.s.outs, s.outs, strict=True)}
        inner.env |= {
            v: (a, 0)
            for v, a, on in zip(self.s.args, s.args, self.flags, strict=True)
            if on and isinstance(v, Var)
        }
        flags = [inner.is_batched(a) for a in reversed_statement.args]
        args = tuple(
            inner.front(a) if on else inner.value(a)[0]
            for a, on in zip(reversed_statement.args, flags, strict=True)
        )
        forward = Rule(inner, reversed_statement, flags)
        return Let((*s.outs, *wide), forward.op, args, {}, s.origin)
