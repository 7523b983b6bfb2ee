"""Builtin functions that take their arguments by name."""

import datetime
import itertools

import numpy as np
import pytest

from tapeless import grad, jit, strict, vmap

PROGRAMS = [
    lambda x: pow(base=x[0], exp=2) * pow(7, exp=3, mod=5),
    lambda x: sum(k * v for k, v in enumerate(iterable=x, start=2)),
    lambda x: list(itertools.accumulate(iterable=x, func=lambda a, b: a * b, initial=2.0))[-1],
    lambda x: abs(complex(real=x[0], imag=x[1])),
    lambda x: abs(complex(x[0], imag=x[1])) + abs(complex(imag=x[2])),
    lambda x: x[0] * abs(complex(real=3, imag=4)),
]
POINT = np.array([0.5, 1.5, 2.5])


@pytest.mark.parametrize("f", PROGRAMS)
def test_arguments_by_name(f):
    assert jit(f)(POINT) == pytest.approx(f(POINT))
    np.testing.assert_allclose(vmap(f)(np.stack([POINT, POINT])), [f(POINT)] * 2)
    differences = [(f(POINT + s) - f(POINT - s)) / 2e-6 for s in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(f)(POINT), differences, rtol=1e-6, atol=1e-8)


def test_other_names_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'real'"):
        jit(lambda x: complex(x[0], real=1.0))(POINT)


def test_integers_by_keyword_for_a_function_without_a_rule():
    """The loop is written out, so that it is known."""

    def present_value(rates):
        start, total = datetime.date(2024, 1, 31), 0.0
        for k, rate in enumerate(rates):
            day = start + datetime.timedelta(days=30 * k)
            total += np.exp(-rate * (day - start).days / 365)
        return total

    rates = np.array([0.1, 0.7, 0.3])
    with strict(True):
        assert jit(present_value)(rates) == pytest.approx(present_value(rates))
        slope = grad(present_value)(rates)
    times = np.array([0, 30, 60]) / 365
    np.testing.assert_allclose(slope, -times * np.exp(-rates * times))
