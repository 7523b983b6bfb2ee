"""Gradients of loops over parts whose lengths differ: what is saved of them stays in kernels."""

import warnings

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, hessian, jit, jvp, vmap


def agrees(f, *args, argnums=(0, 1), driver_loops=False):
    """Whether the compiled gradient is the one without jit, and that is the slope of differences;
    nothing is left to Python."""
    compiled = jit(grad(f, argnums=argnums))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        gradients = compiled(*args)
    for got, wanted in zip(gradients, grad(f, argnums=argnums)(*args), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
    rng, h = np.random.default_rng(1), 1e-6
    directions = [rng.standard_normal(args[k].shape) for k in argnums]

    def along(t):
        moved = list(args)
        for k, d in zip(argnums, directions, strict=True):
            moved[k] = args[k] + t * d
        return f(*moved)

    slope = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(slope, (along(h) - along(-h)) / (2 * h), rtol=1e-5, atol=1e-7)
    if not driver_loops:
        source = compiled.source(*args)
        assert "append" not in source


def csr_rows(v, x, rows, columns):
    total = 0.0
    for i in range(len(rows) - 1):
        part = v[rows[i] : rows[i + 1]] * x[columns[rows[i] : rows[i + 1]]]
        total += np.tanh(np.sum(np.exp(part)))
    return total


def softmax_by_segments(v, x, rows, columns):
    total = 0.0
    for i in range(len(rows) - 1):
        part = v[rows[i] : rows[i + 1]]
        w = np.exp(part - np.max(part))
        w = w / np.sum(w)
        total += np.sum(w * x[columns[rows[i] : rows[i + 1]]]) ** 2
    return total


@pytest.mark.parametrize("f", [csr_rows, softmax_by_segments])
def test_segments_of_lengths_by_data(f):
    rng = np.random.default_rng(0)
    for lengths in ([3, 1, 4, 2], [1], [70, 2, 200, 65]):
        rows = np.concatenate([[0], np.cumsum(lengths)])
        columns = rng.integers(0, len(lengths), rows[-1])
        agrees(f, rng.random(rows[-1]), rng.random(len(lengths)), rows, columns)


def pairs(a, b):
    total = 0.0
    for i in range(len(b) - 1):
        d = b[i + 1 :] - b[i]
        total += np.sum(np.exp(-d * d) * a[i + 1 :])
    return total


def nested_triangle(a, b):
    total = 0.0
    for i in range(len(b)):
        for j in range(i):
            total += np.sum(np.exp(a[j:i] * b[i])) * b[j]
    return total


def halved(a, b):
    k, total = len(b), 0.0
    while k > 1:
        y = np.exp(-b[:k] * a[:k])
        total += np.sum(y * y)
        k = k // 2
    return total


def matrices(a, b):
    total = 0.0
    for i in range(len(b)):
        for j in range(i, len(b), 2):
            m = np.exp(np.outer(b[i : j + 1], a[: j + 1]))
            total += np.sum(m * m) ** 0.5
    return total


def in_some_passes(a, b):
    total = 0.0
    for i in range(len(b)):
        if b[i] > 0.5:
            y = np.exp(a[:i] * b[i])
            total += np.sum(y * y)
        else:
            total += a[i]
    return total


@pytest.mark.parametrize("f", [pairs, nested_triangle, halved, matrices, in_some_passes])
def test_parts_by_indices(f):
    rng = np.random.default_rng(2)
    for n in (9, 2, 1):
        agrees(f, rng.random(n), rng.random(n))


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("f", [pairs, nested_triangle, halved, matrices, in_some_passes])
def test_parts_by_indices_in_second_order_and_in_batches(f):
    rng = np.random.default_rng(4)
    a, b, batch = rng.random(6), rng.random(6), rng.random((3, 6))
    np.testing.assert_allclose(jit(hessian(f))(a, b), hessian(f)(a, b), rtol=1e-8, atol=1e-10)
    rows = [grad(f)(a, row) for row in batch]
    np.testing.assert_allclose(jit(vmap(grad(f), (None, 0)))(a, batch), rows, rtol=1e-9)


def test_a_list_that_a_library_function_keeps_with_python_holds_arrays():
    def f(a, b):
        total = 0.0
        for i in range(1, len(b)):
            y = np.exp(a[:i] * b[i])
            total += np.sum(np.abs(np.fft.fft(y)) ** 2)
        return total

    rng = np.random.default_rng(5)
    a, b = rng.random(6), rng.random(6)
    compiled = jit(grad(f))
    with pytest.warns(PerformanceWarning, match="fft"):
        np.testing.assert_allclose(compiled(a, b), grad(f)(a, b), rtol=1e-9)
    assert "_lengths" not in compiled.source(a, b)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_a_list_that_a_mask_keeps_with_python():
    def f(x, counts):
        total = 0.0
        for i in range(len(counts)):
            m = counts[i]
            kept = np.zeros(m, dtype=bool)
            for j in range(0, m, 2):
                kept[j] = True
            v = x[:m][kept]
            total += np.sum(v * v) + np.sum(np.where(kept, 1.0, 2.0)) * x[0]
        return total

    x, counts = np.random.default_rng(6).random(20), np.array([3, 1, 4, 2])
    np.testing.assert_allclose(jit(grad(f))(x, counts), grad(f)(x, counts), rtol=1e-12)

    def forward_over_reverse(x, d):
        return jvp(grad(lambda y: f(y, counts)), (x,), (d,))[1]

    d = np.random.default_rng(7).standard_normal(20)
    wanted = hessian(f)(x, counts) @ d
    np.testing.assert_allclose(jit(forward_over_reverse)(x, d), wanted, rtol=1e-9, atol=1e-12)


def test_forward_over_reverse_with_lengths_by_data():
    def f(x, counts):
        total = 0.0
        for i in range(len(counts)):
            b = np.sin(np.ones(counts[i]) * x[i])
            total += np.sum(np.roll(b, 1) * b)
        return total

    x, counts = np.random.default_rng(8).random(4), np.array([3, 1, 4, 2])
    d = np.array([1.0, -2.0, 0.5, 3.0])
    got = jvp(grad(lambda y: f(y, counts)), (x,), (d,))[1]
    h = 1e-6
    slope = (grad(f)(x + h * d, counts) - grad(f)(x - h * d, counts)) / (2 * h)
    np.testing.assert_allclose(got, slope, rtol=1e-6)


def test_lists_that_a_side_of_a_branch_only_passes_on():
    """A list begins ahead of the branch that hands it on as it is, and only one behind it fills."""

    def f(w):
        r = 0.3
        d = [w[0], w[1], w[2]]
        for k in range(2):
            m = k
            while m < 2:
                if abs(d[m]) < 0.7:
                    break
                m += 1
            if m > k:
                while True:
                    for i in range(m - 1, k - 1, -1):
                        r = d[i] * np.cos(d[i + 1])
                        d[i + 1] = r * d[i]
                    d[k] = d[k] * 0.5 * r
                    if abs(d[k]) < 1e-2:
                        break
        v = np.array(d)
        return np.sum(np.cos(np.arange(3.0)) * np.abs(v)) + np.sum(v[v > 0])

    w = np.array([0.9, 0.8, 1.1])
    np.testing.assert_allclose(jit(grad(f))(w), grad(f)(w), rtol=1e-12)
