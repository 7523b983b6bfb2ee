"""Computes, for backward loops that carry a few numbers linearly, the coefficients of many passes
ahead of them, in a loop whose passes wait for nothing.

for k, reversed: b = (b * x[k] + a) * y[k]; a = a - b * z[k]
    becomes      for k: c[k] = x[k] * y[k]; d[k] = -(x[k] * y[k] * z[k]); e[k] = 1 - y[k] * z[k]
                 for k, reversed: b, a = b * c[k] + a * y[k], b * d[k] + a * e[k]

The derivative of a step of Runge and Kutta is a chain of dozens of sums and products, each of which
waits for the one before, and passes wait for each other: a processor that could add eight numbers
at once adds one in four clock cycles. What such a step does with the numbers carried is a product
with a small matrix, whose entries depend on what the forward loop has saved and on nothing else.
They are computed for a block of passes, several passes at once. What is left of a chain is one
product and a sum or two for each number carried. Derivatives are off by some units in the last
place of the largest term. A loop is written so where an estimate of clock cycles says that it pays.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeGuard

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, size_of, var_size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import nested_reads, reads_of
from tapeless.transforms.lowering.optimize.carried_factors_last import late_values
from tapeless.transforms.lowering.optimize.carried_terms_last import (
    LINEAR,
    PYTHON,
    steps_of_pass,
)
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.lowering.schedule.loop_nests import takes_long
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update
from tapeless.transforms.optimize.dead_code import dead_code

BLOCK = 64  # passes whose coefficients are there at once: they stay in the fastest cache
MOST = 24  # coefficients of a pass
LATENCY = 4  # cycles of a sum
LANES, ISSUED = 12, 3  # sums and products in a cycle: of vectors of 8 bytes each, of numbers
COSTLY = 20  # cycles of a function of the C library
FEW = 8  # passes for which no blocks are made
GAIN, WORTH = 0.9, 6  # of the cycles of a pass, and cycles less: what makes it worth while

Coefficients = Mapping[Var | None, Atom]  # by the value carried; None: of what is added


def linear_recurrences(block: Block, outside: Mapping[Var, Let] | None = None) -> Block:
    """The block with such loops written so.

    outside  what defines the variables of the blocks around it
    """
    definitions = {**(outside or {})}
    body: list[Statement] = []
    for s in block.body:
        s = with_blocks(s, partial(linear_recurrences, outside=definitions))
        body += LinearRecurrence(s, definitions).run() if _may_be_linear(s) else [s]
        definitions |= {v: s for v in outputs(s) if isinstance(s, Let)}
    same = len(body) == len(block.body) and all(map(operator.is_, body, block.body))
    return block if same else replace(block, body=tuple(body))


def _may_be_linear(s: Statement) -> TypeGuard[For]:
    """Whether it is a backward loop with as many passes as are asked for, and some numbers."""
    if not isinstance(s, For) or not s.reverse or s.until or s.count is not None or s.each:
        return False
    return s.step == Literal(1, s.step.type) and any(map(_is_number, s.carries))


def _is_number(a: Atom) -> bool:
    return isinstance(a.type, Type) and a.type.dtype.kind == "f" and not a.type.shape


class LinearRecurrence:
    """A backward loop.

    late      what depends on the pass before
    bases     the values carried, or what they are first added to: matrices multiply these
    forms     late numbers as sums of products of bases
    others    late statements that are no such sums: they stay where they are
    """

    def __init__(self, loop: For, definitions: Mapping[Var, Let]) -> None:
        self.loop, self.definitions = loop, definitions
        self.late = late_values(loop.body, loop.carries)
        self.uses = reads_of(loop.body)
        self.bases: dict[Var, Let | None] = {v: None for v in loop.carries if _is_number(v)}
        self.forms: dict[Atom, Coefficients] = {v: {v: _unit(v)} for v in self.bases}
        self.others: list[Statement] = []
        self.early: list[Let] = []
        self.ahead = Formula()
        self.first, self.place = Var(INT, "first"), Var(INT, "place")  # of a block; in it
        with building(self.ahead):
            self.renamed: dict[Var, Atom] = {loop.index: add(self.first, self.place)}

    def run(self) -> list[Statement]:
        if not self.is_plain():
            return [self.loop]
        with building(self.ahead):
            for s in self.loop.body.body:
                self.add(s)
        results = self.results()
        stored = self.stored_coefficients(results)
        if not self.pays(results, stored):
            return [self.loop]
        return self.statements(results, stored)

    def is_plain(self) -> bool:
        """Whether what does not wait are operations on numbers, done twice without harm."""
        return all(
            isinstance(s, Let)
            and s.op.pure
            and all(isinstance(v.type, Type) and not v.type.shape for v in s.outs)
            for s in self.loop.body.body
            if self.late.isdisjoint(outputs(s)) and not self.late.intersection(nested_reads(s))
        )

    # -- the coefficients

    def add(self, s: Statement) -> None:
        """Takes a statement of the body in: what it computes, by coefficients."""
        self.ahead.origin = s.origin
        if not self.late.intersection(nested_reads(s)):
            assert isinstance(s, Let)
            self.early.append(s)
            outs = tuple(Var(v.type, v.name, v.origin) for v in s.outs)
            self.ahead.let(outs, s.op, tuple(map(self.early_atom, s.args)), s.params)
            self.renamed.update(zip(s.outs, outs, strict=True))
        elif not self.is_linear(s):
            self.others.append(s)
        elif self.is_base(s):
            (carry,) = [a for a in s.args if a in self.bases]
            del self.bases[carry]  # type: ignore[arg-type]
            self.bases[s.outs[0]] = s
            self.forms[s.outs[0]] = {s.outs[0]: _unit(s.outs[0])}
        else:
            self.forms[s.outs[0]] = self.form(s)

    def early_atom(self, a: Atom) -> Atom:
        """A value that does not wait, in the loop ahead."""
        return self.renamed.get(a, a) if isinstance(a, Var) else a

    def is_linear(self, s: Statement) -> TypeGuard[Let]:
        """Whether it is a sum, or a product with what does not wait, of numbers of one dtype."""
        if not isinstance(s, Let) or s.op not in LINEAR or not _is_number(s.outs[0]):
            return False
        if any(isinstance(a, Var) and a in self.late and a not in self.forms for a in s.args):
            return False
        late = [a in self.forms for a in s.args]
        alike = all(a.type.dtype == s.outs[0].type.dtype for a in s.args if isinstance(a, Var))
        scales = late == [True, False] or (s.op is mul and late == [False, True])
        return alike and (scales or s.op in (add, sub, neg))

    def is_base(self, s: Let) -> bool:
        """Whether it adds what does not wait to a value carried, which nothing else reads."""
        late = [a for a in s.args if a in self.forms]
        if s.op is not add or len(late) != 1 or self.uses[late[0]] != 1:  # type: ignore[index]
            return False
        return late[0] in self.bases and self.bases[late[0]] is None  # type: ignore[index]

    def form(self, s: Let) -> Coefficients:
        terms = [self.forms.get(a, {None: self.early_atom(a)}) for a in s.args]
        if s.op is neg:
            return {v: _result_of(neg, c) for v, c in terms[0].items()}
        if s.op in (add, sub):
            return _sum(s.op, *terms)
        late = 0 if s.args[0] in self.forms else 1
        factor = self.early_atom(s.args[1 - late])
        op = s.op
        if op is truediv and len(terms[late]) > 1:
            op, factor = mul, _result_of(truediv, _unit(s.outs[0]), factor)
        return {v: _result_of(op, c, factor) for v, c in terms[late].items()}

    def results(self) -> list[Var]:
        """The late numbers that the passes need: those that they carry on, and those that
        statements read which are no sums."""
        read = [v for s in self.others for v in nested_reads(s)]
        wanted = [*self.loop.yields, *read]
        return [v for v in dict.fromkeys(wanted) if v in self.forms and v not in self.bases]  # type: ignore[misc]

    def stored_coefficients(self, results: Iterable[Var]) -> dict[Atom, Type]:
        """What the loop ahead keeps for the passes: coefficients that are no constants."""
        atoms = dict.fromkeys(c for v in results for c in self.forms[v].values())
        return {a: Type(a.type.dtype, (BLOCK,)) for a in atoms if isinstance(a, Var)}

    # -- whether it pays

    def pays(self, results: Sequence[Var], stored: Mapping[Atom, Type]) -> bool:
        """Whether a pass takes fewer clock cycles."""
        read = [v for v in results if v not in self.loop.yields]  # a chain has them for nothing
        is_many = len(stored) > MOST or len(read) > len(self.bases) + 1
        if not stored or is_many or self.is_short():
            return False
        width = max(t.dtype.itemsize for t in stored.values())
        lanes = LANES * 8 / width
        block = Block((), tuple(self.ahead.blocks[0]), tuple(stored))
        lets = [s for s in dead_code(block).body if isinstance(s, Let)]
        costly = sum(map(takes_long, lets)) * COSTLY
        late = sum(isinstance(s, Let) and s.op in LINEAR for s in self.loop.body.body)
        before = max(LATENCY * steps_of_pass(self.loop), late / ISSUED + costly)
        terms = [len(self.forms[v].keys() - {None}) for v in results if v in self.loop.yields]
        waits = LATENCY * max(terms, default=0)
        products = sum(len(self.terms(v)) for v in results)
        after = (len(lets) + len(stored)) / lanes + costly + max(waits, products / ISSUED)
        return after < min(GAIN * before, before - WORTH)

    def is_short(self) -> bool:
        """Whether the loop is known to make a few passes only."""
        ends = [a.value for a in (self.loop.start, self.loop.stop) if isinstance(a, Literal)]
        return len(ends) == 2 and ends[1] - ends[0] < FEW

    # -- the new statements

    def statements(self, results: Sequence[Var], stored: Mapping[Atom, Type]) -> list[Statement]:
        """The loop over blocks of passes, with arrays that hold the coefficients of one."""
        loop, before, body = self.loop, Formula(), Formula()
        before.origin = body.origin = loop.origin
        count, number = Var(INT, "blocks"), Var(INT, "block")
        passes = Var(INT, "passes")
        arrays = {a: Var(t, "coefficients") for a, t in stored.items()}
        carries = tuple(map(_copy, loop.carries))
        before.definitions = {**self.definitions}
        with building(before):
            start, stop = size_of(loop.start), size_of(loop.stop)
            before.let((count,), size_value, (), {"size": (stop - start + BLOCK - 1) // BLOCK})
            empties = tuple(map(_copy, arrays.values()))
            for v in empties:
                before.let((v,), empty, (), {"shape": v.type.shape, "dtype": v.type.dtype})
        with building(body):
            size = start + var_size(number) * BLOCK
            body.let((self.first,), size_value, (), {"size": size})
            body.let((passes,), size_value, (), {"size": dims.minimum(stop - size, BLOCK)})
            filled = self.fill(body, arrays, passes)
            outs = self.passes(body, results, filled, carries, passes)
        params = (number, *carries, *arrays.values())
        blocks = replace(
            loop,
            outs=(*loop.outs, *map(_copy, filled.values())),
            start=Literal(0, INT),
            stop=count,
            inits=(*loop.inits, *empties),
            body=Block(params, tuple(body.blocks[0]), (*outs, *filled.values())),
            mirror=None,
        )
        return [*before.blocks[0], blocks]

    def fill(self, b: Builder, arrays: Mapping[Atom, Var], passes: Var) -> dict[Atom, Var]:
        """The arrays after the loop ahead, which is recorded in the open block."""
        params, outs = ({a: _copy(v) for a, v in arrays.items()} for _ in range(2))
        with building(self.ahead):
            self.ahead.origin = self.loop.origin
            stores = [update(v, a, self.place, key=(Slot(0),)) for a, v in params.items()]
        body = Block((self.place, *params.values()), tuple(self.ahead.blocks[0]), tuple(stores))
        of_block = replace(self.loop, start=Literal(0, INT), stop=passes, mirror=None)
        inits, results = tuple(arrays.values()), tuple(outs.values())
        b.emit(replace(of_block, outs=results, inits=inits, body=dead_code(body), reverse=False))
        return outs

    def passes(
        self,
        b: Builder,
        results: Sequence[Var],
        filled: Mapping[Atom, Var],
        carries: tuple[Var, ...],
        passes: Var,
    ) -> tuple[Var, ...]:
        """What the passes of a block carry out; the loop is recorded in the open block.

        carries  what they carry in
        passes   how many there are
        """
        loop, inner, place = self.loop, Formula(), _copy(self.place)
        k = Var(INT, loop.index.name if loop.index.name != "_" else "k")
        inner.origin = loop.origin
        with building(inner):
            inner.let((k,), add, (self.first, place), {})
            for s in [*self.early, *(s for s in self.bases.values() if s is not None)]:
                inner.emit(s)
            atoms = {a: index(v, place, key=(Slot(0),)) for a, v in filled.items()}
            for v in results:
                self.write_sum(inner, v, atoms)
        statements = (*inner.blocks[0], *self.others)
        body = Block((place, *loop.carries), statements, loop.body.results)
        body = dead_code(substitute(body, {loop.index: k}))
        outs = tuple(map(_copy, loop.outs))
        of_block = replace(loop, start=Literal(0, INT), stop=passes, mirror=None)
        b.emit(replace(of_block, outs=outs, inits=carries, body=body))
        return outs

    def terms(self, v: Var) -> list[tuple[Atom | None, Atom]]:
        """What is multiplied by which coefficient in a result, what does not wait first. In what a
        pass carries on, a base is two terms: the value carried comes last."""
        early: list[tuple[Atom | None, Atom]] = []
        late: list[tuple[Atom | None, Atom]] = []
        for base, c in self.forms[v].items():
            of_base = None if base is None else self.bases[base]
            if of_base is None or v not in self.loop.yields:
                (early if base is None else late).append((base, c))
            else:
                for a in of_base.args:
                    (late if a in self.loop.carries else early).append((a, c))
        return [*early, *late]

    def write_sum(self, b: Builder, v: Var, atoms: Mapping[Atom, Atom]) -> None:
        """Records what a result is."""
        terms = [
            atoms.get(c, c) if a is None else _result_of(mul, a, atoms.get(c, c))
            for a, c in self.terms(v)
        ]
        total = functools.reduce(partial(_result_of, add), terms)
        if isinstance(total, Literal):
            total = Literal(v.type.dtype.type(total.value), v.type)
        last = b.blocks[-1][-1] if b.blocks[-1] else None
        if isinstance(last, Let) and last.outs == (total,):
            b.blocks[-1][-1] = replace(last, outs=(v,))
        else:
            b.let((v,), identity, (total,), {})


def _copy(v: Var) -> Var:
    return Var(v.type, v.name, v.origin)


def _unit(v: Var) -> Literal:
    return Literal(1.0, Type(v.type.dtype, (), True))


def _sum(op: Op, a: Coefficients, b: Coefficients) -> Coefficients:
    """The coefficients of a sum, or of a difference."""
    total = {**a}
    for v, c in b.items():
        if v in total:
            total[v] = _result_of(op, total[v], c)
        else:
            total[v] = c if op is add else _result_of(neg, c)
    return total


def _result_of(op: Op, *args: Atom) -> Atom:
    """The result of an operation, recorded unless its operands are constants or one."""
    values = [a.value if isinstance(a, Literal) else None for a in args]
    if op is mul and values[0] == 1:
        return args[1]
    if op in (mul, truediv) and values[1] == 1:
        return args[0]
    if None not in values and not (op is truediv and values[1] == 0):
        return Literal(PYTHON[op](*values), args[0].type)
    return op(*args)  # type: ignore[no-any-return]
