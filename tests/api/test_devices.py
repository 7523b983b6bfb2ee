"""Devices of one process: the cores."""

import os

import numpy as np
import pytest

import tapeless
from tapeless import device_get, device_put, devices, pmap
from tapeless.hardware import Device


def test_the_devices_are_the_cores():
    found = devices()
    if hasattr(os, "sched_getaffinity"):
        assert len(found) == len(os.sched_getaffinity(0))
    assert [str(d) for d in found[:1]] == ["cpu:0"]
    assert [d.id for d in found] == list(range(len(found)))
    assert found == devices("cpu") == tapeless.local_devices() == tapeless.local_devices(0)
    assert tapeless.device_count() == tapeless.local_device_count() == len(found)
    assert (tapeless.process_index(), tapeless.process_count()) == (0, 1)
    assert tapeless.local_devices(1) == []


def test_other_backends():
    with pytest.raises(ValueError, match="there are no devices of the backend 'tpu'"):
        devices("tpu")


def test_values_on_devices():
    x = np.arange(3.0)
    placed = device_put({"x": x, "n": 2}, devices()[0])
    assert placed["x"] is x
    np.testing.assert_array_equal(placed["n"], 2)
    assert tapeless.block_until_ready(placed) is placed
    assert isinstance(device_get([1.5])[0], np.ndarray)


@pytest.mark.parametrize("use", [lambda d: device_put(1.0, d), lambda d: pmap(abs, devices=[d])])
def test_what_is_no_device_of_this_process(use):
    with pytest.raises(TypeError, match="needs a device, not str 'cpu'"):
        use("cpu")
    with pytest.raises(ValueError, match="cpu:99 is not a device of this process"):
        use(Device(99))


def test_the_default_device():
    seen = []

    class Watched(list):
        pass

    two = Watched(devices()[:1] * 2)
    f = pmap(lambda v: v + 1, axis_name="i")
    with tapeless.default_device(devices()[0]):
        f(np.ones(4))
        seen.append(f.source())
    assert "for a batch" in seen[0]  # one shard, which is the whole
    g = pmap(lambda v: v + 1, axis_name="i", devices=two)
    g(np.ones(4))
    assert "for the elements of one shard" in g.source()
    with (
        pytest.raises(TypeError, match="default_device needs a device"),
        tapeless.default_device(1),
    ):
        pass
