"""The sampler finds the posterior of the eight schools, and its diagnostics tell good from bad."""

import numpy as np
import pytest

import tapeless

pytestmark = pytest.mark.filterwarnings("error")


def moments_by_quadrature(hmc):
    """Means of mu, tau and the first school: the effects are integrated out by hand."""
    mu, log_tau = np.meshgrid(np.linspace(-20, 30, 401), np.linspace(-8, 5, 521))
    tau = np.exp(log_tau)
    variance = hmc.ERROR[:, None, None] ** 2 + tau**2
    log_p = -0.5 * np.sum((hmc.EFFECT[:, None, None] - mu) ** 2 / variance + np.log(variance), 0)
    log_p += log_tau - np.log1p((tau / 5) ** 2) - 0.5 * (mu / 5) ** 2
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    share = tau**2 / (tau**2 + hmc.ERROR[0] ** 2)
    school = mu + share * (hmc.EFFECT[0] - mu)
    return np.array([np.sum(weight * x) for x in (mu, tau, school)])


def test_the_chains_find_the_posterior(example):
    hmc = example("hmc")
    draws, accepted = hmc.run(seed=1, chains=4, count=1500, warm_up=200)
    assert draws.shape == (4, 1500, 10)
    assert np.all((accepted > 0.7) & (accepted < 1))
    sizes = np.array([hmc.effective_size(draws[:, :, k]) for k in range(10)])
    assert max(hmc.r_hat(draws[:, :, k]) for k in range(10)) < 1.02
    assert sizes.min() > 500
    error = draws.std(axis=(0, 1)) / np.sqrt(sizes)
    off = draws.mean(axis=(0, 1))[:3] - moments_by_quadrature(hmc)
    assert np.all(np.abs(off) < 4 * error[:3])


def test_what_is_written(example, emitted, tmp_path, capsys):
    few = ["--count", "20", "--warm-up", "5", "--chains", "2", "--out", str(tmp_path / "new")]
    assert example("hmc").main(few) == 0
    assert "school H" in capsys.readouterr().out
    assert "def log_density_grad" in emitted(tmp_path / "new" / "hmc_grad.py")


def test_gradient_of_the_density(example):
    hmc = example("hmc")
    tapeless.check_grads(hmc.log_density, (np.linspace(-1, 1, 10),), order=2)


def test_a_leapfrog_can_be_reversed_and_nearly_keeps_the_energy(example):
    hmc = example("hmc")
    rng = np.random.default_rng(0)
    position, momentum = rng.normal(size=(2, 10))
    new, turned = hmc.leapfrog(position, momentum, 0.01, 30)
    assert hmc.energy(new, turned) == pytest.approx(hmc.energy(position, momentum), abs=1e-3)
    back, _ = hmc.leapfrog(new, -turned, 0.01, 30)
    np.testing.assert_allclose(back, position, rtol=1e-10)


def test_the_diagnostics(example):
    hmc = example("hmc")
    noise = np.random.default_rng(0).normal(size=(4, 4000))
    assert hmc.r_hat(noise) == pytest.approx(1, abs=2e-3)
    assert hmc.effective_size(noise) == pytest.approx(16000, rel=0.1)
    slow = np.zeros_like(noise)  # autoregression: (1 + 0.9) / (1 - 0.9) draws count as one
    for k in range(1, 4000):
        slow[:, k] = 0.9 * slow[:, k - 1] + noise[:, k]
    assert hmc.effective_size(slow) == pytest.approx(16000 / 19, rel=0.3)
    assert hmc.r_hat(noise + np.arange(4)[:, None]) > 1.5
