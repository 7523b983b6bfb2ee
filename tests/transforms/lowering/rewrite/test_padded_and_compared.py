"""np.pad and comparisons of whole arrays leave a loop compiled, with NumPy's values."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(0)
U, LINE = RNG.normal(size=(6, 5)), RNG.normal(size=7)
LABELS = RNG.integers(0, 50, (9, 8))


def zeros_around(u, steps):
    for _ in range(steps):
        p = np.pad(u, 1)
        u = u + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)
    return u


def uneven(u, steps):
    for k in range(steps):
        p = np.pad(u, ((2, 0), (0, 3)), constant_values=1.5)
        u = 0.5 * p[2:, :-3] + 0.1 * p[:-2, 3:] + k
    return u


def widths_by_arguments(u, steps):
    n = len(u) // 3
    for _ in range(steps):
        p = np.pad(u, ((n, 1), (1, n)))
        u = u + 0.1 * p[n - 1 : -2, : -n - 1]
    return u


def three_axes(u, steps):
    v = u[:, :, None] * np.arange(1.0, 4.0)
    for _ in range(steps):
        v = v + 0.1 * np.pad(v, 1)[2:, :-2, 1:-1]
    return v


def around(mode):
    def padded(u, steps):
        for _ in range(steps):
            p = np.pad(u, ((1, 2), (3, 1)), mode=mode)
            u = 0.5 * u + 0.1 * p[:-3, 2:-2] + 0.2 * p[3:, 4:]
        return u

    return padded


def wider_than_the_array(mode):
    def padded(u, steps):
        for _ in range(steps):
            u = 0.5 * u + 0.01 * np.pad(u, 23, mode=mode)[: u.shape[0], -u.shape[1] :]
        return u

    return padded


PADDED = {
    "zeros": zeros_around,
    "uneven": uneven,
    "by arguments": widths_by_arguments,
    "three axes": three_axes,
    **{mode: around(mode) for mode in ("edge", "reflect", "symmetric", "wrap")},
    **{f"{m} twice": wider_than_the_array(m) for m in ("edge", "reflect", "symmetric", "wrap")},
}


@pytest.mark.parametrize("name", PADDED)
def test_padded(name):
    compiled = jit(PADDED[name])
    np.testing.assert_allclose(compiled(U, 3), PADDED[name](U, 3), rtol=1e-13)
    assert compiled.explain(U, 3).loops == ()
    check_grads(jit(lambda u: np.sum(PADDED[name](u, 2) ** 2)), (U,), order=1, modes=["rev"])


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_short_lines(mode, length):
    def longer(u, steps):
        total = 0.0
        for k in range(steps):
            total = total + np.pad(u, (4, 5), mode=mode) * k
        return total

    u = LINE[:length]
    np.testing.assert_array_equal(jit(longer)(u, 3), longer(u, 3))


def test_nothing_cannot_be_padded_by_itself():
    def empty(u, steps):
        for _ in range(steps):
            u = np.pad(u, 1, mode="edge")[1:-1]
        return u

    def none_of(u, steps):
        v = u[u > 9]
        for _ in range(steps):
            v = np.pad(v, 1, mode="wrap")[1:-1] + 1
        return v

    for f in (empty, jit(empty)):
        with pytest.raises(ValueError, match="can't extend empty axis 0"):
            f(np.zeros(0), 2)
    for f in (none_of, jit(none_of)):
        with pytest.raises(ValueError, match="can't extend empty axis 0"):
            f(LINE, 2)
    np.testing.assert_array_equal(jit(none_of)(LINE + 9, 2), none_of(LINE + 9, 2))


def spread(label, mask):
    while True:
        new = np.maximum(label, np.pad(label, 1)[:-2, 1:-1]) * mask
        if np.array_equal(new, label):
            return label
        label = new


def halved_until_close(u, mask):
    v = u
    while not np.allclose(v, 0.0, atol=1e-3):
        v = v / 2
    return v


def counted_close(u, mask):
    count = np.zeros(u.shape, int)
    for k in range(20):
        count += np.isclose(u * k, u + k / 3, rtol=0.1)
    return count


def with_nan(u, mask):
    same = 0
    v = u
    for k in range(4):
        v = np.where(u > 0, u, np.nan)
        same += np.array_equal(v, np.where(u > 0, u, np.nan), equal_nan=True) * 10
        same += np.array_equal(v, v) + 100 * np.allclose(v, v + k, equal_nan=True)
    return same


def infinite(u, mask):
    v, total = u / 0.0, 0
    for _ in range(3):
        total += np.allclose(v, u / 0.0) + 10 * np.allclose(v, -v) + 100 * np.allclose(u, v)
    return total


COMPARED = [(spread, LABELS), (halved_until_close, U), (counted_close, U), (with_nan, U)]


# NumPy warns of what is meant to be infinite
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(("function", "x"), [*COMPARED, (infinite, U), (counted_close, LABELS)])
def test_compared(function, x):
    mask = RNG.random(x.shape) < 0.8
    compiled = jit(function)
    np.testing.assert_array_equal(compiled(x, mask), function(x, mask))
    assert compiled.explain(x, mask).loops == ()


def test_arrays_of_other_shapes_are_not_equal():
    def grown(x, y, n):
        same = 0
        for k in range(n):
            same += np.array_equal(x[: k + 1], y) + np.array_equal(x, y[:, None])
        return same

    for y in (LINE[:3], LINE[:1], np.zeros(2)):
        assert jit(grown)(LINE, y, 5) == grown(LINE, y, 5)
