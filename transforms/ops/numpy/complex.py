"""Defines parts of numbers, real and imaginary or whole and fractional, and predicates of
floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, broadcast, static
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.reductions import all_
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul, neg, sub
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    isinf,
    isnan,
    less,
    logical_and,
    not_equal,
    trunc,
)
from tapeless.transforms.ops.primitives.dtypes import computed_dtypes, result_dtype
from tapeless.transforms.ops.primitives.elementwise import arctan2, conjugate, imag, ldexp, real
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.new_arrays import full
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_first,
    cast,
    cast_to,
    copy,
)

BOOL = np.dtype(bool)


def is_complex(x: Atom) -> bool:
    return bool(x.type.dtype.kind == "c")


def _real(val: Any) -> Any:
    x = as_array(val)
    return real(x) if is_complex(x) else x


def _imag(val: Any) -> Any:
    x = as_array(val)
    if is_complex(x):
        return imag(x)
    zero = x.type.dtype.type(0)
    return full(zero, shape=x.type.shape, dtype=x.type.dtype) if x.type.shape else atom(zero)


def _conjugate(x: Any, *, dtype: Any = None) -> Any:
    x = as_array(x)
    if dtype is not None:
        x = cast_to(x, computed_dtypes(np.conjugate, (x.type,), np.dtype(dtype))[0])
    if x.type.dtype.kind == "b":
        return cast(x, dtype=np.dtype(np.int8))
    return conjugate(x) if is_complex(x) else copy(x)


def _itself_if_real(x: Any) -> Any:
    """The method of arrays, which copies complex numbers only."""
    x = as_array(x)
    return conjugate(x) if is_complex(x) else x


def _angle(z: Any, deg: bool = False) -> Any:
    z = as_array(z)
    angle = arctan2(imag(z) if is_complex(z) else 0, _real(z))
    return angle * (180 / np.pi) if deg else angle


# -- rounding


def _round_source(args: Atoms, params: Params) -> str:
    return "np.round({0}" + (", {decimals})" if params["decimals"] else ")")


round = Op("round", lambda x, *, decimals: x.type, _round_source, elementwise=True, finite="always")


def _round(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    return round(as_array(a), decimals=int(static(decimals, "the decimals must be known")))


def _fix(x: Any, out: Any = None) -> Any:
    return trunc(as_array(x))


def _modf(x: Any, *, dtype: Any = None) -> Any:
    x = _taken_by(np.modf, x, dtype)
    whole = trunc(x)
    return select(isinf(x), x.type.dtype.type(0), sub(x, whole)), whole


exponent = Op(
    "exponent",
    lambda x: Type(np.dtype(np.intc), x.type.shape),
    "np.frexp({0})[1]",
    elementwise=True,
)


def _taken_by(ufunc: np.ufunc, x: Any, dtype: Any = None) -> Any:
    """A number as a float of the dtype in which a function of NumPy takes it."""
    x = as_array(x)
    if dtype is not None:
        return cast_to(x, computed_dtypes(ufunc, (x.type,), np.dtype(dtype))[0])
    return cast_to(x, result_dtype(ufunc, (x.type,)))


def _frexp(x: Any) -> Any:
    x = _taken_by(np.frexp, x)
    power = exponent(x)
    return ldexp(x, neg(power)), power


def _divmod(x1: Any, x2: Any, *, dtype: Any = None) -> Any:
    a, b = as_array(x1), as_array(x2)
    if dtype is not None:
        kinds = computed_dtypes(np.divmod, (a.type, b.type), np.dtype(dtype))
        a, b = cast_to(a, kinds[0]), cast_to(b, kinds[1])
    return floordiv(a, b), mod(a, b)


# -- predicates


def _comparison(name: str, whole: bool) -> Op:
    def infer(a: Atom, b: Atom, **options: Any) -> Type:
        return Type(BOOL, (), True) if whole else Type(BOOL, broadcast(a.type.shape, b.type.shape))

    def source(args: Atoms, params: Params) -> str:
        options = "".join(f", {k}={v!r}" for k, v in params.items() if v != DEFAULTS[k])
        return f"np.{name}({{0}}, {{1}}{options})"

    def batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
        ndims = (a.type.ndim - (k is not None) for a, k in zip(args, axes, strict=True))
        ndim = max(ndims)
        a, b = (batch_first(a, k, ndim) for a, k in zip(args, axes, strict=True))
        close = isclose(a, b, **params)
        inner = tuple(range(1, close.type.ndim))
        return all_(close, axes=inner, keepdims=False) if whole else close, 0

    return Op(name, infer, source, costly=True, batch=batch if name in CLOSE else None)


CLOSE = ("isclose", "allclose")
DEFAULTS = {"rtol": 1e-05, "atol": 1e-08, "equal_nan": False}
isclose, allclose = _comparison("isclose", False), _comparison("allclose", True)
array_equal, array_equiv = _comparison("array_equal", True), _comparison("array_equiv", True)


def _close(op: Op) -> Any:
    def close(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
        rtol, atol = (float(static(t, "tolerances must be known")) for t in (rtol, atol))
        return op(as_array(a), as_array(b), rtol=rtol, atol=atol, equal_nan=bool(equal_nan))

    return close


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    return array_equal(as_array(a1), as_array(a2), equal_nan=bool(equal_nan))


def _array_equiv(a1: Any, a2: Any) -> Any:
    return array_equiv(as_array(a1), as_array(a2))


def _infinite(test: Op) -> Any:
    return lambda x, out=None: logical_and(isinf(as_array(x)), test(as_array(x), 0))


def _isreal(x: Any) -> Any:
    return equal(_imag(x), 0)


def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = as_array(x)
    if x.type.dtype.kind == "c":
        if not all(v is None or np.all(np.isfinite(v)) for v in (nan, posinf, neginf)):
            raise UnsupportedError(
                "np.nan_to_num of complex numbers with values that are not finite",
                "do it with their .real and .imag",
            )
        parts = [_nan_to_num(part(x), copy, nan, posinf, neginf) for part in (real, imag)]
        return add(parts[0], mul(x.type.dtype.type(1j), parts[1]))
    if x.type.dtype.kind != "f":
        return x
    x = cast(x, dtype=x.type.dtype) if x.type.weak else x
    limits = np.finfo(x.type.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    for test, value in ((isnan(x), nan), (_infinite(greater)(x), high), (_infinite(less)(x), low)):
        x = select(test, cast(as_array(value), dtype=x.type.dtype), x)
    return x


NUMPY = {
    np.real: _real,
    np.imag: _imag,
    np.conjugate: _conjugate,
    np.angle: _angle,
    np.isreal: _isreal,
    np.iscomplex: lambda x: not_equal(_imag(x), 0),
    np.round: _round,
    np.around: _round,
    np.fix: _fix,
    np.modf: _modf,
    np.frexp: _frexp,
    np.divmod: _divmod,
    np.isclose: _close(isclose),
    np.allclose: _close(allclose),
    np.array_equal: _array_equal,
    np.array_equiv: _array_equiv,
    np.isposinf: _infinite(greater),
    np.isneginf: _infinite(less),
    np.nan_to_num: _nan_to_num,
}
METHODS = {"conj": _itself_if_real, "conjugate": _itself_if_real, "round": _round}
