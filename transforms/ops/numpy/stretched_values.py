"""Stretches operands and stored values as NumPy does, where only the program says how long they
are: what is stored is as long as the part then, as derivatives and compiled code take it to be.

y[a > 0] = b[b > 1]     becomes     v = b[b > 1]
                                    places = 0 if len(v) == 1 else np.arange(count_nonzero(a > 0))
                                    y[a > 0] = v[places]

y[a > 0] = b[a > 0]     stays as it is: the mask is the same
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import (
    atom,
    atom_of_size,
    current,
    defining_statement,
    same_value,
)
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Effect, Let, Var
from tapeless.transforms.core.traced_calls import all_lengths
from tapeless.transforms.ops.numpy.reductions import count_nonzero
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.index_keys import (
    Key,
    Slot,
    advanced_place,
    is_advanced,
    result_shape,
)
from tapeless.transforms.ops.primitives.new_arrays import arange
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.slices_and_gathers import gather, index, read

DEEP = 20  # statements that are followed, behind each other


def stretch_value(v: Atom, x: Atom, key: Key, rest: tuple[Atom, ...]) -> Any:
    """The value v, as long as x[key], to which it is stored."""
    for axis, place in _stretched_axes(x, v, key, rest).items():
        v = _stretched_to(v, axis, _part_length(x, key, rest, place))
    return v


def fit_operands(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of an elementwise operation; axes that have one element at most, and one or
    none when the program runs, are as long as those of the others.

    x - x[i:i + 1]      becomes     row = x[i:i + 1]
                                    x - row[0 if len(row) == 1 else np.arange(len(x))]
    """
    shapes = [a.type.shape for a in args if isinstance(a, Var) and a.type.shape]
    if all(shape == shapes[0] for shape in shapes):
        return args
    if all_lengths.get():
        args = _fit_all(args, max(map(len, shapes)))
    if not any(_one_at_most(n) for shape in shapes for n in shape):
        return args
    for k in range(-max(map(len, shapes)), 0):
        lengths = {shape[k]: None for shape in shapes if len(shape) >= -k and shape[k] != 1}
        longer = [n for n in lengths if not _one_at_most(n)]
        if longer:
            args = tuple(_as_long(a, k, longer[0]) for a in args)
    return args


def _fit_all(args: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """Operands of which each may have one element along an axis, where others have more.

    u[p] * w[q]      becomes      n = len(w[q]) if len(u[p]) == 1 else len(u[p])
                                  u[p][0 if len(u[p]) == 1 else np.arange(n)] * ...
    """
    for k in range(-ndim, 0):
        shapes = (a.type.shape for a in args if isinstance(a, Var))
        lengths = [*{shape[k]: None for shape in shapes if len(shape) >= -k and shape[k] != 1}]
        undecided = [n for n in lengths if not _is_decided(n)]
        if len(lengths) < 2 or not undecided:
            continue
        decided = [n for n in lengths if _is_decided(n)]
        count = atom_of_size(decided[0] if decided else undecided[0])
        for n in undecided[1:] if not decided else ():
            count = atom(select(equal(count, 1), atom_of_size(n), count))
        args = tuple(_as_counted(a, k, count, undecided) for a in args)
    return args


def _is_decided(n: Size) -> bool:
    return isinstance(n, int) or dims.is_given(n)


def _as_counted(a: Any, axis: int, count: Atom, undecided: list[Size]) -> Any:
    """An operand as long as others along an axis, if its own length is undecided."""
    if not isinstance(a, Var) or len(a.type.shape) < -axis:
        return a
    if a.type.shape[axis] not in undecided:
        return a
    return _stretched_to(a, len(a.type.shape) + axis, count)


def _one_at_most(n: Size) -> bool:
    return not isinstance(n, int) and not dims.is_given(n) and dims.at_least(1, n)


def _as_long(a: Any, axis: int, n: Size) -> Any:
    """An operand whose axis is of length n, if it had one element at most."""
    if not isinstance(a, Var) or len(a.type.shape) < -axis or not _one_at_most(a.type.shape[axis]):
        return a
    return _stretched_to(a, len(a.type.shape) + axis, atom_of_size(n))


def _stretched_to(v: Atom, axis: int, count: Any) -> Any:
    """A value of which an axis is `count` long, where it had one element or as many."""
    have = axis_size(v, axis=axis)
    single = equal(have, 1)
    run = current()
    run.emit(Effect("check", (have, select(single, 1, count)), {}, run.origin))
    at = select(single, 0, arange(0, count, 1, dtype=np.dtype(int)))
    return gather(v, at, key=(*(slice(None),) * axis, Slot(0)))


def _part_length(x: Atom, key: Key, rest: tuple[Atom, ...], place: int) -> Any:
    """How long x[key] is along an axis."""
    if len(rest) == 1 and rest[0].type.dtype.kind == "b":
        return count_nonzero(rest[0], axes=tuple(range(rest[0].type.ndim)), keepdims=False)
    return axis_size(read(x, key, rest), axis=place)


def _stretched_axes(x: Atom, v: Atom, key: Key, rest: tuple[Atom, ...]) -> dict[int, int]:
    """The axes of v that may have one element where x[key] has more, and those of x[key]."""
    have = v.type.shape
    if not any(map(dims.symbols, have)):
        return {}
    target = result_shape(x.type.shape, key, rest)
    lead = len(target) - len(have)
    pairs = [(k, n, target[lead + k]) for k, n in enumerate(have) if lead + k >= 0]
    of_places = _axes_of_places(key, rest)
    return {
        k: lead + k
        for k, n, part in pairs
        if _is_length_unknown(n, part, v, x, key, rest, lead + k in of_places)
    }


def _axes_of_places(key: Key, rest: tuple[Atom, ...]) -> range:
    """The axes of x[key] whose lengths index arrays and masks alone decide."""
    if not is_advanced(key, rest):
        return range(0)
    ndims = (1 if a.type.dtype.kind == "b" else a.type.ndim for a in rest)
    first = advanced_place(key)
    return range(first, first + max(ndims))


def _is_length_unknown(
    n: Size, part: Size, v: Atom, x: Atom, key: Key, rest: tuple[Atom, ...], of_places: bool
) -> bool:
    """Whether neither the arguments nor a check of the program say that the length n of v is that
    of x[key]; `of_places`: index arrays alone decide it."""
    if n == part or isinstance(n, int) or dims.at_least(n, 2):
        return False
    if all(s.given or s.var is not None for s in dims.symbols(n - part)):
        return False
    let = _made_by(v, n)
    if let is not None and _reads_same_part(let, x, key, rest, of_places):
        return False
    return bool(rest) or not (dims.is_given(n) or (let is not None and _slices_argument(let)))


def _slices_argument(let: Let) -> bool:
    """Whether arguments alone say how long a part is, as in x[5:1:-1]."""
    return (
        let.op is index and len(let.args) == 1 and all(map(dims.is_given, let.args[0].type.shape))
    )


def _made_by(v: Atom, n: Size) -> Let | None:
    """The statement from which a value has the length n, if it is in sight."""
    let: Let | None = None
    for _ in range(DEEP):
        let = defining_statement(v)
        longer = [a for a in (let.args if let else ()) if n in getattr(a.type, "shape", ())]
        if not longer:
            return let
        v = longer[0]
    return None


def _reads_same_part(let: Let, x: Atom, key: Key, rest: tuple[Atom, ...], of_places: bool) -> bool:
    """Whether a statement reads what the key names, or as many places of another array."""
    if let.params.get("key") != key or len(let.args) != len(rest) + 1:
        return False
    return (of_places or let.args[0].type.shape == x.type.shape) and all(
        same_value(a, b) for a, b in zip(let.args[1:], rest, strict=True)
    )
