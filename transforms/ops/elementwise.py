"""Elementwise operations, one line each, with partial derivatives by inputs and output."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, broadcast, current
from tapeless.transforms.core.language import ARITHMETIC, Atom, Let, Literal, Type, Var
from tapeless.transforms.core.op import Op
from tapeless.transforms.errors import NotDifferentiableError
from tapeless.transforms.ops.batching import anywhere
from tapeless.transforms.ops.shapes import Atoms, Params, broadcast_to, cast, linear

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
PYTHON = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


@dataclass(frozen=True)
class Over:
    """A partial derivative 1 / value: the tangent is divided instead of multiplied."""

    value: Atom


@dataclass(frozen=True)
class Times:
    """A partial derivative factor / divisor where something else is divided by the divisor too:
    backwards, `ct / divisor` is computed once."""

    factor: Atom
    divisor: Atom


@functools.lru_cache(4096)
def _resolve(ufunc: np.ufunc, kinds: tuple[Any, ...]) -> np.dtype[Any]:
    return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[ufunc.nin]


def result_dtype(ufunc: np.ufunc, types: tuple[Type, ...]) -> np.dtype[Any]:
    """What NumPy says; Python scalars are passed as Python types."""
    weak_too = not all(t.weak for t in types)
    kinds = tuple(
        [
            PYTHON[t.dtype.kind] if t.weak and weak_too and t.dtype.kind in "ifc" else t.dtype
            for t in types
        ]
    )
    try:
        return _resolve(ufunc, kinds)
    except TypeError as e:
        kinds_text = ", ".join(str(t.dtype) for t in types)
        raise TypeError(f"np.{ufunc.__name__} does not take {kinds_text}") from e


def _elementwise_infer(ufunc: np.ufunc, operator: bool) -> Callable[..., Type]:
    def infer(*args: Atom) -> Type:
        types = tuple([a.type for a in args])
        weak = operator and all(t.weak for t in types)
        if weak and ufunc not in COMPARISONS:
            types = tuple(
                Type(np.dtype(int), (), True) if t.dtype.kind == "b" else t for t in types
            )
        return Type(result_dtype(ufunc, types), broadcast(*[t.shape for t in types]), weak)

    return infer


def scale(tangent: Atom, partial: Any) -> Atom:
    """tangent * partial, in the form that reads best."""
    if isinstance(partial, Over):
        return truediv(tangent, partial.value)  # type: ignore[no-any-return]
    if isinstance(partial, Times):
        return truediv(mul(tangent, partial.factor), partial.divisor)  # type: ignore[no-any-return]
    if isinstance(partial, (int, float)):
        partial = float(partial)
    if partial == 1.0:
        return tangent
    if partial == -1.0:
        return neg(tangent)  # type: ignore[no-any-return]
    if isinstance(partial, Var) and partial.type.dtype.kind == "b":
        return select(partial, tangent, 0.0)  # type: ignore[no-any-return]
    return mul(tangent, partial)  # type: ignore[no-any-return]


def conform(value: Atom, like: Type) -> Atom:
    """`value` broadcast and cast to the type of the result it is the tangent of."""
    if value.type.dtype != like.dtype:
        value = cast(value, dtype=like.dtype)
    have = value.type.shape
    shorter = len(have) < like.ndim
    if shorter or any(a == 1 and b != 1 for a, b in zip(have, like.shape, strict=True)):
        value = broadcast_to(value, shape=like.shape)
    return value


def _elementwise_jvp(partials: tuple[Any, ...]) -> Callable[..., Any]:
    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        total = None
        for tangent, partial in zip(tangents, partials, strict=True):
            if tangent is None or partial is None:
                continue
            term = scale(tangent, partial(*primals, outs[0]) if callable(partial) else partial)
            total = term if total is None else add(total, term)
        return (None if total is None else conform(total, outs[0].type),)

    return jvp


def elementwise(
    ufunc: np.ufunc,
    *partials: Any,
    infix: str = "",
    name: str = "",
    transpose: Any = None,
    simplify: Any = None,
    costly: bool = False,
    source: str = "",
    operator: bool = False,
) -> Op:
    """An operation with one partial derivative an argument: a number, None (zero), or a function of
    the inputs and the output."""
    places = [f"{{{k}}}" for k in range(ufunc.nin)]
    if infix:
        source = f"{{0}} {infix} {{1}}"
    elif not source:
        source = f"np.{name or ufunc.__name__}({', '.join(places)})"
    smooth = any(p is not None for p in partials)
    return Op(
        name or ufunc.__name__,
        _elementwise_infer(ufunc, bool(infix) or operator),
        source,
        _elementwise_jvp(partials) if smooth else None,
        transpose,
        simplify=simplify,
        costly=costly,
        elementwise=True,
    )


def is_number(a: Atom, value: float) -> bool:
    if not isinstance(a, Literal) or a.value is None or isinstance(a.value, (bool, np.bool_)):
        return False
    return bool(a.value == value)


def _fold(operation: Callable[..., Any], args: Atoms) -> Atom | None:
    """Arithmetic of Python numbers, done now."""
    if all(isinstance(a, Literal) and a.type.weak and a.value is not None for a in args):
        try:
            return atom(operation(*(a.value for a in args)))  # type: ignore[union-attr]
        except (ArithmeticError, ValueError):
            return None
    return None


def _keeps_type(x: Atom, other: Atom) -> bool:
    """Whether x op other has the type of x, for a scalar literal `other` that changes nothing."""
    if x.type.weak and not other.type.weak:
        return False
    if not other.type.weak:
        return bool(np.promote_types(x.type.dtype, other.type.dtype) == x.type.dtype)
    kinds = "biufc"
    have, added = kinds.index(x.type.dtype.kind), kinds.index(other.type.dtype.kind)
    return 0 < have >= added


def _simplify_add(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 0) and _keeps_type(a, b):
        return a
    if is_number(a, 0) and _keeps_type(b, a):
        return b
    for x, y in ((a, b), (b, a)):
        if (positive := _without_sign(y)) is not None:
            return sub(x, positive)
    return _fold(lambda x, y: x + y, args)


def _without_sign(a: Atom) -> Any:
    """x / y for -x / y, else None."""
    quotient = _definition(a)
    if quotient is None or quotient.op is not truediv or a.type.dtype.kind != "f":
        return None
    over = _definition(quotient.args[0])
    if over is not None and over.op is neg:
        return truediv(over.args[0], quotient.args[1])
    return None


def _simplify_sub(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 0) and _keeps_type(a, b):
        return a
    if (positive := _without_sign(b)) is not None:
        return add(a, positive)
    return _fold(lambda x, y: x - y, args)


def _simplify_mul(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 1) and _keeps_type(a, b):
        return a
    if is_number(a, 1) and _keeps_type(b, a):
        return b
    if (
        _fold(lambda x, y: x * y, args) is not None
        or not a.type.dtype.kind == "f" == b.type.dtype.kind
    ):
        return _fold(lambda x, y: x * y, args)
    return _gathered(a, b) or _gathered(b, a)


def _definition(a: Atom) -> Let | None:
    return current().definitions.get(a) if isinstance(a, Var) else None


def _constant(a: Atom) -> Any:
    """The value of a Python number, else None."""
    return a.value if isinstance(a, Literal) and a.type.weak else None


def _gathered(a: Atom, b: Atom) -> Any:
    """a * b for a quotient a = c / n of a constant: 1 / n * b is b / n, c / n * (d * e) is
    (c * d) / n * e; and for a broadcast one."""
    quotient, product = _definition(a), _definition(b)
    if quotient is None:
        return None
    if quotient.op is broadcast_to and is_number(quotient.args[0], 1):
        if a.type.dtype != b.type.dtype:
            return None
        return broadcast_to(b, shape=broadcast(a.type.shape, b.type.shape))
    if quotient.op is not truediv or a.type.dtype != b.type.dtype:
        return None
    c, n = _constant(quotient.args[0]), quotient.args[1]
    if c is None:
        return None
    if (d := _constant(b)) is not None:
        return truediv(d * c, n)
    if product is not None and product.op is mul and (d := _constant(product.args[0])) is not None:
        return mul(truediv(d * c, n), product.args[1])
    return truediv(b, n) if c == 1 else None


def _simplify_div(args: Atoms, params: Params) -> Any:
    a, b = args
    if is_number(b, 1) and _keeps_type(a, b) and a.type.dtype.kind in "fc":
        return a
    c, product = _constant(a), _definition(b)
    if c is not None and product is not None and product.op is mul and b.type.dtype.kind == "f":
        d = _constant(product.args[0])
        if d and len(repr(c / d)) <= len("0.125"):
            return truediv(c / d, product.args[1])
    return _fold(lambda x, y: x / y, args)


def _simplify_neg(args: Atoms, params: Params) -> Any:
    quotient = _definition(args[0])
    if quotient is not None and quotient.op is truediv:
        c = _constant(quotient.args[0])
        if c is not None:
            return truediv(-c, quotient.args[1])
    return _fold(lambda x: -x, args)


def _simplify_power(args: Atoms, params: Params) -> Atom | None:
    a, b = args
    if is_number(b, 1) and _keeps_type(a, b):
        return a
    return _fold(lambda x, y: x**y, args) if not is_number(a, 0) else None


def _mul_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return tuple(mul(ct, args[1 - k]) if linear[k] else None for k in (0, 1))


add = elementwise(
    np.add,
    1,
    1,
    infix="+",
    simplify=_simplify_add,
    transpose=lambda ct, args, linear, params: (ct, ct),
)
sub = elementwise(
    np.subtract,
    1,
    -1,
    infix="-",
    name="sub",
    simplify=_simplify_sub,
    transpose=lambda ct, args, linear, params: (ct, neg(ct)),
)
neg: Op = elementwise(
    np.negative,
    -1,
    source="-{0}",
    operator=True,
    name="neg",
    simplify=_simplify_neg,
    transpose=lambda ct, args, linear, params: (neg(ct),),
)
mul = elementwise(
    np.multiply,
    lambda x, y, z: y,
    lambda x, y, z: x,
    infix="*",
    name="mul",
    simplify=_simplify_mul,
    transpose=_mul_transpose,
)
truediv: Op = elementwise(
    np.divide,
    lambda x, y, z: Over(y),
    lambda x, y, z: Times(neg(z), y),
    infix="/",
    name="truediv",
    simplify=_simplify_div,
    transpose=lambda ct, args, linear, params: (truediv(ct, args[1]), None),
)


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


power = elementwise(
    np.power, _power_base, _power_exponent, infix="**", simplify=_simplify_power, costly=True
)
float_power = elementwise(np.float_power, _power_base, _power_exponent, costly=True)
floordiv = elementwise(
    np.floor_divide,
    None,
    None,
    infix="//",
    name="floordiv",
    simplify=lambda args, params: _fold(lambda x, y: x // y, args),
)
mod = elementwise(
    np.remainder,
    1,
    lambda x, y, z: -floordiv(x, y),
    infix="%",
    name="mod",
    simplify=lambda args, params: _fold(lambda x, y: x % y, args),
)
fmod = elementwise(np.fmod, 1, lambda x, y, z: -trunc(x / y))


def _comparison(ufunc: np.ufunc, infix: str, compare: Callable[..., Any]) -> Op:
    return elementwise(
        ufunc, None, None, infix=infix, simplify=lambda args, params: _fold(compare, args)
    )


less = _comparison(np.less, "<", lambda x, y: x < y)
less_equal = _comparison(np.less_equal, "<=", lambda x, y: x <= y)
greater = _comparison(np.greater, ">", lambda x, y: x > y)
greater_equal = _comparison(np.greater_equal, ">=", lambda x, y: x >= y)
equal = _comparison(np.equal, "==", lambda x, y: x == y)
not_equal = _comparison(np.not_equal, "!=", lambda x, y: x != y)
logical_not = elementwise(np.logical_not, None)
logical_and = elementwise(np.logical_and, None, None)
logical_or = elementwise(np.logical_or, None, None)
logical_xor = elementwise(np.logical_xor, None, None)
bitwise_and = elementwise(np.bitwise_and, None, None, infix="&")
bitwise_or = elementwise(np.bitwise_or, None, None, infix="|")
bitwise_xor = elementwise(np.bitwise_xor, None, None, infix="^")
left_shift = elementwise(np.left_shift, None, None, infix="<<")
right_shift = elementwise(np.right_shift, None, None, infix=">>")
invert = elementwise(np.invert, None, source="~{0}", operator=True)
isnan = elementwise(np.isnan, None)
isinf = elementwise(np.isinf, None)
isfinite = elementwise(np.isfinite, None)
signbit = elementwise(np.signbit, None)
floor = elementwise(np.floor, None)
ceil = elementwise(np.ceil, None)
trunc: Op = elementwise(np.trunc, None)
rint = elementwise(np.rint, None)
sign = elementwise(np.sign, None)
gcd = elementwise(np.gcd, None, None)
lcm = elementwise(np.lcm, None, None)

exp = elementwise(np.exp, lambda x, y: y, costly=True)
exp2 = elementwise(np.exp2, lambda x, y: y * np.log(2).item(), costly=True)
expm1 = elementwise(np.expm1, lambda x, y: y + 1, costly=True)
log = elementwise(np.log, lambda x, y: Over(x), costly=True)
log2 = elementwise(np.log2, lambda x, y: Over(x * np.log(2).item()), costly=True)
log10 = elementwise(np.log10, lambda x, y: Over(x * np.log(10).item()), costly=True)
log1p = elementwise(np.log1p, lambda x, y: Over(1 + x), costly=True)
sqrt = elementwise(np.sqrt, lambda x, y: Over(2 * y), costly=True)
cbrt = elementwise(np.cbrt, lambda x, y: Over(3 * y**2), costly=True)
square = elementwise(np.square, lambda x, y: 2 * x)
reciprocal = elementwise(np.reciprocal, lambda x, y: -y * y)
sin = elementwise(np.sin, lambda x, y: cos(x), costly=True)
cos: Op = elementwise(np.cos, lambda x, y: -sin(x), costly=True)
tan = elementwise(np.tan, lambda x, y: 1 + y**2, costly=True)
arcsin = elementwise(np.arcsin, lambda x, y: Over(sqrt(1 - x**2)), costly=True)
arccos = elementwise(np.arccos, lambda x, y: -1 / sqrt(1 - x**2), costly=True)
arctan = elementwise(np.arctan, lambda x, y: Over(1 + x**2), costly=True)
sinh = elementwise(np.sinh, lambda x, y: cosh(x), costly=True)
cosh: Op = elementwise(np.cosh, lambda x, y: sinh(x), costly=True)
tanh = elementwise(np.tanh, lambda x, y: 1 - y**2, costly=True)
arcsinh = elementwise(np.arcsinh, lambda x, y: Over(sqrt(x**2 + 1)), costly=True)
arccosh = elementwise(np.arccosh, lambda x, y: Over(sqrt(x**2 - 1)), costly=True)
arctanh = elementwise(np.arctanh, lambda x, y: Over(1 - x**2), costly=True)
arctan2 = elementwise(
    np.arctan2, lambda y, x, z: x / (x**2 + y**2), lambda y, x, z: -y / (x**2 + y**2), costly=True
)
hypot = elementwise(
    np.hypot, lambda x, y, z: x / nonzero(z), lambda x, y, z: y / nonzero(z), costly=True
)
logaddexp = elementwise(
    np.logaddexp, lambda x, y, z: exp(x - z), lambda x, y, z: exp(y - z), costly=True
)
logaddexp2 = elementwise(
    np.logaddexp2, lambda x, y, z: exp2(x - z), lambda x, y, z: exp2(y - z), costly=True
)
absolute = elementwise(np.absolute, None, source="np.abs({0})", name="abs", operator=True)
fabs = elementwise(np.fabs, None)
deg2rad = elementwise(np.deg2rad, np.pi / 180)
rad2deg = elementwise(np.rad2deg, 180 / np.pi)
radians = elementwise(np.radians, np.pi / 180)
degrees = elementwise(np.degrees, 180 / np.pi)
positive = elementwise(np.positive, 1, source="+{0}", operator=True)
copysign: Op = elementwise(np.copysign, lambda x, y, z: sign(x) * copysign(1.0, y), None)
heaviside = elementwise(np.heaviside, None, lambda x, y, z: equal(x, 0))
nextafter = elementwise(np.nextafter, 1, None)
spacing = elementwise(np.spacing, None)
bitwise_count = elementwise(np.bitwise_count, None)
ldexp: Op = elementwise(np.ldexp, lambda x, k, z: ldexp(1.0, k), None)
conjugate: Op = elementwise(
    np.conjugate, None, transpose=lambda ct, args, linear, params: (conjugate(ct),), name="conj"
)


def nonzero(x: Atom) -> Any:
    """x, or 1 where it is 0: a divisor for a derivative that is 0 there."""
    return select(equal(x, 0), 1.0, x)


def _sign_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    if primals[0].type.dtype.kind == "c" and tangents[0] is not None:
        raise NotDifferentiableError(
            "np.sign of complex numbers has no derivative here", "write z / np.abs(z)"
        )
    return (None,)


sign.jvp = _sign_jvp


def _part(name: str, transpose: Any, put: Any) -> Op:
    """The real or imaginary part of a complex value."""
    return linear(
        name,
        lambda x: Type(np.zeros((), x.type.dtype).real.dtype, x.type.shape),
        f"{{0}}.{name}",
        transpose,
        view=True,
        put=put,
        batch=anywhere,
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


def _conjugate_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    return (None if tangents[0] is None else conjugate(tangents[0]),)


conjugate.jvp = _conjugate_jvp


def _abs_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """Slope 1 at 0, as JAX; 0 there for complex numbers."""
    (x,), (t,) = primals, tangents
    if t is None:
        return (None,)
    if x.type.dtype.kind == "c":
        return (conform(real(mul(t, conjugate(x) / nonzero(outs[0]))), outs[0].type),)
    return (conform(select(greater_equal(x, 0), t, neg(t)), outs[0].type),)


absolute.jvp = fabs.jvp = _abs_jvp


def _choice_jvp(test: Callable[..., Any]) -> Callable[..., Any]:
    """Selects tangents rather than scaling them: the other side adds an exact zero."""

    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        x, y = primals
        total = None
        for k, (a, b) in enumerate(((x, y), (y, x))):
            if tangents[k] is not None:
                kept = mul(tangents[k], select(equal(a, b), 0.5, 1.0))
                term = select(test(a, b), kept, 0.0)
                total = term if total is None else add(total, term)
        return (None if total is None else conform(total, outs[0].type),)

    return jvp


maximum = elementwise(np.maximum, None, None)
minimum = elementwise(np.minimum, None, None)
fmax = elementwise(np.fmax, None, None)
fmin = elementwise(np.fmin, None, None)
maximum.jvp = _choice_jvp(greater_equal)
minimum.jvp = _choice_jvp(less_equal)
fmax.jvp = _choice_jvp(lambda a, b: logical_or(greater_equal(a, b), isnan(b)))
fmin.jvp = _choice_jvp(lambda a, b: logical_or(less_equal(a, b), isnan(b)))


def _select_infer(test: Atom, a: Atom, b: Atom) -> Type:
    weak = all(t.type.weak for t in (test, a, b))
    branch = result_dtype(np.maximum, (a.type, b.type))  # the promotion of two values
    return Type(branch, broadcast(test.type.shape, a.type.shape, b.type.shape), weak)


def _select_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    _, a, b = tangents
    if a is None and b is None:
        return (None,)
    chosen = select(primals[0], 0.0 if a is None else a, 0.0 if b is None else b)
    return (conform(chosen, outs[0].type),)


def _select_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    left = select(args[0], ct, 0.0) if linear[1] else None
    return (None, left, select(args[0], 0.0, ct) if linear[2] else None)


def _select_simplify(args: Atoms, params: Params) -> Atom | None:
    test, a, b = args
    if isinstance(test, Literal) and a.type == b.type:
        return a if test.value else b
    return None


def _select_source(args: Atoms, params: Params) -> str:
    _, a, b = args
    scalar = not any(x.type.shape for x in args) and a.type.dtype == b.type.dtype
    return "{1} if {0} else {2}" if scalar else "np.where({0}, {1}, {2})"


select = Op(
    "select",
    _select_infer,
    _select_source,
    _select_jvp,
    _select_transpose,
    simplify=_select_simplify,
    elementwise=True,
)

ARITHMETIC.update(add=add, sub=sub, mul=mul, truediv=truediv, power=power, neg=neg)

UFUNCS: dict[Any, Op] = {
    np.add: add,
    np.subtract: sub,
    np.negative: neg,
    np.multiply: mul,
    np.divide: truediv,
    np.power: power,
    np.float_power: float_power,
    np.floor_divide: floordiv,
    np.remainder: mod,
    np.fmod: fmod,
    np.less: less,
    np.less_equal: less_equal,
    np.greater: greater,
    np.greater_equal: greater_equal,
    np.equal: equal,
    np.not_equal: not_equal,
    np.logical_not: logical_not,
    np.logical_and: logical_and,
    np.logical_or: logical_or,
    np.logical_xor: logical_xor,
    np.bitwise_and: bitwise_and,
    np.bitwise_or: bitwise_or,
    np.bitwise_xor: bitwise_xor,
    np.left_shift: left_shift,
    np.right_shift: right_shift,
    np.invert: invert,
    np.isnan: isnan,
    np.isinf: isinf,
    np.isfinite: isfinite,
    np.signbit: signbit,
    np.floor: floor,
    np.ceil: ceil,
    np.trunc: trunc,
    np.rint: rint,
    np.sign: sign,
    np.exp: exp,
    np.exp2: exp2,
    np.expm1: expm1,
    np.log: log,
    np.log2: log2,
    np.log10: log10,
    np.log1p: log1p,
    np.sqrt: sqrt,
    np.cbrt: cbrt,
    np.square: square,
    np.reciprocal: reciprocal,
    np.sin: sin,
    np.cos: cos,
    np.tan: tan,
    np.arcsin: arcsin,
    np.arccos: arccos,
    np.arctan: arctan,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arcsinh: arcsinh,
    np.arccosh: arccosh,
    np.arctanh: arctanh,
    np.arctan2: arctan2,
    np.hypot: hypot,
    np.logaddexp: logaddexp,
    np.logaddexp2: logaddexp2,
    np.absolute: absolute,
    np.fabs: fabs,
    np.deg2rad: deg2rad,
    np.rad2deg: rad2deg,
    np.radians: radians,
    np.degrees: degrees,
    np.positive: positive,
    np.copysign: copysign,
    np.heaviside: heaviside,
    np.nextafter: nextafter,
    np.spacing: spacing,
    np.bitwise_count: bitwise_count,
    np.maximum: maximum,
    np.minimum: minimum,
    np.fmax: fmax,
    np.fmin: fmin,
    np.ldexp: ldexp,
    np.gcd: gcd,
    np.lcm: lcm,
}
