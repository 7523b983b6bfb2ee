"""Softmaxes against formulas, finite differences and JAX; what is masked and what is far out."""

import functools

import numpy as np
import pytest

from tapeless import check_grads, jit, nn, vmap
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

X = np.random.default_rng(0).standard_normal((3, 4))
MASK = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]], bool)
CALLS = {
    "softmax": functools.partial(nn.softmax),
    "softmax of columns": functools.partial(nn.softmax, axis=0),
    "softmax of all": functools.partial(nn.softmax, axis=None),
    "softmax, masked": functools.partial(nn.softmax, where=MASK),
    "log_softmax": functools.partial(nn.log_softmax),
    "log_softmax of all": functools.partial(nn.log_softmax, axis=(0, 1)),
    "log_softmax, masked": functools.partial(nn.log_softmax, where=MASK),
    "logsumexp": functools.partial(nn.logsumexp),
    "logsumexp of rows": functools.partial(nn.logsumexp, axis=1, keepdims=True),
    "logsumexp, weighted": functools.partial(nn.logsumexp, axis=1, b=X**2),
    "logsumexp, masked": functools.partial(nn.logsumexp, axis=1, where=MASK),
    "logmeanexp": functools.partial(nn.logmeanexp),
    "logmeanexp, masked": functools.partial(nn.logmeanexp, axis=1, where=MASK),
    "standardize": functools.partial(nn.standardize),
    "standardize, stable": functools.partial(nn.standardize, algorithm="stable"),
    "standardize of all": functools.partial(nn.standardize, axis=None, epsilon=0.1),
    "standardize, masked": functools.partial(nn.standardize, where=MASK),
    "standardize, known": functools.partial(nn.standardize, mean=0.5, variance=2.0),
}


def _formula(name):
    """The same without care for overflow."""
    what, options = CALLS[name].func.__name__, CALLS[name].keywords
    axis = options.get("axis", -1 if "log" not in what or "soft" in what else None)
    where, weights = options.get("where", np.ones((3, 4), bool)), options.get("b", 1)
    if what == "standardize":
        kept = np.where(where, X, np.nan)
        mean = options.get("mean", np.nanmean(kept, axis, keepdims=True))
        variance = options.get("variance", np.nanvar(kept, axis, keepdims=True))
        return (X - mean) / np.sqrt(variance + options.get("epsilon", 1e-5))
    parts = np.where(where, np.exp(X), 0) * weights
    total = parts.sum(axis, keepdims=options.get("keepdims", "soft" in what))
    if what == "logmeanexp":
        return np.log(total / where.sum(axis))
    if what == "logsumexp":
        return np.log(total)
    with np.errstate(divide="ignore"):
        return parts / total if what == "softmax" else np.log(parts / total)


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    np.testing.assert_allclose(CALLS[name](X), _formula(name), rtol=1e-12)
    small = CALLS[name](X.astype(np.float32))
    assert small.dtype == (float if "weighted" in name else np.float32)


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    def finite(x):
        made = CALLS[name](x)
        return np.where(np.isfinite(made), made, 0)

    check_grads(finite, (X,))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "standardize"])
def test_under_vmap(name):
    batch = np.stack([X, 2 * X])
    made = vmap(CALLS[name])(batch)
    np.testing.assert_allclose(made, [CALLS[name](x) for x in batch], rtol=1e-12)


def test_under_jit():
    def both(x):
        return nn.log_softmax(x), nn.softmax(x, where=MASK)

    for made, want in zip(jit(both)(X), both(X), strict=True):
        np.testing.assert_allclose(made, want, rtol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_jaxs_values(name):
    peer = getattr(jax_or_skip().nn, CALLS[name].func.__name__)
    np.testing.assert_allclose(CALLS[name](X), peer(X, **CALLS[name].keywords), rtol=1e-12)


def test_far_out():
    x = np.array([-np.inf, 1000.0, 1000.0])
    assert nn.softmax(x).tolist() == [0, 0.5, 0.5]
    np.testing.assert_allclose(nn.logsumexp(x), 1000 + np.log(2))
    assert nn.logsumexp(np.full(2, -np.inf)) == -np.inf
    assert nn.logsumexp(np.array([np.inf, 0.0])) == np.inf
    check_grads(lambda x: nn.logsumexp(x * 1000), (np.array([0.3, 0.2]),), order=1)


def test_empty_axes():
    assert nn.softmax(np.zeros((3, 0))).shape == (3, 0)
    assert nn.logsumexp(np.zeros((3, 0)), axis=1).tolist() == [-np.inf] * 3
    assert jit(nn.log_softmax)(np.zeros((3, 0))).shape == (3, 0)


def test_all_masked():
    where = np.array([False, False])
    assert nn.softmax(np.ones(2), where=where).tolist() == [0, 0]
    assert nn.logsumexp(np.ones(2), where=where) == -np.inf


def test_signs():
    value, sign = nn.logsumexp(np.zeros(3), b=np.array([1.0, -3.0, 0.5]), return_sign=True)
    assert (value, sign) == (pytest.approx(np.log(1.5)), -1)
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(nn.logsumexp(np.zeros(2), b=np.array([1.0, -3.0])))
    value, sign = nn.logsumexp(np.array([1e4, 0.0]), b=np.array([0.0, 1.0]), return_sign=True)
    assert (value, sign) == (0, 1)


def test_bad_algorithm():
    with pytest.raises(ArgumentError, match="'fast' or 'stable', not 'slow'"):
        nn.standardize(X, algorithm="slow")
