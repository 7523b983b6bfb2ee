"""x.flags says of arrays of the program what NumPy says."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.errors import UnsupportedError

X = np.arange(6.0).reshape(2, 3) + 1


def orders(x):
    turned = x.T
    return [
        *(x.flags.c_contiguous, x.flags.f_contiguous, turned.flags["F_CONTIGUOUS"]),
        *(turned.flags.contiguous, x[:, 1].flags.contiguous, x[::2].flags.forc),
        *(np.asfortranarray(x).flags.fnc, x[1:].flags.c_contiguous, x.reshape(-1).flags["C"]),
        *(x.copy().flags.writeable, np.broadcast_to(x, (2, *x.shape)).flags.writeable),
    ]


@pytest.mark.parametrize("x", [X, np.asfortranarray(X), X[:, ::2], X[:1]])
def test_flags(x):
    assert list(map(bool, jit(orders)(x))) == orders(x)


def in_c_order(x):
    if not x.flags["C_CONTIGUOUS"]:
        x = np.ascontiguousarray(x)
    return np.sum(x * x)


def test_a_test_of_the_order():
    np.testing.assert_array_equal(grad(in_c_order)(X.T), 2 * X.T)


def test_stores_to_what_was_made_read_only():
    def f(x):
        y = 2 * x
        y.flags.writeable = False
        y[0] = 1.0
        return y

    with pytest.raises(ValueError, match="read-only"):
        f(X)
    with pytest.raises(Exception, match="read-only"):
        jit(f)(X)


def test_flags_that_are_not_known():
    with pytest.raises(UnsupportedError, match="OWNDATA"):
        jit(lambda x: x.flags["OWNDATA"])(X)
