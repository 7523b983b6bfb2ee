"""Checks that one program of a function of two numbers serves all values, as no value is needed
while staging."""

import numpy as np
import pytest

from tapeless import check_grads, jit, strict, vmap

POINTS = [(2.1, 3.0), (0.53, 0.1), (0.53, 5.0), (-1.5, 0.7), (3.0, 0.2)]


def check_one_program(function):
    """Values and slopes at all points, and all points as a batch; none is traced."""
    with strict(True):
        call = jit(function)
        for point in POINTS:
            assert call(*point) == pytest.approx(function(*point))
            check_grads(lambda x, y: 1.0 * function(x, y), point, order=1)
        batch = vmap(function)(*np.array(POINTS).T)
        assert np.allclose(batch, [function(*point) for point in POINTS])
