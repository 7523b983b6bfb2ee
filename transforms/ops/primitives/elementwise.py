"""Defines elementwise operations, one line each, with partial derivatives by inputs and output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import ARITHMETIC, Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives import scalar_forms
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg
from tapeless.transforms.ops.primitives.batch_rules import batch_elementwise
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater_equal,
    isinf,
    isnan,
    less_equal,
    logical_or,
    sign,
)
from tapeless.transforms.ops.primitives.complex_functions import COSH, EXP, SINH, TANH, TURNS
from tapeless.transforms.ops.primitives.constant_folding import fold, is_number, keeps_type
from tapeless.transforms.ops.primitives.dtypes import conform
from tapeless.transforms.ops.primitives.make_elementwise import (
    Over,
    as_given,
    as_integers,
    elementwise,
)
from tapeless.transforms.ops.primitives.scalar_forms import (
    of_complex_helpers,
    of_complex_numpy,
    of_math,
    of_numpy,
)
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast, linear


def _power_base(x: Atom, y: Atom, z: Atom) -> Any:
    """y x^(y-1): 0 where y is 0 (x may be 0 there), and no x^1."""
    if is_number(y, 2):
        return 2 * x
    if isinstance(y, Literal):
        return 0.0 if y.value == 0 else y * power(x, y.value - 1)
    if y.type.dtype.kind in "iub":
        return select(equal(y, 0), 0.0, y * power(x, select(equal(y, 0), 1, y - 1)))
    return y * power(x, select(equal(y, 0), 1.0, y - 1.0))


def _power_exponent(x: Atom, y: Atom, z: Atom) -> Any:
    """x^y log x, and its limit 0 at x = 0."""
    return z * log(select(equal(x, 0), 1.0, x))


def _simplify_power(args: Atoms, params: Params) -> Atom | None:
    a, b = args
    if is_number(b, 1) and keeps_type(a, b):
        return a
    return fold(lambda x, y: x**y, args) if not is_number(a, 0) else None


def _power_source(args: Atoms, params: Params) -> str:
    """NumPy's operator squares truth values as int8, its function as int64."""
    truth = args[0].type.dtype.kind == "b" and not args[0].type.weak
    return "np.power({0}, {1})" if truth else "{0} ** {1}"


power = elementwise(
    np.power,
    _power_base,
    _power_exponent,
    operands=as_integers,
    infix="**",
    simplify=_simplify_power,
    scalar=scalar_forms.POWER,
    costly=True,
    word="power",
)
float_power = elementwise(
    np.float_power, _power_base, _power_exponent, costly=True, finite="positive"
)
power.source = _power_source
ARITHMETIC.update(power=power)
exp = elementwise(
    np.exp,
    lambda x, y: y,
    costly=True,
    scalar=of_math("exp", of_complex=of_complex_helpers("complex_exp({0})", EXP)),
    finite="always",
)
exp2 = elementwise(
    np.exp2,
    lambda x, y: y * np.log(2).item(),
    costly=True,
    scalar=of_numpy("exp2"),
    finite="always",
)
expm1 = elementwise(
    np.expm1, lambda x, y: y + 1, costly=True, scalar=of_math("expm1"), finite="always"
)
log = elementwise(
    np.log,
    lambda x, y: Over(x),
    costly=True,
    scalar=of_math("log", of_complex=of_complex_numpy("log")),
    finite="positive",
)
log2 = elementwise(
    np.log2,
    lambda x, y: Over(x * np.log(2).item()),
    costly=True,
    scalar=of_math("log2"),
    finite="positive",
)
log10 = elementwise(
    np.log10,
    lambda x, y: Over(x * np.log(10).item()),
    costly=True,
    scalar=of_math("log10"),
    finite="positive",
)
log1p = elementwise(
    np.log1p, lambda x, y: Over(1 + x), costly=True, scalar=of_math("log1p"), finite="positive"
)
sqrt = elementwise(
    np.sqrt,
    lambda x, y: Over(2 * y),
    costly=True,
    scalar=of_math("sqrt", of_complex=of_complex_numpy("sqrt")),
)
cbrt = elementwise(
    np.cbrt, lambda x, y: Over(3 * y**2), costly=True, scalar=of_numpy("cbrt"), finite="always"
)
square = elementwise(
    np.square, lambda x, y: 2 * x, scalar=scalar_forms.SQUARE, finite="always", speculative=True
)
reciprocal = elementwise(
    np.reciprocal, lambda x, y: -y * y, scalar=scalar_forms.RECIPROCAL, finite="positive"
)
logaddexp = elementwise(
    np.logaddexp,
    lambda x, y, z: _share(exp, x, z),
    lambda x, y, z: _share(exp, y, z),
    costly=True,
    scalar=of_numpy("logaddexp", 2),
    finite="always",
)
logaddexp2 = elementwise(
    np.logaddexp2,
    lambda x, y, z: _share(exp2, x, z),
    lambda x, y, z: _share(exp2, y, z),
    costly=True,
    scalar=of_numpy("logaddexp2", 2),
    finite="always",
)


def _share(power: Op, x: Atom, z: Atom) -> Any:
    """power(x - z), its limit where z is infinite: 1 if x is inf, 0 else."""
    return select(isinf(z), cast(equal(x, np.inf), dtype=z.type.dtype), power(x - z))


# -- angles


sin = elementwise(
    np.sin,
    lambda x, y: cos(x),
    costly=True,
    scalar=of_math(
        "sin", of_complex=of_complex_helpers("turned(complex_sinh(turned_back({0})))", TURNS, SINH)
    ),
    finite="always",
    speculative=True,
)
cos: Op = elementwise(
    np.cos,
    lambda x, y: -sin(x),
    costly=True,
    scalar=of_math("cos", of_complex=of_complex_helpers("complex_cosh(turned({0}))", TURNS, COSH)),
    finite="always",
    speculative=True,
)
tan = elementwise(
    np.tan,
    lambda x, y: 1 + y**2,
    costly=True,
    scalar=of_math(
        "tan", of_complex=of_complex_helpers("turned(complex_tanh(turned_back({0})))", TURNS, TANH)
    ),
    finite="always",
)
# on the cuts of a complex function only the result says on which side of them x is
arcsin = elementwise(
    np.arcsin,
    lambda x, y: Over(cos(y) if x.type.dtype.kind == "c" else sqrt(1 - x**2)),
    costly=True,
    scalar=of_math("asin"),
)
arccos = elementwise(
    np.arccos,
    lambda x, y: -1 / (sin(y) if x.type.dtype.kind == "c" else sqrt(1 - x**2)),
    costly=True,
    scalar=of_math("acos"),
)
arctan = elementwise(
    np.arctan,
    lambda x, y: Over(1 + x**2),
    costly=True,
    scalar=of_math("atan"),
    finite="always",
    speculative=True,
)
sinh = elementwise(
    np.sinh,
    lambda x, y: cosh(x),
    costly=True,
    scalar=of_math("sinh", of_complex=of_complex_helpers("complex_sinh({0})", SINH)),
    finite="always",
)
cosh: Op = elementwise(
    np.cosh,
    lambda x, y: sinh(x),
    costly=True,
    scalar=of_math("cosh", of_complex=of_complex_helpers("complex_cosh({0})", COSH)),
)
tanh = elementwise(
    np.tanh,
    lambda x, y: 1 - y**2,
    costly=True,
    scalar=of_math("tanh", of_complex=of_complex_helpers("complex_tanh({0})", TANH)),
    finite="always",
    speculative=True,
)
arcsinh = elementwise(
    np.arcsinh,
    lambda x, y: Over(cosh(y) if x.type.dtype.kind == "c" else sqrt(x**2 + 1)),
    costly=True,
    scalar=of_math("asinh"),
    finite="always",
)
arccosh = elementwise(
    np.arccosh,
    lambda x, y: Over(sinh(y) if x.type.dtype.kind == "c" else sqrt(x**2 - 1)),
    costly=True,
    scalar=of_math("acosh"),
)
arctanh = elementwise(np.arctanh, lambda x, y: Over(1 - x**2), costly=True, scalar=of_math("atanh"))
arctan2 = elementwise(
    np.arctan2,
    lambda y, x, z: x / (x**2 + y**2),
    lambda y, x, z: -(y / (x**2 + y**2)),
    costly=True,
    scalar=of_math("atan2", 2),
    finite="always",
)
hypot = elementwise(
    np.hypot,
    lambda x, y, z: x / nonzero(z),
    lambda x, y, z: y / nonzero(z),
    costly=True,
    scalar=of_math("hypot", 2),
    finite="always",
)


def nonzero(x: Atom) -> Any:
    """x, or 1 where it is 0: a divisor for a derivative that is 0 there."""
    return select(equal(x, 0), 1.0, x)


deg2rad = elementwise(
    np.deg2rad, np.pi / 180, scalar=scalar_forms.product_with(np.pi / 180), finite="always"
)
rad2deg = elementwise(
    np.rad2deg, 180 / np.pi, scalar=scalar_forms.product_with(180 / np.pi), finite="always"
)
radians = elementwise(
    np.radians, np.pi / 180, scalar=scalar_forms.product_with(np.pi / 180), finite="always"
)
degrees = elementwise(
    np.degrees, 180 / np.pi, scalar=scalar_forms.product_with(180 / np.pi), finite="always"
)


# -- signs, and neighbours in floating point


absolute = elementwise(
    np.absolute,
    None,
    name="abs",
    operator=True,
    scalar=scalar_forms.MAGNITUDE,
    finite="always",
    speculative=True,
    word="magnitude",
)
absolute.source = lambda args, params: "abs({0})" if args[0].type.weak else "np.abs({0})"
fabs = elementwise(np.fabs, None, scalar=of_math("fabs"), finite="always", speculative=True)


def _abs_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """Slope 1 at 0, as JAX; 0 there for complex numbers."""
    (x,), (t,) = primals, tangents
    if t is None:
        return (None,)
    if x.type.dtype.kind == "c":
        return (conform(real(mul(t, conjugate(x) / nonzero(outs[0]))), outs[0].type),)
    return (conform(select(greater_equal(x, 0), t, neg(t)), outs[0].type),)


absolute.jvp = fabs.jvp = _abs_jvp
copysign: Op = elementwise(
    np.copysign,
    lambda x, y, z: sign(x) * copysign(1.0, y),
    None,
    scalar=of_math("copysign", 2),
    finite="always",
)
heaviside = elementwise(
    np.heaviside, None, lambda x, y, z: equal(x, 0), scalar=scalar_forms.HEAVISIDE, finite="always"
)
nextafter = elementwise(np.nextafter, 1, None, scalar=of_numpy("nextafter", 2))
ldexp: Op = elementwise(
    np.ldexp, lambda x, k, z: ldexp(1.0, k), None, operands=as_given, finite="always"
)


# -- complex numbers


conjugate: Op = elementwise(
    np.conjugate,
    None,
    transpose=lambda ct, args, linear, params: (conjugate(ct),),
    name="conj",
    scalar=scalar_forms.CONJUGATE,
    finite="always",
    speculative=True,
)


def _conjugate_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    return (None if tangents[0] is None else conjugate(tangents[0]),)


conjugate.jvp = _conjugate_jvp


def _part(name: str, transpose: Any, put: Any) -> Op:
    """The real or imaginary part of a complex value."""
    return linear(
        name,
        lambda x: Type(np.zeros((), x.type.dtype).real.dtype, x.type.shape, x.type.weak),
        f"{{0}}.{name}",
        transpose,
        view=True,
        put=put,
        batch=batch_elementwise,
        scalar=scalar_forms.part(name),
        speculative=True,
    )


real = _part(
    "real",
    lambda ct, args, linear, params: (cast(ct, dtype=args[0].type.dtype),),
    lambda base, new, rest, params: add(new, mul(1j, imag(base))),
)
imag: Op = _part(
    "imag",
    lambda ct, args, linear, params: (mul(ct, -1j),),
    lambda base, new, rest, params: add(real(base), mul(1j, new)),
)


# -- the larger and the smaller


def _choice_jvp(test: Callable[..., Any]) -> Callable[..., Any]:
    """Selects tangents rather than scaling them: the other side adds an exact zero."""

    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        x, y = primals
        total = None
        for k, (a, b) in enumerate(((x, y), (y, x))):
            if tangents[k] is not None:
                unit_of_dtype = tangents[k].type.dtype.type(1)
                kept = mul(tangents[k], select(equal(a, b), unit_of_dtype / 2, unit_of_dtype))
                term = select(test(a, b), kept, 0.0)
                total = term if total is None else add(total, term)
        return (None if total is None else conform(total, outs[0].type),)

    return jvp


maximum = elementwise(
    np.maximum, None, None, scalar=scalar_forms.extremum(">"), finite="always", speculative=True
)
minimum = elementwise(
    np.minimum, None, None, scalar=scalar_forms.extremum("<"), finite="always", speculative=True
)
fmax = elementwise(
    np.fmax, None, None, scalar=of_numpy("fmax", 2), finite="always", speculative=True
)
fmin = elementwise(
    np.fmin, None, None, scalar=of_numpy("fmin", 2), finite="always", speculative=True
)
maximum.jvp = _choice_jvp(greater_equal)
minimum.jvp = _choice_jvp(less_equal)
fmax.jvp = _choice_jvp(lambda a, b: logical_or(greater_equal(a, b), isnan(b)))
fmin.jvp = _choice_jvp(lambda a, b: logical_or(less_equal(a, b), isnan(b)))
