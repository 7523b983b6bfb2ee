"""The normal distribution that is found is near the posterior, and its bound is one."""

import numpy as np
import pytest

import tapeless
from tapeless import random

pytestmark = pytest.mark.filterwarnings("error")


def test_it_is_near_the_exact_posterior(example):
    variational = example("variational")
    params, _ = variational.climb(random.key(0), steps=1500)
    evidence, mean, covariance = variational.exact(200)
    deviation = np.sqrt(np.diagonal(covariance))
    found = variational.lower(params) @ variational.lower(params).T
    assert np.all(np.abs(params["mean"] - mean) < 0.3 * deviation)
    assert np.all(np.abs(np.sqrt(np.diagonal(found)) / deviation - 1) < 0.3)
    bound = variational.lower_bound(params, random.normal(random.key(1), (20000, 2)))
    assert evidence - 0.2 < bound < evidence


def test_a_normal_posterior_is_found_exactly(example, monkeypatch):
    """Without animals the posterior is the prior, and the evidence is 1."""
    variational = example("variational")
    monkeypatch.setattr(variational, "ANIMALS", np.zeros(4, int))
    monkeypatch.setattr(variational, "DEATHS", np.zeros(4, int))
    params, _ = variational.climb(random.key(0), steps=600)
    found = variational.lower(params) @ variational.lower(params).T
    np.testing.assert_allclose(params["mean"], [0, 10], atol=0.2)
    np.testing.assert_allclose(found, [[4, 10], [10, 100]], rtol=0.05)
    bound = variational.lower_bound(params, random.normal(random.key(1), (20000, 2)))
    assert bound == pytest.approx(0, abs=0.02)


def test_gradient_through_the_draws(example):
    variational = example("variational")
    params = {"mean": np.array([1.0, 9.0]), "log_scale": np.array([0.1, 1.3]), "tilt": 2.0}
    noise = np.random.default_rng(0).normal(size=(5, 2))
    tapeless.check_grads(lambda p: variational.loss(p, noise), (params,), modes=("rev",), rtol=1e-5)
