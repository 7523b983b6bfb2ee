"""Rewrites operations that go along an axis from element to element as loops.

y = cumsum(x)      becomes      total = 0; for i: total += x[i]; y[i] = total
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.numpy.argmax import argmax, argmin
from tapeless.transforms.ops.numpy.cumulative import cummax, cummin, cumprod, cumsum
from tapeless.transforms.ops.numpy.recurrences import linear_recurrence
from tapeless.transforms.ops.numpy.run_time_errors import raise_where
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    less,
    logical_and,
    logical_or,
    not_equal,
)
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.new_arrays import empty, full
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update

STEPS: dict[Op, Any] = {
    cumsum: lambda total, x: total + x,
    cumprod: lambda total, x: total * x,
    cummax: lambda total, x: maximum(total, x),
    cummin: lambda total, x: minimum(total, x),
}
Body = Callable[..., tuple[Any, ...]]


def loop(stop: Size, inits: tuple[Any, ...], body: Body, start: Size = 0) -> tuple[Var, ...]:
    """Records `for i in range(start, stop)`; what the carries are in the end."""
    b = current()
    i = Var(INT, "i")
    carries = tuple(Var(a.type) for a in inits)
    with b.block() as statements:
        results = body(i, *carries)
    outs = tuple(Var(a.type) for a in inits)
    inner = Block((i, *carries), tuple(statements), results)
    bounds = atom_of_size(start), atom_of_size(stop), atom(1)
    b.emit(For(outs, *bounds, inits, inner, origin=b.origin))
    return outs


def element(x: Atom, i: Any, axis: int) -> Any:
    lead = (slice(None),) * axis
    return index(x, key=(*lead, i)) if type(i) is int else index(x, i, key=(*lead, Slot(0)))


def shape_without_axis(t: Type, axis: int) -> tuple[Size, ...]:
    shape = t.shape
    return (*shape[:axis], *shape[axis + 1 :])


def constant(value: Any, dtype: np.dtype[Any], shape: tuple[Size, ...]) -> Any:
    number = Literal(value, Type(dtype))
    return full(number, shape=shape, dtype=dtype) if shape else number


def lines(
    out: Type,
    axis: int,
    inits: tuple[Any, ...],
    step: Body,
    apart: bool,
    backwards: bool = False,
) -> Any:
    """An array whose lines along an axis are made element by element, all in step.

    inits      what is carried from element to element, in the beginning
    step       (i, read, *carried) -> what is carried, of which the last is the element of pass i;
               `read` gives that of another array
    apart      whether one line comes after the other where their elements are next to each other
    backwards  whether lines begin at their ends
    """
    shape, n = out.shape, out.shape[axis]
    if apart and not all(s.given or s.var is not None for n in shape for s in dims.symbols(n)):
        raise NotTaken  # a loop decides how long it is: no kernel has it, and Python is slow
    lead = axis if apart and axis == len(shape) - 1 else 0
    key = (*map(Slot, range(lead)), *(slice(None),) * (axis - lead), Slot(lead))
    rest = shape_without_axis(out, axis)[lead:]

    def lines_at(at: tuple[Any, ...], y: Any) -> Any:
        if len(at) < lead:
            return loop(shape[len(at)], (y,), lambda i, y: (lines_at((*at, i), y),))[0]

        def body(i: Any, *state: Any) -> tuple[Any, ...]:
            *carried, y = state
            place = (*at, atom_of_size(n - 1) - i if backwards else i)
            new = step(i, lambda x: index(x, *place, key=key), *carried)
            return (*new, update(y, new[-1], *place, key=key))

        first = (constant(x, out.dtype, rest) for x in inits)
        return loop(n, (*first, y), body)[-1]

    return lines_at((), empty(shape=shape, dtype=out.dtype))


def cumulative(op: Op, apart: bool = False) -> Callable[..., Any]:
    def scan(out: Type, x: Atom, *, axis: int) -> Any:
        if out.dtype.kind == "b":
            raise NotTaken

        def step(i: Any, read: Callable[[Any], Any], total: Any) -> tuple[Any, ...]:
            return (STEPS[op](total, cast_to(read(x), out.dtype)),)

        return lines(out, axis, (_identity_of(op, out.dtype),), step, apart)

    return scan


def recurrence(apart: bool = False) -> Callable[..., Any]:
    """y[k] = a[k] * y[k - 1] + b[k], of which nothing comes before the first."""

    def record(out: Type, a: Atom, b: Atom, *, axis: int, backwards: bool) -> Any:
        def step(i: Any, read: Callable[[Any], Any], factor: Any, y: Any) -> tuple[Any, ...]:
            own, term = (cast_to(read(x), out.dtype) for x in (a, b))
            new = (factor if backwards else own) * y + term
            return own, new if backwards else select(equal(i, 0), term, new)

        zero = out.dtype.type(0).item()
        return lines(out, axis, (zero, zero), step, apart, backwards)

    return record


def _identity_of(op: Op, dtype: np.dtype[Any]) -> Any:
    """What changes nothing."""
    if op in (cumsum, cumprod):
        return dtype.type(op is cumprod).item()
    low = op is cummax
    if dtype.kind == "f":
        return -np.inf if low else np.inf
    if dtype.kind == "b":
        return not low
    limits = np.iinfo(dtype)
    return int(limits.min if low else limits.max)


def extreme_place(op: Op) -> Callable[..., Any]:
    """The first place of the largest or smallest element, or of the first NaN."""
    better = greater if op is argmax else less

    def better_place(value: Any, at: Any, best: Any, place: Any) -> tuple[Any, ...]:
        """The better of two values, and its place."""
        wins = better(value, best)
        if value.type.dtype.kind == "f":
            nan = logical_and(not_equal(value, value), equal(best, best))
            wins = logical_or(wins, nan)
        return select(wins, value, best), select(wins, at, place)

    def of_all(x: Atom, at: list[Any], best: Any, place: Any) -> tuple[Any, ...]:
        """The extreme of all elements behind some indices, counted as if they lay on one axis."""
        shape = x.type.shape
        if len(at) < len(shape):
            return loop(
                shape[len(at)], (best, place), lambda i, *state: of_all(x, [*at, i], *state)
            )
        count = at[0]
        for n, i in zip(shape[1:], at[1:], strict=True):
            count = count * atom_of_size(n) + i
        value = index(x, *at, key=tuple(map(Slot, range(len(at)))))
        return better_place(value, count, best, place)

    def find_place(out: Type, x: Atom, *, axis: int | None, keepdims: bool) -> Any:
        if keepdims:
            raise NotTaken
        if axis is None and x.type.ndim != 1:
            for n in x.type.shape:
                _refuse_empty(n, op.name)
            least = constant(
                _identity_of(cummax if op is argmax else cummin, x.type.dtype), x.type.dtype, ()
            )
            return of_all(x, [], least, constant(0, out.dtype, ()))[1]
        along = axis or 0

        def body(i: Any, best: Any, place: Any) -> tuple[Any, ...]:
            return better_place(element(x, i, along), i, best, place)

        n = x.type.shape[along]
        _refuse_empty(n, op.name)
        rest, dtype = shape_without_axis(x.type, along), x.type.dtype
        least = constant(_identity_of(cummax if op is argmax else cummin, dtype), dtype, rest)
        return loop(n, (least, constant(0, out.dtype, rest)), body)[1]

    return find_place


def _refuse_empty(n: Size, name: str) -> None:
    if dims.at_least(n, 1):
        return
    test = equal(atom_of_size(n), 0)
    raise_where(test, ValueError, f"attempt to get {name} of an empty sequence")


SCANS: dict[Op, Callable[..., Any]] = {op: cumulative(op) for op in STEPS}
SCANS[linear_recurrence] = recurrence()
#: The same outside of loops.
SCANS_OF_ROWS: dict[Op, Callable[..., Any]] = {op: cumulative(op, apart=True) for op in STEPS}
SCANS_OF_ROWS[linear_recurrence] = recurrence(apart=True)
SCANS |= {op: extreme_place(op) for op in (argmax, argmin)}
