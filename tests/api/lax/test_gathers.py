"""Gathers and scatters, against loops over their parts, against jax.lax, and their derivatives."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless import lax
from tests.api.lax.tables import agree, by_jax, check_slopes

RNG = np.random.default_rng(2)


def normal(*shape):
    return RNG.normal(size=shape)


#: of an operand, indices, the entries of GatherDimensionNumbers, and sizes
CALLS = {
    "rows": (normal(5, 4), np.array([[2], [0], [7], [-1]]), ((1,), (0,), (0,)), (1, 4)),
    "blocks": (normal(5, 4), np.array([[2, 1], [0, 3], [4, 0]]), ((1, 2), (), (0, 1)), (2, 3)),
    "two axes of indices": (
        normal(5, 4, 3),
        np.array([[[2, 1], [0, 3]], [[4, 0], [1, 1]]]),
        ((0, 3), (2,), (1, 2)),
        (5, 2, 1),
    ),
    "single ones, exchanged": (
        normal(5, 4, 3),
        np.array([[[2, 1], [0, 3]], [[4, 0], [1, 1]]]),
        ((0,), (1, 2), (2, 1)),
        (2, 1, 1),
    ),
    "side by side": (
        normal(3, 5, 4),
        np.array([[[1], [2]], [[0], [4]], [[3], [9]]]),
        ((2,), (1,), (1,), (0,), (0,)),
        (1, 1, 4),
    ),
    "one part": (normal(6), np.array([3]), ((0,), (), (0,)), (2,)),
}
STORES = ["scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"]


def gathered(lax, name, x, mode):
    _, indices, numbers, sizes = CALLS[name]
    return lax.gather(x, indices, lax.GatherDimensionNumbers(*numbers), sizes, mode=mode)


def scattered(lax, store, name, x, mode):
    _, indices, numbers, _ = CALLS[name]
    shape = gathered(lax, name, x, "clip").shape
    updates = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)
    numbers = lax.ScatterDimensionNumbers(*numbers)
    return getattr(lax, store)(x, indices, updates, numbers, mode=mode)


def every(lax, name, x):
    """All that can be done at the places of one call."""
    return [
        *(gathered(lax, name, x, mode) for mode in ("clip", "fill", None)),
        *(scattered(lax, store, name, x, None) for store in STORES),
        scattered(lax, "scatter_add", name, x, "clip"),
    ]


@pytest.fixture(scope="module")
def theirs():
    calls = {k: (lambda lax, x, k=k: every(lax, k, x), (CALLS[k][0],)) for k in CALLS}
    return by_jax(calls)


@pytest.mark.parametrize("name", CALLS)
def test_as_jax_does(name, theirs):
    agree(every(lax, name, CALLS[name][0]), theirs[name])


def test_rows_by_hand():
    x = CALLS["rows"][0]
    agree(gathered(lax, "rows", x, "clip"), x[np.array([2, 0, 4, 0])])
    filled = gathered(lax, "rows", x, "fill")
    agree(filled[:2], x[np.array([2, 0])])
    assert np.isnan(filled[2:]).all()
    made = scattered(lax, "scatter", "rows", x, None)
    updates = np.cos(np.arange(16.0)).reshape(4, 4)
    agree(made, np.stack([updates[1], x[1], updates[0], x[3], x[4]]))


def test_blocks_by_hand():
    x, indices, *_ = CALLS["blocks"]
    starts = [(min(i, 3), min(j, 1)) for i, j in indices]
    agree(gathered(lax, "blocks", x, None), np.stack([x[i : i + 2, j : j + 3] for i, j in starts]))
    want, updates = x.copy(), np.cos(np.arange(18.0)).reshape(3, 2, 3)
    for (i, j), block in zip(starts, updates, strict=True):
        for a, b in itertools.product(range(2), range(3)):
            want[i + a, j + b] *= block[a, b]
    agree(scattered(lax, "scatter_mul", "blocks", x, "clip"), want)


@pytest.mark.parametrize("name", ["rows", "blocks", "side by side"])
def test_slopes(name):
    x, indices, numbers, sizes = CALLS[name]
    there, back = lax.GatherDimensionNumbers(*numbers), lax.ScatterDimensionNumbers(*numbers)
    check_slopes(lambda x: lax.gather(x, indices, there, sizes) ** 2, (x,), 1)
    updates = np.ones(gathered(lax, name, x, None).shape)
    check_slopes(lambda x, u: lax.scatter(x, indices, u, back) ** 2, (x, updates), 2)
    check_slopes(lambda x, u: lax.scatter_add(x, indices, u, back) ** 2, (x, updates), 2)


def test_batched():
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    back = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    xs, indices = normal(3, 5, 4), RNG.integers(-1, 7, (3, 4, 1))
    updates = normal(3, 4, 4)

    def f(x, i, u):
        return lax.scatter_add(x, i, lax.gather(x, i, numbers, (1, 4)) * u, back)

    want = np.stack([f(*args) for args in zip(xs, indices, updates, strict=True)])
    agree(tapeless.vmap(f)(xs, indices, updates), want)


def test_batched_starts_of_slices():
    xs, starts = normal(3, 6), np.array([0, 2, -1])
    f = lambda x, s: lax.dynamic_slice(x, (s,), (3,))  # noqa: E731 (short)
    agree(tapeless.vmap(f)(xs, starts), np.stack([xs[0, :3], xs[1, 2:5], xs[2, 3:]]))
    slope = tapeless.grad(lambda x, s: np.sum(f(x, s) ** 2))
    agree(tapeless.vmap(slope)(xs, starts), np.stack(list(map(slope, xs, starts))))
    g = lambda x, u, s: lax.dynamic_update_slice(x, u, (s,))  # noqa: E731 (short)
    updates = normal(3, 2)
    agree(tapeless.vmap(g)(xs, updates, starts), np.stack(list(map(g, xs, updates, starts))))


def test_scatter_apply():
    each = lax.ScatterDimensionNumbers((), (0,), (0,))
    indices = np.array([[1], [1], [9]])
    triple = lambda x: 3 * x  # noqa: E731 (short)
    made = lax.scatter_apply(np.ones(4), indices, triple, each, update_shape=(3,))
    np.testing.assert_array_equal(made, [1, 9, 1, 1])
    check_slopes(
        lambda x: lax.scatter_apply(x, indices[1:], np.sin, each, update_shape=(2,)),
        (normal(4),),
        1,
    )


def test_refused():
    x, indices, numbers, sizes = CALLS["rows"]
    there = lax.GatherDimensionNumbers(*numbers)
    with pytest.raises(TypeError, match="part of length 6 of an axis of length 5"):
        lax.gather(x, indices, there, (6, 4))
    with pytest.raises(TypeError, match="must have 1 entries"):
        lax.gather(x, np.zeros((3, 2), int), there, sizes)
    with pytest.raises(ValueError, match="there is no mode 'wrap'"):
        lax.gather(x, indices, there, sizes, mode="wrap")
    with pytest.raises(TypeError, match="takes integers, unsigned integers, not float64"):
        lax.gather(x, np.zeros((3, 1)), there, sizes)
