"""Batches loops of which each element makes its own number of passes.

while x > 1: x = x / 2      becomes      going = x > 1
                                         while np.any(going):
                                             x[going] = x[going] / 2
                                             going[going] = x[going] > 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Block, For, Literal, Type, Var, While
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.numpy.reductions import any_
from tapeless.transforms.ops.numpy.run_time_errors import raise_where
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mul, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    less,
    logical_and,
    logical_not,
    sign,
)
from tapeless.transforms.ops.primitives.elementwise import maximum
from tapeless.transforms.ops.primitives.new_arrays import ones, zeros
from tapeless.transforms.vmap.longest_range import highest, lowest
from tapeless.transforms.vmap.masked_parts import enter, env_kept, has_axes, leave

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch
    from tapeless.transforms.vmap.masked_region import MaskedElements

BOOL = np.dtype(bool)


class Carries:
    """What a loop hands on from pass to pass; elements that do not take part keep theirs.

    env     what the carries are in a pass
    params  those that change, as parameters of the loop for the batch
    """

    def __init__(self, batch: Batch, params: Any, inits: Any, yields: Any, outs: Any) -> None:
        self.batch = batch
        self.rows = list(zip(params, inits, yields, outs, strict=True))
        self.env = {p: batch.value(a) for p, a, _, _ in self.rows}
        self.changed = [row for row in self.rows if row[0] is not row[2]]
        for p, _, y, _ in self.changed:
            if getattr(p.type, "shape", ()) != getattr(y.type, "shape", ()):
                raise UnevenError(
                    f"vmap: the length of '{p.name}' changes from pass to pass of a loop that ends "
                    "earlier for some elements of the batch",
                    "keep its length, and count what is used of it",
                )
        self.env |= {p: (Var(batch.kind(p.type), p.name), 0) for p, _, _, _ in self.changed}
        self.uneven = [v for p, _, _, v in self.changed if not has_axes(p.type)]
        batch.uneven |= {p for p, _, _, _ in self.changed if not has_axes(p.type)}

    def leave_out(self, ended: Var | None) -> None:
        """A carry that is false in each pass that is made."""
        if ended is not None:
            self.rows = [row for row in self.rows if row[0] is not ended]
            self.changed = [row for row in self.changed if row[0] is not ended]
            self.env[ended] = (atom(False), None)

    @property
    def params(self) -> list[Any]:
        return [self.env[p][0] for p, _, _, _ in self.changed]

    def inits(self) -> list[Atom]:
        return [self.batch.front(a) for _, a, _, _ in self.changed]

    def values_after_pass(self, inner: Batch, region: MaskedElements) -> list[Atom]:
        """What a pass leaves."""
        return [leave(inner, region, self.env[p][0], y) for p, _, y, _ in self.changed]

    def bind(self) -> tuple[Var, ...]:
        """Variables for the carries that change, bound to what the loop ends in."""
        outs = tuple(Var(p.type, p.name) for p in self.params)
        ends = iter(outs)
        for p, a, y, v in self.rows:
            self.batch.env[v] = self.batch.value(a) if p is y else (next(ends), 0)
        self.batch.uneven.update(self.uneven)
        return outs


def mark_lists(batch: Batch, params: Any, flag: Any) -> None:
    """Lists that parameters stand for may have grown by different numbers of elements."""
    batch.uneven |= {p for p, a in zip(params, flag, strict=True) if a in batch.uneven}


# -- while


def masked_while(batch: Batch, s: While) -> None:
    going = _first_test(batch, s)
    carries = Carries(batch, s.body.params, s.inits, s.body.results, s.outs)
    mask, tested, end = (Var(going.type, "going") for _ in range(3))
    body, results = _while_pass(batch, s, carries, mask)
    with batch.scope() as test:
        any_left = any_(tested, axes=(0,), keepdims=False)
    others = [Var(p.type, p.name) for p in carries.params]
    inits = (going, *carries.inits())
    builder.current().emit(
        While(
            (end, *carries.bind()),
            inits,
            Block((tested, *others), tuple(test), (any_left,)),
            Block((mask, *carries.params), tuple(body), tuple(results)),
            s.origin,
        )
    )


def _first_test(batch: Batch, s: While) -> Atom:
    """Which elements make a first pass."""
    first, _ = refresh(s.test)
    with env_kept(batch):
        batch.env |= {p: batch.value(a) for p, a in zip(first.params, s.inits, strict=True)}
        mark_lists(batch, first.params, s.inits)
        batch.block(first.body, first.results)
        going = batch.front(first.results[0])
    if isinstance(going, Var):
        going.name = going.name or "going"
    return going


def _while_pass(batch: Batch, s: While, carries: Carries, mask: Var) -> Any:
    """A pass: its statements, and which elements make another one and what is handed on."""
    with batch.scope() as body:
        batch.env |= carries.env
        region, inner = enter(batch, mask, (s.body, s.test))
        inner.block(s.body.body, s.body.results)
        pairs = zip(s.test.params, s.body.results, strict=True)
        inner.env |= {p: inner.value(a) for p, a in pairs}
        mark_lists(inner, s.test.params, s.body.results)
        inner.block(s.test.body, s.test.results)
        news = carries.values_after_pass(inner, region)
        following = leave(inner, region, mask, s.test.results[0])
    return body, (following, *news)


# -- for


@dataclass
class PassRange:
    """The passes that any element makes.

    at     the index of the elements in pass k, and its batch axis
    here   which elements make pass k; None: all
    """

    start: Atom
    stop: Atom
    step: Atom
    at: Callable[[Atom], Any]
    here: Callable[[Atom], Any]
    shared: bool = True  # the index is the same for all elements


def _span(batch: Batch, s: For) -> PassRange:
    (start, a), (stop, b), (step, c) = (batch.value(x) for x in (s.start, s.stop, s.step))
    if a is b is c is None:
        return PassRange(start, stop, step, lambda k: (k, None), lambda k: None)
    if a is c is None and isinstance(step, Literal):
        up = step.value > 0
        last = (highest if up else lowest)(stop, start, axes=(0,))
        compare = less if up else greater
        return PassRange(start, last, step, lambda k: (k, None), lambda k: compare(k, stop))
    if c is not None:
        raise_where(equal(step, 0), ValueError, "range() arg 3 must not be zero")
    sense = atom(1 if step.value > 0 else -1) if isinstance(step, Literal) else sign(step)
    passes = maximum(floordiv(sub(add(sub(stop, start), step), sense), step), 0)
    most = highest(passes, 0, axes=(0,))
    axis = None if a is c is None else 0
    return PassRange(
        atom(0),
        most,
        atom(1),
        lambda k: (add(start, mul(k, step)), axis),
        lambda k: less(k, passes),
        False,
    )


def masked_for(batch: Batch, s: For) -> None:
    """Elements take part in a pass while their own range lasts, and until they break."""
    span = _span(batch, s)
    k = s.index if span.shared else Var(INT, s.index.name)
    carries = Carries(batch, s.carries, s.inits, s.yields, s.outs)
    ended = _exit_flag_carry(s)
    carries.leave_out(ended)
    size = (batch.size,)
    going = Var(Type(BOOL, size), "going") if s.until else None
    count = Var(Type(INT.dtype, size), "count") if s.count is not None else None
    own = [v for v in (going, count) if v is not None]
    body, results = _for_pass(batch, s, span, k, carries, going, count)
    inits = [ones(shape=size, dtype=BOOL)] if going is not None else []
    inits += [zeros(shape=size, dtype=INT.dtype)] if count is not None else []
    inits += carries.inits()
    ends = tuple(Var(v.type, v.name) for v in own)
    inner = Block((k, *own, *carries.params), tuple(body), tuple(results))
    passes = Var(INT, "passes") if s.until else None
    outs = (*ends, *carries.bind())
    span_of_all = (span.start, span.stop, span.step)
    builder.current().emit(
        For(outs, *span_of_all, tuple(inits), inner, s.reverse, s.until, passes, s.mirror, s.origin)
    )
    _bind_ended(batch, s, ended, ends)
    if s.count is not None:
        batch.env[s.count] = (ends[-1], 0)


def _for_pass(
    batch: Batch, s: For, span: PassRange, k: Var, carries: Carries, going: Any, count: Any
) -> Any:
    """A pass: its statements and results, of which the first says whether the loop ends."""
    with batch.scope() as body:
        batch.env |= carries.env
        batch.bind(s.index, *span.at(k))
        mask = _mask(span.here(k), going)
        region, inner = enter(batch, mask, (s.body,))
        inner.block(s.body.body, s.body.results)
        news = carries.values_after_pass(inner, region)
        head = []
        if going is not None:
            more = span.here(add(k, span.step))
            head = _following(inner, region, going, s.body.results[0], more)
        if count is not None:
            head.append(add(count, mask))
    return body, (*head, *news)


def _mask(here: Any, going: Any) -> Any:
    if here is None or going is None:
        return going if here is None else here
    return logical_and(going, here)


def _following(
    inner: Batch, region: MaskedElements, going: Var, flag: Atom, more: Any
) -> list[Atom]:
    """Whether no element is left for another pass, and which have not ended; `more`: those whose
    range has not."""
    stopped, axis = inner.value(flag)
    goes_on = Var(Type(BOOL))
    inner.env[goes_on] = (logical_not(stopped), axis)
    following = leave(inner, region, going, goes_on)
    running = _mask(more, following)
    return [logical_not(any_(running, axes=(0,), keepdims=False)), following]


def _exit_flag_carry(s: For) -> Var | None:
    """A carry that is the flag by which the loop ends: in a pass that is made it is not set."""
    for p, a, y in zip(s.carries, s.inits, s.yields, strict=True):
        starts_false = isinstance(a, Literal) and a.value is False
        if s.until and y is s.body.results[0] and starts_false:
            return p
    return None


def _bind_ended(batch: Batch, s: For, ended: Var | None, ends: tuple[Var, ...]) -> None:
    """The flag after the loop: it is set for those that do not go on."""
    for p, v in zip(s.carries, s.outs, strict=True):
        if p is ended:
            batch.env[v] = (logical_not(ends[0]), 0)
