"""Operations on whole arrays in C, where no library is there to call."""

import numpy as np
import pytest

from tapeless import grad
from tests.transforms.c.compiled import checked, library, normal


def diagonals(x):
    return np.diag(x) @ np.diag(x, 1)[:7, :7] + np.diag(x, -2)[2:, 2:]


def backwards(a):
    return a[-1:0:-1, 3:1:-1], a[2::-2], a[1::-1, ::-1], a[::-1][0], a[9:0:-1]


def rolled(x, k):
    return np.roll(x, k) * 2, np.roll(x, -2), np.roll(x, 30), np.roll(x[x > 0], 1)


def masked(q):
    k = q[:, 0] > 0
    return q[k, 1:], q[1:, k], q[q > 0][::-1]


def by_keys(q):
    return np.lexsort((q[0] > 0, q[1])), np.lexsort((q[2], np.round(q[1]), q[0] > 0))


def of_integers(x):
    n = np.arange(7)
    return x @ n, n @ x, np.outer(x, x) @ np.arange(14).reshape(7, 2)


def traces(a):
    return np.trace(a @ a @ a) * np.eye(3, 3, 1) @ a.T @ np.eye(3)


def stored(x, k, w):
    """Where an index repeats, the last store wins."""
    y = np.zeros(5)
    y[k] = x**2
    y[[0, 0]] += x[0]
    return y @ w


def shorter(points, t):
    """Kernels behind a loop that none of them can have."""
    while len(points) > 1:
        points = (1 - t) * points[:-1] + t * points[1:]
    return np.sum(points[0] ** 2)


def option(x, n):
    """What the backward loop gives is as long as x, and shorter before."""
    values = x[:n] ** 2
    for _ in range(n - 1):
        values = np.maximum(0.5 * (values[1:] + values[:-1]), 0.2)
    return values[0]


def branches(x):
    total = float(x[0]) ** 2
    if bool(x[1] > 0):
        total += float(np.sum(x)) + np.max(x)
    return total


PLACES = np.array([0, 1, 1, 2, 0, 4, 4])
PROGRAMS_OF_ARRAYS = {
    "diagonals": (diagonals, (normal(7),)),
    "slices that count down": (backwards, (normal(3, 4),)),
    "longer slices that count down": (backwards, (normal(12, 14),)),
    "rolled": (rolled, (normal(9), 3)),
    "masks and slices": (masked, (normal(9, 9),)),
    "several keys": (by_keys, (normal(9, 9),)),
    "products with integers": (of_integers, (normal(7),)),
    "ones on a diagonal": (traces, (normal(3, 3),)),
    "stores to a place twice": (grad(stored, argnums=(0, 2)), (normal(7), PLACES, normal(5))),
    "an array that gets shorter": (shorter, (normal(4, 2), 0.3)),
    "its gradient": (grad(shorter, argnums=(0, 1)), (normal(4, 2), 0.3)),
    "a tree of prices": (grad(option), (normal(9), 6)),
    "sums in branches": (branches, (np.abs(normal(5)),)),
}


@pytest.mark.parametrize("name", PROGRAMS_OF_ARRAYS)
def test_numbers_of_numpy(name, tmp_path):
    function, args = PROGRAMS_OF_ARRAYS[name]
    checked(function, args, tmp_path)


def test_gradients_agree_with_finite_differences():
    x, w, p = normal(7), normal(5), normal(4, 2)
    for k in range(7):
        step = np.eye(7)[k] * 1e-6
        slope = (stored(x + step, PLACES, w) - stored(x - step, PLACES, w)) / 2e-6
        assert np.isclose(grad(stored)(x, PLACES, w)[k], slope, atol=1e-6)
    slope = (shorter(p, 0.3 + 1e-6) - shorter(p, 0.3 - 1e-6)) / 2e-6
    assert np.isclose(grad(shorter, argnums=1)(p, 0.3), slope, atol=1e-6)


def test_parts_of_matrices_in_products(tmp_path):
    def inverses(a, b):
        return np.linalg.inv(a) @ b[:, 1:4] @ np.linalg.inv(a.T)

    a, b = normal(3, 3) + 3 * np.eye(3), normal(3, 9)
    checked(grad(lambda a, b: np.sum(inverses(a, b) ** 2), argnums=(0, 1)), (a, b), tmp_path)


def test_errors_that_tell_values(tmp_path):
    """They have a number: the text that C knows has dots for what it does not."""

    def looked_up(x, k):
        table = {1: 2.0, 4: 3.0}
        table[7] = x[0]
        if x[0] > 100:
            raise ValueError(f"{x[0]} is too much")
        return table[int(x[1])] * k

    run = library(looked_up, (np.array([2.0, 7.0]), 3.0), tmp_path)
    assert run(np.array([5.0, 7.0]), 2.0) == 10.0
    with pytest.raises(KeyError):
        run(np.array([5.0, 6.0]), 2.0)
    with pytest.raises(ValueError, match=r"\.\.\."):
        run(np.array([101.0, 1.0]), 2.0)


def changed_after_a_loop(b, a, passes):
    for _ in range(passes):
        t = b.copy()
        t[1:] += 0.5 * a[1:]
        b = 0.9 * t
    t[1:] += np.sin(t[:-1])
    return np.sum(b * b) + np.sum(t * t)


def test_an_array_that_only_the_passes_of_a_loop_make(tmp_path):
    """It is copied before it is stored to, where it has a value; else that is told."""
    args = (normal(3, 4), normal(3, 4, seed=1), 2)
    for k, function in enumerate(
        (changed_after_a_loop, grad(changed_after_a_loop, argnums=(0, 1)))
    ):
        folder = tmp_path / str(k)
        folder.mkdir()
        checked(function, args, folder)
        with pytest.raises(UnboundLocalError, match="t"):
            library(function, args, folder)(*args[:2], 0)


def sliced_down(x, v, w):
    """What these slices name is read, and stored to; values are sorted outside of kernels."""
    y, sums = np.cumsum(x), 0.0
    for part in (1, 2):
        sums = sums + part
    y[5::-2] += v
    y[-1:0:-1] = np.sort(y[-1:0:-1])[::-1]
    y[100:2:-1] += w
    y[0::-1] = np.sort(y[0::-1])
    return y, np.sort(y[-2:-30:-3]), np.sum(np.sort(y[3:-100:-1])), np.sort(y[20:-3:-1]) * sums


@pytest.mark.parametrize("n", [4, 8, 12, 30])
def test_slices_that_count_down(n, tmp_path):
    """Also where they begin behind the end: the lengths of short axes are known, others are not."""
    x = normal(n)
    checked(sliced_down, (x, 0.7, np.ones(1)), tmp_path)


def from_a_number(x, k):
    y = np.sort(x)
    z = np.sort(y[k::-1])
    y[k::-2] = 3.0
    return z, y


def test_slices_that_count_down_from_a_number(tmp_path):
    """The code is for numbers that lie in the array, as that of the example does; others are
    refused."""
    run = library(from_a_number, (normal(12), 5), tmp_path)
    for n in (9, 12, 20):
        for k in (0, 3, 8):
            for one, other in zip(run(normal(n), k), from_a_number(normal(n), k), strict=True):
                np.testing.assert_array_equal(one, other)
        for k in (-25, -13, -1, 40):
            with pytest.raises(ValueError, match="other lengths or signs"):
                run(normal(n), k)


def placeholders(x, v):
    """What is on one side of a test only has no elements on the other."""
    s = 0.0
    if x > 0:
        t = v[v > 0] * 3 * x
    if x > 1:
        s = s + np.sum(t * t)
    return s + x


@pytest.mark.parametrize("x", [-0.5, 0.5, 1.5])
def test_the_derivative_of_what_one_side_has(x, tmp_path):
    slope = grad(placeholders, argnums=(0, 1))
    checked(slope, (x, normal(12)), tmp_path, slope(x, normal(12)))
