"""Numbers that Python or a library takes out of a program: what is computed of them has no
derivative, and none is given in silence."""

import statistics
import struct

import numpy as np
import pytest

from tapeless import grad, jit, jvp, lax, strict, vmap
from tapeless.errors import NotDifferentiableError

PROGRAMS = [
    lambda x: statistics.NormalDist(0, 1).cdf(x[0]),
    lambda x: statistics.correlation(list(x), [1.0, 2.0, 4.0]),
    lambda x: statistics.linear_regression(list(x), [1, 2, 3]).slope * x[0],
    lambda x: struct.unpack("d", struct.pack("d", x[0]))[0],
    lambda x: float(str(x[0])) * x[1],
    lambda x: float(f"{x[0]:.3f}".strip()),
    lambda x: float("-" + repr(float(x[0]))),
    lambda x: complex(f"{x[0]}+2j").real,
    lambda x: float(f"{x[0]} {x[1]}".split()[1]) + float(f"{x[2]}|".partition("|")[0]),
]
POINT = np.array([0.5, 1.5, 2.5])


@pytest.fixture(autouse=True)
def traced():
    with strict(False):
        yield


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_no_derivative_in_silence(f):
    assert jit(f)(POINT) == pytest.approx(f(POINT))
    np.testing.assert_allclose(vmap(f)(np.stack([POINT, 2 * POINT])), [f(POINT), f(2 * POINT)])
    with pytest.raises(NotDifferentiableError, match="has no derivative"):
        grad(f)(POINT)
    with pytest.raises(NotDifferentiableError, match="has no derivative"):
        jvp(f, (POINT,), (POINT,))


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_numbers_that_are_not_differentiated_are_taken_out():
    def f(x, y):
        inner = statistics.NormalDist(0, 1).cdf(lax.stop_gradient(x[1]))
        return x[0] * inner * statistics.NormalDist(0, 1).cdf(y)

    inner = statistics.NormalDist(0, 1)
    expected = [inner.cdf(1.5) * inner.cdf(0.3), 0.0, 0.0]
    np.testing.assert_allclose(grad(f)(POINT, 0.3), expected)
    np.testing.assert_allclose(jit(grad(f))(POINT, 0.3), expected)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_pieces_of_text_can_be_looked_into():
    def f(x):
        whole, _, digits = f"{x:.2f}".partition(".")
        counts = {}
        for word in f"{x:.1f} b b".split():
            counts[word] = counts.get(word, 0) + 1
        return x * len(digits) * counts["b"] + (1.0 if whole == "1" else 2.0)

    assert jit(f)(1.5) == f(1.5) == 7.0
    assert grad(f)(1.5) == 4.0
