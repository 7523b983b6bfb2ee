"""Rewrites convolutions as loops, inside of loops and where no library makes them.

y = convolve(a, v)      becomes      for j: y[j : j + n] += a * v[j]

The second operand is mostly the shorter one: the inner loop goes along the first, in vectors. Where
the window is longer than the result, each element of that is a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom_of_size, var_size
from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken, pad_by_stores
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.numerics.calculus import convolve, correlate, cut
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.new_arrays import empty, zeros
from tapeless.transforms.ops.primitives.shapes import cast_to, copy
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Slot,
    add_at,
    index,
    part,
    part_key,
    update,
)


def convolution(out: Type, a: Atom, v: Atom, *, mode: str, ordered: bool) -> Any:
    """Each element of the second operand adds a multiple of the first one, which goes on in zeros
    where the result lies in the middle."""
    n, m = _lengths(out, a, v)
    if mode == "full":
        whole = cast_to(a, out.dtype)

        def step(j: Any, y: Any) -> tuple[Any, ...]:
            key, bounds = part_key(n + m - 1, 0, var_size(j), var_size(j) + n)
            return (add_at(y, mul(whole, _weight(v, j, out)), *bounds, key=key),)

        return loop(m, (zeros(shape=out.shape, dtype=out.dtype),), step)[0]
    if mode == "valid" and ordered:
        return _sum_of_weighted_parts(out, a, v, turned=True)
    start, length = cut(n, m, mode, ordered)
    before = (m - 1 - start,)
    padded_type = Type(a.type.dtype, (length + m - 1,))
    after = (length + start - n,)
    return _sum_of_weighted_parts(
        out, pad_by_stores(padded_type, a, before=before, after=after), v, turned=True
    )


def _sum_of_weighted_parts(out: Type, x: Atom, window: Atom, turned: bool = False) -> Any:
    """Each element of the window adds a multiple of the part of x that begins where it stands.

    turned  whether the window is read from its end
    """
    (m,) = window.type.shape

    def step(j: Any, y: Any) -> tuple[Any, ...]:
        read = cast_to(part(x, 0, var_size(j), var_size(j) + out.shape[0]), out.dtype)
        at = atom_of_size(m - 1 - var_size(j)) if turned else j
        return (add(y, mul(read, _weight(window, at, out))),)

    return loop(m, (zeros(shape=out.shape, dtype=out.dtype),), step)[0]


def _weight(window: Atom, at: Atom, out: Type) -> Any:
    return cast_to(element(window, at, 0), out.dtype)


def correlation(out: Type, x: Atom, window: Atom, *, long: bool) -> Any:
    """Multiples of parts where the window is short, else a sum of products for each element."""
    n, m = _lengths(out, x, window)
    if not long:
        return _sum_of_weighted_parts(out, x, window)

    def sums(i: Any, y: Any) -> tuple[Any, ...]:
        terms = mul(part(x, 0, var_size(i), var_size(i) + m), window)
        total = total_of(cast_to(terms, out.dtype), axes=(0,), keepdims=False)
        return (update(y, total, i, key=(Slot(0),)),)

    return loop(n - m + 1, (empty(shape=out.shape, dtype=out.dtype),), sums)[0]


def _lengths(out: Type, *operands: Atom) -> Any:
    if out.dtype.kind not in "iuf":
        raise NotTaken
    for a, name in zip(operands, "av", strict=True):
        require_at_least(a.type.shape[0], 1, ValueError, f"{name} cannot be empty")
    return (a.type.shape[0] for a in operands)


def with_contiguous_operands(s: Let, views: Mapping[Atom, Let]) -> Iterator[Let]:
    """The statement behind copies of operands that have gaps in memory, such as columns: each of
    their elements is read many times."""
    args = list(s.args)
    for k, a in enumerate(s.args):
        if _has_gaps(a, views):
            args[k] = contiguous = Var(a.type)
            yield Let((contiguous,), copy, (a,), {}, s.origin)
    yield replace(s, args=tuple(args))


def _has_gaps(a: Atom, views: Mapping[Atom, Let]) -> bool:
    view = views.get(a)
    if view is None:
        return False
    if view.op is not index:
        return True
    last = view.params["key"][view.args[0].type.ndim - 1 :]
    along_rows = not last or (isinstance(last[0], slice) and last[0].step in (None, 1))
    return not along_rows or _has_gaps(view.args[0], views)


CONVOLVED: dict[Op, Callable[..., Any]] = {convolve: convolution, correlate: correlation}
