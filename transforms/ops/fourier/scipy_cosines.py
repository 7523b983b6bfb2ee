"""Defines the cosine and sine transforms of scipy.fft, of the types 1 to 4.

A transform is the product with a matrix; with norm="ortho" it is an orthogonal one. Otherwise the
transposed matrix is that of the dual type, but for factors at the ends (S. A. Martucci, "Symmetric
convolution and the discrete sine and cosine transforms", IEEE Trans. Signal Processing 42, 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.fftpack

from tapeless.transforms.core.builder import atom_of_size, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.fourier.fft import TURNED, fit_length, norm_of, plan
from tapeless.transforms.ops.primitives.arithmetic import mul, sub
from tapeless.transforms.ops.primitives.batch_rules import batch_along_axis
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, logical_or
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, linear, reshape

DUAL = {1: 1, 2: 3, 3: 2, 4: 4}
KIND = "the type of a transform decides what is computed"


def _source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        kind, axis, norm = params["kind"], params["axis"], params["norm"]
        more = "" if kind == 2 else f", {kind}"
        more += "" if axis == args[0].type.ndim - 1 else f", axis={axis}"
        more += "" if norm == "backward" else f", norm={norm!r}"
        return f"scipy.fft.{name}({{0}}{more})"

    return source


def _infer(x: Atom, **params: Any) -> Type:
    kind = scipy.fft.dct(np.ones(2, x.type.dtype)).dtype
    return Type(kind, x.type.shape)


def _ends(x: Atom, axis: int, ends: tuple[bool, bool], factor: float) -> Any:
    """x times a factor at the first or the last place, or at both."""
    n = x.type.shape[axis]
    k, first, last = count_up(n), None, None
    if ends[0]:
        first = equal(k, 0)
    if ends[1]:
        last = equal(k, sub(atom_of_size(n), 1))
    here = last if first is None else first if last is None else logical_or(first, last)
    weights = cast_to(select(here, factor, 1.0), np.zeros((), x.type.dtype).real.dtype)
    shape = tuple(s if j == axis else 1 for j, s in enumerate(x.type.shape))
    return mul(x, reshape(weights, shape=shape))


def _transform(name: str, ends: dict[int, tuple[bool, bool]]) -> Op:
    """`ends`: where the matrix of a type has other factors than inside, by type."""

    def transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
        kind, axis = params["kind"], params["axis"]
        turned = {**params, "kind": DUAL[kind]}
        if params["norm"] == "ortho" or kind not in ends:
            return (op(ct, **turned),)
        if kind != 3:
            ct = _ends(ct, axis, ends[kind], 2.0)
        turned_back = op(ct, **turned)
        return (turned_back if kind == 2 else _ends(turned_back, axis, ends[kind], 0.5),)

    op: Op = linear(name, _infer, _source(name), transpose, costly=True, batch=batch_along_axis)
    return op


dct = _transform("dct", {1: (True, True), 2: (True, False), 3: (True, False)})
dst = _transform("dst", {2: (False, True), 3: (False, True)})


def _transform_over_axes(op: Op, inverse: bool) -> Any:
    """The function of scipy.fft that transforms along several axes."""

    def transform(
        x: Any,
        type: Any = 2,
        s: Any = None,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        orthogonalize: Any = None,
    ) -> Any:
        norm, kind = norm_of(norm), int(static(type, KIND))
        if kind not in DUAL:
            raise ValueError(f"invalid type of transform: {type}")
        if orthogonalize not in (None, norm == "ortho"):
            raise UnsupportedError(
                f"scipy.fft.{op.name} with norm={norm!r} and orthogonalize={orthogonalize}",
                "leave orthogonalize out",
            )
        if inverse:
            norm, kind = TURNED[norm], DUAL[kind]
        axes = (axes,) if isinstance(axes, int) else axes
        x = as_array(x)
        places, sizes = plan(x, (s,) if isinstance(s, int) else s, axes)
        for axis, n in zip(places, sizes, strict=True):
            x = op(fit_length(x, axis, n), kind=kind, axis=axis, norm=norm)
        return x

    return transform


def _along_one(many: Any) -> Any:
    def transform(
        x: Any,
        type: Any = 2,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: Any = None,
    ) -> Any:
        s = None if n is None else (n,)
        return many(x, type, s, (axis,), norm, orthogonalize=orthogonalize)

    return transform


RULES: dict[Any, Any] = {
    scipy.fft.dctn: _transform_over_axes(dct, False),
    scipy.fft.idctn: _transform_over_axes(dct, True),
    scipy.fft.dstn: _transform_over_axes(dst, False),
    scipy.fft.idstn: _transform_over_axes(dst, True),
}
RULES |= {
    scipy.fft.dct: _along_one(RULES[scipy.fft.dctn]),
    scipy.fft.idct: _along_one(RULES[scipy.fft.idctn]),
    scipy.fft.dst: _along_one(RULES[scipy.fft.dstn]),
    scipy.fft.idst: _along_one(RULES[scipy.fft.idstn]),
}


def _as_tuple(numbers: Any) -> Any:
    """A number, or several, as a tuple."""
    if numbers is None or isinstance(numbers, (tuple, list)):
        return numbers
    return (numbers,)


def _along_shape(many: Any, inverse: bool) -> Any:
    """fftpack's transform along several axes, where lengths are a shape; an inverse is the
    transform of the dual type, which divides by nothing."""

    def transform(
        x: Any,
        type: Any = 2,
        shape: Any = None,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
    ) -> Any:
        kind = int(static(type, KIND))
        x, shape, axes = as_array(x), _as_tuple(shape), _as_tuple(axes)
        if shape is not None and len(shape) != (x.type.ndim if axes is None else len(axes)):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        return many(x, DUAL.get(kind, kind) if inverse else kind, shape, axes, norm)

    return transform


FFTPACK: dict[Any, Any] = {
    scipy.fftpack.dctn: _along_shape(RULES[scipy.fft.dctn], False),
    scipy.fftpack.idctn: _along_shape(RULES[scipy.fft.dctn], True),
    scipy.fftpack.dstn: _along_shape(RULES[scipy.fft.dstn], False),
    scipy.fftpack.idstn: _along_shape(RULES[scipy.fft.dstn], True),
}


def _along_axis(many: Any) -> Any:
    def transform(
        x: Any,
        type: Any = 2,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
    ) -> Any:
        return many(x, type, None if n is None else (n,), (axis,), norm)

    return transform


FFTPACK |= {
    scipy.fftpack.dct: _along_axis(FFTPACK[scipy.fftpack.dctn]),
    scipy.fftpack.idct: _along_axis(FFTPACK[scipy.fftpack.idctn]),
    scipy.fftpack.dst: _along_axis(FFTPACK[scipy.fftpack.dstn]),
    scipy.fftpack.idst: _along_axis(FFTPACK[scipy.fftpack.idstn]),
}
