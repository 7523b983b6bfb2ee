"""`out=` by position is stored to as `out=` by name is, and `dtype=` is the dtype of the result."""

import math

import numpy as np
import pytest

import tapeless

A = np.arange(6.0).reshape(2, 3) + 1
WRITES = {
    "sum": lambda a, out: np.sum(a, 1, None, out),
    "method sum": lambda a, out: a.sum(1, None, out),
    "max": lambda a, out: np.max(a, 1, out),
    "method min": lambda a, out: a.min(1, out),
    "nanmax": lambda a, out: np.nanmax(a, 1, out),
    "std": lambda a, out: np.std(a, 1, None, out),
    "take": lambda a, out: np.take(a[0], [1, 2], None, out),
    "reduce": lambda a, out: np.hypot.reduce(a, 1, None, out),
    "add.reduce": lambda a, out: np.add.reduce(a, 1, None, out),
    "dot": lambda a, out: np.dot(a, a[0], out),
    "concatenate": lambda a, out: np.concatenate((a[0, :1], a[1, :1]), 0, out),
    "stack": lambda a, out: np.stack([a[0, 0], a[1, 1]], 0, out),
    "clip": lambda a, out: np.clip(a[:, 0], 2, 3, out),
    "ufunc": lambda a, out: np.multiply(a[:, 0], a[:, 1], out),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_out_by_position(write):
    def f(a):
        out = np.zeros(2)
        write(a, out)
        return out * a[0, 0]

    step = np.sin(A) * 1e-6
    value, tangent = tapeless.jvp(f, (A,), (step,))
    np.testing.assert_allclose(value, f(A), rtol=1e-14)
    np.testing.assert_allclose(tangent, (f(A + step) - f(A - step)) / 2, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.var(a, dtype=np.float32),
        lambda a: a.std(0, np.float32),
        lambda a: np.mean(a, 1, np.float32),
        lambda a: np.concatenate([a, a], dtype=np.float32),
        lambda a: np.stack([a, a], dtype=np.float32),
        lambda a: np.hypot.reduce(a, dtype=np.float32),
    ],
)
def test_dtype(f):
    value, tangent = tapeless.jvp(f, (A,), (np.ones_like(A),))
    assert value.dtype == tangent.dtype == f(A).dtype == np.float32
    np.testing.assert_allclose(value, f(A), rtol=1e-6)


REFUSED = {
    "reorderable": lambda a: np.subtract.reduce(a, axis=None),
    "identity": lambda a: np.divide.reduce(a[:0]),
    "initial": lambda a: np.subtract.reduce(a, where=np.array([True, False, True])),
    "larger": lambda a: np.lib.stride_tricks.sliding_window_view(a[0], 4),
    "window_shape": lambda a: np.lib.stride_tricks.sliding_window_view(a, 2),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_as_numpy_does(message):
    for call in (REFUSED[message], tapeless.jvp_fn(lambda a: np.sum(REFUSED[message](a)))):
        with pytest.raises(ValueError, match=message):
            call(*[A] * (1 if call is REFUSED[message] else 2))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.sin(x[0]),
        lambda x: math.log(x[0], 3),
        lambda x: math.atan2(x[0], x[1]) * x,
        lambda x: math.modf(3 * x[0])[0],
    ],
)
def test_math_computes_with_python_floats(f):
    x = np.array([0.3, 0.7], np.float32)
    value, _ = tapeless.jvp(f, (x,), (x,))
    assert type(value) is type(f(x))
    np.testing.assert_array_equal(value, f(x))
    assert getattr(value, "dtype", None) == getattr(f(x), "dtype", None)


@pytest.mark.parametrize(
    ("function", "size", "dtype"),
    [
        (np.fft.ifft2, (2, 2), complex),
        (np.fft.irfft2, (2, 2), float),
        (np.fft.hfft, 2, float),
        (np.fft.fft2, (2, 2), complex),
    ],
)
def test_transforms_fill_out_where_numpy_fills_it(function, size, dtype):
    def f(x):
        out = np.zeros((2, 2), dtype)
        result = function(x, size, out=out)
        return out, result, out is result

    x = np.arange(4.0).reshape(2, 2)
    for actual, expected in zip(tapeless.jit(f)(x), f(x), strict=True):
        np.testing.assert_allclose(actual, expected)
