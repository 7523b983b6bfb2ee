"""A file of small functions, as a user would have one, and the command to try on it."""

import sys
from dataclasses import dataclass

import pytest

from tapeless.tools.cli import main

MODELS = '''\
"""Small models."""

import numpy as np


def logistic(x):
    return np.exp(x) / (np.exp(x) + 1)


def decay(rate: float, steps: int = 4):
    y = 1.0
    for _ in range(steps):
        y = y - 0.1 * rate * y
    return y


def loss(params, x: "f8[4,3]"):
    return np.mean((x @ params["w"] + params["b"]) ** 2)


def norm(x: np.ndarray):
    return np.sum(x**2)


def untyped(x: dict):
    return x["a"]


def keyword(x, *, scale):
    return scale * x


def switched(mode="fast", x=1.5):
    return x**2 if mode == "fast" else x


def words(x):
    return {"value": x, "unit": "m"}


def prints(x):
    print(x)


def items(x):
    yield x


def empty(x: "f8[0]"):
    return np.sum(x)


class Model:
    @staticmethod
    def square(x):
        return x**2

    def cube(self, x):
        return x**3


class Sized:
    def __init__(self, size):
        self.size = size

    def volume(self, x):
        return self.size * x


CONSTANT = 3
'''


@dataclass(frozen=True)
class Result:
    """What a command left."""

    code: int
    out: str
    err: str


@pytest.fixture
def models(tmp_path, monkeypatch):
    """The folder with models.py, which is the current one."""
    (tmp_path / "models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("models", None)


@pytest.fixture
def tapeless(models, capsys):
    """Run the command in this process."""

    def run(*argv):
        try:
            code = main([str(arg) for arg in argv])
        except SystemExit as exit_:  # argparse leaves this way
            code = exit_.code
        return Result(code, *capsys.readouterr())

    return run
