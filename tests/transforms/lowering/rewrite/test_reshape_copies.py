"""Arrays in another shape inside of loops: copied once, and only along the axes that change."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

RNG = np.random.default_rng(0)
SHAPES = [
    ((2, 3, 4, 5), (6, 20)),
    ((2, 3, 4, 5), (6, 2, 2, 5)),
    ((2, 3, 4, 5), (2, 12, 5)),
    ((2, 12, 5), (2, 3, 4, 5)),
    ((4, 6), (3, 8)),
    ((24,), (2, 3, 4)),
    ((1, 6, 1, 4), (2, 3, 4)),
    ((2, 3, 4, 5), (120, 1)),
]


@pytest.mark.parametrize(("have", "want"), SHAPES)
def test_values_and_derivatives(have, want):
    x, w = RNG.normal(size=(2, *have))

    def f(x):
        total = 0.0
        for k in range(3):
            y = (np.sin(x) * (k + 1))[::-1].reshape(want)
            total = total + y * y[-1:] + np.swapaxes(x, 0, -1).reshape(want) * k
        return np.sum(total**2)

    np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
    slope = (f(x + 1e-6 * w) - f(x - 1e-6 * w)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(f))(x) * w), slope, rtol=1e-6)


def test_lengths_that_calls_bring():
    def f(x):
        n, m, k = x.shape
        total = 0.0
        for i in range(2):
            rows = x[:, ::-1].reshape(n * m, k) * (i + 1)
            total = total + np.cumsum(rows, axis=0)[1::2].sum() + rows.reshape(n, m * k)
        return total

    compiled = jit(f)
    for shape in ((2, 3, 4), (5, 1, 2), (1, 4, 3), (3, 2, 0)):
        x = RNG.normal(size=shape)
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)


def test_axes_that_stay_are_left_alone():
    def f(x, y):
        n, m, k = x.shape
        for _ in range(2):
            y = y + x[:, ::-1].reshape(n * m, k) * y[::-1]
        return y

    x, y = RNG.normal(size=(3, 4, 5)), RNG.normal(size=(12, 5))
    np.testing.assert_allclose(jit(f)(x, y), f(x, y), rtol=1e-12)
    assert "// " not in jit(f).source(x, y)


def merged(k, ys):
    x = np.zeros((3, 2))
    for y in ys:
        x = np.tanh(x + (k @ y)[:, None])
    return np.sum(x)


def filtered(ys, a, c):
    """A Kalman filter: its state has 3 numbers, as many as `a` has rows in any call that fits."""
    x, s = np.zeros(3), np.eye(3)
    for y in ys:
        x, s = a @ x, a @ s @ a.T
        gain = s @ c.T @ np.linalg.inv(c @ s @ c.T + np.eye(2))
        x = x + gain @ (y - c @ x)
        s = s - gain @ c @ s
    return np.sum(x) + np.sum(s)


@pytest.mark.parametrize(
    ("f", "shapes"), [(merged, ((3, 2), (5, 2))), (filtered, ((5, 2), (3, 3), (2, 3)))]
)
def test_an_axis_under_another_name_keeps_a_loop_in_its_kernel(f, shapes):
    args = [RNG.normal(size=shape) for shape in shapes]
    slope = jit(grad(f))
    w = RNG.normal(size=shapes[0])
    moved = [f(args[0] + e * w, *args[1:]) for e in (1e-6, -1e-6)]
    np.testing.assert_allclose(np.sum(slope(*args) * w), (moved[0] - moved[1]) / 2e-6, rtol=1e-6)
    driver = slope.source().rpartition("\n\n\ndef ")[2]
    assert "\n    for " not in driver


ROWS = np.array([[0.6, 2.0, 0.3], [-1.0, 4.0, 0.2], [-3.0, 1.0, 5.0], [0.1, 1.5, 2.5]])


def as_a_line(x, n):
    return x[x[:, 0] > 0].reshape(n)


def columns_as_a_line(x, n):
    return x[x[:, 0] > 0].reshape(n, order="F")


def column_as_a_line(x, n):
    return x[x > 0][:3, None].reshape(n // 2)


def lines_in_a_loop(x, n):
    total = 0.0
    for k in range(3):
        total = total + x[x[:, 0] > k - k].reshape(n)
    return total


@pytest.mark.parametrize(
    "function", [as_a_line, columns_as_a_line, column_as_a_line, lines_in_a_loop]
)
def test_lengths_that_data_decide_are_compared(function):
    """Rows that a mask picks, as a line of another length: other elements were read, in silence."""

    def f(x, n):
        return np.sum(np.cumsum(function(x, n)))

    for form in (f, jit(f), jit(f).plain):
        np.testing.assert_allclose(form(ROWS, 6), f(ROWS, 6), rtol=1e-12)
    for form in (f, jit(f), jit(f).plain, grad(f), jit(grad(f))):
        for n in (4, 8):
            with pytest.raises(ValueError, match=r"reshape|lengths differ"):
                form(ROWS, n)
    for form in (vmap(f, in_axes=(0, None)), jit(vmap(f, in_axes=(0, None)))):
        with pytest.raises(ValueError, match="reshape"):
            form(ROWS[None], 8)


def lowest_of_each_row_removed(image, n):
    for _ in range(n):
        height, width = image.shape
        keep = np.ones((height, width), dtype=bool)
        keep[np.arange(height), np.argmin(image, axis=1)] = False
        image = image[keep].reshape(height, width - 1) * 0.9
    return np.sum(image**2)


def seams_removed(image, n):
    """Seam carving (S. Avidan and A. Shamir, 2007) by dynamic programming."""
    seams, cost = [], 0.0
    for _ in range(n):
        height, width = image.shape
        energy = np.abs(np.diff(image, axis=1, append=image[:, -1:]))
        for i in range(1, height):
            left = np.r_[np.inf, energy[i - 1, :-1]]
            right = np.r_[energy[i - 1, 1:], np.inf]
            energy[i] += np.min(np.stack([left, energy[i - 1], right]), axis=0)
        seam = np.zeros(height, dtype=int)
        seam[-1] = np.argmin(energy[-1])
        for i in range(height - 2, -1, -1):
            first = max(0, seam[i + 1] - 1)
            seam[i] = first + np.argmin(energy[i, first : min(width, seam[i + 1] + 2)])
        seams.append(seam)
        cost = cost + energy[-1, seam[-1]]
        keep = np.ones((height, width), dtype=bool)
        keep[np.arange(height), seam] = False
        image = image[keep].reshape(height, width - 1)
    return cost + np.sum(image**2) + sum(s[0] for s in seams)


@pytest.mark.parametrize("f", [lowest_of_each_row_removed, seams_removed])
def test_gradients_of_lengths_that_are_known_later(f):
    """In the backward loop the mask, which says how long its elements are, is read last."""
    image, w = RNG.uniform(size=(2, 5, 6))
    slope = (f(image + 1e-6 * w, 2) - f(image - 1e-6 * w, 2)) / 2e-6
    for form in (grad(f), jit(grad(f))):
        np.testing.assert_allclose(np.sum(form(image, 2) * w), slope, rtol=1e-6)
    batch = jit(vmap(grad(f), in_axes=(0, None)))(np.stack([image, w]), 2)
    np.testing.assert_allclose(batch, [grad(f)(image, 2), grad(f)(w, 2)], rtol=1e-12)
