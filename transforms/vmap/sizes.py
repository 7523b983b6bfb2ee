"""Refuses lengths that depend on the element of a batch: an array has one shape.

What is kept for a backward loop is as long as the longest of the loops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Let, Type
from tapeless.transforms.core.substitution import map_symbols
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.errors import UnevenError
from tapeless.transforms.ops.numpy.reductions import count_nonzero
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul
from tapeless.transforms.ops.primitives.axis_lengths import axis_size, length_if_set, size_if_set
from tapeless.transforms.ops.primitives.batch_rules import axis_in_batch
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.new_arrays import empty, stack_length
from tapeless.transforms.vmap.longest_range import highest

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

LENGTHS = (axis_size, size_if_set, stack_length, length_if_set)
COMBINE = {"//": floordiv, "%": mod, "max": maximum, "min": minimum}


def _by_element(batch: Batch, s: Let) -> set[dims.Symbol]:
    """Sizes in the parameters that are values of batched variables."""
    symbols = set().union(*map(sizes_in, s.params.values())) if s.params else set()
    return {
        symbol
        for symbol in symbols
        if dims.single(symbol) in batch.counts
        or (symbol.var is not None and batch.is_batched(symbol.var))
    }


def length(s: Let, args: Any, axes: Any) -> Let:
    """The length of an axis, or of a list, of a batch; other sizes may be made of it."""
    params = s.params
    if "axis" in params and axes[0] is not None:
        params = {"axis": axis_in_batch(params["axis"], axes[0])}
    return replace(s, args=args, params=params)


def with_fixed_lengths(batch: Batch, s: Let) -> Let:
    """The statement with the lengths that are known for a batch, and variables of such lengths."""
    if not batch.fixed:
        return s
    for v in s.outs:
        if isinstance(v.type, Type):
            v.type = batch.longest(v.type)
    return replace(s, params=map_symbols(s.params, batch.fixed))


def differ(batch: Batch, s: Let) -> bool:
    return bool(_by_element(batch, s))


def longest(batch: Batch, s: Let) -> Any:
    """An array that serves all elements, for what is kept for a backward loop."""
    if s.op is not empty or any(symbol.var is None for symbol in _by_element(batch, s)):
        raise UnevenError(
            f"vmap: a length in {s.op.name} depends on the element of the batch",
            "use the greatest length and a mask, or loop over the elements",
        )
    shape = tuple(_greatest(batch, n) for n in s.params["shape"])
    return s.op(**{**s.params, "shape": shape})


def _greatest(batch: Batch, n: Size) -> Size:
    """The greatest that a length is: that of its parts need not be, as in k % 5 and 10 - k."""
    if n not in batch.most:
        lengths, axis = value(batch, _or_none(n))
        if axis is None:
            return n
        batch.most[n] = size_of(highest(lengths, 0, axes=(0,)))
    return batch.most[n]


def _or_none(n: Size) -> Size:
    """What is a length where it is none below 0: a of max(a, 0)."""
    (factors, c), *more = dims.terms_of(n)
    if c == 1 and not more and len(factors) == 1:
        factor = factors[0]
        if isinstance(factor, dims.Quotient) and factor.kind == "max" and factor.right == 0:
            return factor.left
    return n


def value(batch: Batch, size: Size) -> Any:
    """The integer that a size is, for each element, and its batch axis."""
    if isinstance(size, int):
        return atom(size), None
    total: Any = None
    batched = False
    for factors, c in size.terms:
        term: Any = atom(c)
        for f in factors:
            part, axis = _factor(batch, f)
            batched |= axis is not None
            term = mul(term, part)
        total = term if total is None else add(total, term)
    return total, 0 if batched else None


def _factor(batch: Batch, f: dims.Factor) -> Any:
    if isinstance(f, dims.Symbol) and dims.single(f) in batch.counts:
        mask = batch.counts[dims.single(f)]
        inner = tuple(range(1, mask.type.ndim))
        return count_nonzero(mask, axes=inner, keepdims=False), 0
    if isinstance(f, dims.Symbol):
        batched_size = None if f.var is None else batch.value(f.var)
        return (atom(dims.single(f)), None) if batched_size is None else batched_size
    (a, i), (b, k) = value(batch, f.left), value(batch, f.right)
    return COMBINE[f.kind](a, b), None if i is k is None else 0
