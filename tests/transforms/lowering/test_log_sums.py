"""logsumexp, softmax and log_softmax in kernels: scipy's numbers, also of infinities."""

import numpy as np
import pytest
import scipy.special

from tapeless import grad, jit

C = np.random.default_rng(0).normal(size=(5, 4))
ARRAYS = {
    "usual": C,
    "large": C * 1000,
    "least": np.full((2, 3), -np.inf),
    "no numbers": np.array([[np.inf, 1.0], [np.nan, 2.0], [-np.inf, 3.0]]),
    "apart": np.array([[1e-300, -800.0], [0.0, -40.0]]),
    "equal": np.array([[5.0, 5.0, 5.0]]),
    "single precision": C.astype("f4"),
    "integers": np.arange(6).reshape(2, 3),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
}
FUNCTIONS = [scipy.special.softmax, scipy.special.log_softmax, scipy.special.logsumexp]


def outcome(f, x):
    try:
        return f(x)
    except (ValueError, IndexError) as e:  # scipy's, where there is nothing
        return type(e)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", ARRAYS.values(), ids=list(ARRAYS))
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_values(function, x, axis):
    def f(x):
        return function(x, axis=axis)

    expected, found = outcome(f, x), outcome(jit(f), x)
    if isinstance(expected, type):
        assert found is expected
        return
    tolerance = 1e-6 if x.dtype == np.float32 else 1e-15
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-300)


def test_it_is_inside_of_the_kernel_of_a_loop():
    def sinkhorn(c):
        g = np.zeros(c.shape[1])
        for _ in range(20):
            f = -scipy.special.logsumexp(g[None, :] - c, axis=1)
            g = -scipy.special.logsumexp(f[:, None] - c, axis=0)
        return np.sum(f * f)

    compiled = jit(sinkhorn)
    np.testing.assert_allclose(compiled(C), sinkhorn(C), rtol=1e-12)
    assert "scipy" not in compiled.source(C)
    step = 1e-6 * np.random.default_rng(1).normal(size=C.shape)
    slope = sinkhorn(C + step) - sinkhorn(C - step)
    np.testing.assert_allclose(2 * np.sum(jit(grad(sinkhorn))(C) * step), slope, rtol=1e-6)
