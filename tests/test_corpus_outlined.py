"""The corpus with every function that is called twice as a function of the program."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.optimize import outline
from tests.corpus import programs
from tests.corpus.differences import gradient, ravel

MODULES = ("functions", "closures", "classes", "networks", "functional", "records", "scripts")


@pytest.fixture(
    params=[p for p in programs() if p.name.startswith(MODULES)], ids=lambda each: each.name
)
def program(request, monkeypatch):
    monkeypatch.setattr(outline, "SAVES", 2)
    return request.param


def test_reverse_mode(program):
    slopes = tapeless.grad(program.projected(), argnums=program.wrt)(*program.arguments())
    expected = gradient(program.objective(), ravel(program.active()))
    atol = 1e-4 * np.linalg.norm(expected)
    np.testing.assert_allclose(ravel(slopes), expected, rtol=1e-4, atol=atol)
