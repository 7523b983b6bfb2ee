"""The quick way into programs for a GPU, and what must not take it."""

import numpy as np
import pytest

from tapeless import device_put, devices, grad, jit
from tapeless.backends.cuda import launch
from tapeless.staging.gpu_arrays import Mixin
from tests.backends.cuda.conftest import driver
from tests.backends.cuda.fake_driver import asarray, ndarray

__all__ = ["driver"]


@pytest.fixture
def x(driver):
    return device_put(np.arange(6.0), devices("gpu")[0])


def quick(f, *args):
    """Whether the next call of these arguments takes the quick way."""
    return f.entries.find(args) is not None


def test_the_second_call(x):
    f = jit(lambda x: x * 2, backend="gpu")
    assert not quick(f, x)
    assert isinstance(f(x), Mixin)
    assert quick(f, x)
    assert isinstance(f(x), Mixin)
    assert f(x).device == devices("gpu")[0]


def test_results_are_of_the_class_of_the_arguments(x):
    f = jit(lambda x: (x * 2, {"y": x + 1}), backend="gpu")
    plain = asarray(np.arange(6.0))
    for _ in range(2):
        assert type(f(plain)[0]) is ndarray
        assert isinstance(f(x)[1]["y"], Mixin)


def test_other_shapes_and_dtypes(x):
    f = jit(lambda x: x * 2, backend="gpu")
    f(x)
    for other in (np.zeros(7), np.zeros(6, np.float32), np.zeros((6, 1)), np.zeros(0), np.zeros(1)):
        y = device_put(other, devices("gpu")[0])
        assert not quick(f, y)
        assert (f(y).shape, f(y).dtype) == (other.shape, other.dtype)


def test_numbers(x):
    g = jit(lambda x, c: x * c, backend="gpu")
    g(x, 2.0)
    assert quick(g, x, 3.0)
    assert not quick(g, x, 3)  # integers may be sizes


def test_static_arguments(x):
    f = jit(lambda x, c: x * c, backend="gpu", static_argnums=1)
    f(x, 2.0)
    assert not quick(f, x, 2.0)


OUTSIDE = 2.0


def test_what_is_read_from_outside(x, monkeypatch):
    f = jit(lambda x: x * OUTSIDE, backend="gpu")
    f(x)
    assert quick(f, x)
    monkeypatch.setitem(globals(), "OUTSIDE", 3.0)
    assert not quick(f, x)
    assert "3.0 * x" in f.source(x)


def test_arrays_that_are_stored_to(x):
    def store(x):
        x[0] = 1.0
        return x * 2

    f = jit(store, backend="gpu")
    f(asarray(np.arange(6.0)))
    assert not quick(f, asarray(np.arange(6.0)))


def test_containers(x):
    f = jit(lambda p: [p["x"] * 2, (p["y"][0],)], backend="gpu")
    value = f({"x": x, "y": [x]})
    assert type(value) is type(f({"x": x, "y": [x]})) is list
    assert quick(f, {"x": x, "y": [x]})
    plain = asarray(np.arange(6.0))
    others = ({"y": [x], "x": x}, {"x": x, "y": (x,)}, {"x": plain, "y": [x]}, {"x": x, "y": [3]})
    assert not any(quick(f, other) for other in (*others, {"x": x, "y": [x, x]}, [x, [x]]))


def test_containers_that_change(x):
    def add(xs):
        xs.append(xs[0] * 2)
        return xs[1]

    f = jit(add, backend="gpu")
    f([x])
    assert not quick(f, [x])


def test_arrays_of_the_host(x):
    g = jit(lambda x: x * 2, backend="gpu")
    g(np.arange(6.0))
    assert not quick(g, np.arange(6.0))


def test_several_devices(x, driver):
    driver.devices = 2
    f = jit(lambda x: x * 2, backend="gpu")
    f(x)
    assert not quick(f, x)


def test_derivatives(x):
    slope = grad(lambda x: (x * x).sum())
    slope(x)
    assert quick(slope.on_gpu, x)
    assert isinstance(slope(x), Mixin)


def test_few_signatures_are_kept(x, monkeypatch):
    monkeypatch.setattr("tapeless.dispatch.gpu_entry.MOST", 2)
    f = jit(lambda x: x * 2, backend="gpu")
    for n in range(2, 7):
        f(device_put(np.zeros(n), devices("gpu")[0]))
    assert len(f.entries.programs) <= 2
    assert launch.PLANS > 2
