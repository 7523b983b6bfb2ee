"""The variational autoencoder raises its bound, which is one, and draws digits."""

import re

import numpy as np
import pytest

import tapeless
from tapeless import random

pytestmark = pytest.mark.filterwarnings("error")


def test_the_bound_rises_and_a_picture_is_drawn(example, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    with tapeless.disable_jit():
        assert example("vae").main(["--epochs", "15", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    gray, bound = map(float, re.findall(r"(-[\d.]+) nats", printed))
    assert bound > gray + 150
    assert (tmp_path / "vae.png").read_bytes().startswith(b"\x89PNG")


def test_the_divergence_by_quadrature(example):
    vae = example("vae")
    z = np.linspace(-12, 12, 20001)
    mean, deviation = np.array([[0.7]]), np.array([[0.4]])
    q = np.exp(-0.5 * ((z - 0.7) / 0.4) ** 2) / (0.4 * np.sqrt(2 * np.pi))
    log_ratio = -0.5 * ((z - 0.7) / 0.4) ** 2 - np.log(0.4) + 0.5 * z**2
    assert vae.divergence(mean, deviation)[0] == pytest.approx(np.trapezoid(q * log_ratio, z))


def test_gradient_through_the_draw(example):
    vae = example("vae")
    params = vae.initial_params(random.key(0))
    images = np.random.default_rng(0).random((3, 64))
    tapeless.check_grads(
        lambda p: vae.loss(p, random.key(1), images), (params,), modes=("rev",), rtol=1e-4
    )
