"""Adds, in backward loops, the terms that a pass does not wait for before those that it carries on.

for k, reversed: b = (x[k] + b * u[k]) * v[k]
    becomes      for k, reversed: b = x[k] * v[k] + b * (u[k] * v[k])

Where sums are scaled and added to others, a pass waits for each step in turn. Written as one sum of
what it waits for, each with a coefficient that is known ahead, it waits for one product and as many
additions as there are late terms, the latest of which comes last. Derivatives are off by some units
in the last place of the largest term. A sum is written so where the wait becomes shorter.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(carried_terms_last, '''
... (x: f8[n], u: f8[n], v: f8[n], n: pyi8):
...     b_2 = for k in reversed(range(0, n, 1)) with b: f8 = 1.0:
...         a = index(x, k, key=(Slot(0),))
...         c = index(u, k, key=(Slot(0),))
...         d = index(v, k, key=(Slot(0),))
...         p = mul(b, c)
...         q = add(a, p)
...         r = mul(q, d)
...         yield r
...     return b_2
... '''))
(x: f8[n], u: f8[n], v: f8[n], n: pyi8):
    b_2 = for k in reversed(range(0, n, 1)) with b: f8 = 1.0:
        a: f8 = index(x, k, key=(Slot(0),))
        c: f8 = index(u, k, key=(Slot(0),))
        d: f8 = index(v, k, key=(Slot(0),))
        t1: f8 = mul(a, d)
        t2: f8 = mul(c, d)
        t3: f8 = mul(b, t2)
        r: f8 = add(t1, t3)
        yield r
    return b_2
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeGuard

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    operands,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import FLOAT
from tapeless.transforms.core.uses import nested_reads, reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.optimize.carried_factors_last import late_values
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv

PYTHON: dict[Op, Callable[..., Any]] = {
    add: operator.add,
    sub: operator.sub,
    mul: operator.mul,
    truediv: operator.truediv,
    neg: operator.neg,
}
LINEAR = frozenset(PYTHON)
ONE = Literal(1.0, Type(FLOAT, (), True))
MOST = 8  # late terms of a sum
MOST_OPERATIONS = 40  # of what is known ahead: a part is written out in each sum that it is part of
QUOTIENT = 3  # steps that a division takes, where a sum or a product takes one


@dataclass(frozen=True)
class EarlyResult:
    """What will be computed of values that are known ahead."""

    op: Op
    args: tuple[EarlyValue, ...]

    @property
    def operations(self) -> int:
        """How many operations it is, those of its parts among them."""
        return 1 + sum(a.operations for a in self.args if isinstance(a, EarlyResult))


EarlyValue: TypeAlias = Atom | EarlyResult


@dataclass(frozen=True)
class SignedTerm:
    """A term, or the coefficient of one: `value` is None where it is 1."""

    negative: bool
    value: EarlyValue | None


@dataclass(frozen=True)
class LinearSum:
    """The sum of a value that is known ahead and of late ones with coefficients."""

    early: SignedTerm | None
    late: Mapping[Var, SignedTerm]

    @property
    def operations(self) -> int:
        """How many operations compute what is known ahead."""
        terms = [*self.late.values(), *([] if self.early is None else [self.early])]
        return sum(t.value.operations for t in terms if isinstance(t.value, EarlyResult))

    def minus(self) -> LinearSum:
        early = None if self.early is None else _minus(self.early)
        return LinearSum(early, {v: _minus(c) for v, c in self.late.items()})

    def times(self, op: Op, factor: EarlyValue) -> LinearSum:
        """Times a factor, or divided by it: several terms are, by one division."""
        if op is truediv and len(self.late) + (self.early is not None) > 1:
            return self.times(mul, EarlyResult(truediv, (ONE, factor)))
        early = None if self.early is None else _times(self.early, op, factor)
        return LinearSum(early, {v: _times(c, op, factor) for v, c in self.late.items()})

    def plus(self, other: LinearSum) -> LinearSum:
        late = {**self.late}
        for v, c in other.late.items():
            late[v] = _total(late[v], c) if v in late else c
        if self.early is None or other.early is None:
            return LinearSum(self.early or other.early, late)
        return LinearSum(_total(self.early, other.early), late)


def carried_terms_last(block: Block) -> Block:
    """The block with sums of backward loops in the order in which their terms are known."""
    return replace(block, body=tuple(map(_statement, block.body)))


def steps_of_pass(loop: For) -> int:
    """How many sums and products a pass of a backward loop waits for, one after another."""
    sums = _BackwardSums(loop.body, loop.carries)
    sums.block(loop.body)
    return max((sums.steps.get(v, 0) for v in loop.yields if isinstance(v, Var)), default=0)


def _statement(s: Statement) -> Statement:
    s = with_blocks(s, carried_terms_last)
    if isinstance(s, For) and s.reverse:
        return replace(s, body=_BackwardSums(s.body, s.carries).block(s.body))
    return s


def _minus(term: SignedTerm) -> SignedTerm:
    return replace(term, negative=not term.negative)


def _times(term: SignedTerm, op: Op, factor: EarlyValue) -> SignedTerm:
    value = ONE if term.value is None and op is truediv else term.value
    return replace(term, value=factor if value is None else EarlyResult(op, (value, factor)))


def _total(a: SignedTerm, b: SignedTerm) -> SignedTerm:
    """The sum of two terms that are known ahead, or of the coefficients of a late one."""
    values = tuple(ONE if x.value is None else x.value for x in (a, b))
    if a.negative and not b.negative:
        return SignedTerm(False, EarlyResult(sub, values[::-1]))
    return SignedTerm(a.negative, EarlyResult(add if a.negative == b.negative else sub, values))


class _BackwardSums:
    """The body of a loop."""

    def __init__(self, body: Block, carries: Iterable[Var]) -> None:
        self.uses = reads_of(body)
        self.late = late_values(body, carries)
        self.steps: dict[Var, int] = {}  # that a pass takes until a late value is known

    def block(self, block: Block) -> Block:
        """The block, and sides of branches in it, with other sums."""
        sums = {s.outs[0]: s for s in block.body if self.is_linear(s)}
        read = (a for s in sums.values() for a in s.args if isinstance(a, Var))
        parts = {v for v in read if v in sums and self.uses[v] == 1}
        forms: dict[Atom, LinearSum] = {}
        results: dict[EarlyResult, Var] = {}  # that the block has computed
        body: list[Statement] = []
        for s in block.body:
            s = with_blocks(s, self.block) if isinstance(s, If) else s
            if not self.is_linear(s):
                self.wait_for(s)
                body.append(s)
                continue
            form, steps = self.form(s, forms), self.steps_of(s, sums, parts)
            out, early_steps = s.outs[0], self.steps_of_sum(form)
            is_scaled = len(form.late) == 1 and form.early is None
            fits = len(form.late) < MOST and form.operations < MOST_OPERATIONS
            if fits and (is_scaled or out in parts):
                forms[out] = form
            if out not in parts and early_steps < steps:
                body += _SumWriter(s, self.steps, results).lets_of(form)
                steps = early_steps
            else:
                body.append(s)
            self.steps[out] = steps
        return _without_unread(replace(block, body=tuple(body)), sums)

    def is_linear(self, s: Statement) -> TypeGuard[Let]:
        """Whether it is a sum, or a product with what is known ahead, of numbers of one dtype."""
        if not isinstance(s, Let) or s.op not in LINEAR or s.outs[0] not in self.late:
            return False
        kind = s.outs[0].type
        if kind.dtype.kind != "f" or kind.shape:
            return False
        late = [a in self.late for a in s.args]
        alike = all(a.type == kind for a in s.args if isinstance(a, Var))
        scales = late == [True, False] or (s.op is mul and late == [False, True])
        return alike and (scales or s.op in (add, sub, neg))

    def form(self, s: Let, forms: Mapping[Atom, LinearSum]) -> LinearSum:
        """What a statement computes, with its parts written out."""
        terms = [self.term(a, forms) for a in s.args]
        if s.op is neg:
            return terms[0].minus()
        if s.op in (add, sub):
            return terms[0].plus(terms[1] if s.op is add else terms[1].minus())
        late = 0 if terms[0].late else 1
        return terms[late].times(s.op, s.args[1 - late])

    def term(self, a: Atom, forms: Mapping[Atom, LinearSum]) -> LinearSum:
        if a in forms:
            return forms[a]
        if isinstance(a, Var) and a in self.late:
            return LinearSum(None, {a: SignedTerm(False, None)})
        return LinearSum(SignedTerm(False, a), {})

    # -- how long a pass waits

    def wait_for(self, s: Statement) -> None:
        """Counts the steps until the results of a statement are known."""
        waits = [self.steps.get(v, 0) for v in nested_reads(s) if v in self.late]
        for out in outputs(s):
            if waits and out in self.late:
                self.steps[out] = max(waits) + 1

    def steps_of(self, s: Let, sums: Mapping[Var, Let], parts: Container[Atom]) -> int:
        """Until a statement has computed its result; a product that is added is no step."""
        waits = []
        for a in s.args:
            product = sums[a] if a in parts and s.op in (add, sub) else None  # type: ignore[index]
            fused = product is not None and product.op is mul
            args = product.args if fused else (a,)  # type: ignore[union-attr]
            waits += [self.steps.get(x, 0) for x in args]  # type: ignore[arg-type]
        return max(waits) + {neg: 0, truediv: QUOTIENT}.get(s.op, 1)

    def steps_of_sum(self, form: LinearSum) -> int:
        steps = 0
        for k, v in enumerate(sorted(form.late, key=lambda v: self.steps.get(v, 0))):
            is_first = k == 0 and form.early is None
            is_free = is_first and form.late[v].value is None
            steps = max(steps, self.steps.get(v, 0)) + (0 if is_free else 1)
        return steps


class _SumWriter:
    """Writes a sum in the order in which its terms are known."""

    def __init__(self, s: Let, steps: Mapping[Var, int], results: dict[EarlyResult, Var]) -> None:
        self.s, self.steps, self.results = s, steps, results
        self.lets: list[Let] = []

    def lets_of(self, form: LinearSum) -> list[Let]:
        terms = [] if form.early is None else [form.early]
        for v in sorted(form.late, key=lambda v: self.steps.get(v, 0)):
            c = form.late[v]
            terms.append(SignedTerm(c.negative, _product(v, c.value)))
        first, *others = terms
        total = first
        for term in others:
            total = _total(total, term)
        assert total.value is not None
        value = total.value
        if total.negative:
            value = EarlyResult(neg, (value,))
        self.atom_of(value, self.s.outs[0])
        return self.lets

    def atom_of(self, value: EarlyValue, out: Var | None = None) -> Atom:
        """The variable that holds a value; `out` if it is given."""
        if not isinstance(value, EarlyResult):
            return value
        if value not in self.results:
            args = tuple(map(self.atom_of, value.args))
            if all(isinstance(a, Literal) for a in args):
                return _constant(value.op, args)
            self.results[value] = Var(self.s.outs[0].type) if out is None else out
            self.lets.append(replace(self.s, outs=(self.results[value],), op=value.op, args=args))
        return self.results[value]


def _product(v: Var, coefficient: EarlyValue | None) -> EarlyValue:
    if coefficient is None:
        return v
    is_constant = isinstance(coefficient, Literal)
    return EarlyResult(mul, (coefficient, v) if is_constant else (v, coefficient))


def _constant(op: Op, args: Sequence[Any]) -> Literal:
    """The result of an operation on constants."""
    return Literal(PYTHON[op](*(a.value for a in args)), args[0].type)


def _without_unread(block: Block, sums: Container[Var]) -> Block:
    """The block without those of these sums that nothing reads."""
    uses, body = reads_of(block), list[Statement]()
    for s in reversed(block.body):
        out = outputs(s)[0] if outputs(s) else None
        if out in sums and not uses[out]:  # type: ignore[index]
            uses.subtract(a for a in operands(s) if isinstance(a, Var))
        else:
            body.append(s)
    return replace(block, body=tuple(reversed(body)))
