"""Multiplies, in backward loops, the factors that a pass does not wait for ahead of those that it
carries on.

for k, reversed: b = b * x[k] / d[k] * y[k]
    becomes      for k, reversed: b = b * (x[k] / d[k] * y[k])

A backward loop is a chain of such products: each pass waits for the one before, and processors
compute what does not wait meanwhile. One multiplication in that chain is faster than two and a
division. Derivatives are off by a unit in the last place or two; what the user computes is left in
the order in which it is written, which may be exact in no other.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(carried_factors_last, '''
... (x: f8[n], y: f8[n], n: pyi8):
...     b_2 = for k in reversed(range(0, n, 1)) with b: f8 = 1.0:
...         u = index(x, k, key=(Slot(0),))
...         v = index(y, k, key=(Slot(0),))
...         p = mul(b, u)
...         q = mul(p, v)
...         yield q
...     return b_2
... '''))
(x: f8[n], y: f8[n], n: pyi8):
    b_2 = for k in reversed(range(0, n, 1)) with b: f8 = 1.0:
        u: f8 = index(x, k, key=(Slot(0),))
        v: f8 = index(y, k, key=(Slot(0),))
        t1: f8 = mul(u, v)
        q: f8 = mul(b, t1)
        yield q
    return b_2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

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
    outputs,
    with_blocks,
)
from tapeless.transforms.core.uses import nested_reads, reads_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.arithmetic import mul, truediv


def late_values(body: Block, carries: Iterable[Var]) -> set[Var]:
    """What depends, in the body of a loop, on the pass before."""
    late = set(carries)

    def learn(block: Block) -> None:
        for s in block.body:
            if not isinstance(s, (For, While)):  # these are chains of their own
                for b in blocks(s):
                    learn(b)
            if late.intersection(nested_reads(s)):
                late.update(outputs(s))

    learn(body)
    return late


@dataclass(frozen=True)
class PassFactor:
    """A factor of a product, or what divides it."""

    atom: Atom
    divides: bool


def carried_factors_last(block: Block) -> Block:
    """The block with products of backward loops in the order in which factors are known."""
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    s = with_blocks(s, carried_factors_last)
    if isinstance(s, For) and s.reverse:
        return replace(s, body=_BackwardPass(s.body, s.carries).block(s.body))
    return s


class _BackwardPass:
    """The body of a loop."""

    def __init__(self, body: Block, carries: Iterable[Var]) -> None:
        self.uses = reads_of(body)
        self.late = late_values(body, carries)

    def block(self, block: Block) -> Block:
        """The block, and sides of branches in it, with other products."""
        products = {s.outs[0]: s for s in block.body if self.is_late_product(s)}
        inner = {a for s in products.values() for a in s.args if self.is_part(a, products)}
        ordered: dict[Var, list[Let]] = {}  # by what each is the result of
        absorbed: set[Var] = set()
        for v, s in products.items():
            if v not in inner:
                parts = set[Var]()
                factors = self.factors(s, products, parts)
                if self.pays(factors):
                    ordered[v] = self.in_order(s, factors)
                    absorbed |= parts
        body: list[Statement] = []
        for t in block.body:
            if isinstance(t, If):
                body.append(with_blocks(t, self.block))
            elif absorbed.isdisjoint(outputs(t)):
                body += ordered.get(outputs(t)[0], [t]) if outputs(t) else [t]
        return replace(block, body=tuple(body))

    def is_late_product(self, s: Statement) -> TypeGuard[Let]:
        """Whether it multiplies or divides numbers, and waits for the pass before."""
        if not isinstance(s, Let) or s.op not in (mul, truediv) or s.outs[0] not in self.late:
            return False
        kind = s.outs[0].type
        variables = [a for a in s.args if isinstance(a, Var)]
        return kind.dtype.kind == "f" and not kind.shape and all(a.type == kind for a in variables)

    def is_part(self, a: Atom, products: Mapping[Var, Let]) -> TypeGuard[Var]:
        """Whether a factor is a product itself, which nothing else reads."""
        return isinstance(a, Var) and a in products and self.uses[a] == 1

    def factors(self, s: Let, products: Mapping[Var, Let], parts: set[Var]) -> list[PassFactor]:
        """The factors of a product, those of its parts among them, which are added to `parts`."""
        factors: list[PassFactor] = []
        for k, a in enumerate(s.args):
            divides = s.op is truediv and k == 1
            if self.is_part(a, products):
                parts.add(a)
                of_part = self.factors(products[a], products, parts)
                factors += [PassFactor(f.atom, f.divides != divides) for f in of_part]
            else:
                factors.append(PassFactor(a, divides))
        return factors

    def pays(self, factors: Sequence[PassFactor]) -> bool:
        """Whether several factors are known early, and can be multiplied ahead of the others."""
        early = [f for f in factors if f.atom not in self.late]
        return (
            len(early) > 1
            and any(isinstance(f.atom, Var) for f in early)
            and not all(f.divides for f in early)
        )

    def in_order(self, s: Let, factors: Sequence[PassFactor]) -> list[Let]:
        """What computes the product, early factors first."""
        kind, origin, lets = s.outs[0].type, s.origin, list[Let]()

        def product_of(factors: Iterable[PassFactor]) -> PassFactor:
            """The product of factors, or what they divide by where all do."""
            first, *others = sorted(factors, key=lambda f: f.divides)
            product = first.atom
            for f in others:
                op = truediv if f.divides and not first.divides else mul
                v = Var(kind)
                lets.append(Let((v,), op, (product, f.atom), {}, origin))
                product = v
            return PassFactor(product, first.divides)

        early = product_of(f for f in factors if f.atom not in self.late)
        late = product_of(f for f in factors if f.atom in self.late)
        args = (early.atom, late.atom) if late.divides else (late.atom, early.atom)
        return [*lets, Let(s.outs, truediv if late.divides else mul, args, {}, origin)]
