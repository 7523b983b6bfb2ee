"""Values of programs in the call at hand, as NumPy computes them."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.evaluation import call_values

pytestmark = pytest.mark.usefixtures("traced")


def kept(x, value):
    """x, where a test of the value goes one way: it is asked for while staging."""
    tag = "large" if value > 0.5 else 3
    return np.sum(x) * (2.0 if tag == "large" else 3.0)


PROGRAMS = {
    "loops": lambda x: sum((v * k for k, v in enumerate(x)), 0.0),
    "a_while_loop": lambda x: _halved(x),
    "masks": lambda x: np.sum(x[x > 0.3]) / len(x[x > 0.3]),
    "branches": lambda x: x[0] * 2 if x[1] > x[0] else x[1],
    "stores": lambda x: _stored(x),
    "integers": lambda x: np.argmax(x) / 3 + int(4 * x[0]) % 2,
    "booleans": lambda x: float(np.any(x > 0.9) and not np.all(x > 0.1)),
    "matrices": lambda x: np.linalg.norm(np.outer(x, x) @ x),
    "complex": lambda x: np.abs(np.exp(1j * x[0]) + x[1]),
    "single_precision": lambda x: x.astype(np.float32).sum(),
    "recursion": lambda x: _recursive(x[0]),
}


def _halved(x):
    v = 10 * x[0]
    while v > 1:
        v = v / 2
    return v


def _stored(x):
    y = x.copy()
    y[1:] += y[:-1]
    y[x > 0.5] = 0.1
    return np.prod(y)


def _recursive(v):
    return _recursive(v / 2) + 0.1 if v > 0.2 else v


@pytest.mark.parametrize("name", PROGRAMS)
def test_tests_are_decided_as_by_numpy(name):
    function = PROGRAMS[name]

    def f(x):
        return kept(x, function(x))

    for x in np.random.default_rng(1).uniform(0.05, 1.0, (6, 4)):
        assert jit(f)(x) == pytest.approx(f(x))
        np.testing.assert_allclose(grad(f)(x), np.full(4, 2.0 if function(x) > 0.5 else 3.0))


def test_memory_is_given_back(monkeypatch):
    """A value that was dropped is computed again where it is needed."""
    monkeypatch.setattr(call_values, "MOST_BYTES", 1000)

    def f(x):
        first, tags = np.sin(x), []
        v = first
        for _ in range(20):
            v = v + 0.1 * np.cos(v)
            tags.append("up" if np.sum(v) > np.sum(first) else 0.0)
        return np.sum(v) + tags.count("up")

    x = np.linspace(0.1, 0.9, 50)
    assert jit(f)(x) == pytest.approx(f(x))


def test_long_constants_are_told_apart():
    """Their texts are alike: NumPy leaves out what is in the middle."""
    tables = [np.zeros(3000), np.zeros(3000)]
    tables[1][1500] = 1.0

    def f(x):
        total, tags = 0.0, []
        for table in [t.copy() for t in tables]:
            tags.append("one" if np.sum(table * x) > 0.5 else 0.0)
            total = total + x * len(tags)
        return total + tags.count("one")

    for x in (1.0, 0.1):
        assert jit(f)(x) == pytest.approx(f(x))


def test_zeros_of_both_signs_are_told_apart():
    def f(x):
        return f"{x[0]}", x[0] * 2

    ours = jit(f)
    for first in (0.0, -0.0, 0.0, 1.5):
        x = np.array([first, 1.0])
        assert ours(x) == f(x)
