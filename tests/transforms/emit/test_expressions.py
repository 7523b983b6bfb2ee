"""Expressions read as by hand, and mean the same."""

import numpy as np
import pytest

from tapeless import grad, vmap

X = np.array([0.5, 2.0, -1.0, 3.0])


def scaled(x, k):
    x = x.copy()
    x[0] = 2.0 * x[0]
    x[1:] = x[1:] * k
    x[x > 3] = x[x > 3] / 2
    x[[0, 2]] = x[[0, 2]] - k
    x[-1] = k - x[-1]
    return x


def test_elements_are_scaled_in_place():
    batch = np.stack([X, X[::-1]])
    f = vmap(scaled, (0, None))
    text = f.source(batch, 2.5)
    for line in ("x[:, 0] *= 2.0", "x[:, 1:] *= k", "x[mask] /= 2", "-= k", "= k - x[:, -1]"):
        assert line in text
    np.testing.assert_array_equal(f(batch, 2.5), [scaled(x, 2.5) for x in batch])


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_elements_of_other_dtypes_are_assigned(dtype):
    def halved(x):
        x = x.copy()
        x[0] = x[0] * np.float64(0.5)
        x[1:] = x[1:] * np.array([0.5, 1.5, 2.5])
        return x

    batch = np.arange(8).reshape(2, 4).astype(dtype)
    assert "*=" not in vmap(halved).source(batch)
    np.testing.assert_array_equal(vmap(halved)(batch), [halved(x) for x in batch])


def test_masks_are_counted_in_a_dtype():
    def f(x):
        return np.sum(np.max(x, axis=1))

    for dtype in (np.float64, np.float32):
        x = np.array([[1, 2, 2], [3, 3, 3]], dtype)
        assert f"np.sum(mask, axis=1, dtype=np.{np.dtype(dtype).name})" in grad(f).source(x)
        slope = grad(f)(x)
        assert slope.dtype == dtype
        np.testing.assert_allclose(slope, [[0, 0.5, 0.5], [1 / 3] * 3], rtol=1e-6)


def growing(x, n):
    out = x[:1]
    for k in range(n):
        out = np.append(out, np.sin(x[k]))
        out = np.concatenate([np.array([2 * x[0]]), out, np.array([3.0])])
    return np.sum(out**2)


def test_numbers_are_appended():
    text = grad(growing).source(X, 2)
    assert "np.append(out, np.sin(x[k]))" in text
    assert "np.concatenate([[2 * x[0]], out, [3.0]])" in text
    step = 1e-6 * np.eye(4)
    by_differences = [(growing(X + d, 2) - growing(X - d, 2)) / 2e-6 for d in step]
    np.testing.assert_allclose(grad(growing)(X, 2), by_differences, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("number", [2.0, np.float32(2), np.float64(2), 3, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_appended_numbers_have_the_dtype_of_numpy(number, dtype):
    def f(x, number):
        return np.append(x, number) * 2

    x = np.ones((2, 3), dtype)
    got = vmap(f, (0, None))(x, number)
    assert got.dtype == f(x[0], number).dtype
    np.testing.assert_array_equal(got, [f(row, number) for row in x])
