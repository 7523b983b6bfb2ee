"""pmap and shard_map on one GPU: it runs the whole axis, with collectives, as one program."""

import numpy as np
import pytest

import tapeless
from tapeless import P, jit, lax, make_mesh, pmap, shard_map
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, UnsupportedError

X = np.arange(6.0).reshape(3, 2) + 1


def put(x):
    return tapeless.device_put(x, tapeless.devices("gpu")[0])


def shares(x):
    return x / lax.psum(x, "rows")


def collectives(x):
    to_next = [(0, 1), (1, 2), (2, 0)]
    rotated = lax.ppermute(x, "rows", to_next)
    return lax.pmax(x, "rows"), lax.all_gather(x, "rows"), lax.axis_index("rows"), rotated


def assert_on_gpu(ours, theirs):
    assert all(map(on_gpu, tapeless.tree.leaves(ours)))
    pairs = zip(*map(tapeless.tree.leaves, (tapeless.device_get(ours), theirs)), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("function", [shares, jit(shares), collectives])
def test_pmap_runs_where_it_is_told_to(function, gpu):
    expected = pmap(function, axis_name="rows")(X)
    device = tapeless.devices("gpu")[0]
    assert_on_gpu(pmap(function, axis_name="rows")(put(X)), expected)
    assert_on_gpu(pmap(function, axis_name="rows", backend="gpu")(X), expected)
    assert_on_gpu(pmap(function, axis_name="rows", devices=[device])(X), expected)
    assert_on_gpu(pmap(function, axis_name="rows", devices=[device, device])(X), expected)
    with tapeless.default_device(device):
        assert_on_gpu(pmap(function, axis_name="rows")(X), expected)


def test_the_program_is_shown(gpu):
    assert "__global__" in pmap(shares, axis_name="rows", backend="gpu").source(X)
    assert "__global__" in pmap(shares, axis_name="rows").source(put(X))
    assert "__global__" not in pmap(shares, axis_name="rows").source(X)


def test_slopes(gpu):
    def loss(x):
        return np.sum(pmap(shares, axis_name="rows")(x) ** 2)

    assert_on_gpu(tapeless.grad(loss)(put(X)), tapeless.grad(loss)(X))


def test_several_devices_are_refused(gpu):
    several = [tapeless.devices("gpu")[0], tapeless.devices()[0]]
    with pytest.raises(UnsupportedError, match="does not run on several GPUs yet"):
        pmap(shares, axis_name="rows", devices=several)
    with pytest.raises(ArgumentError, match="an argument lies on a GPU, and devices are cores"):
        pmap(shares, axis_name="rows", devices=tapeless.devices()[:1])(put(X))


def mapped(devices):
    mesh = make_mesh((3,), ("rows",), devices=devices)
    return shard_map(shares, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))


def test_shard_map(gpu):
    expected = mapped(None)(X)
    on_one = mapped(tapeless.devices("gpu"))
    assert_on_gpu(on_one(X), expected)
    assert_on_gpu(on_one(put(X)), expected)
    assert "__global__" in on_one.source(X)
    with pytest.raises(ArgumentError, match="and the mesh is one of cores"):
        mapped(None)(put(X))
