"""Rewrites comparisons of whole arrays inside of loops as comparisons of their elements.

same = array_equal(x, y)      becomes      same = all(x == y), where x and y are equally long

>>> from operator import eq
>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(compare_elements, alike=eq), '''
... (x: f8[m, n], y: f8[n], m: pyi8):
...     c_2 = for i in range(0, m, 1) with c: pyi8 = 0:
...         r = index(x, i, key=(Slot(0),))
...         t = array_equal(r, y, equal_nan=False)
...         d = if t:
...             e = add(c, 1)
...             yield e
...         else:
...             yield c
...         yield d
...     return c_2
... '''))
(x: f8[m, n], y: f8[n], m: pyi8):
    c_2 = for i in range(0, m, 1) with c: pyi8 = 0:
        r: f8[n] = index(x, i, key=(Slot(0),))
        t1: b1[n] = equal(r, y)
        t: pyb1 = all(t1, axes=(0,), keepdims=False)
        d = if t:
            e: pyi8 = add(c, 1)
            yield e
        else:
            yield c
        yield d
    return c_2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, Let, Statement, Type, with_blocks
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.numpy.complex import allclose, array_equal, isclose
from tapeless.transforms.ops.numpy.reductions import all_
from tapeless.transforms.ops.primitives.arithmetic import add, mul, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    isfinite,
    isnan,
    less_equal,
    logical_and,
    logical_or,
)
from tapeless.transforms.ops.primitives.elementwise import absolute
from tapeless.transforms.ops.primitives.shapes import cast_to


def _equal_elements(a: Atom, b: Atom, equal_nan: bool) -> Any:
    same = equal(a, b)
    if not equal_nan or "f" not in a.type.dtype.kind + b.type.dtype.kind:
        return same
    both = [isnan(x) if x.type.dtype.kind == "f" else False for x in (a, b)]
    return same if False in both else logical_or(same, logical_and(*both))


def _close(out: Type, a: Atom, b: Atom, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Within tolerances of b, or equal, which infinities may be."""
    dtype = np.result_type(b.type.dtype, 1.0)
    if dtype == np.float16:  # of small integers: there are no such numbers in kernels
        raise NotTaken
    b = cast_to(b, dtype)
    near = less_equal(absolute(sub(a, b)), add(atol, mul(rtol, absolute(b))))
    return logical_or(logical_and(near, isfinite(b)), _equal_elements(a, b, equal_nan))


def _all_elements(value: Any) -> Any:
    axes = tuple(range(value.type.ndim))
    return all_(value, axes=axes, keepdims=False) if axes else value


CLOSE: dict[Op, Callable[..., Any]] = {
    isclose: _close,
    allclose: lambda out, *args, **params: _all_elements(_close(out, *args, **params)),
}


def compare_elements(block: Block, alike: Callable[[Size, Size], bool]) -> Block:
    """The block with comparisons of elements in its loops and branches, where arrays are of one
    shape; `alike` says whether two sizes are equal."""

    def fits(s: Let) -> bool:
        a, b = (x.type.shape for x in s.args)
        return len(a) == len(b) and all(map(alike, a, b)) and all(map(_is_real, s.args))

    def statements(body: tuple[Statement, ...], top: bool) -> Iterator[Statement]:
        for s in body:
            if isinstance(s, Let) and s.op is array_equal and not top and fits(s):
                yield from parts_of(
                    s, lambda a, b, equal_nan: _all_elements(_equal_elements(a, b, equal_nan))
                )
            else:
                yield with_blocks(s, inner)

    def inner(b: Block) -> Block:
        return replace(b, body=tuple(statements(b.body, False)))

    return replace(block, body=tuple(statements(block.body, True)))


def _is_real(a: Atom) -> bool:
    return a.type.dtype.kind in "biuf"
