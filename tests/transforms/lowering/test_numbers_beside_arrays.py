"""Many numbers that are made of elements of arrays are computed by a kernel, few by Python."""

import numpy as np
import pytest

from tapeless import grad, jit


def rotated(q, v):
    w, x, y, z = q
    return (
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        @ v
    )


def distance(a, b):
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)


Q, V = np.array([0.5, 0.1, -0.7, 0.3]), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(("f", "args", "kernels"), [(rotated, (Q, V), 1), (distance, (Q, V), 0)])
def test_kernels(f, args, kernels):
    compiled = jit(f)
    np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-14)
    assert compiled.source(*args).count("@njit") == kernels


def test_slopes():
    slopes = jit(grad(lambda q: np.sum(rotated(q, V) ** 2)))(Q)
    steps = 1e-6 * np.eye(4)
    differences = [
        (np.sum(rotated(Q + d, V) ** 2) - np.sum(rotated(Q - d, V) ** 2)) / 2e-6 for d in steps
    ]
    np.testing.assert_allclose(slopes, differences, rtol=1e-6)
