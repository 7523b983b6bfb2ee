"""Python's fractions beside floats of the program."""

from fractions import Fraction

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError
from tests.corpus.differences import gradient

X = np.array([0.5, 1.5, 2.5])
THIRD, TENTH = Fraction(1, 3), Fraction(1, 10)


def in_place(x):
    t = x[0]
    t *= THIRD
    t -= Fraction(1, 7)
    return t * x[1]


PROGRAMS = [
    lambda x: THIRD * x[0] + x[1] / Fraction(2, 3) - x[2] ** Fraction(3, 2),
    lambda x: THIRD ** x[0] + x[1] % THIRD + x[2] // Fraction(2, 3),
    lambda x: 2 * Fraction(1, len(x)) * x[0] - -THIRD * float(x[1]),
    lambda x: (Fraction(2, 3) + x[0]) * (x[2] if x[2] > THIRD else x[1]),
    in_place,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    assert jit(f)(X) == pytest.approx(f(X))
    np.testing.assert_allclose(grad(f)(X), gradient(f, X), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(vmap(f)(np.stack([X, 2 * X])), [f(X), f(2 * X)])


def test_single_precision_is_double_beside_them():
    x = np.float32(0.1)
    assert jit(lambda x: x * THIRD)(x) == x * THIRD


@pytest.mark.parametrize("fraction", [THIRD, TENTH, Fraction(1, 2), Fraction(2, 3)])
def test_comparisons_are_exact(fraction):
    def f(x):
        return [x < fraction, x <= fraction, x > fraction, x >= fraction, fraction < x]

    near = float(fraction)
    for x in (near, np.nextafter(near, 0), np.nextafter(near, 1), np.nan, -1.0):
        assert [bool(v) for v in jit(f)(x)] == f(x)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: (x * THIRD).astype(float), "a Fraction beside an array"),
        (lambda x: x[0] if x[0] == THIRD else x[1], "whether a float is 1/3, which no float is"),
    ],
)
def test_what_is_no_float_is_refused(f, message):
    with pytest.raises(UnsupportedError, match=message):
        jit(f)(X)
