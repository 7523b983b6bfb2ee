"""Adds, in loops whose passes wait for each other, the term last that is known last.

for k: e = exp(x); x = 0.5 - x + 0.1 * (2.0 * e + u[k])
    becomes      for k: e = exp(x); x = (0.5 - x + 0.1 * u[k]) + 0.2 * e

A value that is computed of the latest one by sums, and by products with earlier ones, is a + b *
latest: a and b are there before, and a pass waits for one product and one sum. This rounds what the
user computes otherwise, so it is done where all sums may be reordered, and on the longest path
through a pass alone: elsewhere it would only add operations.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeGuard

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import FLOAT
from tapeless.transforms.core.uses import nested_reads, reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.optimize.carried_factors_last import late_values
from tapeless.transforms.lowering.optimize.carried_terms_last import LINEAR, PYTHON
from tapeless.transforms.lowering.schedule.loop_nests import takes_long
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.optimize.dead_code import dead_code

SUM, QUOTIENT, COSTLY, OTHER = 4, 13, 28, 6  # cycles until there is a result
ISSUED = 3  # operations in a cycle
ROUNDS = 8  # of which each makes the longest path through a pass shorter
GAIN = 0.95  # of the cycles of a pass
MOST = 32  # operations that a sum is written with
DEPTH = 4  # latest values that are taken out of a sum, one after another
ONE = Literal(1.0, Type(FLOAT, (), True))


@dataclass(frozen=True)
class PendingResult:
    """What will be computed."""

    op: Op
    args: tuple[Value, ...]
    operations: int


Value: TypeAlias = Atom | PendingResult


@dataclass(frozen=True)
class Affine:
    """constant + factor * latest; None is a constant of 0."""

    constant: Value | None
    factor: Value | None

    def map(self, f: Callable[[Value], Value]) -> Affine:
        return Affine(*(None if p is None else f(p) for p in (self.constant, self.factor)))


def latest_term_last(block: Block) -> Block:
    """The block with sums of its loops written so."""
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    s = with_blocks(s, latest_term_last)
    if isinstance(s, For):
        return replace(s, body=_in_order(s.body, s.carries, s.yields))
    if isinstance(s, While):
        return replace(s, body=_in_order(s.body, s.body.params, s.body.results))
    return s


def _in_order(body: Block, carries: Sequence[Var], yields: Sequence[Atom]) -> Block:
    """The body of a loop, other if a pass takes fewer cycles then."""
    first = PassTimes(body, carries, yields)
    best, times = body, first
    for _ in range(ROUNDS):
        ordered = Block(body.params, tuple(_OrderedSums(best, times).statements()), body.results)
        ordered = dead_code(ordered)
        after = PassTimes(ordered, carries, yields)
        if after.cycles >= times.cycles:
            break
        best, times = ordered, after
    return best if times.cycles < GAIN * first.cycles else body


class LateSums:
    """The sums of a pass of a loop.

    late    what depends on the pass before
    sums    the sums, and products with values that have no part in common, by what they compute
    parts   for each late number the late ones that it is computed of by these alone: numbers that
            are carried, and results of other operations
    """

    def __init__(self, body: Block, carries: Iterable[Var]) -> None:
        self.late = late_values(body, carries)
        self.sums: dict[Atom, Let] = {}
        self.parts: dict[Atom, frozenset[Var]] = {}
        for s in body.body:
            if self.is_sum(s):
                self.add(s)

    def is_sum(self, s: Statement) -> TypeGuard[Let]:
        """Whether it is a late sum, product or quotient of numbers of one dtype."""
        if not isinstance(s, Let) or s.op not in LINEAR or s.outs[0] not in self.late:
            return False
        kind = s.outs[0].type
        variables = [a for a in s.args if isinstance(a, Var)]
        return _is_float(s.outs[0]) and all(
            a.type.dtype == kind.dtype and not a.type.shape for a in variables
        )

    def add(self, s: Let) -> None:
        """Notes what a sum is made of: the square of a late number, and a quotient by one, are no
        sums of their parts."""
        of_args = [self.parts_of(a) for a in s.args]
        is_square = s.op is mul and of_args[0] & of_args[1]
        if not is_square and not (s.op is truediv and of_args[1]):
            self.sums[s.outs[0]] = s
            self.parts[s.outs[0]] = frozenset[Var]().union(*of_args)

    def parts_of(self, value: Value) -> frozenset[Var]:
        """The parts of a value."""
        if isinstance(value, PendingResult):
            return frozenset[Var]().union(*map(self.parts_of, value.args))
        if not isinstance(value, Var) or value not in self.late:
            return frozenset()
        return self.parts.get(value, frozenset([value]))

    def affine(self, value: Value, latest: Var) -> Affine:
        """A value as the sum of one that is earlier, and a multiple of the latest."""
        if value is latest:
            return Affine(None, ONE)
        if latest not in self.parts_of(value):
            return Affine(value, None)
        s = value if isinstance(value, PendingResult) else self.sums[value]
        forms = [self.affine(a, latest) for a in s.args]
        if s.op is neg:
            return _minus(forms[0])
        if s.op in (add, sub):
            return _plus(forms[0], forms[1] if s.op is add else _minus(forms[1]))
        if forms[1].factor is not None:
            forms.reverse()
        factor = forms[1].constant
        assert factor is not None
        if s.op is truediv:
            factor = _result(truediv, ONE, factor)
        return forms[0].map(lambda part: _result(mul, part, factor))


class PassTimes:
    """When a pass of a loop has its values, in cycles.

    sums     its sums; what is not late is there at the beginning
    at       when a late value is there
    longest  the cycles of the longest path to what the pass carries on
    left     for what other operations than sums wait for, or the next pass: the cycles from there
             to the end of the pass, on the longest path
    """

    def __init__(self, body: Block, carries: Sequence[Var], yields: Sequence[Atom]) -> None:
        self.sums = LateSums(body, carries)
        self.uses = reads_of(body)
        self.products: dict[Atom, Let] = {}  # of which a sum becomes one operation
        self.at: dict[Atom, int] = {}
        for s in body.body:
            self.take(s)
        carried = [v for v in yields if isinstance(v, Var) and _is_float(v)]
        self.longest = max((self.at.get(v, 0) for v in carried), default=0)
        self.cycles = max(self.longest, len(body.body) / ISSUED)
        self.left = self.cycles_left(body, carried)

    def take(self, s: Statement) -> None:
        """Notes when the results of a statement are there."""
        if isinstance(s, Let) and s.op is mul and self.uses[s.outs[0]] == 1:
            self.products[s.outs[0]] = s
        if self.sums.late.isdisjoint(outputs(s)):
            return
        if self.sums.is_sum(s):
            at = self.time_of_result(s.op, s.args)
        else:
            at = max((self.time_of(v) for v in nested_reads(s)), default=0) + _cycles(s)
        self.at.update(dict.fromkeys(outputs(s), at))

    def time_of_result(self, op: Op, args: Iterable[Value]) -> int:
        """When an operation has its result; a product that is added takes no time of its own."""
        waits = [0]
        for a in args:
            of_product = self.factors(a) if op in (add, sub) else None
            waits += map(self.time_of, (a,) if of_product is None else of_product)
        return max(waits) + (QUOTIENT if op is truediv else 0 if op is neg else SUM)

    def time_of(self, value: Value) -> int:
        """When a value is there, or would be if it were computed."""
        if isinstance(value, PendingResult):
            return self.time_of_result(value.op, value.args)
        return self.at.get(value, 0)

    def factors(self, value: Value) -> tuple[Value, ...] | None:
        """The factors of a product that nothing else reads."""
        if isinstance(value, PendingResult):
            return value.args if value.op is mul else None
        return self.products[value].args if value in self.products else None

    def cycles_left(self, body: Block, carried: Iterable[Var]) -> dict[Var, int]:
        cycles = dict.fromkeys(carried, 0)
        of_all = dict(cycles)  # those that only sums wait for among them
        for s in reversed(body.body):
            after = max((of_all[v] for v in outputs(s) if v in of_all), default=None)
            if after is None:
                continue
            is_sum = outputs(s)[0] in self.sums.sums
            took = max(map(self.time_of, outputs(s))) - max(
                map(self.time_of, nested_reads(s)), default=0
            )
            for v in self.sums.late.intersection(nested_reads(s)):
                of_all[v] = max(of_all.get(v, 0), after + took)
                if not is_sum:
                    cycles[v] = max(cycles.get(v, 0), after + took)
        return cycles

    def is_waited_for(self, v: Var) -> bool:
        """Whether it is on the longest path, and what waits for it is no sum."""
        return v in self.left and self.time_of(v) + self.left[v] > self.longest - SUM


class _OrderedSums:
    """The statements of a pass, with other sums."""

    def __init__(self, body: Block, before: PassTimes) -> None:
        self.body, self.before, self.sums = body, before, before.sums
        self.times = copy.copy(before)  # of what is written so far
        self.times.at, self.times.products = {}, {}

    def statements(self) -> list[Statement]:
        body: list[Statement] = []
        for s in self.body.body:
            self.times.take(s)
            value: Value | None = None
            if outputs(s) and outputs(s)[0] in self.sums.sums:
                out = outputs(s)[0]
                value = self.earliest(out, 0) if self.before.is_waited_for(out) else None
            if isinstance(value, PendingResult) and value.operations <= MOST:
                assert isinstance(s, Let)
                body += _lets_of(value, s)
                self.times.at[s.outs[0]] = self.times.time_of(value)
                self.times.products.pop(s.outs[0], None)
            else:
                body.append(s)
        return body

    def earliest(self, value: Value, enough: int, depth: int = 0) -> Value:
        """What computes a value earlier, or the value; also if it is there when that is enough."""
        parts, now = self.sums.parts_of(value), self.times.time_of(value)
        if depth == DEPTH or not parts or now <= enough:
            return value
        latest = max(parts, key=self.times.time_of)
        is_there = self.times.time_of(latest)
        form = self.sums.affine(value, latest)
        if now <= is_there + SUM or form.constant is None or form.factor is None:
            return value
        constant = self.earliest(form.constant, is_there, depth + 1)
        factor = self.earliest(form.factor, is_there, depth + 1)
        total = _result(add, constant, _result(mul, latest, factor))
        return total if self.times.time_of(total) < now else value


def _is_float(v: Var) -> bool:
    return isinstance(v.type, Type) and v.type.dtype.kind == "f" and not v.type.shape


def _cycles(s: Statement) -> int:
    """How long a statement takes that is no sum."""
    if not isinstance(s, Let):
        return COSTLY
    return QUOTIENT if s.op is truediv else COSTLY if takes_long(s) else OTHER


def _minus(form: Affine) -> Affine:
    return form.map(partial(_result, neg))


def _plus(a: Affine, b: Affine) -> Affine:
    def total(x: Value | None, y: Value | None) -> Value | None:
        return y if x is None else x if y is None else _result(add, x, y)

    return Affine(total(a.constant, b.constant), total(a.factor, b.factor))


def _result(op: Op, *args: Value) -> Value:
    """The result of an operation, with signs in front and constants in the place of their sums."""
    a, b = args[0], args[-1]
    if all(isinstance(x, Literal) for x in args) and not (op is truediv and b.value == 0):  # type: ignore[union-attr]
        values = [x.value for x in args]  # type: ignore[union-attr]
        return Literal(PYTHON[op](*values), a.type)  # type: ignore[union-attr]
    if op is neg and isinstance(a, PendingResult) and a.op is neg:
        return a.args[0]
    if op is add and _opposite(b) is not None:
        return _result(sub, a, _opposite(b))  # type: ignore[arg-type]
    if op is add and _opposite(a) is not None:
        return _result(sub, b, _opposite(a))  # type: ignore[arg-type]
    if op is mul and isinstance(b, Literal):
        a, b = b, a
    if op is mul and isinstance(a, Literal):
        if a.value == 1:
            return b
        if isinstance(b, PendingResult) and b.op is mul and isinstance(b.args[0], Literal):
            return _result(mul, _result(mul, a, b.args[0]), b.args[1])
    if op is mul and (_opposite(a) is not None or _opposite(b) is not None):
        x, y = _opposite(a), _opposite(b)
        product = _result(mul, a if x is None else x, b if y is None else y)
        return product if x is not None and y is not None else _result(neg, product)
    args = (a,) if op is neg else (a, b)
    operations = 1 + sum(x.operations for x in args if isinstance(x, PendingResult))
    return PendingResult(op, args, operations)


def _opposite(value: Value) -> Value | None:
    """What a value is the negative of, if it is written so."""
    return value.args[0] if isinstance(value, PendingResult) and value.op is neg else None


def _lets_of(value: PendingResult, s: Let) -> list[Let]:
    """The statements that compute a value, the last of which is in the place of `s`."""
    lets: list[Let] = []
    results: dict[PendingResult, Var] = {}

    def atom_of(x: Value, out: Var | None = None) -> Atom:
        if not isinstance(x, PendingResult):
            return x
        if x not in results:
            args = tuple(map(atom_of, x.args))
            results[x] = Var(s.outs[0].type) if out is None else out
            lets.append(replace(s, outs=(results[x],), op=x.op, args=args))
        return results[x]

    atom_of(value, s.outs[0])
    return lets
