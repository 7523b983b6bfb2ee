"""Constants that are equal for Python and not for programs."""

import math

import numpy as np
import pytest

from tapeless import jit
from tapeless.transforms.core.constants import exactly


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (0.0, -0.0),
        (1, True),
        (1, 1.0),
        (1.0, np.float64(1)),
        (np.float32(0), np.float32(-0.0)),
        (0j, complex(0, -0.0)),
        ((1, (0.0,)), (1, (-0.0,))),
    ],
)
def test_told_apart(a, b):
    assert a == b
    assert exactly(a) != exactly(b)


@pytest.mark.parametrize("a", [0.5, math.nan, "x", None, (1, 2.0), np.float32(0.1), 1j])
def test_the_same(a):
    again = type(a)(a) if isinstance(a, (float, np.floating)) else a
    assert exactly(a) == exactly(again)


def test_zeros_from_outside():
    sign = [0.0, 1.0]
    f = jit(lambda x: math.copysign(1.0, sign[0]) * x)
    for zero, want in ((0.0, 2.0), (-0.0, -2.0), (0.0, 2.0)):
        sign[0] = zero
        assert f(2.0) == want


def test_static_arguments():
    f = jit(lambda x, s: np.copysign(x, s), static_argnums=1)
    assert [f(1.5, s) for s in (0.0, -0.0)] == [1.5, -1.5]
    g = jit(
        lambda x, s: (7 / s[0] if isinstance(s[0], float) else 7 // s[0]) + 0 * x, static_argnums=1
    )
    assert [g(0.0, s) for s in ((2,), (2.0,))] == [3.0, 3.5]
