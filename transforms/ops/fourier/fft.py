"""Defines the discrete Fourier transforms of numpy.fft."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, size_of
from tapeless.transforms.core.dims import Dim, Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.diagonals import smaller_size
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mul, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import (
    Axes,
    Batched,
    axis_in_batch,
    batch_along_axis,
)
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, less, logical_or
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.joining import as_array, axis_of, each_axis_of
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, linear, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import part

#: Which of a transform and its inverse has the factor 1 / n; its transpose has it the other way.
TURNED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _complex(x: Atom) -> Any:
    """The dtype of the frequencies of x."""
    return np.result_type(np.fft.fft(np.ones(1, x.type.dtype)).dtype)


def _norm_text(params: Params) -> str:
    norm = params["norm"]
    return "" if norm == "backward" else f", norm={norm!r}"


# -- complex to complex


def _fft_source(args: Atoms, params: Params) -> str:
    axes, ndim = params["axes"], args[0].type.ndim
    name = "ifft" if params["inverse"] else "fft"
    if len(axes) == 1:
        where = "" if axes[0] == ndim - 1 else f", axis={axes[0]}"
    elif axes == (ndim - 2, ndim - 1):
        name, where = f"{name}2", ""
    else:
        name, where = f"{name}n", "" if axes == tuple(range(ndim)) else f", axes={axes}"
    return f"np.fft.{name}({{0}}{where}{_norm_text(params)})"


def _fft_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    inner = tuple(axis_in_batch(k, axes[0]) for k in params["axes"])
    return op(args[0], **{**params, "axes": inner}), axes[0]


#: Its matrix is symmetric.
fft: Op = linear(
    "fft",
    lambda x, **params: Type(_complex(x), x.type.shape),
    _fft_source,
    lambda ct, args, linear, params: (fft(ct, **params),),
    costly=True,
    batch=_fft_batch,
)


# -- real to half of the frequencies, and back


def _line_source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        axis, shape = params["axis"], args[0].type.shape
        length = params.get("n")
        size = "" if length is None or length == 2 * (shape[axis] - 1) else ", {n}"
        where = "" if axis == len(shape) - 1 else f", axis={axis}"
        return f"np.fft.{name}({{0}}{size}{where}{_norm_text(params)})"

    return source


def _with_axis_length(shape: tuple[Size, ...], axis: int, size: Size) -> tuple[Size, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _rfft_infer(x: Atom, *, axis: int, norm: str) -> Type:
    if x.type.dtype.kind == "c":
        raise TypeError("np.fft.rfft takes real numbers, not complex ones")
    shape = x.type.shape
    return Type(_complex(x), _with_axis_length(shape, axis, shape[axis] // 2 + 1))


def _irfft_infer(x: Atom, *, n: Size, axis: int, norm: str) -> Type:
    kind = np.zeros((), _complex(x)).real.dtype
    return Type(kind, _with_axis_length(x.type.shape, axis, n))


def _weight_conjugate_pairs(x: Atom, axis: int, n: Size, inside: float) -> Any:
    """Frequencies, those that stand for a conjugate pair times `inside`."""
    k, length = count_up(n // 2 + 1), atom_of_size(n)
    alone = logical_or(equal(k, 0), equal(mul(2, k), length))
    shape = tuple(s if j == axis else 1 for j, s in enumerate(x.type.shape))
    weights = cast_to(select(alone, 1.0, inside), np.zeros((), x.type.dtype).real.dtype)
    return mul(x, reshape(weights, shape=shape))


def _rfft_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    axis = params["axis"]
    n = args[0].type.shape[axis]
    halved = _weight_conjugate_pairs(conjugate(ct), axis, n, 0.5)
    return (irfft(halved, n=n, axis=axis, norm=TURNED[params["norm"]]),)


def _irfft_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    axis = params["axis"]
    spectrum = rfft(ct, axis=axis, norm=TURNED[params["norm"]])
    return (_weight_conjugate_pairs(conjugate(spectrum), axis, params["n"], 2.0),)


rfft: Op = linear(
    "rfft", _rfft_infer, _line_source("rfft"), _rfft_transpose, costly=True, batch=batch_along_axis
)
irfft: Op = linear(
    "irfft",
    _irfft_infer,
    _line_source("irfft"),
    _irfft_transpose,
    costly=True,
    batch=batch_along_axis,
)


# The NumPy functions ---------------------------------------------------------------------------


def fit_length(x: Any, axis: int, n: Size) -> Any:
    """x with n elements along an axis: cut, or filled up with zeros."""
    size = x.type.shape[axis]
    if size == n:
        return x
    common = smaller_size(n, size)
    x = x if common == size else part(x, axis, 0, common)
    if common == n:
        return x
    after = tuple(n - common if k == axis else 0 for k in range(x.type.ndim))
    return pad(x, before=(0,) * x.type.ndim, after=after)


def _size(n: Any) -> Size:
    if isinstance(n, Dim):
        return n
    return size_of(n) if isinstance(n, (Var, Literal)) else int(n)


def norm_of(norm: Any) -> str:
    if norm not in (None, *TURNED):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return "backward" if norm is None else str(norm)


def plan(x: Atom, s: Any, axes: Any) -> tuple[list[int], list[Size]]:
    """The axes of a transform, and the lengths along them."""
    if axes is None and s is not None:
        axes = range(-len(s), 0)
    axes_chosen = [axis_of(k, x.type.ndim) for k in (range(x.type.ndim) if axes is None else axes)]
    if s is None:
        return axes_chosen, [x.type.shape[k] for k in axes_chosen]
    if len(s) != len(axes_chosen):
        raise ValueError("Shape and axes have different lengths.")
    own = (x.type.shape[k] for k in axes_chosen)
    return axes_chosen, [
        m if _is_whole(n) else _number_of_points(n) for n, m in zip(s, own, strict=True)
    ]


def _number_of_points(n: Any) -> Size:
    """The number of points of a transform."""
    size = _size(n)
    number_text = f" ({size})" if isinstance(size, int) else ""
    message = f"Invalid number of FFT data points{number_text} specified."
    require_at_least(size, 1, ValueError, message)
    return size


def _is_whole(n: Any) -> bool:
    return n is None or (isinstance(n, int) and n == -1)


def _full(inverse: bool) -> Any:
    def transform(
        a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
    ) -> Any:
        x = as_array(a)
        places, sizes = plan(x, s, axes)
        for axis, n in zip(places, sizes, strict=True):
            x = fit_length(x, axis, n)
        if len(set(places)) == len(places):
            return fft(x, axes=tuple(sorted(places)), inverse=inverse, norm=norm_of(norm))
        for axis in reversed(places):
            x = fft(x, axes=(axis,), inverse=inverse, norm=norm_of(norm))
        return x

    return transform


def _line(many: Any) -> Any:
    """The transform along one axis of what transforms along several."""

    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return many(a, None if n is None else (_number_of_points(n),), (axis,), norm)

    return transform


def _plane(many: Any) -> Any:
    """The transform along two axes of what transforms along several."""

    def transform(
        a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
    ) -> Any:
        return many(a, s, axes, norm)

    return transform


def _rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    x = as_array(a)
    (*others, last), (*sizes, n) = plan(x, s, axes)
    spectrum = rfft(fit_length(x, last, n), axis=last, norm=norm_of(norm))
    return _full(False)(spectrum, sizes, others, norm) if others else spectrum


def _irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    x = as_array(a)
    (*others, last), (*sizes, n) = plan(x, s, axes)
    if s is None or _is_whole(s[-1]):
        n = _number_of_points(2 * (n - 1))
    spectrum = _full(True)(x, sizes, others, norm) if others else x
    return irfft(fit_length(spectrum, last, n // 2 + 1), n=n, axis=last, norm=norm_of(norm))


def _hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return _line(_irfftn)(conjugate(as_array(a)), n, axis, TURNED[norm_of(norm)])


def _ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    return conjugate(_line(_rfftn)(a, n, axis, TURNED[norm_of(norm)]))


def _shift(back: bool) -> Any:
    def shift(x: Any, axes: Any = None) -> Any:
        x = as_array(x)
        for axis in each_axis_of(axes, x.type.ndim):
            n = x.type.shape[axis]
            x = roll(x, atom_of_size(-(n // 2) if back else n // 2), axis=axis)
        return x

    return shift


def _fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    n = atom(n)
    k = count_up(size_of(n))
    half = floordiv(add(n, 1), 2)
    return mul(select(less(k, half), k, sub(k, n)), truediv(1.0, mul(n, as_array(d))))


def _rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    n = atom(n)
    return mul(count_up(size_of(n) // 2 + 1), truediv(1.0, mul(n, as_array(d))))


NUMPY: dict[Any, Any] = {
    np.fft.fft: _line(_full(False)),
    np.fft.ifft: _line(_full(True)),
    np.fft.fft2: _plane(_full(False)),
    np.fft.ifft2: _plane(_full(True)),
    np.fft.fftn: _full(False),
    np.fft.ifftn: _full(True),
    np.fft.rfft: _line(_rfftn),
    np.fft.irfft: _line(_irfftn),
    np.fft.rfft2: _plane(_rfftn),
    np.fft.irfft2: _plane(_irfftn),
    np.fft.rfftn: _rfftn,
    np.fft.irfftn: _irfftn,
    np.fft.hfft: _hfft,
    np.fft.ihfft: _ihfft,
    np.fft.fftshift: _shift(False),
    np.fft.ifftshift: _shift(True),
    np.fft.fftfreq: _fftfreq,
    np.fft.rfftfreq: _rfftfreq,
}
