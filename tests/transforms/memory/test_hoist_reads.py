"""Stores to rows that are read afterwards need no copies of the array."""

import numpy as np

from tapeless import grad, hessian


def rows(x):
    out = np.zeros((len(x), 2))
    for t in range(len(x)):
        out[t] = x[t] ** 2, x[t] * 3
    return np.sum(out**2)


def test_cotangents_of_rows_are_not_copied():
    x = np.array([0.3, 0.7, 0.2])
    slope = grad(rows)
    np.testing.assert_allclose(slope(x), 4 * x**3 + 18 * x)
    assert "copy" not in slope.source()
    np.testing.assert_allclose(hessian(rows)(x), np.diag(12 * x**2 + 18))


def exchanged(x):
    y = x * 2
    z = y.copy()
    z[0] = y[1] ** 2
    z[1] = y[0] * y[2]
    return np.sum(z * y)


def test_what_is_read_of_both_stays_apart():
    x = np.array([0.3, 0.7, 0.2])
    step = 1e-6 * np.eye(3)
    wanted = [(exchanged(x + e) - exchanged(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(grad(exchanged)(x), wanted, rtol=1e-7)
