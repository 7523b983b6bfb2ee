"""Ufuncs, operators and functions of `math` and `cmath`."""

import cmath
import math
import operator

import numpy as np

from tests.transforms.ops.cases import (
    above_one,
    below_one,
    case,
    flags,
    integers,
    normal,
    positive,
    scalar,
    uniform,
)

SMOOTH = {
    normal: [
        *(np.negative, np.positive, np.exp, np.exp2, np.expm1, np.sin, np.cos),
        *(np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.square, np.deg2rad, np.rad2deg),
        *(np.radians, np.degrees, np.absolute, np.fabs, np.cbrt, np.sinc, np.conjugate),
        *(np.nan_to_num, np.real),
    ],
    positive: [np.log, np.log2, np.log10, np.log1p, np.sqrt, np.reciprocal, np.i0],
    below_one: [np.tan, np.arcsin, np.arccos, np.arctanh],
    above_one: [np.arccosh],
}
PIECEWISE = [
    *(np.floor, np.ceil, np.trunc, np.rint, np.sign, np.round, np.around, np.fix, np.imag),
    *(np.isnan, np.isinf, np.isfinite, np.signbit, np.isposinf, np.isneginf, np.isreal),
    *(np.iscomplex, np.logical_not, np.angle),
]
PAIRS = {
    normal: [
        *(np.add, np.subtract, np.multiply, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2),
        np.copysign,
    ],
    positive: [np.divide, np.power, np.float_power],
}
KINKED = [np.maximum, np.minimum, np.fmax, np.fmin]
COMPARISONS = [
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
    *(np.logical_and, np.logical_or, np.logical_xor),
    *(np.isclose, np.allclose, np.nextafter),
]
BITS = [
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift),
    *(np.gcd, np.lcm),
]
OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod),
    *(operator.floordiv, operator.lt, operator.le, operator.gt, operator.ge, operator.eq),
    operator.ne,
]
MATH = {
    normal: [
        *(math.sin, math.cos, math.exp, math.tanh, math.sinh, math.cosh, math.atan),
        *(math.asinh, math.expm1, math.fabs, math.radians, math.degrees, math.cbrt, math.exp2),
        *(math.isnan, math.isinf, math.isfinite, math.erf, math.erfc),
    ],
    positive: [
        *(math.log, math.log1p, math.log2, math.log10, math.sqrt, math.gamma, math.lgamma),
    ],
    below_one: [math.tan, math.asin, math.acos, math.atanh],
    above_one: [math.acosh],
}
COMPLEX = [
    *(cmath.sin, cmath.cos, cmath.tan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.exp, cmath.log),
    *(cmath.asin, cmath.acos, cmath.atan, cmath.asinh, cmath.acosh, cmath.atanh, cmath.sqrt),
    cmath.log10,
]
TESTS = [cmath.isnan, cmath.isinf, cmath.isfinite]
MATH_PAIRS = [math.atan2, math.pow, math.copysign, math.fmod, math.hypot]

ALL = [(f, make) for make, many in PAIRS.items() for f in many]


def even(*shape):
    """Numbers that are never close to odd ones."""
    return integers(*shape, low=-4, high=4) * 0.2 + 0.05


def odd(*shape):
    return even(*shape) + 0.1


def parts(f):
    """A function of one complex number, as a real one."""

    def program(x):
        z = f(x + 0.3j)
        return z.real + 2 * z.imag

    return program


DIVIDED = np.array([2.6, -3.7, 7.1]), np.array([1.1, 0.8, -2.2])
CASES = [
    *(case(f, make(2, 3)) for make, many in SMOOTH.items() for f in many),
    *(
        case(f, float(make()), second=False)
        for make, many in SMOOTH.items()
        for f in many
        if f is not np.real
    ),
    *(case(f, integers(3)) for f in (np.sin, np.sqrt, np.square, np.absolute, np.log, np.real)),
    *(case(f, normal(2, 3).round() + 0.2) for f in PIECEWISE),  # not near a step, nor 7 % on
    *(case(f, integers(3)) for f in (np.floor, np.sign, np.rint, np.invert, np.round, np.isnan)),
    case(np.sinc, integers(3)),
    case(np.negative, integers(3)),
    case(np.invert, flags(3)),
    case(np.logical_not, flags(3)),
    *(case(f, make(2, 3), make(3)) for f, make in ALL),
    *(case(f, make(2, 1), make(1, 3), second=False) for f, make in ALL[::2]),
    *(case(f, float(make()), make(2), second=False) for f, make in ALL[1::2]),
    *(case(f, make(2), float(make()), second=False) for f, make in ALL[::2]),
    *(case(f, float(make()), float(make()), second=False) for f, make in ALL[1::2]),
    *(case(f, integers(3), make(2, 3), second=False) for f, make in ALL[::2]),
    *(case(f, integers(3), integers(2, 3)) for f, _ in ALL[1::2]),
    *(case(f, even(2, 3), odd(3)) for f in KINKED),
    *(case(f, even(2, 1), 0.3, second=False) for f in KINKED),
    *(case(f, integers(3), integers(2, 3)) for f in KINKED),
    *(case(f, *DIVIDED) for f in (np.remainder, np.fmod, np.floor_divide)),
    *(case(f.outer, *DIVIDED) for f in (np.remainder, np.fmod, np.floor_divide)),
    case(np.heaviside.outer, normal(2), normal(3)),
    *(case(f, even(2, 3), odd(3)) for f in COMPARISONS),
    case(np.array_equal, normal(3), normal(3)),
    case(np.array_equal, normal(3), normal(3), equal_nan=True),
    case(np.isclose, normal(3), normal(3), rtol=0.5, atol=0.1),
    case(np.allclose, normal(3), normal(3), rtol=50.0),
    *(case(f, integers(2, 3), integers(3)) for f in BITS),
    *(case(f, flags(4), flags(4)) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)),
    *(case(f, uniform(1.3, 1.5, 2, 3), uniform(0.8, 0.95, 3)) for f in OPERATORS),
    *(case(f, uniform(2.7, 2.9, 3), 2.5, second=False) for f in OPERATORS),
    *(case(f, 2.5, uniform(1.4, 2.2, 3), second=False) for f in OPERATORS),
    *(case(f, 2.5, 1.5, second=False) for f in OPERATORS),
    *(case(f, uniform(2.3, 2.7, 3), 2, second=False) for f in OPERATORS),
    *(case(f, 2, uniform(1.2, 1.8, 3), second=False) for f in OPERATORS),
    *(case(f, integers(3), 2) for f in OPERATORS),
    *(case(f, normal(3)) for f in (operator.neg, operator.pos, operator.abs)),
    *(case(f, flags(3), flags(3)) for f in (operator.and_, operator.or_, operator.xor)),
    *(case(f, integers(3), integers(3)) for f in (operator.lshift, operator.rshift)),
    case(operator.invert, flags(3)),
    case(np.power, normal(3), 3),
    case(lambda x: np.power(x, 2.0), normal(3)),
    case(np.power, np.array([0.0, 1.5, -2.0]), 2, second=False),
    case(lambda x: x**-1, positive(3)),
    case(lambda x: x**0.5, positive(3)),
    case(lambda x: x**0, normal(3)),
    case(lambda x: 2**x, normal(3)),
    case(lambda x: -x + +x * abs(x), normal(2, 3)),
    case(lambda x: divmod(x, 0.7)[1], uniform(0.8, 1.2, 3)),
    case(np.divmod, uniform(0.7, 0.8, 3), uniform(0.29, 0.32, 3)),
    case(np.modf, normal(3)),
    case(np.ldexp, normal(3), integers(3)),
    case(np.heaviside, np.array([-1.0, 0.5, 2.0]), normal(3)),
    case(np.add, normal(2, 0), normal(0)),
    case(np.sin, normal(0)),
    case(np.add, normal(1, 1), normal(3, 1)),
    case(np.add, integers(3), integers(3), dtype=np.float32),
    case(np.where, flags(2, 3), normal(3), normal(2, 1)),
    case(np.where, flags(3), normal(3), 0.5),
    case(np.where, flags(3), integers(3), normal(3)),
    case(lambda x: np.where(x > 0, x, x**2), normal(2, 3)),
    case(lambda x, y: np.select([x > 0.5, x > 0], [x * y, y], 0.25), normal(4), normal(4)),
    case(lambda x, y: np.select([x > 0.5, x > 0], [x * y, y]), normal(4), normal(4)),
    case(np.clip, even(2, 3), -0.3, 0.4),
    case(np.clip, even(3), None, 0.4),
    case(np.clip, even(2, 3), uniform(-0.42, -0.38, 3), uniform(0.38, 0.42, 2, 1)),
    case(lambda x: x.clip(-0.3, 0.4), even(5)),
    case(lambda x: x.clip(max=0.4), even(5)),
    case(lambda x: np.clip(x, min=-0.2, max=0.4), even(5)),
    case(lambda x: x.conj() + x.conjugate() + x.real, normal(3)),
    case(lambda x: np.round(x, 1), even(3) + 0.05),
    case(lambda x: x.round(1), even(3) + 0.05),
    case(lambda x: np.nan_to_num(x, nan=1.5), normal(2)),
    case(lambda x: np.real(np.exp(1j * x) * np.conj(x + 2j)), normal(3)),
    case(lambda x: np.imag(np.sin(x + 0.5j) / (x - 1j)), normal(3)),
    case(lambda x: np.abs(x + 0.5j) + np.angle(x**2 + 0.5j * x), normal(3)),
    case(np.real_if_close, normal(3)),
    case(lambda x: np.abs(np.emath.sqrt(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.log(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.log2(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.log10(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.arccos(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.arcsin(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.arctanh(x + 0.5j)), normal(3)),
    case(lambda x: np.abs(np.emath.power(x + 0.5j, 1.5) + np.emath.logn(2, x + 1j)), normal(3)),
    case(lambda x: ((x + 1j) * (x - 2j)).imag + (1j * x).conj().imag, normal(3)),
    case(lambda x: np.sum(np.abs(np.array([1 + 2j, 0.5j]) * x) ** 2), normal(2)),
    *(case(f.outer, make(2), make(3, 2)) for f, make in ALL),
    *(case(f.outer, even(2), odd(3)) for f in KINKED),
    *(case(f.outer, even(2), odd(3)) for f in COMPARISONS if isinstance(f, np.ufunc)),
    *(case(f.outer, integers(2), integers(3)) for f in BITS),
    case(np.ldexp.outer, normal(2), integers(3)),
    *(case(f, float(make()), single=False) for make, many in MATH.items() for f in many),
    *(case(f, 1.3, 0.7, single=False) for f in MATH_PAIRS),
    *(case(parts(f), 0.7, second=False, single=False, of=f) for f in COMPLEX),
    *(case(lambda x, f=f: f(x + 0.3j), 0.7, single=False, of=f) for f in TESTS),
    case(lambda x: cmath.phase(x + 0.3j), 0.7, second=False, single=False, of=cmath.phase),
    case(lambda x: cmath.polar(x + 0.3j)[0], 0.7, second=False, single=False, of=cmath.polar),
    case(lambda x, y: cmath.rect(x, y).imag, 0.7, 0.4, second=False, single=False, of=cmath.rect),
    case(lambda x: cmath.isclose(x, 0.7 + 0.3j), 0.7, single=False, of=cmath.isclose),
    case(lambda x: math.frexp(x)[0], 5.3, second=False, single=False, of=math.frexp),
    case(lambda x: math.nextafter(x, 3.0), 5.3, second=False, single=False, of=math.nextafter),
    case(math.log, 1.3, 2.5, single=False),
    case(math.hypot, 0.3, 0.4, 1.2, single=False),
    case(math.isclose, 0.3, 0.4, single=False),
    case(math.remainder, 7.3, 3.0, single=False),
    case(math.remainder, -1.2, 0.5, single=False),
    case(lambda x, y: math.isclose(x, y, rel_tol=0.5), 0.3, 0.4, single=False),
    case(math.ldexp, 0.7, 3, single=False),
    case(math.modf, 1.7, single=False),
    case(math.gcd, 12, 18),
    *(case(f, *numbers) for f in (math.gcd, math.lcm) for numbers in [(), (-6,), (12, -18, 8)]),
    case(math.lcm, 4, 6),
    case(lambda x: math.fsum([x, x * x, 1.0]), 0.7, single=False),
    case(lambda x: math.prod([x, x * x, 3.0]), 0.7, single=False),
    case(lambda x, y: math.dist([x, 1.0], [y, 0.5]), 0.3, 0.9, single=False),
    case(math.dist, normal(3), normal(3), single=False),
    case(math.fsum, normal(3), single=False),
    case(math.prod, normal(3), single=False),
    case(lambda x: (math.floor(x), math.ceil(x), math.trunc(x)), scalar(), single=False),
]
