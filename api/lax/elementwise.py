"""Computes arithmetic and elementary functions, element by element.

They take the dtypes that jax.lax takes, and shapes that are equal, but for axes of length 1 and
single numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_integer, checked_kind, checked_operands, rounding
from tapeless.transformations.custom_rules import CustomJvp
from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

FLOATS, NUMBERS, BITS = "fc", "iufc", "biu"


#: Functions that take `accuracy=` in JAX. They are as exact here as NumPy's, whatever it is.
ROUNDED = frozenset(
    [
        *("cbrt", "cos", "exp", "exp2", "expm1", "log", "log1p", "logistic"),
        *("rsqrt", "sin", "sqrt", "tan", "tanh"),
    ]
)


def _unary(name: str, function: Any, kinds: str, what: str) -> Callable[..., Any]:
    """A function of one array of such kinds of dtype."""

    def run(x: Any) -> Any:
        return function(checked_kind(name, x, kinds))

    def call_unary(x: Any, accuracy: Any = None) -> Any:
        return function(checked_kind(name, x, kinds))

    run = call_unary if name in ROUNDED else run

    return _with_jax_name(run, name, what, "x", kinds)


def _binary(name: str, function: Any, kinds: str, what: str) -> Callable[[Any, Any], Any]:
    """A function of two arrays of one dtype of such kinds."""

    def run(x: Any, y: Any) -> Any:
        a, b = checked_operands(name, kinds, x, y)
        return function(a, b)

    return _with_jax_name(run, name, what, "x, y", kinds)


WORDS = {"b": "booleans", "i": "integers", "u": "unsigned integers", "f": "floats", "c": "complex"}


def _with_jax_name(
    run: Callable[..., Any], name: str, what: str, arguments: str, kinds: str
) -> Callable[..., Any]:
    run.__name__ = run.__qualname__ = name
    taken = ", ".join(WORDS[kind] for kind in kinds)
    run.__doc__ = (
        f"{what}, element by element.\n\n    {arguments}  numbers or arrays: {taken}\n\n"
        f"    Raises TypeError for other dtypes{', or different ones' if ',' in arguments else ''}."
    )
    return run


# -- of one array

abs = _unary("abs", np.abs, "ifc", "The absolute value")
acos = _unary("acos", np.arccos, FLOATS, "The inverse cosine")
acosh = _unary("acosh", np.arccosh, FLOATS, "The inverse hyperbolic cosine")
asin = _unary("asin", np.arcsin, FLOATS, "The inverse sine")
asinh = _unary("asinh", np.arcsinh, FLOATS, "The inverse hyperbolic sine")
atan = _unary("atan", np.arctan, FLOATS, "The inverse tangent")
atanh = _unary("atanh", np.arctanh, FLOATS, "The inverse hyperbolic tangent")
bitwise_not = _unary("bitwise_not", np.invert, BITS, "All bits inverted")
cbrt = _unary("cbrt", np.cbrt, "f", "The cube root")
ceil = _unary("ceil", np.ceil, "f", "The least integer from x on")
cos = _unary("cos", np.cos, FLOATS, "The cosine")
cosh = _unary("cosh", np.cosh, FLOATS, "The hyperbolic cosine")
exp = _unary("exp", np.exp, FLOATS, "The exponential")
exp2 = _unary(
    "exp2",
    lambda x: np.exp2(x) if x.dtype.kind == "f" else np.exp(x * math.log(2.0)),
    FLOATS,
    "2**x",
)
expm1 = _unary("expm1", np.expm1, FLOATS, "exp(x) - 1, exact for small x")
floor = _unary("floor", np.floor, "f", "The greatest integer up to x")
imag = _unary("imag", np.imag, "c", "The imaginary part")
is_finite = _unary("is_finite", np.isfinite, "f", "Whether x is neither infinite nor NaN")
log = _unary("log", np.log, FLOATS, "The natural logarithm")
log1p = _unary("log1p", np.log1p, FLOATS, "log(1 + x), exact for small x")
neg = _unary("neg", np.negative, NUMBERS, "-x")
real = _unary("real", np.real, "c", "The real part")
reciprocal = _unary("reciprocal", lambda x: 1 / x, FLOATS, "1 / x")
rsqrt = _unary("rsqrt", lambda x: 1 / np.sqrt(x), FLOATS, "1 / sqrt(x)")
sign = _unary("sign", np.sign, NUMBERS, "-1, 0 or 1; x / abs(x) for complex x")
sin = _unary("sin", np.sin, FLOATS, "The sine")
sinh = _unary("sinh", np.sinh, FLOATS, "The hyperbolic sine")
sqrt = _unary("sqrt", np.sqrt, FLOATS, "The square root")
square = _unary("square", np.square, NUMBERS, "x * x")
tan = _unary("tan", np.tan, FLOATS, "The tangent")
tanh = _unary("tanh", np.tanh, FLOATS, "The hyperbolic tangent")
conj = _unary(
    "conj",
    lambda x: np.conj(x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, 1j))),
    FLOATS,
    "The complex conjugate, which is complex also for real x",
)


def _logistic(x: Any) -> Any:
    small = np.exp(-np.abs(x)) if x.dtype.kind == "f" else np.exp(-x)
    return (np.where(x < 0, small, np.ones_like(x)) if x.dtype.kind == "f" else 1) / (1 + small)


_logistic_with_rule = CustomJvp(_logistic)


@_logistic_with_rule.defjvp
def _logistic_jvp(primals: Any, tangents: Any) -> Any:
    y = _logistic_with_rule(*primals)
    return y, tangents[0] * y * (1 - y)


logistic = _unary("logistic", _logistic_with_rule, FLOATS, "1 / (1 + exp(-x))")


def round(x: Any, rounding_method: Any = 0) -> Any:
    """The nearest integer, element by element.

    x                float array
    rounding_method  RoundingMethod.AWAY_FROM_ZERO or TO_NEAREST_EVEN: what a half becomes

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.round(np.array([0.5, 1.5, -0.5]))
    array([ 1.,  2., -1.])
    """
    x = checked_kind("round", x, "f")
    if rounding(rounding_method) == "even":
        return np.rint(x)
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)


def integer_pow(x: Any, y: int) -> Any:
    """x to the power of a known integer, element by element.

    x  number or array; floats where y is negative
    y  an integer

    >>> from tapeless import lax
    >>> float(lax.integer_pow(2.0, -2))
    0.25
    """
    x = checked_kind("integer_pow", x, NUMBERS)
    power = checked_integer("integer_pow", "y", y)
    if power < 0:
        return 1 / checked_kind("integer_pow", x, FLOATS) ** -power
    return x**power


# -- of two arrays


def _divide(x: Any, y: Any) -> Any:
    if np.result_type(x, y).kind in "fc":
        return x / y
    low = x // y
    return low + ((low * y != x) & ((x < 0) != (y < 0)))


add = _binary("add", np.add, NUMBERS, "x + y")
atan2 = _binary("atan2", np.arctan2, "f", "The angle of the point (y, x) of the plane")
bitwise_and = _binary("bitwise_and", np.bitwise_and, BITS, "The bits that are set in both")
bitwise_or = _binary("bitwise_or", np.bitwise_or, BITS, "The bits that are set in one or both")
bitwise_xor = _binary("bitwise_xor", np.bitwise_xor, BITS, "The bits that are set in one only")
div = _binary("div", _divide, NUMBERS, "x / y; for integers, without what is behind the point")
eq = _binary("eq", np.equal, "biufc", "Whether x == y")
ge = _binary("ge", np.greater_equal, "biuf", "Whether x >= y")
gt = _binary("gt", np.greater, "biuf", "Whether x > y")
le = _binary("le", np.less_equal, "biuf", "Whether x <= y")
lt = _binary("lt", np.less, "biuf", "Whether x < y")
max = _binary("max", np.maximum, "biufc", "The greater of two")
min = _binary("min", np.minimum, "biufc", "The lesser of two")
ne = _binary("ne", np.not_equal, "biufc", "Whether x != y")
rem = _binary("rem", np.fmod, "iuf", "What x / y leaves, with the sign of x")
sub = _binary("sub", np.subtract, NUMBERS, "x - y")


def nextafter(x1: Any, x2: Any) -> Any:
    """The float next to x1 towards x2, element by element.

    x1, x2  float arrays of one dtype
    """
    return np.nextafter(*checked_operands("nextafter", "f", x1, x2))


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """x * y, element by element.

    x, y       numbers or arrays of one dtype
    out_dtype  the dtype to multiply in, and of the result
    """
    a, b = checked_operands("mul", NUMBERS, x, y)
    return a * b if out_dtype is None else a.astype(out_dtype) * b.astype(out_dtype)


def pow(x: Any, y: Any) -> Any:
    """x**y, element by element.

    x  floats or complex numbers
    y  of the dtype of x, or integers

    >>> from tapeless import lax
    >>> float(lax.pow(2.0, 3))
    8.0
    """
    x = checked_kind("pow", x, FLOATS)
    y = checked_kind("pow", y, "iufc")
    if y.dtype.kind in "iu":
        y = y.astype(x.dtype)
    return np.power(*checked_operands("pow", FLOATS, x, y))


def complex(x: Any, y: Any) -> Any:
    """x + 1j * y, element by element.

    x, y  float arrays of one dtype

    >>> from tapeless import lax
    >>> lax.complex(1.0, 2.0)
    np.complex128(1+2j)
    """
    a, b = checked_operands("complex", "f", x, y)
    return a + 1j * b


# -- of three


def clamp(min: Any, x: Any, max: Any) -> Any:
    """x within bounds, element by element.

    min, max  numbers, or arrays of the shape of x
    x         array

    Where x is at a bound or beyond, its derivative is 0; that of a bound is 0 where x is at it.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.clamp(0.0, np.array([-1.0, 0.5, 2.0]), 1.0)
    array([0. , 0.5, 1. ])
    """
    low, x, high = checked_operands("clamp", "iuf", min, x, max)
    return (_clamped_with_rule if x.dtype.kind == "f" else _clamp)(low, x, high)


def _clamp(low: Any, x: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


_clamped_with_rule = CustomJvp(_clamp)


@_clamped_with_rule.defjvp
def _clamped_jvp(primals: Any, tangents: Any) -> Any:
    low, x, high = primals
    low_dot, x_dot, high_dot = tangents
    below = np.where(x < low, low_dot, 0.0)
    above = np.where(x > high, high_dot, 0.0)
    return _clamped_with_rule(*primals), below + above + np.where((low < x) & (x < high), x_dot, 0)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of one array or of another.

    pred      boolean array, or one boolean
    on_true   array
    on_false  array of the same shape and dtype

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.select(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    array([1, 4])
    """
    return select_n(checked_kind("select", pred, "b"), on_false, on_true)


def select_n(which: Any, *cases: Any) -> Any:
    """Elements of several arrays, each of the one with the number that is given for it.

    which  booleans for up to two cases, int32 or int64 from 0 on for more; one number, or an array
    cases  arrays of one shape and dtype

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.select_n(np.array([0, 2]), np.array([1, 1]), np.array([2, 2]), np.array([3, 3]))
    array([1, 3])
    """
    which = checked_kind("select_n", which, "bi")
    arrays = checked_operands("select_n", "biufc", *cases)
    if which.dtype.kind == "b" and len(arrays) > 2:
        raise ArgumentTypeError("lax.select_n: a boolean chooses between two cases at most")
    chosen = arrays[-1]
    for k in reversed(range(len(arrays) - 1)):
        mask = np.logical_not(which) if which.dtype.kind == "b" else which <= k
        chosen = np.where(mask, arrays[k], chosen)
    return chosen
