"""An index is tested once, where that comes before all its uses."""

import numpy as np
import pytest

from tapeless import jit


def test_one_test_an_index_and_length():
    @jit
    def f(x, y, n):
        total = 0.0
        for j in range(n):
            total += x[j] * x[j]
            for _ in range(2):
                total += x[j]
            if total > 5:
                total += y[j]
            else:
                total -= y[j] * y[j]
        return total

    x, y = np.ones(4), np.full(3, 2.0)
    assert f.source(x, y, 2).count("raise IndexError") == 3  # x[j], and y[j] on each side
    assert f(x, y, 3) == f.__wrapped__(x, y, 3)
    for large in (1.0, 9.0):
        with pytest.raises(IndexError):
            f(x * large, y, 4)
    with pytest.raises(IndexError):
        f(y, x, 4)
