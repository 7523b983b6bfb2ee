"""Products of matrices in kernels: where they are calls, and their operands of any layout."""

import re

import numpy as np
import pytest

import tapeless
from tapeless import jit

RNG = np.random.default_rng(3)


def normal(*shape, dtype=float):
    return RNG.standard_normal(shape).astype(dtype)


def calls(f, *args):
    """The calls of `product` in loop form."""
    return re.findall(r"^ +product\((.*)\)", jit(f).source(*args), re.MULTILINE)


def steps(a, b, h):
    """The calls read whole arrays, rows of them, transposed ones and parts."""
    for t in range(len(a)):
        h = np.tanh(h @ b + a[t, 1:, :5] @ a[t, 1:, :5].T)
    return h


SIZES = [(4, 7, 4), (4, 12, 11), (3, 60, 59), (0, 3, 2)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("passes", "n", "m"), SIZES)
def test_products_of_parts_of_arrays_in_a_loop(dtype, passes, n, m):
    a, b = normal(passes, n, n, dtype=dtype), normal(n - 1, n - 1, dtype=dtype)
    h = normal(n - 1, n - 1, dtype=dtype)
    got = jit(steps)(a, b, h)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, steps(a, b, h), atol=1e-4 if dtype == "f4" else 1e-11)


def test_the_calls_read_arrays_where_they_are():
    found = calls(steps, normal(4, 7, 7), normal(6, 6), normal(6, 6))
    assert len(found) == 2
    assert any(re.match(r"a\[t, 1 ?: ?1 \+ .*, :5\], a\[t, .*\]\.T, ", each) for each in found)


LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "every other": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "one row": lambda x: np.broadcast_to(x[:1], x.shape),
    "part": lambda x: np.pad(x, 2)[2:-2, 2:-2],
}


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_operands_of_any_layout(left, right):
    f = jit(lambda a, b: np.tanh(a @ b) + 1)
    for n, k, m in ((2, 3, 4), (9, 20, 8)):  # by loops, and by the BLAS
        a, b = LAYOUTS[left](normal(n, k)), LAYOUTS[right](normal(k, m))
        np.testing.assert_allclose(f(a, b), np.tanh(a @ b) + 1, atol=1e-13)


@pytest.mark.parametrize(
    ("n", "k", "m"),
    [(64, 64, 65), (65, 129, 130), (1, 700, 701), (700, 1, 701), (9, 60000, 5), (300, 300, 6)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_made_in_blocks(n, k, m, dtype):
    """Of sizes whose products a library's threads would share, while they wait for one another."""
    a, b = normal(n, k).astype(dtype), normal(m, k).astype(dtype).T

    def shifted(a, b):
        return (a + 1) @ b - 1

    error = np.abs(jit(shifted)(a, b) - shifted(a.astype(float), b.astype(float)))
    assert np.max(error) < 50 * k**0.5 * np.finfo(dtype).eps


@pytest.mark.parametrize(("n", "k", "m"), [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)])
def test_empty_products(n, k, m):
    f = jit(lambda a, b: np.tanh(a @ b) + 1)
    assert (f(np.ones((n, k)), np.ones((k, m))) == np.ones((n, m))).all()


def test_zeros_times_nan_and_infinity():
    f = jit(lambda a, b: np.abs(a @ b))
    for n in (2, 20):
        a, b = np.zeros((n, n)), np.full((n, n), np.inf)
        b[0, 0] = np.nan
        assert np.isnan(f(a, b)).all()


def test_one_kernel_holds_products_and_what_is_around_them():
    def net(x, w, v):
        return np.tanh(np.tanh(x @ w) @ v)

    args = normal(5, 6), normal(6, 7), normal(7, 3)
    source = jit(net).source(*args)
    assert source.count("net_kernel(") == 2  # its definition and its call
    assert len(calls(net, *args)) == 2
    driver = source[source.index("def net(") :]
    assert "@" not in driver


def test_products_alone_stay_with_numpy():
    assert not calls(lambda a, b: a @ b, np.ones((5, 6)), np.ones((6, 7)))


def test_a_large_product_between_large_nests_stays_with_numpy():
    f = jit(lambda x, w: np.tanh(np.tanh(x) @ w))
    x, w = np.full((600, 500), 0.01), np.full((500, 400), 0.02)
    assert "matmul(" in f.source(x, w)
    np.testing.assert_allclose(f(x, w), np.tanh(np.tanh(x) @ w), rtol=1e-12)
    np.testing.assert_allclose(f(x[:3], w), np.tanh(np.tanh(x[:3]) @ w), rtol=1e-12)


def test_vectors_and_tiny_matrices_are_loops():
    def moved(a, x):
        for _ in range(3):
            x = np.tanh(a @ x)
        return x

    assert not calls(moved, normal(6, 6), normal(6))
    assert not calls(moved, normal(6, 6), normal(6, 1))
    assert not calls(lambda x, n: moved(np.eye(2), x[:2, :2]) * n, normal(4, 4), 2.0)


def test_what_is_carried_is_not_overwritten_while_it_is_read():
    def powers(a, n):
        h = a
        for _ in range(n):
            h = h @ a
            a = a.T @ h
        return h, a

    a = normal(6, 6) / 4
    for got, wanted in zip(jit(powers)(a, 5), powers(a, 5), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10)


def test_slope_of_a_recurrent_network():
    def loss(w, u, xs):
        h = np.zeros((xs.shape[1], w.shape[0]))
        for x in xs:
            h = np.tanh(x @ u + h @ w)
        return np.sum(h**2)

    w, u, xs = normal(6, 6) / 3, normal(4, 6), normal(5, 3, 4)
    got = jit(tapeless.grad(loss, (0, 1)))(w, u, xs)
    for k, array in enumerate((w, u)):
        step = 1e-6 * normal(*array.shape)
        high, low = ([w, u, xs] for _ in range(2))
        high[k], low[k] = array + step, array - step
        slope = (loss(*high) - loss(*low)) / 2
        np.testing.assert_allclose(np.sum(got[k] * step), slope, rtol=1e-5)


def test_lengths_that_do_not_fit():
    f = jit(lambda a, b: np.tanh(a @ b))
    with pytest.raises(ValueError, match="differ"):
        f(np.ones((3, 4)), np.ones((5, 6)))


def test_loop_form_runs_with_numba_alone():
    pytest.importorskip("scipy", reason="Numba's numpy.dot asks SciPy for its BLAS")
    x, w = normal(5, 6), normal(6, 7)
    f = jit(lambda x, w: np.tanh(np.tanh(x) @ w))
    values = {}
    exec(f.source(x, w), values)
    (name,) = [k for k, v in values.items() if getattr(v, "__doc__", None) and "From" in v.__doc__]
    np.testing.assert_allclose(values[name](x, w), np.tanh(np.tanh(x) @ w), rtol=1e-12)


def overlaps(x, w, r):
    """Both axes that the products of a part run over are as long as the axis of the parts."""
    for _ in range(3):
        q = np.reshape((np.tanh(x + r)) @ w, (12, 12, 4))
        r = np.mean(np.einsum("thd,shd->hts", q, q))
    return r


def test_axes_of_one_length_are_told_apart():
    args = normal(12, 16), normal(16, 48) / 8, 1.0
    np.testing.assert_allclose(jit(overlaps)(*args), overlaps(*args), rtol=1e-12)
