"""Writes products with a strong zero as NumPy code: a test, and a product or quotient.

x_bar = strong_div(y_bar, x)      becomes      x_bar = y_bar / np.where(y_bar != 0, x, 1.0)

NumPy computes both sides of `np.where`, so the slope is replaced, not the quotient: no warning of
a division by zero is given. Of scalars, only the side that is taken is computed.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(zero_tests, '''
... (y_bar: f8[n], x: f8[n]):
...     x_bar = strong_div(y_bar, x)
...     return x_bar
... '''))
(y_bar: f8[n], x: f8[n]):
    matters: b1[n] = not_equal(y_bar, 0)
    t1: f8[n] = select(matters, x, 1.0)
    x_bar: f8[n] = truediv(y_bar, t1)
    return x_bar
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import Atom, Block, Let, Literal, Statement, Var, with_blocks
from tapeless.transforms.ops.primitives.arithmetic import mul, neg
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_and, not_equal
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.strong_zero import (
    PLAIN,
    strong_both,
    strong_div,
    strong_mul,
)


def zero_tests(block: Block) -> Block:
    """The block without products that have a strong zero."""
    b = builder.Builder()
    with builder.building(b):
        _write(block.body)
    return replace(block, body=tuple(b.blocks[0]))


def _write(body: Iterable[Statement]) -> None:
    b = builder.current()
    for s in body:
        b.origin = s.origin
        if isinstance(s, Let) and s.op in PLAIN:
            _write_product(s)
        elif isinstance(s, Let):
            b.emit(s)
            b.definitions.update(dict.fromkeys(s.outs, s))
        else:
            b.emit(with_blocks(s, _in_block))


def _in_block(block: Block) -> Block:
    with builder.current().block() as statements:
        _write(block.body)
    return replace(block, body=tuple(statements))


def _write_product(s: Let) -> None:
    """The product where the first factor is not zero: of arrays, with a slope that is replaced."""
    b = builder.current()
    t, c = s.args
    op, zero = PLAIN[s.op], builder.atom(0.0)
    test = not_equal(_root(t), 0)
    if isinstance(test, Var):
        test.name = "matters"
    if s.op is strong_both:
        b.let(s.outs, select, (logical_and(test, not_equal(c, 0)), op(t, c), zero), {})
    elif not s.outs[0].type.shape:
        b.let(s.outs, select, (test, op(t, c), zero), {})
    else:
        b.let(s.outs, op, (t, select(test, c, 0.0 if op is mul else 1.0)), {})
    b.definitions[s.outs[0]] = s


def _root(t: Atom) -> Atom:
    """The value that a derivative is zero with: what it is a multiple of."""
    let = builder.defining_statement(t, neg, mul, strong_mul, strong_div)
    if let is None or (let.op is mul and not isinstance(let.args[0], Literal)):
        return t
    inner = let.args[1 if let.op is mul else 0]
    return _root(inner) if inner.type.shape == t.type.shape else t
