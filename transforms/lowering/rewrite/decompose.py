"""Decomposes operations into simpler ones, which share loops.

m = mean(x, axis=1)      becomes      t = sum(x, axis=1); m = t / x.shape[1]

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(decompose, '''
... (x: f8[n, m]):
...     y = mean(x, axes=(1,), keepdims=False)
...     return y
... '''))
(x: f8[n, m]):
    t1: f8[n] = sum(x, axes=(1,), keepdims=False)
    t2: pyi8 = size_value(size=m)
    y: f8[n] = truediv(t1, t2)
    return y
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Type,
    statements,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.by_order import BY_ORDER
from tapeless.transforms.lowering.rewrite.by_singular_values import BY_SINGULAR_VALUES
from tapeless.transforms.lowering.rewrite.comparisons import CLOSE
from tapeless.transforms.lowering.rewrite.concatenate import JOINED, NotTaken
from tapeless.transforms.lowering.rewrite.convolutions import CONVOLVED, with_contiguous_operands
from tapeless.transforms.lowering.rewrite.einsum_to_sum import CONTRACTED
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.lowering.rewrite.histograms import (
    counted_in_bins,
    counted_without_library,
)
from tapeless.transforms.lowering.rewrite.reshape_copies import RESHAPED
from tapeless.transforms.lowering.rewrite.scans import SCANS, SCANS_OF_ROWS
from tapeless.transforms.lowering.rewrite.whole_arrays import WHOLE_ARRAYS
from tapeless.transforms.lowering.rewrite.without_library import WITHOUT_LIBRARY
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.ops.linalg.norms import norm
from tapeless.transforms.ops.numerics.calculus import sinc
from tapeless.transforms.ops.numpy.complex import round as round_to
from tapeless.transforms.ops.numpy.diagonals import diagonal, trace, tril, triu
from tapeless.transforms.ops.numpy.histograms import histogram
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.recurrences import linear_recurrence
from tapeless.transforms.ops.numpy.reductions import count, count_nonzero, left_of, mean, std, var
from tapeless.transforms.ops.numpy.sorting import permute
from tapeless.transforms.ops.primitives.arithmetic import add, mul, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    not_equal,
    right_shift,
)
from tapeless.transforms.ops.primitives.elementwise import sin, sqrt
from tapeless.transforms.ops.primitives.joining import array, stack_op
from tapeless.transforms.ops.primitives.module_functions import unit
from tapeless.transforms.ops.primitives.new_arrays import count_up, empty, full, tri
from tapeless.transforms.ops.primitives.selection import refuses_integers, select
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, update
from tapeless.transforms.optimize.simplify import simplify


def _mean(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    wide = x if x.type.dtype.kind in "fc" else cast_to(x, np.dtype(float))
    return truediv(total_of(wide, axes=axes, keepdims=keepdims), count(x.type, axes))


def _var(x: Atom, axes: tuple[int, ...], keepdims: bool, ddof: Any) -> Any:
    centred = x - _mean(x, axes, True)
    total = total_of(centred * centred, axes=axes, keepdims=keepdims)
    return truediv(total, left_of(count(x.type, axes), ddof))


def _count_nonzero(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    return total_of(cast_to(not_equal(x, 0), np.dtype(np.intp)), axes=axes, keepdims=keepdims)


def _stack(*pieces: Atom, axis: int) -> Any:
    kind = stack_op.infer(*pieces, axis=axis)
    lead = (slice(None),) * axis
    return _assemble(kind, ((*lead, k) for k in range(len(pieces))), pieces)


def _array(*elements: Atom, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return _assemble(Type(dtype, shape), itertools.product(*map(range, shape)), elements)


def _assemble(kind: Type, places: Iterable[Any], parts: Iterable[Atom]) -> Any:
    """A new array with these parts at these places."""
    whole = empty(shape=kind.shape, dtype=kind.dtype)
    for key, each in zip(places, parts, strict=True):
        whole = update(whole, cast_to(each, kind.dtype), key=key)
    return whole


def _norm(x: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    return sqrt(total_of(x * x, axes=axes, keepdims=keepdims))


def _unit(bits: Atom) -> Any:
    """Of the upper 52 bits a number in [0, 1), exactly: two conversions of 32 bits take a third of
    one of 64."""
    first = cast_to(right_shift(bits, np.uint64(32)), np.dtype(np.uint32))
    low = right_shift(cast_to(bits, np.dtype(np.uint32)), np.uint32(12))
    upper, rest = (cast_to(x, np.dtype(float)) for x in (first, low))
    return add(mul(upper, 2.0**-32), mul(rest, 2.0**-52))


def _lower(x: Atom, k: int) -> Any:
    return tri(sides=x.type.shape[-2:], k=k, dtype=np.dtype(bool))


def _diagonal(out: Type, x: Atom, k: int) -> Any:
    """Where rows and columns go up together."""
    along, lead = count_up(out.shape[-1]), (slice(None),) * (x.type.ndim - 2)
    return gather(x, along + max(-k, 0), along + max(k, 0), key=(*lead, Slot(0), Slot(1)))


def _trace(out: Type, x: Atom, k: int) -> Any:
    wide = cast_to(diagonal(x, k=k), out.dtype)
    parts = _diagonal(wide.type, x, k)
    return total_of(cast_to(parts, out.dtype), axes=(x.type.ndim - 2,), keepdims=False)


def _sinc(x: Atom) -> Any:
    y = np.pi * select(
        equal(x, 0), 1e-20, x if x.type.dtype.kind == "f" else cast_to(x, np.dtype(float))
    )
    return truediv(sin(y), y)


PARTS: dict[Op, Callable[..., Any]] = {
    mean: _mean,
    var: _var,
    std: lambda x, **params: sqrt(_var(x, **params)),
    count_nonzero: _count_nonzero,
    stack_op: _stack,
    array: _array,
    norm: _norm,
    sinc: _sinc,
    unit: _unit,
}
#: The same inside loops and branches, where each pass would call NumPy otherwise; these are given
#: the type of the result, too.
INNER: dict[Op, Callable[..., Any]] = {
    **JOINED,
    **SCANS,
    **CONTRACTED,
    **RESHAPED,
    **CLOSE,
    **CONVOLVED,
    **{op: WITHOUT_LIBRARY[op] for op in (permute, round_to)},
    diagonal: _diagonal,
    trace: _trace,
    tril: lambda out, x, k: select(_lower(x, k), x, 0),
    triu: lambda out, x, k: select(_lower(x, k - 1), 0, x),
}


def _with_fitting_integers(out: Type, *args: Atom, op: Op, **params: Any) -> Any:
    """The operation with Python's integers as numbers of the dtype, which kernels test; an array
    of one number is no statement of a kernel, and `np.where` itself takes all integers."""
    if op is select and not refuses_integers():
        raise NotTaken
    firm = [cast_to(a, out.dtype) if _may_misfit(a, out.dtype) else a for a in args]
    if all(new is a for new, a in zip(firm, args, strict=True)):
        raise NotTaken
    return op(*firm, **params)


def _may_raise(s: Let) -> bool:
    return any(_may_misfit(a, s.outs[0].type.dtype) for a in s.args)


def _may_misfit(a: Atom, dtype: np.dtype[Any]) -> bool:
    """Whether an operand is an integer of Python's that the dtype may not hold."""
    small = dtype.kind in "iu" and dtype != np.dtype(np.int64)
    return small and a.type.weak and a.type.dtype.kind == "i" and not isinstance(a, Literal)


#: What adapts Python's integers to its dtype, wherever it stands.
ADAPTING: dict[Op, Callable[..., Any]] = {
    op: functools.partial(_with_fitting_integers, op=op) for op in (full, select)
}
#: What kernels do in one pass over numbers, which others may share, and NumPy in several or in one
#: of its own, wherever it stands.
ONE_PASS: dict[Op, Callable[..., Any]] = {
    histogram: counted_in_bins,
    **{op: INNER[op] for op in (round_to, tril, triu, linear_recurrence, pad)},
}


#: What is taken apart outside of loops, too, by the library that the driver can call. Many threads
#: of a device make one line of a running sum, which loops do not.
EVERYWHERE: dict[str, dict[Op, Callable[..., Any]]] = {
    "NumPy": {**ONE_PASS, **SCANS_OF_ROWS},
    "CuPy": {**WITHOUT_LIBRARY, **ONE_PASS, **BY_ORDER, histogram: counted_without_library},
    "": {**WITHOUT_LIBRARY, **INNER, **WHOLE_ARRAYS, **ONE_PASS, **BY_SINGULAR_VALUES},
}


def decompose(block: Block, target: Target = CPU) -> Block:
    """The block, simplified again if anything was taken apart."""
    everywhere = EVERYWHERE[target.library]
    fixed: list[Statement] = []
    rewritten = replace(block, body=tuple(_statements(block.body, fixed, everywhere, True)))
    rewritten = replace(rewritten, body=(*fixed, *rewritten.body))
    is_rewritten = any(comes_apart(s) or s.op in {*INNER, *everywhere} for s in _lets(block))
    return simplify(rewritten) if is_rewritten else rewritten


def _is_fixed(s: Let) -> bool:
    return s.op is array and all(isinstance(a, Literal) for a in s.args)


def _lets(block: Block) -> Iterator[Let]:
    return (s for s in statements(block) if isinstance(s, Let))


def _statements(
    body: tuple[Statement, ...],
    fixed: list[Statement],
    everywhere: Mapping[Op, Callable[..., Any]],
    top: bool = False,
    outside: Mapping[Atom, Let] | None = None,
) -> Iterator[Statement]:
    """Arrays of constants leave loops and branches: they go to `fixed`.

    outside  the views that blocks around make
    """
    views: dict[Atom, Let] = {**(outside or {}), **{s.outs[0]: s for s in body if _is_view(s)}}

    def inner(block: Block) -> Block:
        return replace(block, body=tuple(_statements(block.body, fixed, everywhere, False, views)))

    for s in body:
        match s:
            case Let() if _is_fixed(s) and not top:
                fixed.append(s)
            case Let() if comes_apart(s):
                yield from parts_of(s, s.op.parts or PARTS[s.op])
            case Let() if s.op in ADAPTING and _may_raise(s):
                yield from _inner(s, ADAPTING)
            case Let() if s.op in everywhere and (s.op not in INNER or all(map(_real, s.args))):
                yield from _inner(s, everywhere)
            case Let() if s.op in INNER and not top and all(map(_real, s.args)):
                *copies, s = with_contiguous_operands(s, views) if s.op in CONVOLVED else (s,)
                yield from (*copies, *_inner(s, INNER))
            case _:
                yield with_blocks(s, inner)


def _is_view(s: Statement) -> TypeGuard[Let]:
    return isinstance(s, Let) and s.op.view


def comes_apart(s: Let) -> bool:
    """Whether simpler operations do the same; an array of constants is best made at once."""
    has_parts = s.op.parts is not None or s.op in PARTS
    return has_parts and not _is_fixed(s) and all(map(_real, s.args))


def _real(a: Atom) -> bool:
    """Numbers whose sums do not overflow where NumPy's do not."""
    return a.type.dtype.kind in "biu" or a.type.dtype in (np.dtype("f4"), np.dtype("f8"))


def _inner(s: Let, formulas: Mapping[Op, Callable[..., Any]]) -> Iterator[Statement]:
    try:
        yield from parts_of(s, functools.partial(formulas[s.op], s.outs[0].type))
    except NotTaken:
        yield s
