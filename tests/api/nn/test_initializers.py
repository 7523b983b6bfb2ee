"""Initial weights: JAX's numbers, their moments, and what is refused."""

import numpy as np
import pytest

from tapeless import random, vmap
from tapeless.nn import initializers
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

SCALED = {
    "glorot_uniform": (1.0, "fan_avg"),
    "glorot_normal": (1.0, "fan_avg"),
    "lecun_uniform": (1.0, "fan_in"),
    "lecun_normal": (1.0, "fan_in"),
    "he_uniform": (2.0, "fan_in"),
    "he_normal": (2.0, "fan_in"),
}
CALLS = {
    **{name: getattr(initializers, name)() for name in SCALED},
    "orthogonal": initializers.orthogonal(),
    "delta_orthogonal": initializers.delta_orthogonal(2.0),
    "normal": initializers.normal(0.1),
    "uniform": initializers.uniform(0.1),
    "truncated_normal": initializers.truncated_normal(0.1, lower=-1.0, upper=3.0),
}
PEERS = {
    "delta_orthogonal": (2.0,),
    "normal": (0.1,),
    "uniform": (0.1,),
    "truncated_normal": (0.1, None, -1.0, 3.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_jaxs_numbers(name):
    jax = jax_or_skip()
    init = getattr(jax.nn.initializers, name)(*PEERS.get(name, ()))
    want = np.asarray(init(jax.random.key(7), (3, 4, 6)))
    made = CALLS[name](random.key(7), (3, 4, 6))
    assert made.dtype == want.dtype
    np.testing.assert_allclose(made, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
@pytest.mark.parametrize("dtype", [float, np.float32, complex])
def test_variances(distribution, mode, dtype):
    init = initializers.variance_scaling(3.0, mode, distribution)
    made = init(random.key(0), (200, 50), dtype)
    n = {"fan_in": 200, "fan_out": 50, "fan_avg": 125, "fan_geo_avg": 100}[mode]
    assert made.dtype == dtype
    assert np.mean(np.abs(made) ** 2) == pytest.approx(3.0 / n, rel=0.05)
    assert abs(np.mean(made)) < 4 * np.sqrt(3.0 / n) / 100


@pytest.mark.parametrize("name", SCALED)
def test_named_ones(name):
    scale, mode = SCALED[name]
    made = getattr(initializers, name)()(random.key(0), (200, 50))
    n = {"fan_in": 200, "fan_avg": 125}[mode]
    assert np.var(made) == pytest.approx(scale / n, rel=0.05)
    bound = np.sqrt(3 * scale / n) if "uniform" in name else 2 * np.sqrt(scale / n) / 0.8796
    assert 0.9 * bound < np.abs(made).max() <= bound


def test_kernels_in_space_count():
    init = initializers.variance_scaling(1.0, "fan_in", "normal", in_axis=1, out_axis=0)
    assert np.var(init(random.key(0), (20, 10, 5, 5))) == pytest.approx(1 / 250, rel=0.05)
    batch = initializers.variance_scaling(1.0, "fan_in", "normal", batch_axis=0)
    assert np.var(batch(random.key(0), (20, 10, 50))) == pytest.approx(1 / 10, rel=0.05)


def test_simple_ones():
    assert initializers.zeros(None, (2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert initializers.ones(None, (2,), np.float32).dtype == np.float32
    assert initializers.constant(2)(None, (2,)).tolist() == [2, 2]
    drawn = initializers.uniform(3.0)(random.key(0), (1000,))
    assert 0 <= drawn.min() < 0.1
    assert 2.9 < drawn.max() < 3
    assert np.std(initializers.normal(3.0)(random.key(0), (1000,))) == pytest.approx(3.0, rel=0.05)
    cut = initializers.truncated_normal(1.0, lower=-0.5, upper=1.5)(random.key(0), (1000,))
    assert -0.5 < cut.min() < -0.45
    assert 1.4 < cut.max() < 1.5


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (2, 3, 4)])
def test_orthogonal(shape):
    made = initializers.orthogonal(2.0)(random.key(0), shape)
    rows = made.reshape(-1, shape[-1])
    product = rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_orthogonal_along_another_axis():
    made = initializers.orthogonal(column_axis=0)(random.key(0), (3, 5))
    np.testing.assert_allclose(made @ made.T, np.eye(3), atol=1e-12)
    assert initializers.orthogonal()(random.key(0), (0, 3)).shape == (0, 3)


def test_delta_orthogonal():
    made = initializers.delta_orthogonal()(random.key(0), (3, 3, 2, 4))
    np.testing.assert_allclose(made[1, 1] @ made[1, 1].T, np.eye(2), atol=1e-12)
    made[1, 1] = 0
    assert not made.any()


def test_under_vmap():
    init, keys = initializers.he_normal(), random.split(random.key(0), 2)
    made = vmap(lambda key: init(key, (3, 4)))(keys)
    np.testing.assert_allclose(made, [init(key, (3, 4)) for key in keys], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: initializers.variance_scaling(1.0, "fan", "normal"), "mode must be one of fan_in"),
        (lambda: initializers.variance_scaling(1.0, "fan_in", "cauchy"), "distribution must be"),
        (lambda: initializers.he_normal()(random.key(0), (3,)), "needs two axes or more"),
        (lambda: initializers.orthogonal()(random.key(0), (3,)), "two axes or more"),
        (lambda: initializers.delta_orthogonal()(random.key(0), (3, 3)), "three to five axes"),
        (lambda: initializers.delta_orthogonal()(random.key(0), (3, 4, 2)), "4 inputs and 2"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
