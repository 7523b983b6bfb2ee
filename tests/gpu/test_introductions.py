"""What introductions to JAX run on a GPU runs here with another import, at smaller sizes."""

import numpy as np

import tapeless as jax
import tapeless.numpy as jnp
from tapeless import device_put, devices, grad, jit, random, vmap
from tapeless.transforms.core.on_gpu import on_gpu


def test_a_product_of_matrices(gpu):
    size = 30
    x = device_put(random.normal(random.PRNGKey(0), (size, size), dtype=jnp.float32), GPU())
    y = jnp.dot(x, x.T).block_until_ready()
    assert on_gpu(y)
    np.testing.assert_allclose(jax.device_get(y), jax.device_get(x) @ jax.device_get(x).T, 1e-5)


def GPU():  # noqa: N802  # a device, which is there only inside of a test
    return devices("gpu")[0]


def test_sine_and_cosine(gpu):
    def f(x):
        return jnp.sin(x) + jnp.cos(x)

    x = np.random.default_rng(0).normal(size=(50, 50)).astype("float32")
    y = jit(f)(device_put(x, GPU())).block_until_ready()
    assert y.device == GPU()
    np.testing.assert_allclose(jax.device_get(y), np.sin(x) + np.cos(x), atol=1e-6)


def test_a_backend_by_name(gpu):
    def f(x):
        y1 = x + x * x + 3
        y2 = x * x + x * x.T
        return y1 * y2

    x = np.random.default_rng(0).standard_normal((30, 30)).astype("float32")
    jax_f_gpu = jit(f, backend="gpu")
    y = jax_f_gpu(x)
    jax.block_until_ready(y)
    assert on_gpu(y)
    np.testing.assert_allclose(np.array(jax.device_get(y)), f(x), rtol=1e-5)
    assert "x_tile" in jax_f_gpu.source(x)


def test_selu_of_a_batch_and_its_slope(gpu):
    def selu(x, alpha=1.67, lmbda=1.05):
        return lmbda * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)

    x = device_put(jnp.arange(-2.0, 3.0), GPU())
    slopes = vmap(grad(selu))(x)
    assert on_gpu(jit(selu)(x).block_until_ready())
    assert on_gpu(slopes)
    expected = [1.05 * 1.67 * np.exp(-2), 1.05 * 1.67 * np.exp(-1), 1.05 * 1.67, 1.05, 1.05]
    np.testing.assert_allclose(jax.device_get(slopes), expected, rtol=1e-6)


def test_a_step_of_training(gpu):
    def predict(params, x):
        for w, b in params[:-1]:
            x = jnp.tanh(jnp.dot(x, w) + b)
        w, b = params[-1]
        return jnp.dot(x, w) + b

    def loss(params, batch):
        x, y = batch
        return jnp.mean((predict(params, x) - y) ** 2)

    @jit
    def update(params, batch):
        slopes = grad(loss)(params, batch)
        return [
            (w - 0.1 * dw, b - 0.1 * db) for (w, b), (dw, db) in zip(params, slopes, strict=True)
        ]

    rng = np.random.default_rng(0)
    host = [(rng.normal(size=(3, 4)), np.zeros(4)), (rng.normal(size=(4, 2)), np.zeros(2))]
    batch = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    params, there = device_put((host, batch), GPU())
    for _ in range(8):  # a graph by then
        params, host = update(params, there), update(host, batch)
    for a, b in zip(jax.tree.leaves(params), jax.tree.leaves(host), strict=True):
        assert on_gpu(a)
        np.testing.assert_allclose(jax.device_get(a), b, rtol=1e-10)
