"""Devices of one process: the cores."""

import os

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import device_get, device_put, devices, pmap
from tapeless.staging.device_list import Device
from tapeless.staging.jax_arrays import Array


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
    assert np.shares_memory(placed["x"], x)
    assert {type(v) for v in placed.values()} == {Array}
    assert placed["n"].device == devices()[0]
    np.testing.assert_array_equal(placed["n"], 2)
    assert tapeless.block_until_ready(placed) is placed
    assert isinstance(device_get([1.5])[0], np.ndarray)


def polynomial(x):
    return (x + x * x + 3) * (x * x + x * x.T)


@pytest.mark.parametrize("make", [np.asarray, jnp.asarray])
@pytest.mark.parametrize(
    "transform",
    [
        tapeless.jit,
        tapeless.vmap,
        lambda f: tapeless.grad(lambda x: f(x).sum()),
        lambda f: pmap(f, devices=devices()[:1] * 3),
        lambda f: tapeless.shard_map(
            f, mesh=tapeless.make_mesh((3,), ("a",)), in_specs=tapeless.P(), out_specs=tapeless.P()
        ),
        lambda f: lambda x: tapeless.jvp(f, (x,), (x,)),
        lambda f: lambda x: tapeless.vjp(f, x)[1](x),
        lambda f: lambda x: tapeless.jit(lambda tree: {"y": f(tree["x"][0])})({"x": [x, 2.0]}),
    ],
)
def test_what_is_put_on_a_device_gives_results_like_it(make, transform):
    x = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    put = device_put(make(x), devices("cpu")[0])
    for _ in range(3):  # later calls take the quick way
        found = tapeless.tree.leaves(transform(polynomial)(put))
        wanted = tapeless.tree.leaves(transform(polynomial)(x))
        for a, b in zip(found, wanted, strict=True):
            assert type(a) is Array
            assert type(b) is np.ndarray
            np.testing.assert_array_equal(a.block_until_ready(), b)


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
