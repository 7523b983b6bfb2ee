"""The forecast for Mauna Loa is near, says how near, and its gradient is right."""

import re
import sys

import numpy as np
import pytest
import scipy.stats

import tapeless

pytestmark = pytest.mark.filterwarnings("error")


def test_the_forecast(example, emitted, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert example("mauna_loa").main(["--steps", "25", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert float(re.search(r"forecast:\s+([\d.]+) ppm", printed).group(1)) < 1.2
    assert int(re.search(r"within 2 deviations: (\d+)%", printed).group(1)) > 80
    assert (tmp_path / "mauna_loa.png").read_bytes().startswith(b"\x89PNG")
    assert "cholesky" in emitted(tmp_path / "mauna_loa_grad.py")


def test_without_scipy(example, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(SystemExit, match="pip install scipy"):
        example("mauna_loa")


def test_the_data(example):
    times, values = example("mauna_loa").load()
    assert len(times) == len(values) == 521
    assert times[[0, -1]] == pytest.approx([1958 + 2.5 / 12, 2001 + 11.5 / 12])
    assert 310 < values.min() < values.max() < 375
    assert values[(times > 1990) & (times < 1991)].mean() == pytest.approx(354.2, abs=0.3)


def small(mauna_loa):
    start = {name: np.log(value) for name, value in mauna_loa.START.items()}
    times = np.arange(15) / 12
    return start, times, np.random.default_rng(0).normal(size=15)


def test_the_likelihood(example):
    mauna_loa = example("mauna_loa")
    start, times, values = small(mauna_loa)
    covariance = mauna_loa.with_noise(start, times)
    want = scipy.stats.multivariate_normal(np.zeros(15), covariance).logpdf(values)
    assert mauna_loa.surprise(start, times, values) == pytest.approx(-want / 15)


def test_gradient_against_finite_differences(example):
    mauna_loa = example("mauna_loa")
    start, times, values = small(mauna_loa)
    tapeless.check_grads(
        lambda p: mauna_loa.surprise(p, times, values), (start,), modes=("rev",), rtol=1e-5
    )


def test_what_was_measured_is_met(example):
    """Without noise the prediction at the measured times is what was measured."""
    mauna_loa = example("mauna_loa")
    start, times, values = small(mauna_loa)
    mean, deviation = mauna_loa.predict({**start, "noise": -12.0}, times, values, times)
    np.testing.assert_allclose(mean, values, atol=1e-5)
    assert deviation.max() < 1e-4
