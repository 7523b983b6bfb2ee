"""Shardings of arrays: what they say, what they refuse, and that no result depends on them.

The values are those of JAX 0.10.2 with a mesh of four devices.
"""

import pickle

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import NamedSharding, P, device_put, jit, lax, make_mesh, set_mesh, shard_map
from tapeless.sharding import AxisType, Mesh, SingleDeviceSharding, get_mesh
from tapeless.staging.device_list import Device
from tapeless.staging.jax_arrays import Array

MESH = make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
ROWS = NamedSharding(MESH, P("a"))
X = np.arange(8.0).reshape(4, 2)
ALL = slice(None)


def four_devices(monkeypatch):
    """A mesh of four devices, on any machine."""
    four = [Device(k) for k in range(4)]
    monkeypatch.setattr("tapeless.staging.device_placement.local_devices", lambda: four)
    return Mesh(np.array(four).reshape(2, 2), ("a", "b"))


def test_devices_and_their_blocks(monkeypatch):
    sharding = NamedSharding(four_devices(monkeypatch), P("a"))
    low, high = (slice(0, 2), ALL), (slice(2, 4), ALL)
    assert [*sharding.devices_indices_map((4, 2)).values()] == [low, low, high, high]
    assert [*sharding.addressable_devices_indices_map((4, 2)).values()] == [low, low, high, high]
    assert sharding.shard_shape((4, 2)) == (2, 2)
    assert sharding.num_devices == len(sharding.addressable_devices) == 4
    assert sharding.is_fully_addressable
    assert not sharding.is_fully_replicated
    shards = device_put(X, sharding).addressable_shards
    assert [s.device.id for s in shards] == [0, 1, 2, 3]
    assert [s.replica_id for s in shards] == [0, 1, 0, 1]
    assert [s.index for s in shards] == [low, low, high, high]
    for s in shards:
        np.testing.assert_array_equal(s.data, X[s.index])


@pytest.mark.parametrize(
    "spec",
    [P(), P("a"), P("b"), P(None, "a"), P("a", "b"), P("b", "a"), P(("a", "b")), P(("b", "a"))],
)
def test_blocks_are_those_of_shard_map(spec):
    x = np.arange(16.0).reshape(4, 4)
    put = device_put(x, NamedSharding(MESH, spec))
    blocks = shard_map(lambda x: x[None, None], mesh=MESH, in_specs=spec, out_specs=P("a", "b"))(x)
    for place, shard in zip(np.ndindex(2, 2), put.global_shards, strict=True):
        np.testing.assert_array_equal(shard.data, blocks[place])
        assert np.shares_memory(shard.data, put)


def test_arrays_say_where_they_are():
    x = device_put(X, ROWS)
    assert x.sharding == x.device == ROWS
    assert x.devices() == ROWS.device_set
    assert x.committed
    assert not x.is_fully_replicated
    assert device_put(x).sharding == ROWS
    assert type(x * 2) is Array
    assert isinstance((x * 2).sharding, SingleDeviceSharding)
    moved = device_put(x, tapeless.devices()[0])
    assert moved.sharding == SingleDeviceSharding(tapeless.devices()[0])
    assert np.shares_memory(moved, X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), X)
    assert pickle.loads(pickle.dumps(ROWS)) == ROWS


def test_trees_of_shardings():
    whole = NamedSharding(MESH, P())
    put = device_put({"a": X, "b": [1.0, X]}, {"a": ROWS, "b": whole})
    assert put["a"].sharding == ROWS
    assert [v.sharding for v in put["b"]] == [whole, whole]


def test_equivalent_shardings():
    assert NamedSharding(MESH, P("a", None)) != ROWS
    assert ROWS.is_equivalent_to(NamedSharding(MESH, P("a", None)), 2)
    assert not ROWS.is_equivalent_to(NamedSharding(MESH, P("b")), 2)
    assert not ROWS.is_equivalent_to(None, 2)
    assert hash(ROWS) == hash(NamedSharding(MESH, P("a")))


REFUSED = [
    (lambda: device_put(np.arange(3.0), ROWS), "axis 0 has the length 3, which 2 blocks cannot"),
    (lambda: device_put(1.0, ROWS), r"PartitionSpec\('a'\) is for arrays with 1 axes or more"),
    (lambda: NamedSharding(MESH, P("c")), "names 'c', and the mesh has 'a', 'b'"),
    (lambda: NamedSharding(MESH, P(), memory_kind="pinned_host"), "there is one memory"),
    (lambda: device_put(X, P("a")), "is over the axes of a mesh, and none is set"),
    (lambda: jit(np.sin, in_shardings=ROWS)(np.arange(3.0)), "jit of sin: axis 0 has the length 3"),
    (
        lambda: jit(np.sin, in_shardings=NamedSharding(MESH, P("b")))(device_put(X, ROWS)),
        "in_shardings has .*'b'.*, and sin is given an array with .*'a'",
    ),
    (
        lambda: jit(np.add, in_shardings=(ROWS,))(X, X),
        "in_shardings is for 1 positional argument, and add is called with 2",
    ),
    (
        lambda: jit(lambda x: lax.with_sharding_constraint(2 * x, ROWS))(np.float64(1)),
        "with_sharding_constraint: .* is for arrays with 1 axes or more",
    ),
]


@pytest.mark.parametrize(("use", "message"), REFUSED)
def test_what_does_not_fit(use, message):
    with pytest.raises(ValueError, match=message):
        use()


def test_what_is_no_mesh_or_sharding():
    with pytest.raises(TypeError, match="takes a Mesh and a PartitionSpec, not int and Part"):
        NamedSharding(1, P())
    with pytest.raises(TypeError, match="set_mesh: mesh is int"):
        set_mesh(1)
    with pytest.raises(TypeError, match="mesh is missing, and none is set"):
        shard_map(np.sin, in_specs=P("a"), out_specs=P("a"))
    with pytest.raises(ValueError, match="set_mesh is called inside a transformed function"):
        jit(lambda x: set_mesh(MESH) and x)(1.0)


def test_jit_with_shardings():
    double = jit(lambda x: 2 * x, in_shardings=ROWS, out_shardings=ROWS)
    made = double(X)
    assert made.sharding == ROWS
    np.testing.assert_array_equal(double(made), 4 * X)
    pair = jit(lambda x: (x, np.sum(x)), out_shardings=(ROWS, None))(X)
    assert pair[0].sharding == ROWS
    assert type(pair[1]) is np.float64
    slope = tapeless.grad(lambda x: np.sum(double(x) ** 2))(X)
    np.testing.assert_allclose(slope, 8 * X)


def test_constraints_change_no_values():
    def f(x):
        return np.sum(lax.with_sharding_constraint(np.sin(x), ROWS) ** 2)

    np.testing.assert_allclose(jit(f)(X), np.sum(np.sin(X) ** 2))
    np.testing.assert_allclose(jit(tapeless.grad(f))(X), np.sin(2 * X))
    assert lax.with_sharding_constraint(X, ROWS).sharding == ROWS
    assert jit(lambda x: device_put(jnp.sin(x), ROWS))(X).shape == X.shape


def test_the_mesh_of_the_context():
    assert get_mesh().empty
    assert get_mesh().size == 0
    with MESH:
        assert get_mesh() is MESH
        assert device_put(X, P("a")).sharding == ROWS
        with set_mesh(make_mesh((4,), ("a",))) as inner:
            assert get_mesh() is inner
        assert get_mesh() is MESH
    set_mesh(MESH)
    assert get_mesh() is MESH
    set_mesh(None)
    assert get_mesh().empty


def test_programs_are_staged_for_the_mesh_of_the_context():
    @jit
    def f(x):
        add = shard_map(lambda x: x + lax.axis_size("a"), in_specs=P("a"), out_specs=P("a"))
        return add(x)

    for n in (2, 4, 2):
        with set_mesh(make_mesh((n,), ("a",))):
            np.testing.assert_array_equal(f(np.ones(4)), 1.0 + n)


def test_meshes():
    assert MESH.axis_sizes == (2, 2)
    assert MESH.device_ids.shape == (2, 2)
    assert len(MESH.local_devices) == MESH.size == 4


def test_arrays_of_blocks():
    made = tapeless.make_array_from_callback((4, 2), ROWS, lambda index: X[index])
    np.testing.assert_array_equal(made, X)
    assert made.sharding == ROWS
    parts = [shard.data for shard in made.addressable_shards]
    again = tapeless.make_array_from_single_device_arrays((4, 2), ROWS, parts)
    np.testing.assert_array_equal(again, X)
    seen = []
    tapeless.make_array_from_callback((4,), ROWS, lambda i: (seen.append(i), np.zeros(2))[1])
    assert seen == [(slice(0, 2),), (slice(2, 4),)]
    with pytest.raises(ValueError, match="3 arrays for 4 places"):
        tapeless.make_array_from_single_device_arrays((4, 2), ROWS, parts[:3])
    with pytest.raises(ValueError, match=r"a block has the shape \(4, 2\), and must have \(2, 2\)"):
        tapeless.make_array_from_single_device_arrays((4, 2), ROWS, [X] * 4)
