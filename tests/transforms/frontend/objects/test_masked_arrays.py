"""Masked arrays that a function makes of its arguments."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

X = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, 2.0]])
MASK = np.array([[False, True, False], [True, True, True]])


def masked(x):
    return np.ma.array(x, mask=x > 1.5)


def stored_through(x):
    y = x * 1.0
    m = np.ma.array(y, mask=MASK)
    y[0, 0] = 4.0
    return m * 1.0


USES = {
    "arithmetic": lambda x: (masked(x) - 1) ** 2.0 + 3.0 * masked(x),
    "beside arrays": lambda x: (x + masked(x), x - masked(x), x * np.ma.array(x, mask=MASK)),
    "two masks": lambda x: masked(x) * np.ma.array(x, mask=MASK),
    "quotients": lambda x: (masked(x) / (x - 0.5), 1.0 / masked(x)),
    "powers": lambda x: (masked(x) ** 0.5, 2.0 ** masked(x)),
    "sums of rows": lambda x: masked(x).sum(axis=1),
    "sums of rows, all left out": lambda x: np.ma.array(x, mask=MASK).sum(axis=1),
    "means of rows": lambda x: np.ma.array(x, mask=MASK).mean(axis=1),
    "sums": lambda x: (masked(x).sum(), np.sum(masked(x)), masked(x).mean(), np.ma.mean(masked(x))),
    "counts": lambda x: x * masked(x).count(),
    "functions": lambda x: (np.sin(masked(x)), -masked(x), abs(masked(x))),
    "parts": lambda x: (np.real(masked(x)), np.ma.array(x * (1 + 2j), mask=MASK).imag),
    "filled": lambda x: (masked(x).filled(7.0), np.ma.filled(masked(x), 0.0)),
    "data and mask": lambda x: (masked(x).data * 2.0, np.ma.getmaskarray(masked(x)) * x),
    "masked_where": lambda x: np.ma.masked_where(x < 0, x) * 2.0,
    "masked_invalid": lambda x: np.ma.masked_invalid(np.sqrt(x)) * 2.0,
    "products": lambda x: np.dot(x.T, np.ma.asarray(x)) - 1.0,
    "no mask": lambda x: np.ma.asarray(x) * 2.0,
    "a class": lambda x: np.ma.masked_array(x, MASK * 1 == 1) * isinstance(masked(x), np.ndarray),
    "one value for all": lambda x: np.ma.array(x, mask=True) + 1.0,
    "of a masked array": lambda x: np.ma.array(masked(x), mask=MASK) * 2.0,
    "it shares memory": stored_through,
}


def _leaves(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", USES)
def test_masked_arrays_are_what_they_are_in_numpy(name):
    f = USES[name]
    theirs, ours = _leaves(f(X)), _leaves(tapeless.jit(f)(X))
    for got, expected in zip(ours, theirs, strict=True):
        assert isinstance(got, np.ma.MaskedArray) == isinstance(expected, np.ma.MaskedArray)
        np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(expected))
        np.testing.assert_allclose(np.ma.getdata(got), np.ma.getdata(expected), rtol=1e-12)


SMOOTH = [n for n in USES if n not in ("masked_invalid", "powers", "quotients")]


@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_masked_is_nan_in_batches_and_has_no_slope(name):
    def f(x, fill=0.0):
        leaves = _leaves(USES[name](x))
        return [x.filled(fill) if isinstance(x, np.ma.MaskedArray) else x for x in leaves]

    batched = _leaves(tapeless.vmap(USES[name])(np.stack([X, 0.5 * X])))
    dots = _leaves(tapeless.jvp(USES[name], (X,), (X,))[1])
    for got, first, second in zip(batched, f(X, np.nan), f(0.5 * X, np.nan), strict=True):
        np.testing.assert_allclose(got, [first, second], rtol=1e-12)
    slopes = [(a - b) / 2e-6 for a, b in zip(f(X * (1 + 1e-6)), f(X * (1 - 1e-6)), strict=True)]
    for got, expected in zip(dots, slopes, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_left_out_has_no_slope():
    slope = tapeless.grad(lambda x: (np.ma.array(np.sqrt(x), mask=x <= 0) * 2.0).sum())
    np.testing.assert_allclose(slope(np.array([4.0, 0.0, -1.0])), [0.5, 0.0, 0.0])


def test_a_masked_array_of_integers_is_no_batch():
    with pytest.raises(UnsupportedError, match=r"m\.filled\(0\)"):
        tapeless.vmap(lambda k: np.ma.array(k, mask=k > 1) * 2)(np.arange(6).reshape(2, 3))


REFUSED = {
    "comparison": lambda x: np.where(masked(x) > 0, x, 1.0),
    "item": lambda x: masked(x)[0] * x,
    "function": lambda x: np.log(masked(x)),
    "product": lambda x: np.dot(masked(x), x.T),
    "method": lambda x: masked(x).std(),
    "store": lambda x: _stored(x * 1.0, masked(x)),
}


def _stored(y, m):
    y[0] = m
    return y


@pytest.mark.parametrize("name", REFUSED)
def test_the_rest_is_refused(name):
    with pytest.raises(UnsupportedError, match="of a masked array has no rule"):
        tapeless.jit(REFUSED[name])(X)


def test_a_sum_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="every element of a masked array is left out"):
        tapeless.jit(lambda x: masked(x).sum())(X + 10.0)


@pytest.mark.parametrize("mask", [np.ma.nomask, MASK], ids=["no mask", "a mask"])
def test_masked_arrays_are_arguments(mask):
    def f(w, m):
        masks = 2.0 if np.any(np.ma.getmask(m)) else 1.0
        return np.sum((m * w + m).filled(0.5) ** 2) * masks

    m, w = np.ma.array(X, mask=mask), np.array([0.5, -1.5])
    rest = np.ma.getmaskarray(m)
    slope = 2.0 * np.sum(np.where(rest, 0, X * X * (w[0] + 1))) * (1 + np.any(rest))
    np.testing.assert_allclose(tapeless.jit(f)(w[0], m), f(w[0], m))
    np.testing.assert_allclose(tapeless.grad(f)(w[0], m), slope)
    np.testing.assert_allclose(tapeless.vmap(f, in_axes=(0, None))(w, m), [f(w[0], m), f(w[1], m)])
