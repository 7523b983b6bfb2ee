"""An index is tested once, where that comes before all its uses."""

import numpy as np
import pytest

from tapeless import grad, jit


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
    assert f.source(x, y, 2).count("raise IndexError") == 2  # x[j], and y[j] on both sides
    assert f(x, y, 3) == f.__wrapped__(x, y, 3)
    for large in (1.0, 9.0):
        with pytest.raises(IndexError):
            f(x * large, y, 4)
    with pytest.raises(IndexError):
        f(y, x, 4)


@pytest.mark.parametrize("k", [4, -1, 2, -2])
def test_lengths_of_parts_are_compared_as_a_whole(k):
    """Bounds from the end are counted by a conditional expression."""

    def f(x, k):
        y = x[:k].copy()
        y[:k] *= x[:k]
        return np.sum(y * y)

    x = np.array([0.5, -0.2, 0.3, 0.8])
    made = jit(grad(f))
    if k > 0:  # y[:k] is all of y
        np.testing.assert_allclose(made(x, k), np.where(np.arange(4) < k, 4 * x**3, 0))
        return
    with pytest.raises(ValueError, match="broadcast"):
        f(x, k)
    with pytest.raises(ValueError, match="broadcast"):
        made(x, k)


def test_the_last_element_is_tested_for_all_before_it():
    def backwards(x):
        return np.sin(x) * (x[3] * x[2] + x[1] * x[-4])

    text = jit(backwards).source(np.ones(5))
    assert text.count("IndexError") == 1
    np.testing.assert_allclose(jit(backwards)(np.arange(4.0)), backwards(np.arange(4.0)))
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        jit(backwards)(np.ones(3))
