"""Places in arrays whose lengths only a kernel knows: the memory they lie in may be longer."""

import numpy as np
import pytest

from tapeless import jit, vmap

X = np.array([1.0, 2.0, 3.0, 4.0])


def before(x):
    return np.searchsorted(x[x > 2], 3.5) * 1.0


def after(x):
    return np.searchsorted(x[x > 2], 3.0, side="right") * 1.0


def of_none(x):
    return np.searchsorted(x[x > 5], 1.0) * 1.0


def of_several(x):
    return np.sum(np.searchsorted(x[x > 1], np.array([1.0, 2.5, 9.0]))) * 1.0


@pytest.mark.parametrize("f", [before, after, of_none, of_several])
def test_places_in_what_a_mask_selects(f):
    def repeated(x):
        total = 0.0
        for i in range(3):
            total = total + f(x + i * 0)
        return total

    assert jit(repeated)(X) == 3 * f(X)
    np.testing.assert_array_equal(jit(vmap(f))(np.stack([X, X + 1])), [f(X), f(X + 1)])
