"""Private training: the gradients of examples, what is cut of them, and what is paid."""

import math
import re

import numpy as np
import pytest

import tapeless
from tapeless import random

pytestmark = pytest.mark.filterwarnings("error")


def test_digits_are_learned_in_private(example, emitted, tmp_path, capsys):
    assert example("private").main(["--steps", "150", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert float(re.search(r"test accuracy:\s+([\d.]+)%", printed).group(1)) > 80
    assert float(re.search(r"epsilon = ([\d.]+)", printed).group(1)) < 4
    assert "for " not in emitted(tmp_path / "private_grads.py").split('"""')[2]


def batch(private, count=6):
    rng = np.random.default_rng(0)
    params = private.initial_params(random.key(1), hidden=5)
    return params, rng.random((count, 64)), rng.integers(0, 10, count)


def test_gradients_of_examples(example):
    private = example("private")
    params, images, labels = batch(private)
    found = private.example_gradients(params, images, labels)
    for k in range(len(images)):
        tapeless.check_grads(lambda p, k=k: private.loss(p, images[k], labels[k]), (params,))
        alone = tapeless.grad(private.loss)(params, images[k], labels[k])
        for name in params:
            np.testing.assert_allclose(found[name][k], alone[name], rtol=1e-12, atol=1e-15)


def test_one_example_moves_the_sum_by_no_more_than_the_length(example):
    private = example("private")
    params, images, labels = batch(private)

    def total(count):
        slope = private.private_gradient(
            random.key(0), params, images[:count], labels[:count], 0.3, noise=0.0, expected=1
        )
        return np.concatenate([g.ravel() for g in slope.values()])

    moved = [np.linalg.norm(total(k + 1) - total(k)) for k in range(5)]
    assert np.all(np.array(moved) <= 0.3 * (1 + 1e-12))
    assert max(moved) == pytest.approx(0.3)


def test_the_account_of_the_gaussian_mechanism(example):
    """Without sampling the Renyi divergence of order a is a / (2 noise^2)."""
    private = example("private")
    for order in (2, 5, 32):
        assert private.renyi(order, 1 - 1e-12, 1.5) == pytest.approx(order / 4.5, rel=1e-6)
    # Mironov et al.: for a small share it is near 2 share^2 order / noise^2 at most
    assert private.renyi(2, 0.01, 2.0) < 2 * 0.01**2 * 2 / 4
    assert private.renyi(2, 0.01, 2.0) == pytest.approx(0.01**2 * math.expm1(1 / 4), rel=1e-3)
