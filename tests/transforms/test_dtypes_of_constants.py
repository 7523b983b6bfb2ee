"""Constants and parentheses move only where each step keeps the dtype of the result: elsewhere it
would be rounded, wrap around, or leave the range of another dtype."""

import itertools

import numpy as np
import pytest

from tapeless import grad, jit, vjp, vmap

ARRAYS = {
    "i1": np.array([-128, 127, 3, 0], "i1"),
    "u1": np.array([255, 7, 0, 200], "u1"),
    "i8": np.array([-(2**63), 2**63 - 2, 3, -1], "i8"),
    "u8": np.array([2**64 - 1, 2**63, 3, 0], "u8"),
    "f4": np.array([3e30, -2, 0.1, 3], "f4"),
    "f8": np.array([1e300, -2.5, 0.1, 3]),
}
PROGRAMS = {
    "100 (x y)": lambda x, y: 100 * (x * y),
    "x (100 y)": lambda x, y: x * (100 * y),
    "(100 x) y": lambda x, y: (100 * x) * y,
    "3 + (x + y)": lambda x, y: 3 + (x + y),
    "(x - 3) + y": lambda x, y: (x - 3) + y,
    "x + -y": lambda x, y: x + (-y),
    "x - (y - 3)": lambda x, y: x - (y - 3),
    "3 (x y) of int8": lambda x, y: np.int8(3) * (x * y),
    "2 (x y) of float32": lambda x, y: np.float32(2) * (x * y),
    "0.5 (3 x) + y": lambda x, y: 0.5 * (3 * x) + y,
    "0.5 (x y)": lambda x, y: 0.5 * (x * y),
    "where x 100 y": lambda x, y: np.where(x > 0, x, 0) * 100 * y,
}


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
@pytest.mark.parametrize("kinds", list(itertools.product(ARRAYS, ARRAYS)), ids="-".join)
def test_mixed_dtypes(kinds):
    x, y = (ARRAYS[k] for k in kinds)
    for name, f in PROGRAMS.items():
        want = f(x, y)
        for got in (vmap(f)(x, y), jit(f)(x, y)):
            assert got.dtype == want.dtype, name
            eps = 4 * np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0
            np.testing.assert_allclose(got, want, rtol=eps, err_msg=name)


def test_derivatives_by_images():
    def f(w, image):
        return np.sum((image * w) * (image * w) * image)

    image = np.array([200], "u1")
    np.testing.assert_array_equal(grad(f)(np.array([1.0]), image), [16e6])
    np.testing.assert_array_equal(jit(grad(f))(np.array([1.0]), image), [16e6])


def test_ranges():
    def single(x):
        return 1e30 * (1e30 * x)

    def half(x):
        return np.sum(x / 100.0)

    def quotient(x):
        return (3e200 * x) / 1e-200

    def numpys(x):
        return np.float64(1e300) * (1e300 * x)

    x = np.array([1e-30], "f4")
    np.testing.assert_allclose(jit(single)(x), single(x), rtol=1e-6)
    x = np.full(1000, 100, "f2")
    np.testing.assert_allclose(jit(half)(x), 1000, rtol=1e-2)
    x = np.array([1e-300, 0.0])
    for f in (quotient, numpys):
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-14)


def test_quotients_by_what_may_be_zero():
    def mean(x):
        return x.mean(axis=0) * 3

    def shared(x, n):
        return 2.0 * (x / n)

    with np.errstate(all="ignore"):
        assert np.isnan(jit(mean)(np.zeros((0, 3)))).all()
        np.testing.assert_array_equal(jit(shared)(np.ones(1), 0), [np.inf])


def test_compensated_sums():
    """Parentheses keep what rounding would lose."""

    def neumaier(x):
        s = c = 0.0
        for v in x:
            t = s + v
            if abs(s) >= abs(v):
                c += (s - t) + v
            else:
                c += (v - t) + s
            s = t
        return s + c

    x = np.array([1e16, 1.0, -1e16, 1.0])
    assert neumaier(x) == vjp(neumaier, x)[0] == jit(neumaier)(x) == 2
    c, s, t, v = (np.array([k]) for k in (0.25, 1.0, 1e16, 1e16))
    np.testing.assert_array_equal(vmap(lambda c, s, t, v: c + ((s - t) + v))(c, s, t, v), [0.25])
