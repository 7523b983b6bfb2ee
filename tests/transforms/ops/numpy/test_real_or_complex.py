"""Functions whose results are complex for some values only: the call at hand decides."""

import numpy as np
import pytest

from tapeless import grad, jit, strict, vmap

PROGRAMS = [
    lambda x: np.real_if_close(x * (1 + 0j)).sum() * x[0],
    lambda x: np.abs(np.emath.sqrt(x)).sum(),
    lambda x: np.abs(np.real_if_close(np.roots(np.array([1.0, x[0], x[1]])))).sum(),
    lambda x: np.abs(np.emath.power(x, [2, 0.5])).sum(),
    lambda x: np.abs(np.emath.power(x, -2)).sum(),
    lambda x: np.abs(np.emath.logn(2, x) + np.emath.arccos(x)).sum(),
]
POINTS = np.array([[-5.0, 2.0], [-0.5, 0.2], [0.5, 0.2], [0.5, 3.0]])


@pytest.mark.filterwarnings("ignore:.*traced:tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_decide(f):
    with strict(False):
        compiled, slope = jit(f), grad(f)
        for x in POINTS:
            np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
            differences = [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
            np.testing.assert_allclose(slope(x), differences, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(vmap(f)(POINTS[2:]), [f(x) for x in POINTS[2:]])
