"""Activations against formulas, finite differences and JAX."""

import math

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, nn, vmap
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

POINTS = np.array([-7.0, -3.5, -1.3, -0.7, -0.2, 0.3, 0.6, 1.4, 2.5, 6.5])


def _normal_below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


FORMULAS = {
    "celu": lambda x: x if x > 0 else math.exp(x) - 1,
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "gelu": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "hard_sigmoid": lambda x: min(max(x + 3, 0), 6) / 6,
    "hard_silu": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "hard_swish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "hard_tanh": lambda x: min(max(x, -1), 1),
    "identity": lambda x: x,
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
    "log_sigmoid": lambda x: math.log(1 / (1 + math.exp(-x))),
    "mish": lambda x: x * math.tanh(math.log(1 + math.exp(x))),
    "relu": lambda x: max(x, 0),
    "relu6": lambda x: min(max(x, 0), 6),
    "selu": lambda x: (
        1.0507009873554804934 * (x if x > 0 else 1.6732632423543772848 * (math.exp(x) - 1))
    ),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "soft_sign": lambda x: x / (1 + abs(x)),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "sparse_plus": lambda x: 0 if x < -1 else x if x > 1 else (x + 1) ** 2 / 4,
    "sparse_sigmoid": lambda x: min(max((x + 1) / 2, 0), 1),
    "squareplus": lambda x: (x + math.sqrt(x * x + 4)) / 2,
    "swish": lambda x: x / (1 + math.exp(-x)),
    "tanh": math.tanh,
}
# Where a slope jumps, the one that is taken: as in JAX.
KINKS = [
    ("relu", 0.0, 0.0),
    ("relu6", 0.0, 0.0),
    ("relu6", 6.0, 0.0),
    ("leaky_relu", 0.0, 1.0),
    ("hard_tanh", 1.0, 1.0),
    ("hard_sigmoid", -3.0, 0.0),
    ("elu", 0.0, 1.0),
    ("celu", 0.0, 1.0),
    ("sigmoid", 0.0, 0.25),
]


@pytest.mark.parametrize("name", FORMULAS)
def test_values(name):
    made = getattr(nn, name)(POINTS)
    want = [FORMULAS[name](x) for x in POINTS.tolist()]
    np.testing.assert_allclose(made, want, rtol=1e-13, atol=1e-15)
    assert getattr(nn, name)(POINTS.astype(np.float32)).dtype == np.float32
    assert getattr(nn, name)(0.3) == pytest.approx(FORMULAS[name](0.3))


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives(name):
    check_grads(getattr(nn, name), (POINTS,))
    slopes = grad(lambda x: np.sum(getattr(nn, name)(x)))(POINTS.astype(np.float32))
    assert slopes.dtype == np.float32


@pytest.mark.parametrize(("name", "x", "slope"), KINKS)
def test_kinks(name, x, slope):
    assert grad(getattr(nn, name))(x) == slope


def test_all_under_jit_and_vmap():
    names = sorted(FORMULAS)

    def every(x):
        return [getattr(nn, name)(x) for name in names]

    for run in (jit(every), vmap(every)):
        for name, got in zip(names, run(POINTS), strict=True):
            np.testing.assert_allclose(got, getattr(nn, name)(POINTS), rtol=1e-13, atol=1e-15)


def test_far_out():
    x = np.array([-1e4, 1e4])
    assert nn.sigmoid(x).tolist() == [0, 1]
    assert nn.softplus(x).tolist() == [0, 1e4]
    assert nn.log_sigmoid(x).tolist() == [-1e4, 0]
    assert grad(nn.sigmoid)(-1e4) == 0
    assert np.isnan(nn.relu(np.nan))


def test_gelu_by_the_error_function():
    pytest.importorskip("scipy", reason="the exact gelu needs SciPy")
    want = [x * _normal_below(x) for x in POINTS.tolist()]
    np.testing.assert_allclose(nn.gelu(POINTS, approximate=False), want, rtol=1e-13)
    check_grads(lambda x: nn.gelu(x, approximate=False), (POINTS,))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gelu_of_large_numbers_and_its_dtype(dtype):
    pytest.importorskip("scipy", reason="the exact gelu needs SciPy")
    x = np.array([0.99, -0.99], dtype) * np.finfo(dtype).max
    for exact in (False, True):

        def activation(x, exact=exact):
            return nn.gelu(x, approximate=not exact)

        with np.errstate(over="ignore"):
            for made in (activation(x), jit(activation)(x)):
                assert made.dtype == dtype
                np.testing.assert_array_equal(made, [x[0], 0])


def test_glu():
    x = np.arange(12.0).reshape(3, 4)
    want = x[:, :2] / (1 + np.exp(-x[:, 2:]))
    np.testing.assert_allclose(nn.glu(x), want, rtol=1e-14)
    assert nn.glu(x.T, axis=0).shape == (2, 3)
    check_grads(nn.glu, (x,))
    with pytest.raises(ArgumentError, match="axis 0 has length 3, which is odd"):
        nn.glu(x, axis=0)


def test_log1mexp():
    x = np.array([1e-10, 0.1, 0.69, 0.7, 5.0, 40.0])
    want = [math.log(-math.expm1(-v)) if v < 0.5 else math.log1p(-math.exp(-v)) for v in x]
    np.testing.assert_allclose(nn.log1mexp(x), want, rtol=1e-14)
    check_grads(nn.log1mexp, (x[1:],), order=1)


@pytest.mark.parametrize("name", sorted({*FORMULAS, "log1mexp", "glu"} - {"identity"}))
def test_jaxs_values(name):
    peer = jax_or_skip().nn
    x = np.abs(POINTS) if name == "log1mexp" else POINTS
    np.testing.assert_allclose(getattr(nn, name)(x), getattr(peer, name)(x), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ["sigmoid", "silu", "softplus", "gelu"])
def test_derivatives_in_a_loop(name):
    activation = getattr(nn, name)

    def gated(h):
        for _ in range(3):
            z = activation(h)
            h = (1 - z) * np.sin(h) + z * h
        return np.sum(h)

    check_grads(gated, (np.array([0.3, -0.2]),), order=1)


def test_sigmoid_of_complex_numbers():
    z = np.array([0.3 + 1j, -2.0 - 0.5j])
    expected = 1 / (1 + np.exp(-z))
    np.testing.assert_allclose(nn.sigmoid(z), expected)
    np.testing.assert_allclose(jit(nn.silu)(z), z * expected)


@pytest.mark.parametrize("name", ["softplus", "log_sigmoid", "mish"])
def test_logarithms_of_complex_numbers(name):
    rng = np.random.default_rng(0)
    z = 3 * rng.standard_normal(40) + 5j * rng.standard_normal(40)
    soft = np.log1p(np.exp(-z if name == "log_sigmoid" else z))
    expected = {"softplus": soft, "log_sigmoid": -soft, "mish": z * np.tanh(soft)}[name]
    activation = getattr(nn, name)
    np.testing.assert_allclose(activation(z), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(activation)(z), expected, rtol=1e-12)
    assert np.isfinite(activation(np.array([800 + 1j, -800 + 1j]))).all()


def test_slopes_of_softplus_at_infinity():
    x = np.array([-np.inf, -800.0, 800.0, np.inf])
    assert vmap(grad(nn.softplus))(x).tolist() == [0, 0, 1, 1]
    assert vmap(grad(nn.log_sigmoid))(x).tolist() == [1, 1, 0, 0]
    assert vmap(grad(grad(nn.softplus)))(x).tolist() == [0, 0, 0, 0]
