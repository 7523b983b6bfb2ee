"""The diffusion example recovers the initial state, and its gradient is right."""

import re

import numpy as np
import pytest

import tapeless

pytestmark = pytest.mark.filterwarnings("error")
SMALL = ["--cells", "30", "--steps", "15", "--iterations", "100"]


def test_the_error_falls(example, emitted, tmp_path, capsys):
    assert example("diffuse").main([*SMALL, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    before, after = map(float, re.findall(r"error \w+:\s+([\d.]+) K", printed))
    assert after < 0.4 * before
    assert emitted(tmp_path / "diffuse_grad.py").count("for ") >= 2


def test_the_emitted_source_does_not_grow_with_the_work(example):
    diffuse = example("diffuse")
    gradient = tapeless.value_and_grad(diffuse.misfit)
    sources = []
    for cells, steps in ((10, 3), (40, 9)):
        gradient(diffuse.two_spots(cells), np.zeros(cells), steps)
        sources.append(gradient.source())
    assert sources[0] == sources[1]


def test_gradient_against_finite_differences(example):
    diffuse = example("diffuse")
    rng = np.random.default_rng(2)
    initial, measured, direction = rng.normal(size=(3, 12))
    kept = initial.copy()
    value, grad = tapeless.value_and_grad(diffuse.misfit)(initial, measured, 7)
    assert np.array_equal(initial, kept)
    assert value == pytest.approx(diffuse.misfit(initial, measured, 7), rel=1e-12)
    ahead = diffuse.misfit(initial + 1e-5 * direction, measured, 7)
    behind = diffuse.misfit(initial - 1e-5 * direction, measured, 7)
    assert grad @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)


@pytest.mark.parametrize("cells", [5, 50, 300])
def test_a_sweep_lengthens_no_vector(example, cells):
    diffuse = example("diffuse")
    sweep = np.stack([diffuse.diffuse(unit.copy(), 1) for unit in np.eye(cells)], axis=1)
    assert np.linalg.norm(sweep[:, 1:-1], 2) <= 1
