"""The influenza example finds the known rates, and its gradient is right."""

import re
import sys

import numpy as np
import pytest

import tapeless

pytestmark = pytest.mark.filterwarnings("error")


def printed_number(label, printed):
    return float(re.search(rf"{label}:\s+([\d.]+)", printed).group(1))


def test_the_fit_and_its_picture(example, emitted, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert example("influenza").main(["--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    # By scipy.optimize.least_squares on the same model.
    assert printed_number("beta", printed) == pytest.approx(1.66923, abs=1e-3)
    assert printed_number("gamma", printed) == pytest.approx(0.44345, abs=1e-3)
    assert printed_number("R0", printed) == pytest.approx(3.764, abs=3e-3)
    assert printed_number("residual", printed) == pytest.approx(17.16, abs=0.01)
    assert (tmp_path / "influenza.png").read_bytes().startswith(b"\x89PNG")
    assert "for day in range" in emitted(tmp_path / "influenza_grad.py")


@pytest.mark.parametrize("start", [(0.5, 0.1), (3.0, 1.0), (2.0, 0.2)])
def test_the_fit_does_not_depend_on_the_start(example, start):
    beta, gamma, _ = (influenza := example("influenza")).fit(influenza.IN_BED, 4, start)
    assert beta / gamma == pytest.approx(3.7642, abs=1e-3)


def test_without_matplotlib_the_numbers_are_still_there(example, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert example("influenza").main(["--steps-per-day", "4", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "pip install matplotlib" in captured.err
    assert printed_number("R0", captured.out) == pytest.approx(3.764, abs=3e-3)
    assert not (tmp_path / "influenza.png").exists()


def test_gradient_against_finite_differences(example):
    influenza = example("influenza")
    gradient = tapeless.value_and_grad(influenza.loss, argnums=(0, 1))
    rest = (influenza.IN_BED, 4)
    value, (beta_slope, gamma_slope) = gradient(0.4, -0.9, *rest)
    assert value == pytest.approx(influenza.loss(0.4, -0.9, *rest), rel=1e-12)
    h = 1e-6
    by_beta = influenza.loss(0.4 + h, -0.9, *rest) - influenza.loss(0.4 - h, -0.9, *rest)
    by_gamma = influenza.loss(0.4, -0.9 + h, *rest) - influenza.loss(0.4, -0.9 - h, *rest)
    assert beta_slope == pytest.approx(by_beta / (2 * h), rel=1e-6)
    assert gamma_slope == pytest.approx(by_gamma / (2 * h), rel=1e-6)


def test_the_model_keeps_its_boys(example):
    influenza = example("influenza")
    infectious = influenza.simulate(1.7, 0.0, 40, 24)
    assert infectious[-1] == pytest.approx(influenza.BOYS, rel=1e-6)
    assert np.all(np.diff(infectious) >= 0)
