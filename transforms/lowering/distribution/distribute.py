"""Distributes a loop around products of vectors that its passes make: the products of all passes
are one product of matrices, which a library makes several times as fast.

for i in range(n): h = tanh(w @ x[i]); s += h @ h
    becomes      ys = x @ w.T; for i in range(n): h = tanh(ys[i]); s += h @ h

for i in range(n): y = f(i); w_bar += outer(y, x[i])
    becomes      for i in range(n): ys[i] = f(i)
                 w_bar += ys.T @ x

Loop distribution (J. R. Allen and K. Kennedy, "Automatic Translation of Fortran Programs to Vector
Form", 1987) with scalar expansion: a product that no earlier pass decides leaves the loop, and what
comes after it goes to a loop of its own. What the loops hand on is kept in arrays, a row a pass.

>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(distribute, hints={}, relations=[]), '''
... (w: f8[k, m], x: f8[n, m]):
...     passes = size_value(size=n)
...     total = for i in range(0, passes, 1) with s: f8 = 0.0:
...         row = index(x, i, key=(Slot(0),))
...         p = matmul(w, row)
...         h = tanh(p)
...         a = sum(h, axes=(0,), keepdims=False)
...         b = add(s, a)
...         yield b
...     return total
... '''))
(w: f8[k, m], x: f8[n, m]):
    passes: pyi8 = size_value(size=n)
    t1: f8[m, k] = transpose(w, axes=(1, 0))
    t2: f8[n, k] = matmul(x, t1)
    p_rows: f8[n, k] = identity(t2)
    total = for i in range(0, passes, 1) with s: f8 = 0.0:
        p: f8[k] = index(p_rows, i, key=(Slot(0), slice(None, None, None)))
        h: f8[k] = tanh(p)
        a: f8 = sum(h, axes=(0,), keepdims=False)
        b: f8 = add(s, a)
        yield b
    return total
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    blocks,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_inequalities import Facts, Relation, facts_of
from tapeless.transforms.lowering.distribution import scaled_vectors
from tapeless.transforms.lowering.distribution.blocks import BlocksOfPasses
from tapeless.transforms.lowering.distribution.levels import values_of_pass
from tapeless.transforms.lowering.distribution.loops import Distribution
from tapeless.transforms.lowering.distribution.products import has_products
from tapeless.transforms.lowering.distribution.sums_of_products import with_products
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.function_calls import acts
from tapeless.transforms.ops.primitives.shapes import transpose
from tapeless.transforms.optimize.dead_code import dead_code

UNKNOWN = 64  # a length that this call does not tell
FEWEST = 8  # passes
LEAST_WORK = 1 << 15  # multiplications of all passes that are worth a call of a library
WORTH = 8  # multiplications for each number that loops hand on
BLOCKS = 16, 32, 64  # passes whose products of parts are one product, and leave terms to each
WHOLE_BLOCKS = *BLOCKS, 128, 256  # those that leave none
MOST_KEPT = 1 << 23  # numbers that are kept for it
MOST_PER_PASS = 16  # of them for each number that a pass reads of arrays, or stores, anyway


def distribute(
    block: Block, hints: Mapping[dims.Symbol, int], relations: Iterable[Relation] = ()
) -> Block:
    """The block with such loops distributed; itself if there are none.

    hints  sizes in the call that the program is made for, which say where it pays
    relations  what the program relies on of sizes
    """
    distributed = _Loops(block, hints, facts_of(relations, block)).block(block)
    return block if distributed is block else dead_code(distributed)


class _Loops:
    """`recorder` knows how integers of the program are computed."""

    def __init__(self, block: Block, hints: Mapping[dims.Symbol, int], facts: Facts) -> None:
        self.hints, self.facts, self.recorder = hints, facts, Formula()
        self.recorder.definitions = {
            v: s for s in statements(block) if isinstance(s, Let) for v in s.outs
        }

    def block(self, block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            inner = self.rewrite_inner(s)
            parts = self.parts(inner) if isinstance(inner, For) else None
            body += [inner] if parts is None else parts
        new = [s for s in body if isinstance(s, Let)]
        self.recorder.definitions.update({v: s for s in new for v in s.outs})
        same = len(body) == len(block.body) and all(map(_is, body, block.body))
        return block if same else replace(block, body=tuple(body))

    def rewrite_inner(self, s: Statement) -> Statement:
        if isinstance(s, Let):
            return s
        new = with_blocks(s, self.block)
        return s if all(map(_is, blocks(s), blocks(new))) else new

    def parts(self, loop: For) -> list[Statement] | None:
        """The loops and products that a loop becomes; None if it stays."""
        if loop.until or loop.count is not None or acts(loop.body):
            return None
        together = scaled_vectors.of_all_passes(loop, self.facts, self.recorder)
        if together is not None:
            return together
        loop = with_products(loop)
        if not has_products(loop):
            return None
        ahead, loop = self.upwards(loop)
        if _integer(loop.step) != 1:
            return None
        turned, loop = _transposes_ahead(loop)
        new = self.of_all_passes(loop)
        if new is None:
            new = self.in_blocks(BlocksOfPasses(loop, self.facts, self.recorder))
        return None if new is None else [*ahead, *turned, *new]

    def of_all_passes(self, loop: For) -> list[Statement] | None:
        """The loops and products of all passes; None if there are none, or they do not pay."""
        count = self.passes(loop)
        if count is None:
            return None
        for only_ahead in (False, True):
            distribution = Distribution(loop, count, only_ahead)
            if self.pays(distribution):
                return distribution.run()
        return None

    def in_blocks(self, blocks: BlocksOfPasses) -> list[Statement] | None:
        """The products of parts, for some passes at once; None if that does not pay."""
        if not blocks.products and not blocks.sums:
            return None
        count = self.size_in_call(blocks.parts.stop - blocks.parts.start)
        sizes = [p.multiplications for p in blocks.products]
        sizes += [s.multiplications for s in blocks.sums]
        work = sum(map(self.size_in_call, sizes))
        if count < FEWEST:
            return None
        if not blocks.grows:
            kept = sum(self.size_in_call(p.numbers) for p in blocks.products)
            small = count * kept <= MOST_KEPT and kept * kept <= MOST_PER_PASS * work
            return blocks.at_once() if small and work >= WORTH * kept else None
        if count * work < LEAST_WORK or not blocks.gain:
            return None
        lengths = BLOCKS if blocks.leave_terms else WHOLE_BLOCKS
        length = max((n for n in lengths if count >= FEWEST * n), default=min(lengths))
        return blocks.by_blocks(length)

    def passes(self, loop: For) -> Size | None:
        """How many passes a loop makes, if its index goes on by one from a known place."""
        start = _integer(loop.start)
        if _integer(loop.step) != 1 or start is None or start < 0:
            return None
        return dims.maximum(self.size(loop.stop) - start, 0)

    def size(self, a: Atom) -> Size:
        """The size that an integer is."""
        with building(self.recorder):
            return size_of(a)

    def upwards(self, loop: For) -> tuple[list[Statement], For]:
        """A loop whose index goes down as one over the same range, reversed; and what it needs."""
        last = _integer(loop.stop)
        if _integer(loop.step) != -1 or last is None or loop.stop.type != loop.step.type:
            return [], loop
        with self.recording(loop) as ahead:
            stop = add(loop.start, 1)
        first, step = (Literal(n, loop.stop.type) for n in (last + 1, 1))
        turned = replace(loop, start=first, stop=stop, step=step, reverse=not loop.reverse)
        return ahead, turned

    @contextmanager
    def recording(self, loop: For) -> Iterator[list[Statement]]:
        """Statements recorded inside go to the list that is given."""
        self.recorder.origin = loop.origin
        with building(self.recorder), self.recorder.block() as new:
            yield new

    def pays(self, distribution: Distribution) -> bool:
        """Whether products of all passes take less, together with what is kept for them."""
        if not distribution.is_possible or not distribution.multiplications:
            return False
        count = self.size_in_call(distribution.count)
        work = sum(map(self.size_in_call, distribution.multiplications))
        arrays = [*distribution.kept.values(), *distribution.of_all.values()]
        kept = sum(self.size_in_call(dims.product(a.type.shape)) for a in arrays)
        enough = count >= FEWEST and count * work >= LEAST_WORK
        rows = sum(self.size_in_call(dims.product(t.shape)) for t in distribution.row_types)
        small = kept <= MOST_KEPT and kept <= MOST_PER_PASS * count * rows
        return enough and small and count * work >= WORTH * kept

    def size_in_call(self, size: Size) -> int:
        """The size in this call, in a pass in the middle of the loops around."""
        return dims.evaluate(size, {x: self.value(x) for x in dims.symbols(size)}) or 0

    def value(self, x: dims.Symbol) -> int:
        if x.var in self.facts.ranges:
            return sum(map(self.size_in_call, self.facts.ranges[x.var])) // 2
        return self.hints.get(x, UNKNOWN)


def _is(a: Any, b: Any) -> bool:
    return a is b


def _integer(a: Atom) -> int | None:
    return a.value if isinstance(a, Literal) and type(a.value) is int else None


def _transposes_ahead(loop: For) -> tuple[list[Statement], For]:
    """Transposes of matrices from outside of a loop, and the loop without them."""
    within = values_of_pass(loop)
    turned = [
        s
        for s in loop.body.body
        if isinstance(s, Let) and s.op is transpose and s.args[0] not in within
    ]
    rest = tuple(s for s in loop.body.body if s not in turned)
    return list(turned), replace(loop, body=replace(loop.body, body=rest)) if turned else loop
