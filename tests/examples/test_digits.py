"""The digits example reaches its accuracy, and its gradient is right."""

import re
import time

import numpy as np
import pytest

import tapeless

pytestmark = pytest.mark.filterwarnings("error")


def test_more_than_95_percent_of_unseen_digits_are_told_right(example, emitted, tmp_path, capsys):
    started = time.perf_counter()
    assert example("digits").main(["--out", str(tmp_path)]) == 0
    assert time.perf_counter() - started < 60
    printed = capsys.readouterr().out
    assert re.search("training ━+ 100%", printed)
    accuracy, images = re.search(r"test accuracy:\s+([\d.]+)% of (\d+) images", printed).groups()
    assert float(accuracy) > 95
    assert int(images) == 359
    assert "tanh" in emitted(tmp_path / "digits_grad.py")


def test_the_data_are_complete(example):
    (images, labels), (test_images, test_labels) = example("digits").load(np.random.default_rng(0))
    assert images.shape == (1438, 64)
    assert test_images.shape == (359, 64)
    assert images.min() == 0
    assert images.max() == 1
    counts = np.bincount(np.concatenate([labels, test_labels]))
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_gradient_against_finite_differences(example):
    digits = example("digits")
    rng = np.random.default_rng(1)
    params = digits.initial_params(rng, hidden=5)
    images, labels = rng.random((7, 64)), rng.integers(0, 10, 7)
    value, grads = tapeless.value_and_grad(digits.loss)(params, images, labels, 0.01)
    assert value == pytest.approx(digits.loss(params, images, labels, 0.01), rel=1e-12)
    assert list(grads) == list(params)
    for name in params:
        direction = rng.normal(size=params[name].shape)
        ahead = {**params, name: params[name] + 1e-6 * direction}
        behind = {**params, name: params[name] - 1e-6 * direction}
        slope = digits.loss(ahead, images, labels, 0.01) - digits.loss(behind, images, labels, 0.01)
        assert np.sum(grads[name] * direction) == pytest.approx(slope / 2e-6, rel=1e-5, abs=1e-8)
