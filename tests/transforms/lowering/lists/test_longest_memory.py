"""Arrays that loops make longer and shorter: whole loops are kernels, and right."""

import math

import numpy as np
import pytest

import tapeless


def binomial_tree(spot, strike, volatility, steps):
    dt = 1.0 / steps
    up = np.exp(volatility * np.sqrt(dt))
    q = (np.exp(0.03 * dt) - 1 / up) / (up - 1 / up)
    value = np.maximum(strike - spot * up ** np.arange(steps, -steps - 1, -2.0), 0)
    for i in range(steps - 1, -1, -1):
        value = np.exp(-0.03 * dt) * (q * value[1:] + (1 - q) * value[:-1])
        value = np.maximum(value, strike - spot * up ** np.arange(i, -i - 1, -2.0)[::-1])
    return value[0]


def de_casteljau(points, t):
    while len(points) > 1:
        points = (1 - t) * points[:-1] + t * points[1:]
    return np.sum(points[0] ** 2)


def neville(xs, ys, x):
    p, n = ys.copy(), len(xs)
    for k in range(1, n):
        p = ((x - xs[k:]) * p[:-1] + (xs[: n - k] - x) * p[1:]) / (xs[: n - k] - xs[k:])
    return p[0]


def determinant(a):
    d = 1.0
    while len(a) > 0:
        d = d * a[0, 0]
        a = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return d


def levinson(r, order):
    a, error = np.array([1.0]), r[0]
    for k in range(1, order):
        reflection = -np.sum(a * r[k:0:-1]) / error
        a = np.append(a, 0.0)
        a = a + reflection * a[::-1]
        error = error * (1 - reflection**2)
    return np.sum(a**2) + error


def mean_of_window(x, width):
    held, total = np.zeros(0), 0.0
    for v in x:
        held = np.append(held, v)
        if len(held) > width:
            held = held[1:]
        total += np.mean(held) * v
    return total


def over_threshold(x, threshold):
    out = np.zeros(1)
    for v in x:
        if v > threshold:
            out = np.append(out, v * out[-1] + 1.0)
    return np.sum(out**2)


def without_outliers(x, width):
    while True:
        keep = np.abs(x - np.mean(x)) < width * np.std(x)
        if np.all(keep) or len(x) < 5:
            break
        x = x[keep]
    return np.mean(x)


def nearest_first(distances):
    left, at, total = np.arange(1, len(distances)), 0, 0.0
    while len(left) > 0:
        k = np.argmin(distances[at, left])
        total += distances[at, left[k]]
        at = left[k]
        left = np.delete(left, k)
    return total


def best_without(scores, count):
    places, total = np.arange(len(scores)), 0.0
    for _ in range(count):
        j = np.argmax(scores)
        total += scores[j] * (places[j] + 1)
        scores = np.concatenate([scores[:j], scores[j + 1 :]])
        places = np.concatenate([places[:j], places[j + 1 :]])
    return total


def refined(x, times):
    for _ in range(times):
        y = np.zeros(2 * len(x) - 1)
        y[::2] = x
        y[1::2] = 0.5 * (x[1:] + x[:-1])
        x = y
    return np.sum(x**2)


def exchanged(x, passes):
    a, b = x[:2].copy(), x[2:5].copy()
    for i in range(passes):
        a, b = np.append(b, x[i]), a[::-1]
    return np.sum(a) + 2 * np.sum(b * b)


def appended_until(rates, draws, end):
    t, n, k = 0.0, 10.0, 0
    times, counts = np.array([0.0]), np.array([10.0])
    while t < end and k < len(draws) - 1:
        birth, death = rates[0] * n, rates[1] * n * (n - 1) / 2
        t = t - np.log(draws[k]) / (birth + death)
        n = n + 1 if draws[k + 1] * (birth + death) < birth else n - 1
        k += 2
        times, counts = np.append(times, t), np.append(counts, n)
    return np.sum(np.diff(times) * counts[:-1]) / times[-1]


def merged(a, b):
    out, i, j = np.empty(0), 0, 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out, i = np.append(out, a[i]), i + 1
        else:
            out, j = np.append(out, b[j]), j + 1
    out = np.concatenate([out, a[i:], b[j:]])
    return np.sum(out * np.arange(len(out)))


X = np.linspace(0.3, 1.7, 12)
KNOTS = np.array([0.0, 0.2, 0.35, 0.6, 0.8, 1.0])
MATRIX = np.eye(5) + 0.1 * np.sin(np.arange(25.0)).reshape(5, 5)
DRAWS = (np.arange(1, 200) * math.sqrt(2)) % 1

#: A program, the arguments of several calls of the same types, and which is differentiated.
PROGRAMS = [
    (binomial_tree, [(100.0, 105.0, 0.3, 20), (90.0, 95.0, 0.2, 3), (90.0, 95.0, 0.2, 1)], 0),
    (de_casteljau, [(X.reshape(6, 2), 0.3), (X[:4].reshape(2, 2), 0.7)], 0),
    (neville, [(KNOTS, np.sin(KNOTS), 0.4), (KNOTS[:3], KNOTS[1:4], 0.1)], 1),
    (determinant, [(MATRIX,), (MATRIX[:3, :3],)], 0),
    (levinson, [(0.8 ** np.arange(9.0), 9), (0.7 ** np.arange(9.0) + 0.1, 4)], 0),
    (mean_of_window, [(X, 3), (X, 20), (X[:4], 1)], 0),
    (over_threshold, [(np.sin(9 * X), 0.1), (np.sin(X), 5.0), (X, -1.0)], 0),
    (without_outliers, [(np.append(X, [9.0, 30.0]), 2.0), (X, 9.0)], 0),
    (nearest_first, [(np.abs(np.sin(np.arange(49.0))).reshape(7, 7),)], 0),
    (best_without, [(np.sin(5 * X), 5), (X, 1), (X, 0)], 0),
    (refined, [(X[:4], 4), (X[:2], 1), (X[:4], 0)], 0),
    (exchanged, [(X, 5), (X, 1), (X, 0)], 0),
    (appended_until, [(np.array([1.0, 0.1]), DRAWS, 1.0), (np.array([1.0, 0.1]), DRAWS, 0.01)], 0),
    (merged, [(X, X + 0.01), (X[:3], X + 0.05), (X + 9, X[:2])], 0),
]
NAMES = [f.__name__ for f, _, _ in PROGRAMS]


def driver_of(compiled, f, transform=""):
    """The text of the function that calls the kernels."""
    text = compiled.source()
    return text[text.index(f"\ndef {f.__name__}{transform}(") :]


@pytest.mark.parametrize(("f", "calls", "k"), PROGRAMS, ids=NAMES)
def test_values(f, calls, k):
    compiled = tapeless.jit(f)
    for args in calls:
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-11)
    assert " for " not in driver_of(compiled, f)
    assert " while " not in driver_of(compiled, f)


@pytest.mark.parametrize(("f", "calls", "k"), PROGRAMS, ids=NAMES)
def test_derivatives(f, calls, k):
    compiled = tapeless.jit(tapeless.grad(f, argnums=k))
    for args in calls[:2]:
        slope = compiled(*args)
        d = np.cos(1.0 + np.arange(float(np.size(args[k])))).reshape(np.shape(args[k]))
        high, low = (
            f(*(a + s * 1e-6 * d * (j == k) if j == k else a for j, a in enumerate(args)))
            for s in (1, -1)
        )
        np.testing.assert_allclose(np.sum(slope * d), (high - low) / 2e-6, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["determinant", "neville", "mean_of_window", "over_threshold"])
def test_derivatives_are_kernels_too(name):
    f, calls, k = PROGRAMS[NAMES.index(name)]
    compiled = tapeless.jit(tapeless.grad(f, argnums=k))
    compiled(*calls[0])
    assert " for " not in driver_of(compiled, f, "_grad")


def test_what_is_appended_is_stored_alone():
    def f(x, n):
        out = np.empty(0)
        for i in range(n):
            out = np.append(out, np.sin(x[i]) + i)
        return out

    compiled = tapeless.jit(f)
    np.testing.assert_allclose(compiled(X, 12), f(X, 12))
    np.testing.assert_allclose(compiled(X, 0), f(X, 0))
    kernel = compiled.source().split("def f_kernel")[1].split("\ndef ")[0]
    assert kernel.count(" in range(") == 1


def test_batches():
    points = np.stack([X.reshape(6, 2), X.reshape(6, 2) ** 2])
    ts = np.array([0.2, 0.9])
    batched = tapeless.jit(tapeless.vmap(de_casteljau))(points, ts)
    np.testing.assert_allclose(
        batched, [de_casteljau(*each) for each in zip(points, ts, strict=True)]
    )


def test_an_index_behind_the_end_raises_as_before():
    def f(x, n):
        while n > 0:
            x = x[1:]
            n -= 1
        return x[2]

    compiled = tapeless.jit(f)
    assert compiled(X, 9) == X[11]
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        compiled(X, 10)


def test_lengths_that_do_not_fit_raise():
    def f(x, y, n):
        for _ in range(n):
            x = x[1:]
        return np.sum(x * y)

    compiled = tapeless.jit(f)
    assert compiled(X, X[:5], 7) == pytest.approx(f(X, X[:5], 7))
    with pytest.raises(ValueError, match="lengths differ"):
        compiled(X, X[:5], 6)


def test_passes_that_are_never_made_get_no_memory():
    def f(x, most):
        out = np.array([x])
        for _ in range(most):
            x = x * 0.5
            out = np.append(out, x)
            if x < 1e-3:
                break
        return np.sum(out)

    compiled = tapeless.jit(f)
    for most in (100, 10**12, 3):
        assert compiled(1.0, most) == pytest.approx(f(1.0, most))


def test_a_list_of_one_side_is_not_taken_for_an_empty_one():
    def f(x, p, n):
        a, b = [v for v in x if v > 0.8], [p]
        for i in range(n):
            if x[i] > 0.9:
                a = b + []  # noqa: RUF005
            a = [z * 2 for z in a]
        return sum(a)

    x = np.array([0.37, 0.91, -0.42, 0.65, 0.13])
    assert tapeless.jit(f)(x, 0.7, 5) == pytest.approx(f(x, 0.7, 5))


def backward(x, passes):
    betas = [x]
    for _ in range(passes):
        betas = [np.tanh(betas[0] + x)] + betas  # noqa: RUF005
    return np.sum(np.array(betas) ** 2)


def copied(x, passes):
    path = [x[0]]
    for i in range(passes):
        longer = path.copy()
        longer.append(path[-1] * 0.9 + x[i % 5])
        path = longer
    return np.sum(np.array(path) ** 2)


@pytest.mark.filterwarnings("error::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", [backward, copied])
def test_lists_that_others_take_the_place_of(f):
    compiled, slope = tapeless.jit(f), tapeless.jit(tapeless.grad(f))
    for passes in (90, 0, 1):
        assert compiled(X, passes) == pytest.approx(f(X, passes))
        d = np.cos(X)
        high, low = (f(X + s * 1e-6 * d, passes) for s in (1, -1))
        assert np.sum(slope(X, passes) * d) == pytest.approx((high - low) / 2e-6, rel=1e-5)


def test_items_are_counted_from_the_end_of_a_list_not_of_its_memory():
    def f(x, p):
        a, b, s, i = list(x), [p], 0.0, 0
        while len(a) < 6 and i < 8:
            a = a[-2:] + [x[i % len(x)]]  # noqa: RUF005
            b = b.copy()
            b.append(p)
            if i % 2 == 0:
                s += a[-1] * 0.9
            i += 1
        return s + sum(a)

    x = np.array([0.37, 0.91, -0.42, 0.65, 0.13])
    assert tapeless.jit(f)(x, 0.7) == pytest.approx(f(x, 0.7))


def test_places_from_data_count_from_the_end_of_the_array():
    def f(x, places):
        total = 0.0
        while len(x) > 3:
            x = x[1:] * 0.9
            for k in places:
                total += x[k] * (k + 5)
        return total

    places = np.array([-1, 0, -2, 1])
    assert tapeless.jit(f)(X, places) == pytest.approx(f(X, places))
