"""Functions of the program under vmap: what their tapes hold belongs to each element."""

import numpy as np
import pytest

from tapeless import grad, jacfwd, jacrev, jit, tree, value_and_grad, vmap
from tapeless.transforms.optimize import outline

#: A mask that selects as many of each row, or not.
ROWS = {
    "alike": np.array([[0.5, 0.6, 0.7], [0.6, 0.7, 0.8], [0.55, 0.65, 0.9]]),
    "uneven": np.array([[0.1, 0.2, 0.4], [0.5, 0.1, 0.6], [0.5, 0.5, 0.5]]),
}


def masked(x, v):
    v[v > 0.3] = np.sin(x)
    return np.sum(v * v) * x


def as_many_as_a_mask_selects(x, v):
    n = int(np.sum(v > 0.3))
    return np.sum(np.sin(np.arange(n) * x)) * np.sum(v)


def called_thrice(f):
    return lambda x, v: f(x, v.copy()) * f(0.5 * x, 0.9 * v) + f(x * x, 0.5 * v)


@pytest.fixture(autouse=True)
def _small_functions_are_functions(monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 1)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("f", [masked, as_many_as_a_mask_selects])
def test_lengths_that_masks_decide(f, rows):
    function, v = called_thrice(f), ROWS[rows]

    def slopes(x):
        def twice(x, v):
            return sum(np.sum(a) for a in tree.leaves(value_and_grad(function)(x, v)))

        return vmap(grad(twice))(x * np.array([1.0, 0.9, 0.8]), v)

    step = 1e-6
    expected = (slopes(0.7 + step) - slopes(0.7 - step)) / (2 * step)
    for derivative in (jacrev(slopes), jacfwd(slopes), jit(jacrev(slopes))):
        np.testing.assert_allclose(derivative(0.7), expected, rtol=1e-7)
