"""The character model learns, its gradient is right, and it writes in the letters of the text."""

import numpy as np
import pytest

import tapeless
from tapeless import nn, random

pytestmark = pytest.mark.filterwarnings("error")
SMALL = ["--steps", "60", "--size", "32"]


def test_it_learns_and_writes(example, emitted, tmp_path, capsys):
    characters = example("characters")
    assert characters.main([*SMALL, "--out", str(tmp_path)]) == 0
    first, last = (
        capsys.readouterr().out.split("cross-entropy:  ")[1].split(" nats")[0].split(" at first, ")
    )
    assert float(first) == pytest.approx(np.log(len(set(characters.zen()))), abs=0.5)
    assert float(last) < 2.4  # single letters have an entropy of 3.0 nats
    source = emitted(tmp_path / "characters_grad.py")
    assert source.count("    for ") == 2
    assert "in reversed(range(" in source


def test_gradient_against_finite_differences(example):
    characters = example("characters")
    params = characters.initial_params(random.key(0), letters=4, size=3)
    texts = nn.one_hot(random.randint(random.key(1), (6, 2), 0, 4), 4)
    tapeless.check_grads(lambda p: characters.loss(p, texts), (params,), modes=("rev",), rtol=1e-5)


def test_the_text_is_that_of_the_module(example):
    text = example("characters").zen()
    assert text.startswith("The Zen of Python, by Tim Peters")
    assert len(text) == 856
