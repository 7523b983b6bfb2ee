"""Expresses the NumPy functions that flip, turn and roll arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size, static
from tapeless.transforms.core.language import Atom
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import neg
from tapeless.transforms.ops.primitives.batch_rules import batch_along_axis
from tapeless.transforms.ops.primitives.joining import as_array, axes_of, each_axis_of
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, flatten, linear, move, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def flip(m: Atom, axis: Any = None) -> Any:
    places = axes_of(axis, m.type.ndim)
    backwards = slice(None, None, -1)
    key = (backwards if k in places else slice(None) for k in range(m.type.ndim))
    return index(m, key=tuple(key))


def _rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    m = as_array(m)
    i, j = axes_of(axes, m.type.ndim)
    match static(k, "the number of turns must be known") % 4:
        case 1:
            return move(flip(m, j), (i, j), (j, i))
        case 2:
            return flip(m, (i, j))
        case 3:
            return flip(move(m, (i, j), (j, i)), j)
    return m


def _roll_source(args: Atoms, params: Params) -> str:
    return "np.roll({0}, {1}" + (", axis={axis})" if args[0].type.ndim > 1 else ")")


roll: Op = linear(
    "roll",
    lambda x, shift, *, axis: x.type,
    _roll_source,
    lambda ct, args, linear, params: (roll(ct, neg(args[1]), **params), None),
    costly=True,
    moves=True,
    batch=batch_along_axis,
)


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    a, shifts = as_array(a), _shifts(shift)
    if axis is None:
        line = flatten(a)
        for s in shifts:
            line = roll(line, s, axis=0)
        return reshape(line, shape=a.type.shape)
    axes = each_axis_of(axis, a.type.ndim)
    count = len(axes) if len(shifts) == 1 else len(shifts)
    pairs = zip(
        shifts * (count // len(shifts)), axes * (count if len(axes) == 1 else 1), strict=True
    )
    for s, k in pairs:
        a = roll(a, s, axis=k)
    return a


def _shifts(shift: Any) -> tuple[Any, ...]:
    """The shifts, of which there may be one for each axis."""
    if isinstance(shift, (tuple, list)):
        return tuple(shift)
    shift = as_array(shift)
    if not shift.type.shape:
        return (shift,)
    if shift.type.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    count = static(atom_of_size(shift.type.shape[0]), "the number of shifts must be known")
    return tuple(index(shift, key=(k,)) for k in range(count))


NUMPY = {
    np.flip: lambda m, axis=None: flip(as_array(m), axis),
    np.flipud: lambda m: flip(as_array(m), 0),
    np.fliplr: lambda m: flip(as_array(m), 1),
    np.rot90: _rot90,
    np.roll: _roll,
}
