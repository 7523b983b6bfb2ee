"""Holds the numbers that sine, cosine and exponential are computed with, in machine code and in C.

cos(y) = 1 - z / 2 + z z P(z), z = y y      becomes      COSINE[dtype], the coefficients of P

Sine and cosine are those of FDLIBM (Sun Microsystems, 1993), on [-pi / 4, pi / 4]. The polynomials
of the exponential have the least relative error (found by Remez' method with 60 digits): 2**-58 of
doubles, 2**-28 of floats.
"""

from __future__ import annotations

from decimal import Context, Decimal

from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE, SINGLE

#: Of the size of arguments of sine and cosine, from which on pi / 2 has too few digits here
LARGE = {SINGLE: 1e5, DOUBLE: 1e13}
#: pi / 2 in parts
HALF_PI = {
    SINGLE: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    DOUBLE: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
#: sin(y) = y + y z P(z), with z = y y
SINE = {
    SINGLE: (-0.1666665524, 0.00833218731, -0.0001951789309),
    DOUBLE: (
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
}
#: cos(y) = 1 - z / 2 + z z P(z)
COSINE = {
    SINGLE: (0.04166664556, -0.001388731063, 2.443248741e-05),
    DOUBLE: (
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
}
#: log(2) in parts, of which products of the first with n are exact
LOG_2 = {
    SINGLE: (0.693145751953125, 1.428606765330187e-06),
    DOUBLE: (0.6931471803691238, 1.9082149292705877e-10),
}
#: exp(r) = 1 + r + r r P(r), for |r| up to log(2) / 2
EXPONENTIAL = {
    SINGLE: (
        0.4999999343207066,
        0.16666520400169382,
        0.04166839083778827,
        0.00836874503064419,
        0.0013814536219470385,
    ),
    DOUBLE: (
        0.5000000000000011,
        0.1666666666666641,
        0.04166666666652973,
        0.008333333333494914,
        0.0013888888943759381,
        0.00019841269505913955,
        2.480149295024481e-05,
        2.755758667694625e-06,
        2.7630306046279e-07,
        2.500005931748606e-08,
    ),
}
#: exp(r) = 1 + r + r r P(r), for |r| up to log(2) / 128, of doubles: 2**-59
NEAR_EXPONENTIAL = (
    0.499999999999486,
    0.1666666666669021,
    0.04166672335597485,
    0.008333329555390435,
)
PARTS = 64  # in which powers of two are tabulated
DIGITS = Context(prec=50)


def power_table() -> list[tuple[float, float]]:
    """2**(j / PARTS), and what its rounding has left out, as a part of it.

    >>> power_table()[0]
    (1.0, 0.0)
    """
    exact = [DIGITS.power(Decimal(2), Decimal(j) / PARTS) for j in range(PARTS)]
    return [
        (float(x), float(DIGITS.divide(DIGITS.subtract(x, Decimal(float(x))), x))) for x in exact
    ]


def log_part() -> tuple[float, float]:
    """log(2) / PARTS in two parts.

    >>> log_part()[0] * 64
    0.6931471805599453
    """
    exact = DIGITS.divide(DIGITS.ln(Decimal(2)), Decimal(PARTS))
    return float(exact), float(DIGITS.subtract(exact, Decimal(float(exact))))
