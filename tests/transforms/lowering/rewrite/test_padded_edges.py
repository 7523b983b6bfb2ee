"""Padding with edges, and its derivative, are slices: no index is computed, saved or tested."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 9))


def smoothed(x, steps, width):
    for _ in range(steps):
        p = np.pad(x, width, mode="edge")
        (a, b), (c, _) = width
        x = x + 0.1 * (p[: x.shape[0], c : c + x.shape[1]] + p[a + b :, : x.shape[1]] - 2 * x)
    return np.sum(np.sin(x))


def padded_once(x):
    return np.sum(np.cos(np.pad(x, ((2, 0), (1, 3)), "edge")))


WIDTHS = [((1, 1), (1, 1)), ((0, 2), (3, 0)), ((12, 1), (0, 0))]


@pytest.mark.parametrize("width", WIDTHS)
def test_values_and_slopes(width):
    steps = 3

    def f(x):
        return smoothed(x, steps, width)

    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-12)
    along = RNG.normal(size=X.shape)
    slope = (f(X + 1e-6 * along) - f(X - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(f))(X) * along), slope, rtol=1e-6)
    np.testing.assert_allclose(jit(grad(f))(X), grad(f)(X), rtol=1e-10)


def test_no_indices():
    def f(x, steps):
        return smoothed(x, steps, ((1, 1), (1, 1)))

    for text in (jit(f).source(X, 3), jit(grad(f)).source(X, 3)):
        assert "index" not in text


def test_indices_of_other_modes_are_computed_once():
    def f(x, steps):
        for _ in range(steps):
            x = x + 0.1 * np.pad(x, 1, mode="wrap")[2:, 1:-1]
        return np.sum(x**2)

    text = grad(f).source(X, 3)
    assert "saved" not in text
    assert text.index("np.arange") < text.index("for _ in")
    np.testing.assert_allclose(jit(f)(X, 3), f(X, 3), rtol=1e-12)
    assert np.isfinite(jit(grad(f))(X, 0)).all()


def test_outside_of_loops():
    np.testing.assert_allclose(jit(padded_once)(X), padded_once(X), rtol=1e-12)
    along = RNG.normal(size=X.shape)
    slope = (padded_once(X + 1e-6 * along) - padded_once(X - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(padded_once))(X) * along), slope, rtol=1e-6)


def test_one_row():
    for f in (padded_once, lambda x: smoothed(x, 2, ((1, 1), (1, 1)))):
        np.testing.assert_allclose(jit(f)(X[:1]), f(X[:1]), rtol=1e-12)


def test_nothing_to_pad_with():
    def f(x, n):
        return np.pad(x[n:], ((1, 1), (0, 0)), "edge")

    np.testing.assert_array_equal(jit(f)(X, 3), f(X, 3))
    for run in (f, jit(f)):
        with pytest.raises(ValueError, match="empty axis"):
            run(X, 7)
