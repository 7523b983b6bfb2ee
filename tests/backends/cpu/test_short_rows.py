"""Loops along short rows, whose last passes are vectors with masks."""

import numpy as np
import pytest

import tapeless


def stepped(a, b, n):
    for _ in range(n):
        b[1:-1, 1:-1] = a[1:-1, 1:-1] + (
            a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1]
        )
        a[1:-1, 1:-1] = b[1:-1, 1:-1] - (
            b[2:, 1:-1] + b[:-2, 1:-1] + b[1:-1, 2:] + b[1:-1, :-2] - 4 * b[1:-1, 1:-1]
        )


@pytest.mark.parametrize("dtype", [float, np.float32, complex, int])
@pytest.mark.parametrize("columns", [*range(2, 20), 33])
def test_rows_of_all_lengths(dtype, columns):
    start = (10 * np.random.default_rng(columns).random((6, columns + 8))).astype(dtype)
    pairs = {}
    for function in (stepped, tapeless.jit(stepped)):
        a, b = pairs[function] = start.copy(), start.copy()
        function(a[:, 3 : 3 + columns], b[:, 3 : 3 + columns], 2)  # the others stay as they are
    wanted, arrays = pairs.values()
    np.testing.assert_allclose(arrays, wanted, rtol=1e-4 if dtype == np.float32 else 1e-12)
