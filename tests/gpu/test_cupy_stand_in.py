"""The stand-in for CuPy refuses what CuPy refuses, and counts what programs ask of a device."""

import importlib

import numpy as np
import pytest

import tapeless
from tapeless import jit
from tests.gpu import cupy_cuda


def s3(x):
    for _ in range(3):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


@pytest.fixture
def cp(stand_in):
    return importlib.import_module("cupy")


def test_programs_run_without_waiting(stand_in):
    x = np.linspace(0, 3, 1003)
    on_gpu = tapeless.device_put(x, tapeless.devices("gpu")[0])
    stand_in.clear()
    out = jit(s3)(on_gpu)
    assert (stand_in.waits, stand_in.transfers) == (0, 0)
    assert len(stand_in.launches) == 1
    np.testing.assert_allclose(tapeless.device_get(out), s3(x), rtol=1e-14)
    assert stand_in.waits > 0


def test_numpy_cannot_read_its_arrays(cp):
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(cp.ones(3))
    with pytest.raises(TypeError, match="Unsupported type"):
        cp.ones(3) + np.ones(3)


@pytest.mark.parametrize("name", ["block", "insert", "unstack"])
def test_names_that_cupy_lacks_are_errors(cp, name):
    assert hasattr(np, name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(cp, name)


def test_reductions_are_arrays(cp, stand_in):
    total = cp.sum(cp.arange(4.0))
    assert isinstance(total, cp.ndarray)
    assert total.shape == ()
    assert (stand_in.waits, float(total), stand_in.waits) == (0, 6, 1)


def test_indices_wrap_around_and_of_several_stores_the_first_wins(cp):
    x = cp.arange(4.0)
    assert x[cp.array([5, -5])].tolist() == [1, 3]
    x[cp.array([2, 2])] = cp.array([7.0, 8.0])
    assert x.tolist() == [0, 1, 7, 3]


def test_new_memory_is_nan(cp):
    assert np.isnan(cp.empty(3).get()).all()


def test_arguments_of_the_host_are_refused_by_launches(cp):
    code = 'extern "C" __global__ void f(double* x) { x[0] = 1; }'
    kernel = cp.RawKernel(code, "f")
    x = cp.zeros(2)
    kernel((1,), (1,), (x,))
    assert x.tolist() == [1, 0]
    with pytest.raises(TypeError, match="Unsupported type"):
        kernel((1,), (1,), (np.zeros(2),))


def test_several_devices(cp, monkeypatch):
    monkeypatch.setattr(cupy_cuda.MACHINE, "devices", 2)
    x = np.linspace(0, 3, 100)
    first, second = (tapeless.device_put(x, d) for d in tapeless.devices("gpu"))
    assert [int(first.device.id), int(second.device.id)] == [0, 1]
    with pytest.raises(ValueError, match="several devices: gpu:0, gpu:1"):
        jit(lambda a, b: a + b)(first, second)
    np.testing.assert_allclose(tapeless.device_get(jit(s3)(second)), s3(x), rtol=1e-14)


def test_shares_memory_by_dlpack(cp):
    x = cp.arange(3.0)
    y = cp.from_dlpack(x)
    y[0] = 5
    assert x.tolist() == [5, 1, 2]
    assert x.__dlpack_device__() == (2, 0)
    assert x.__cuda_array_interface__["shape"] == (3,)
