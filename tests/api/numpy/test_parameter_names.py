"""Calls as JAX writes them, where NumPy gives parameters other names, places or defaults."""

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import tapeless
import tapeless.numpy as jnp
from tapeless import lax, ops, random
from tapeless.scipy import linalg, special

X = np.array([0.5, 1.5, 0.25])
W = np.array([2.0, 0.0, 1.0])

CASES = {
    "concatenate": (lambda x: jnp.concatenate([x, x], 0, jnp.float32), np.float32([*X, *X])),
    "arrays=": (lambda x: jnp.concatenate(arrays=[x, x]), np.array([*X, *X])),
    "full_like": (lambda x: jnp.full_like(x, 2, None, (2,)), np.full(2, 2.0)),
    "zeros_like": (lambda x: jnp.zeros_like(x, jnp.int32, (2,)), np.zeros(2, np.int32)),
    "weights": (lambda x: jnp.histogram(x, 2, (0.0, 2.0), W)[0], np.array([3.0, 0.0])),
    "density": (lambda x: jnp.histogram(x, 2, (0, 2), None, True)[0], np.array([2 / 3, 1 / 3])),
    "stack": (lambda x: jnp.stack([x, x], 0, None, jnp.float32), np.float32([X, X])),
    "vstack": (lambda x: jnp.vstack([x], jnp.float32), np.float32([X])),
    "fmax": (lambda x: jnp.fmax(x1=x, x2=1.0), np.fmax(X, 1)),
    "reshape": (lambda x: jnp.reshape(a=x, shape=(3, 1)), X[:, None]),
    "where of a ufunc": (lambda x: jnp.add(x, x, where=None), X + X),
    "where of any": (lambda x: jnp.any(x > 1, where=None, keepdims=False), np.True_),
    "where of mean": (lambda x: jnp.nanmean(x, where=None), np.mean(X)),
    "initial": (lambda x: jnp.max(x, initial=None, where=None), np.max(X)),
    "correction": (lambda x: jnp.std(x, ddof=1, correction=None), np.std(X, ddof=1)),
    "diff": (lambda x: jnp.diff(x, prepend=None, append=None), np.diff(X)),
    "gradient": (lambda x: jnp.gradient(x, edge_order=None), np.gradient(X)),
    "compress": (lambda x: jnp.compress(x > 1, x, out=None), X[X > 1]),
    "indices": (lambda x: jnp.indices((2,), dtype=None)[0] + 0 * x[:2].astype(int), np.arange(2)),
    "out_sharding": (lambda x: lax.reshape(x, (3, 1), out_sharding=None), X[:, None]),
    "accuracy": (lambda x: lax.exp(x, accuracy=None), np.exp(X)),
    "nextafter": (lambda x: lax.nextafter(x1=x, x2=x + 1), np.nextafter(X, 2)),
    "lax.erf": (lambda x: lax.erf(x=x), scipy.special.erf(X)),
    "lax.zeta": (lambda x: lax.zeta(x + 1, q=x), scipy.special.zeta(X + 1, X)),
    "betainc": (lambda x: special.betainc(a=x, b=x, x=x / 2), scipy.special.betainc(X, X, X / 2)),
    "xlogy": (lambda x: special.xlogy(x, y=x), X * np.log(X)),
    "segment_sum": (
        lambda x: ops.segment_sum(x, np.array([0, 1, 0]), 2, out_sharding=None),
        np.array([0.75, 1.5]),
    ),
    "random": (
        lambda x: x + random.normal(random.key(0), (3,), out_sharding=None),
        X + random.normal(random.key(0), (3,)),
    ),
    "out_dtype": (lambda x: lax.mul(x, x, out_dtype=jnp.float32), np.float32(X) ** 2),
    "dft": (lambda x: linalg.dft(3, dtype=complex) @ x, scipy.linalg.dft(3) @ X),
    "kind": (lambda x: linalg.pascal(3, None) @ x, scipy.linalg.pascal(3) @ X),
    "negative": (lambda x: lax.dynamic_slice(x, (-1,), (1,)), X[2:]),
    "not negative": (
        lambda x: lax.dynamic_slice(
            x, (np.array(-1),), (1,), allow_negative_indices=False
        ),
        X[:1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_calls_of_jax(name):
    f, expected = CASES[name]
    with tapeless.disable_jit():
        staged = tapeless.jit(f)(X)
    for found in (f(X), staged):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_a_value_that_is_given_twice_is_refused():
    with pytest.raises(TypeError, match="multiple values for argument 'dtype'"):
        jnp.zeros_like(X, float, dtype=int)
    with pytest.raises(TypeError):
        jnp.reshape(X, (3,), "C", True, 5)
