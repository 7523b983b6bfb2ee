"""np.pad: zeros, constants, or elements of the array around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.batching import Axes, Batched
from tapeless.transforms.ops.creation import size_given
from tapeless.transforms.ops.fresh import ones
from tapeless.transforms.ops.indexing import get
from tapeless.transforms.ops.joining import as_array
from tapeless.transforms.ops.parts import part
from tapeless.transforms.ops.selection import select
from tapeless.transforms.ops.shapes import Atoms, Params, cast_to, front, linear


def _pad_infer(x: Atom, *, before: tuple[Size, ...], after: tuple[Size, ...]) -> Type:
    sizes = zip(x.type.shape, before, after, strict=True)
    return Type(x.type.dtype, tuple(s + b + a for s, b, a in sizes))


def _pad_source(args: Atoms, params: Params) -> str:
    pairs = [f"({{before[{k}]}}, {{after[{k}]}})" for k in range(args[0].type.ndim)]
    widths = pairs[0] if len(pairs) == 1 else f"({', '.join(pairs)})"
    return f"np.pad({{0}}, {widths})"


def _pad_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    for k, (n, start) in enumerate(zip(args[0].type.shape, params["before"], strict=True)):
        ct = part(ct, k, start, start + n)
    return (ct,)


def _pad_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    x = front(args[0], axes[0])
    return op(x, before=(0, *params["before"]), after=(0, *params["after"])), 0


pad = linear("pad", _pad_infer, _pad_source, _pad_transpose, costly=True, batch=_pad_batch)


pad_index = Op(
    "pad_index",
    lambda n, *, width, mode: Type(np.dtype(int), (size_of(n) + width[0] + width[1],)),
    lambda args, params: (
        f"np.pad(np.arange({{0}}), ({{width[0]}}, {{width[1]}}), {params['mode']!r})"
    ),
    costly=True,
)


GATHERED = ("edge", "reflect", "symmetric", "wrap")


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    a = as_array(array)
    before, after = _widths(pad_width, a.type.ndim)
    if mode == "constant":
        value = as_array(kwargs.get("constant_values", 0))
        if value.type.shape:
            raise UnsupportedError("np.pad with several constant_values", "pad axis by axis")
        made = pad(a, before=before, after=after)
        if isinstance(value, Literal) and value.value == 0:
            return made
        inside = pad(ones(shape=a.type.shape, dtype=np.dtype(bool)), before=before, after=after)
        return select(inside, made, cast_to(value, a.type.dtype))
    if mode not in GATHERED or kwargs:
        raise UnsupportedError(
            f"np.pad with mode={mode!r} and these options",
            f"use mode='constant' or one of {', '.join(GATHERED)}",
        )
    for k in range(a.type.ndim):
        if (before[k], after[k]) != (0, 0):
            where = pad_index(a.type.shape[k], width=(before[k], after[k]), mode=mode)
            a = get(a, (*(slice(None),) * k, where))
    return a


def _widths(pad_width: Any, ndim: int) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    w = pad_width
    if not isinstance(w, (tuple, list)):
        w = ((w, w),) * ndim
    elif not isinstance(w[0], (tuple, list)):
        w = ((w[0], w[-1]),) * ndim
    elif len(w) == 1:
        w = tuple(w) * ndim
    if len(w) != ndim:
        raise ValueError("pad_width must have a pair for each axis")
    return tuple(size_given(p[0]) for p in w), tuple(size_given(p[-1]) for p in w)


NUMPY = {
    np.pad: _pad,
}
