"""What is learned by learning to learn helps on new waves, and its gradient is right."""

import numpy as np
import pytest

import tapeless
from tapeless import random

pytestmark = pytest.mark.filterwarnings("error")


def test_one_step_of_descent_helps(example):
    meta = example("meta")
    learned, _ = meta.train(random.key(0), iterations=500, inner_steps=1)
    new = meta.tasks(random.key(1), 100, 10)
    before, after = (meta.mean_error(learned, new, steps) for steps in (0, 1))
    assert after < 0.7 * before


def test_a_step_is_one_of_descent(example):
    meta = example("meta")
    params = meta.initial_params(random.key(0), (-1, 1))[1]
    x, y, *_ = (wave[0] for wave in meta.tasks(random.key(1), 1, 10))
    new = meta.adapted(params, x, y, 1, rate=1e-6)
    squares = sum(
        np.sum(g**2) for g in tapeless.tree.leaves(tapeless.grad(meta.loss)(params, x, y))
    )
    fall = (meta.loss(params, x, y) - meta.loss(new, x, y)) / 1e-6
    assert fall == pytest.approx(squares, rel=1e-4)


def test_gradient_through_the_gradient(example):
    meta = example("meta")
    params = meta.initial_params(random.key(0), (-1, 1))[1]
    batch = meta.tasks(random.key(2), 2, 3)
    tapeless.check_grads(
        lambda p: meta.mean_error(p, batch, 2), (params,), modes=("rev",), rtol=1e-5
    )
