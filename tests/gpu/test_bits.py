"""With `fastmath=False` arithmetic on a GPU has the bits of the CPU, and sums the same ones each
time."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, value_and_grad
from tests.gpu import programs

RNG = np.random.default_rng(0)


def polynomial(x):
    return x * x * 0.3 + x * 1.7 - 0.2 / (1 + np.sqrt(x * x))


def smoothed(u):
    for _ in range(5):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u


def sums_in_rows(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i] += x[i, j] * 0.1
    return out


def distances(x):
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            d = x[i] - x[j]
            out[i, j] = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    return out


def loss(x):
    return np.sum(x * x * x - x / (1 + x * x))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (polynomial, (37, 100)),
        (programs.s2, (37, 100)),
        (lambda x: x * x + x * x.T * 0.1, (45, 45)),
        (smoothed, (1003,)),
        (sums_in_rows, (37, 100)),
        (distances, (40, 3)),
        (grad(loss), (37, 100)),
    ],
)
def test_arithmetic_has_the_bits_of_the_cpu(function, shape, dtype, gpu):
    x = RNG.normal(size=shape).astype(dtype)
    on_gpu = jit(function, backend="gpu", fastmath=False)
    assert '"-fmad=false"' in on_gpu.source(x)
    expected = jit(function, fastmath=False)(x.copy())
    np.testing.assert_array_equal(tapeless.device_get(on_gpu(x.copy())), expected)


def test_products_and_sums_are_fused_else():
    assert "-fmad=false" not in jit(polynomial, backend="gpu").source(np.ones(9))


def added_by_places(x, k):
    out = np.zeros(7)
    for i in range(len(k)):
        out[k[i]] += x[i]
    return out, np.sum(x), np.sum(np.reshape(x, (-1, 10)), axis=0)


def test_sums_have_the_same_bits_each_time(gpu):
    x, k = RNG.normal(size=900), RNG.integers(0, 7, 900)
    run = jit(added_by_places, backend="gpu", fastmath=False)
    assert "atomicAdd(&" not in run.source(x, k)
    results = {
        b"".join(part.tobytes() for part in tapeless.device_get(run(x, k))) for _ in range(4)
    }
    assert len(results) == 1
    np.testing.assert_allclose(tapeless.device_get(run(x, k))[0], added_by_places(x, k)[0])


def test_slopes_have_the_same_bits_each_time(gpu):
    w, x = RNG.normal(size=9), RNG.normal(size=(70, 9))

    def fitted(w):
        return np.mean((np.tanh(x @ w) - 1) ** 2)

    run = jit(value_and_grad(fitted), backend="gpu", fastmath=False)
    results = {
        b"".join(np.asarray(part).tobytes() for part in tapeless.device_get(run(w)))
        for _ in range(4)
    }
    assert len(results) == 1
