"""Operations on transposed arrays: NumPy's values, and results that lie in memory as NumPy's do."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

A = np.random.default_rng(3).random((6, 7))
T = np.random.default_rng(4).random((3, 4, 5))
U, V = A[:, 0], A[0]

MATRICES = [
    lambda a: a.T + 1,
    lambda a: a.T * U - 2.0,
    lambda a: a.T * V[:, None],
    lambda a: np.sin(a.T) + a.T**2 * U,
    lambda a: np.where(a.T > 0.5, a.T, 0.0),
    lambda a: (a.T + U).sum(axis=1),
    lambda a: (a.T + U).sum(axis=0, keepdims=True),
    lambda a: np.max(a.T, axis=1) * V,
    lambda a: a.T.mean(axis=(0, 1)),
    lambda a: (a.T @ a + 1).T * 2,
    lambda a: a.T.copy() + 1,
    lambda a: (a.T + 1).reshape(-1),
    lambda a: (a.T + 1)[:, 3],
    lambda a: np.cumsum(a.T + 1, axis=0),
    lambda a: (a.T - a.T.mean(axis=0)) / a.T.std(axis=0),
    lambda a: a.T + a.T[:, ::-1],
    lambda a: (a.T + 1) + np.ones((7, 6)),
    lambda a: np.any(a.T > 0.99, axis=0) * 1.0,
]
CUBES = [
    lambda t: np.transpose(t, (2, 0, 1)) * 2,
    lambda t: np.transpose(t, (1, 2, 0)).sum(axis=1),
    lambda t: np.transpose(t, (2, 0, 1)).sum(axis=(0, 2)),
    lambda t: np.swapaxes(t, 0, 2).max(axis=0, keepdims=True) + 1,
    lambda t: np.moveaxis(t, 0, -1) + np.arange(3.0),
    lambda t: np.transpose(t, (2, 0, 1)).sum(axis=2).prod(axis=0),
    lambda t: np.transpose(np.transpose(t, (1, 2, 0)) * 2, (2, 1, 0)) - 1,
    lambda t: t.transpose(1, 0, 2) - np.sum(t.transpose(2, 0, 1), axis=(0, 2), keepdims=True),
    lambda t: t.T[:3, :3, :3] - np.max(t.swapaxes(0, 1)[:3], axis=(1, 2), keepdims=True),
    lambda t: t.transpose(1, 0, 2) - np.sum(t.T, axis=(0, 2), keepdims=True).swapaxes(0, 1),
]


@pytest.mark.parametrize("f", [*MATRICES, *CUBES])
def test_as_numpy(f):
    x = A if f in MATRICES else T
    found, wanted = jit(f)(x), f(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)

    def total(x):
        return np.sum(np.sin(f(x)))

    np.testing.assert_allclose(jit(grad(total))(x), grad(total)(x), rtol=1e-9, atol=1e-11)
    batch = jit(vmap(f))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(batch, [f(x), f(2 * x)], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("f", [*MATRICES[:5], *CUBES[:1]])
def test_results_lie_in_memory_as_those_of_numpy(f):
    x = A if f in MATRICES else T
    assert jit(f)(x).strides == f(x).strides


def test_sums_go_along_memory():
    f = jit(lambda a: a.T.sum(axis=0))
    f(A)
    assert "a[i, j]" in f.source()


def test_sums_over_several_axes_keep_their_order_if_asked_to():
    values = 10.0 ** np.arange(-20, 22).reshape(6, 7)

    def f(a):
        return np.sum(a.T, axis=(0, 1))

    total = 0.0
    for column in values.T:
        for x in column:
            total += x
    assert jit(f, fastmath=False)(values) == pytest.approx(total, rel=1e-15)
