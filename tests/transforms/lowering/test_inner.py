"""Operations that are calls of NumPy elsewhere are loops inside loops: the whole is one kernel."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

X = np.array([0.3, 0.1, 0.9, 0.5, 0.2])
PLACES = np.array([2, 0, 4])
ONES = np.ones((1, 4, 5, 4))
STEPS = {
    "array": lambda x: np.array([x[1], -x[0], x[2] * 2, x[3], x[4]]),
    "concatenate": lambda x: np.concatenate([x[1:] * 2, x[:1]]),
    "concatenate by columns": lambda x: np.concatenate([x[:, None], x[:, None] * 2], axis=1)[:, 1],
    "stack": lambda x: np.stack([x, 2 * x], axis=1)[:, 1] * 0.5,
    "roll": lambda x: np.roll(x, 1) + np.roll(x, -1) * 0.5,
    "pad": lambda x: np.pad(x, (2, 1))[1:-2] * 0.5,
    "repeat": lambda x: np.repeat(x, 2)[1:6],
    "cumsum": lambda x: np.cumsum(x) * 0.1,
    "cumsum of columns": lambda x: np.cumsum(x[:, None] * x, axis=0)[-1],
    "cumprod of rows": lambda x: np.cumprod(x[:, None] + x, axis=1)[:, 1],
    "maximum.accumulate": lambda x: np.maximum.accumulate(x) - 0.5 * np.minimum.accumulate(x),
    "argmax": lambda x: x * 0.5 + np.argmax(x),
    "argmin of rows": lambda x: x * 0.5 + np.argmin(np.sin(7 * x[:, None] * x), axis=1),
    "norm": lambda x: x / np.linalg.norm(x),
    "einsum": lambda x: np.einsum("ij,kj,k->i", x[:, None] * x, x[:, None] - x, x),
    "einsum along diagonals": lambda x: np.einsum("ii,jj,ij->j", *[x[:, None] * x] * 3) * 0.1,
    "traces by einsum": lambda x: x * np.einsum("ijij->", x[:, None, None, None] * ONES),
    "stacked products": lambda x: (np.stack([x[:, None] * x] * 2) @ np.ones((2, 5, 3)))[1, :, 2],
    "ravel": lambda x: (x[:, None] * x).ravel()[3:8],
    "three axes of one": lambda x: (x[:, None] * x)[:4].reshape(2, 5, 2)[1, :, 1],
    "diagonal": lambda x: np.diag(x[:, None] - x[::-1]),
    "lower diagonal": lambda x: x + np.sum(np.diagonal(x[:, None] * x, -2)),
    "trace": lambda x: x * np.trace(x[:, None] * x),
    "triangles": lambda x: np.triu(x[:, None] * x, 1)[0] + np.tril(x[:, None] * x)[4],
    "round": lambda x: np.round(x * 1.37, 2) + np.round(x * 100, -1) * 0.001,
    "take": lambda x: x * 0.5 + np.sum(np.take(x, [1, 3, 4])),
}


def repeated(step, count):
    def f(x):
        for _ in range(count):
            x = step(x)
        return x

    return f


def driver(text):
    """The function that calls the kernels."""
    return text[text.rindex("\ndef ") :]


@pytest.mark.parametrize("name", STEPS)
def test_whole_loop_is_compiled(name):
    f = repeated(STEPS[name], 3)
    compiled = jit(f)
    assert "for " not in driver(compiled.source(X))
    np.testing.assert_allclose(compiled(X), f(X), rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "i4", "i8"])
def test_dtypes(dtype):
    def f(x):
        place, total = 0, np.zeros(5, x.dtype)
        for i in range(2):
            x = np.concatenate([x[1:], x[:1]])
            total = total + np.cumsum(x).astype(x.dtype) + np.maximum.accumulate(x)
            place = place + i + np.argmax(x)
        return place, total, x

    x = np.array([3, 1, 9, 5, 9]).astype(dtype)
    for got, want in zip(jit(f)(x), f(x), strict=True):
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_array_equal(got, want)


def test_numbers_of_rows_in_memory_of_their_own():
    def f(x):
        for _ in range(3):
            x = np.cumsum(np.cumsum(x) * 0.3)
            x = x / np.linalg.norm(x)
        return np.sum(x)

    rows = np.stack([X, 2 * X[::-1], X - 1])
    np.testing.assert_allclose(jit(vmap(f))(rows), [f(x) for x in rows], rtol=1e-12)


def test_first_nan_wins():
    def f(x):
        found = 0
        for _ in range(1):
            found = 10 * np.argmax(x) + np.argmin(x)
        return found

    compiled = jit(f)
    for x in ([1.0, np.nan, 3.0, np.nan], [np.nan, 1.0, 2.0, 0.0], [2.0, 2.0, 1.0, 1.0]):
        assert compiled(np.array(x)) == f(np.array(x))


def test_extreme_of_nothing():
    @jit
    def f(x, n):
        found = 0
        for _ in range(2):
            found += np.argmin(x[:n])
        return found

    assert f(X, 3) == 2
    with pytest.raises(ValueError, match="attempt to get argmin of an empty sequence"):
        f(X, 0)


def test_sizes_are_compared():
    @jit
    def f(x, n, m):
        total = 0.0
        for _ in range(2):
            total += np.sum(x.reshape(n, m)[0])
        return total

    assert f(np.arange(6.0), 2, 3) == 6.0
    with pytest.raises(ValueError, match=r"reshape|lengths differ"):
        f(np.arange(6.0), 2, 4)


def test_gradient_of_a_loop_around_a_cumulative_sum():
    def f(x):
        for _ in range(2):
            x = np.cumsum(np.sin(x)) / np.linalg.norm(x)
        return np.sum(x)

    compiled = jit(grad(f))
    assert "for " not in driver(compiled.source(X))
    step = 1e-6
    for k, slope in enumerate(compiled(X)):
        e = step * (np.arange(5) == k)
        assert slope == pytest.approx((f(X + e) - f(X - e)) / (2 * step), rel=1e-6)
