"""An input keeps the lengths that it came with, also where another input has the batch's length."""

import numpy as np
import pytest

from tapeless import grad, hessian, jacfwd, jacrev, jit, value_and_grad, vmap

M = np.arange(6.0).reshape(2, 3) / 5


def f(x, v, m):
    return np.sin(np.sum(v) + np.sum(m * x))


def reshaped(x, v, m):
    columns = m.reshape(m.shape[0], 1, m.shape[1]) * np.arange(2.0)[:, None]
    sums = vmap(lambda v, m: (m, np.sum(v) * x), in_axes=(1, 0))(v, m)
    return np.sum(columns) * sums[1] + np.sum(sums[0]), m.reshape(m.shape[0], 1, m.shape[1])


@pytest.mark.parametrize(
    "g",
    [
        jacfwd(jacrev(value_and_grad(f), argnums=1)),
        jacfwd(hessian(value_and_grad(f), argnums=1)),
        jacfwd(jacrev(lambda *args: (f(*args), grad(f)(*args)), argnums=2)),
    ],
)
def test_derivatives_of_two_batched_arguments(g):
    batched = vmap(g, in_axes=(None, 1, 0))
    for wrapped in (batched, jit(batched)):
        result = wrapped(0.3, M.T, M)
        for k in range(2):
            one = g(0.3, M.T[:, k], M[k])
            np.testing.assert_allclose(result[0][k], one[0])
            np.testing.assert_allclose(result[1][k], one[1])


@pytest.mark.parametrize("m", [M, np.ones((4, 2))])
@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_lengths_that_are_read_outside_of_the_batch(m, wrap):
    sums, columns = wrap(vmap(reshaped, in_axes=(0, None, None)))(np.array([0.3, 0.5]), m.T, m)
    for k, x in enumerate((0.3, 0.5)):
        expected = np.sum(m) * np.sum(m, axis=1) * x + np.sum(m)
        np.testing.assert_allclose(sums[k], expected)
        np.testing.assert_allclose(columns[k], m[:, None])
