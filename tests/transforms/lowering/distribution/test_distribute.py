"""Products of vectors leave loops for one product of matrices; values are those of NumPy."""

import re

import numpy as np
import pytest

import tapeless
from tapeless.transforms.lowering.distribution import distribute
from tests.corpus.differences import gradient

RANDOM = np.random.default_rng(0)
W, U, V = (RANDOM.normal(size=shape) / 3 for shape in ((4, 4), (4, 3), (2, 4)))
X, Y = RANDOM.normal(size=(7, 3)), RANDOM.normal(size=(7, 2))


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Small loops are distributed, too."""
    for name in ("FEWEST", "LEAST_WORK", "WORTH"):
        monkeypatch.setattr(distribute, name, 0)


def of_all_passes(source):
    """How many products stand outside of loops."""
    return len(re.findall(r"^    (product\(|return \w+ @ )", source, re.MULTILINE))


def layers(u, w, v, x, y):
    """Two products in a row, each after what the loop makes of the one before."""
    loss = 0.0
    for t in range(len(x)):
        h = np.tanh(u @ x[t])
        o = np.tanh(w @ h) @ v.T
        loss += np.sum((o - y[t]) ** 2)
    return loss


def recurrence(u, w, v, x, y):
    """A product that earlier passes decide stays, one ahead of it and one behind it do not."""
    h, loss = np.zeros(4), 0.0
    for a, b in zip(x, y, strict=True):
        h = np.tanh(w @ h + u @ a)
        loss += np.sum((v @ h - b) ** 2)
    return loss


def last_product(u, w, v, x, y):
    """The next pass reads a product of the pass before."""
    before, loss = np.zeros(4), 0.0
    for t in range(1, len(x)):
        loss += np.sum(before * np.sin(w @ before)) + np.sum((v @ before) * y[t])
        before = u @ x[t - 1]
    return loss + np.sum(before)


def sums_of_products(u, w, v, x, y):
    """Outer products are added, and subtracted, to what else is added."""
    total, other = np.ones((4, 4)), np.zeros((3, 2))
    for t in range(2, len(x)):
        h = u @ x[t]
        total += np.outer(h, np.cos(h)) - w * h[0]
        other -= np.outer(x[t], y[t - 2])
    return np.sum(total**2) + np.sum(other**3)


def total_that_is_read(u, w, v, x, y):
    """Each pass reads the total: it stays in the loop."""
    total, s = np.zeros((4, 4)), 0.0
    for t in range(len(x)):
        h = np.tanh(u @ x[t])
        total += np.outer(h, h)
        s += np.sum(np.sin(total @ h))
    return s


def matrices(u, w, v, x, y):
    """Each pass multiplies matrices of its own."""
    stack = np.stack([np.outer(row, row) for row in x])
    total = np.zeros((3, 4))
    for t in range(len(stack)):
        total = total + stack[t].T @ np.tanh(stack[t] @ u.T)
    return np.sum(total @ w)


def backwards(u, w, v, x, y):
    """A loop whose index goes down."""
    s = 0.0
    for t in reversed(range(1, len(x))):
        s = 0.9 * s + np.sum(np.tanh(w @ (u @ x[t - 1])) ** 2)
    return s


def under_a_branch(u, w, v, x, y):
    """A product that only some passes make stays where it is."""
    s = 0.0
    for t in range(len(x)):
        h = u @ x[t]
        if h[0] > 0:
            h = w @ h
        s += np.sum(h**2)
    return s


PROGRAMS = [
    (layers, 3),
    (recurrence, 2),
    (last_product, 3),
    (sums_of_products, 3),
    (total_that_is_read, 1),
    (matrices, 3),
    (backwards, 2),
    (under_a_branch, 1),
]


@pytest.mark.parametrize(("program", "count"), PROGRAMS)
def test_values_and_slopes(program, count):
    at = U, W, V, X, Y
    compiled = tapeless.jit(program)
    assert compiled(*at) == pytest.approx(program(*at), rel=1e-12)
    assert of_all_passes(compiled.source(*at)) == count
    for k in range(3):
        slope = tapeless.jit(tapeless.grad(program, argnums=k))(*at)

        def of_one(z, k=k):
            return program(*at[:k], z.reshape(at[k].shape), *at[k + 1 :])

        expected = gradient(of_one, at[k].ravel())
        np.testing.assert_allclose(slope.ravel(), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("program", [layers, recurrence])
@pytest.mark.parametrize("passes", [0, 1, 2])
def test_few_passes(program, passes):
    at = U, W, V, X[:passes], Y[:passes]
    assert tapeless.jit(program)(*at) == pytest.approx(program(*at), rel=1e-12)
    slope = tapeless.jit(tapeless.grad(program))(*at)
    np.testing.assert_allclose(slope, tapeless.grad(program)(*at), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    def rows(u, x):
        total, s = np.zeros((4, 3), u.dtype), u.dtype.type(0)
        for row in x:
            h = u @ row
            total += np.outer(h, row)
            s += h @ h
        return s, total

    turn = np.exp(0.5j) if dtype is np.complex128 else 1
    at = (U * turn).astype(dtype), (X * turn).astype(dtype)
    expected = rows(*at)
    for ours, numpys in zip(tapeless.jit(rows)(*at), expected, strict=True):
        np.testing.assert_allclose(ours, numpys, rtol=1e-5 if dtype is np.float32 else 1e-12)
        assert ours.dtype == numpys.dtype


def test_counts_that_are_arguments():
    """Arrays of such lengths are only made where the loop reads or fills others of them."""

    def powers(w, x, n):
        s = 0.0
        for t in range(n):
            s += np.sum(np.tanh(w @ (x * t)))
        return s

    def rows(u, x, n):
        s = 0.0
        for t in range(n):
            s += np.sum(np.tanh(u @ x[t]))
        return s

    for f, at, ns in ((powers, (W, np.ones(4)), (5, 0, -3, 9)), (rows, (U, X), (5, 0, -3, 7))):
        compiled = tapeless.jit(f)
        for n in ns:
            assert compiled(*at, n) == pytest.approx(f(*at, n), rel=1e-12)
        assert of_all_passes(compiled.source(*at, 5)) == (f is rows)


def test_errors_are_raised_where_passes_are_made():
    """A row that is not there is an IndexError, as in NumPy."""

    def beyond(u, x, n):
        s = 0.0
        for t in range(n):
            s += np.sum(u @ x[t])
        return s

    compiled = tapeless.jit(beyond)
    assert compiled(U, X, 7) == pytest.approx(beyond(U, X, 7), rel=1e-12)
    with pytest.raises(IndexError):
        compiled(U, X, 8)


def test_small_products_stay(monkeypatch):
    """Where loops hand on about as many numbers as they multiply, nothing is gained."""

    def rows(u, x):
        return np.sum([np.tanh(u @ row) for row in x])

    monkeypatch.setattr(distribute, "WORTH", 8)
    compiled = tapeless.jit(rows)
    assert of_all_passes(compiled.source(U, X)) == 0
    assert compiled(U, X) == pytest.approx(rows(U, X), rel=1e-12)


def test_numbers_that_a_backward_loop_pops_are_no_products():
    """What is added to an array is the second result of the statement that gives it."""

    def nearest_moves(w, x):
        rows = [list(row) for row in w]
        for sample in x:
            k = 1 if sample[0] > rows[0][0] else 0
            for i in range(len(rows)):
                rows[k][i] += 0.5 * (sample[i] - rows[k][i])
        return np.sum(np.array(rows) ** 2)

    slope = tapeless.grad(nearest_moves)
    np.testing.assert_allclose(tapeless.jit(slope)(V, X @ U.T), slope(V, X @ U.T), rtol=1e-12)


def list_of_a_product(w, x):
    total = 0.0
    for row in x:
        items = []
        for h in w @ np.tanh(w @ row):
            items.append(h * h)  # noqa: PERF401
        total += np.sum(np.sin(np.array(items)))
    return total


def list_before_a_product(w, x):
    total = 0.0
    for row in x:
        items = []
        for h in np.tanh(row):
            if h > 0:
                items.append(h)  # noqa: PERF401
        for h in w @ np.tanh(w @ row):
            items.append(h * h)  # noqa: PERF401
        total += sum(items)
    return total


def list_of_some_of_a_product(w, x):
    total = 0.0
    for row in x:
        items = [row[0]]
        for h in w @ np.tanh(row):
            if h > 0:
                items.append(h * h)  # noqa: PERF401
        total += sum(items)
    return total


@pytest.mark.parametrize("f", [list_of_a_product, list_before_a_product, list_of_some_of_a_product])
def test_lists_that_passes_fill(f):
    """A list is no array, and is not kept for all passes."""
    x = RANDOM.normal(size=(7, 4))
    np.testing.assert_allclose(tapeless.jit(f)(W, x), f(W, x), rtol=1e-12)
    slope = tapeless.jit(tapeless.grad(f))(W, x)
    expected = gradient(lambda w: f(w.reshape(4, 4), x), W.ravel())
    np.testing.assert_allclose(slope.ravel(), expected, rtol=1e-5, atol=1e-7)
