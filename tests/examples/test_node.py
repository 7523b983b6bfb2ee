"""The neural differential equation follows its spiral, and its integrator has its order."""

import re

import numpy as np
import pytest

import tapeless
from tapeless import random

pytestmark = pytest.mark.filterwarnings("error")


def test_the_path_is_followed(example, emitted, tmp_path, capsys):
    assert example("node").main(["--iterations", "250", "--out", str(tmp_path)]) == 0
    off = re.search(r"learned path:\s+([\d.]+) off", capsys.readouterr().out).group(1)
    assert float(off) < 1  # standing still is nearly 4 off
    assert "in reversed(range(" in emitted(tmp_path / "node_grad.py")


def test_gradient_against_finite_differences(example):
    node = example("node")
    params = node.initial_params(random.key(0), hidden=4)
    starts, pieces = np.array([[1.0, 0.5], [0.3, -1.2]]), np.ones((5, 2, 2))
    tapeless.check_grads(
        lambda p: node.loss(p, starts, pieces), (params,), modes=("rev",), rtol=1e-5
    )


def test_the_order_of_the_integrator(example):
    node = example("node")
    start, rate = np.array([[1.0, 2.0]]), -0.7

    def error(h):
        return np.max(
            np.abs(node.runge_kutta(lambda y: rate * y, start, h) - start * np.exp(rate * h))
        )

    assert np.log2(error(0.2) / error(0.1)) == pytest.approx(5, abs=0.2)
