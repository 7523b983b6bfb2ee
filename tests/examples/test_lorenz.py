"""Each pair of the Lorenz ensemble stops on its own, where it does alone."""

import re

import numpy as np
import pytest

from tapeless import vmap

pytestmark = pytest.mark.filterwarnings("error")


def test_the_exponent(example, emitted, tmp_path, capsys):
    assert example("lorenz").main(["--count", "60", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    found = float(re.search(r"exponent:\s+([\d.]+)", printed).group(1))
    assert found == pytest.approx(0.906, abs=0.08)
    low, high = map(int, re.search(r"steps:\s+(\d+) to (\d+)", printed).groups())
    assert high > 1.2 * low
    assert emitted(tmp_path / "lorenz_vmap.py").count("while ") == 1


def test_a_batch_is_what_its_elements_are(example):
    lorenz = example("lorenz")
    rng = np.random.default_rng(3)
    starts = lorenz.on_the_attractor(rng, 4)
    nearby = starts + 1e-2 * rng.normal(size=starts.shape)
    latest = 3.0  # some arrive before, some do not
    times, steps = vmap(lorenz.horizon, in_axes=(0, 0, None, None))(starts, nearby, 1.0, latest)
    alone = [lorenz.horizon(*pair, 1.0, latest) for pair in zip(starts, nearby, strict=True)]
    np.testing.assert_allclose(times, [time for time, _ in alone], rtol=1e-9)
    assert steps.tolist() == [count for _, count in alone]
    assert len(set(steps.tolist())) > 1


def test_the_order_of_the_integrator(example):
    lorenz = example("lorenz")
    pair = np.array([[1.0, 2.0], [3.0, -1.0], [20.0, 25.0]])

    def end(steps):
        y, k1 = pair, lorenz.slope(pair)
        for _ in range(steps):
            y, k1, _ = lorenz.attempt(y, k1, 0.1 / steps)
        return y

    exact = end(640)
    errors = [np.max(np.abs(end(steps) - exact)) for steps in (10, 20, 40)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 3) < 0.3)
