"""Functions that are staged again in each call, as what they read outside changes each time."""

from typing import ClassVar

import numpy as np
import pytest

import tapeless
from tapeless.dispatch import lookup, ways

pytestmark = pytest.mark.usefixtures("traced")


class Registered:
    """Keeps a name for each object, as libraries of systems and layers do."""

    names: ClassVar[dict] = {}

    def __init__(self, gain):
        self.name = f"system {len(Registered.names)}"
        Registered.names[self.name] = gain
        self.gain = gain


def registering():
    def f(x):
        return np.sum(Registered(2.0).gain * x**2)

    return f


@pytest.fixture(autouse=True)
def _own_names(monkeypatch):
    monkeypatch.setattr(Registered, "names", {})


def test_a_warning_says_what_changes():
    slope = tapeless.grad(registering())
    x = np.arange(3.0)
    for _ in range(lookup.SINGLE_CALLS):
        np.testing.assert_array_equal(slope(x), 4 * x)
    with pytest.warns(
        tapeless.PerformanceWarning, match=r"in each call: .*Registered.names"
    ) as told:
        slope(x)
    assert told[0].filename == __file__
    assert "Registered.names" in str(told[0].message)
    for _ in range(2 * ways.WAYS):
        np.testing.assert_array_equal(slope(x), 4 * x)
    (kept,) = slope.cache.values()
    assert len(kept) <= ways.WAYS + 1


def test_jit_calls_the_function_as_it_is():
    f, x = tapeless.jit(registering()), np.arange(3.0)
    with pytest.warns(tapeless.PerformanceWarning, match="jit calls f as it is"):
        values = [f(x) for _ in range(ways.WAYS + 4)]
    assert values == [10.0] * (ways.WAYS + 4)
    assert len(Registered.names) == ways.WAYS + 4
    assert len(f.compilations) <= ways.WAYS


def test_what_is_used_again_is_no_single_call(monkeypatch):
    scale = {"kind": "a"}
    f = tapeless.jit(lambda x: x * (2.0 if scale["kind"] == "a" else 3.0))
    for k in range(3 * ways.WAYS):
        monkeypatch.setitem(scale, "kind", f"{k}")
        assert f(1.0) == f(1.0) == 3.0
    assert "3.0" in f.last.text
