"""Derivatives where values are infinite: the limits."""

import numpy as np
import pytest

from tapeless import grad, jit

INF = np.inf


@pytest.mark.parametrize("function", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize(
    ("x", "y", "slopes"),
    [
        (INF, INF, (1, 1)),
        (INF, -INF, (1, 0)),
        (INF, 1.0, (1, 0)),
        (1.0, INF, (0, 1)),
        (-INF, 1.0, (0, 1)),
        (-INF, -INF, (0, 0)),
    ],
)
def test_sums_of_powers(function, x, y, slopes):
    both = grad(lambda x, y: function(x, y), (0, 1))
    with np.errstate(invalid="ignore"):
        assert both(x, y) == slopes
        assert jit(both)(x, y) == slopes
        assert np.isnan(both(np.nan, 1.0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_powers_of_arrays_keep_their_dtype(dtype):
    x, y = np.array([[0.3, 2.0], [-1.0, 0.0]], dtype)
    made = grad(lambda x: np.sum(np.logaddexp(x, y)))(x)
    assert made.dtype == dtype
    np.testing.assert_allclose(made, 1 / (1 + np.exp(y - x)), rtol=1e-6)
