"""Represents shardings: which block of an array belongs to which device of a mesh.

An array lies in the memory of its process as a whole. A sharding is kept with it, and says what its
shards are; these are views of the array. No result depends on it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.device_list import (
    Device,
    check_device,
    default_gpu,
    device_get,
    home,
    local_devices,
)
from tapeless.staging.device_meshes import Mesh, PartitionSpec, context_mesh
from tapeless.staging.jax_arrays import Array
from tapeless.staging.subprogram import is_value, leaf_type
from tapeless.transformations.mapping.vmap_axes import axis_per_leaf
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError

if TYPE_CHECKING:
    from tapeless.staging import gpu_arrays
else:
    gpu_arrays = lazy_module("tapeless.staging.gpu_arrays")

Index = tuple[slice, ...]


class Sharding:
    """Which block of an array each device of a list has."""

    memory_kind = "device"

    @property
    def places(self) -> list[Device]:
        """The devices in order; one may be there several times."""
        raise NotImplementedError

    def indices(self, shape: Sequence[int]) -> list[Index]:
        """The block of each place."""
        return [(slice(None),) * len(shape) for _ in self.places]

    def check(self, shape: Sequence[Any], what: str) -> None:
        """Refuses shapes that cannot be cut like this."""

    @property
    def device_set(self) -> set[Device]:
        """The devices."""
        return set(self.places)

    @property
    def addressable_devices(self) -> set[Device]:
        """The devices that belong to this process."""
        gpus = {device for device in self.device_set if device.platform == "gpu"}
        return gpus | (self.device_set & set(local_devices()))

    @property
    def num_devices(self) -> int:
        """How many devices there are."""
        return len(self.device_set)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return self.device_set == self.addressable_devices

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole array."""
        return True

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """The block of each device."""
        self.check(global_shape, "devices_indices_map")
        return dict(zip(self.places, self.indices(global_shape), strict=True))

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """The block of each device of this process."""
        own = self.addressable_devices
        return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in own}

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the blocks."""
        self.check(global_shape, "shard_shape")
        index = self.indices(global_shape)[0]
        return tuple(len(range(*s.indices(n))) for s, n in zip(index, global_shape, strict=True))

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Whether each device has the same block of arrays with so many axes."""
        if not isinstance(other, Sharding) or self.places != other.places:
            return False
        size = math.lcm(len(self.places), len(other.places))
        return self.indices((size,) * ndim) == other.indices((size,) * ndim)


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    >>> from tapeless import devices
    >>> SingleDeviceSharding(devices()[0]).shard_shape((4, 2))
    (4, 2)
    """

    def __init__(self, device: Device, *, memory_kind: str | None = None) -> None:
        check_memory(memory_kind, "SingleDeviceSharding")
        check_device(device, "SingleDeviceSharding")
        self.device = device

    @property
    def places(self) -> list[Device]:
        return [self.device]

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)


def make_single_device_sharding(
    device: Device, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The whole array on one device.

    >>> from tapeless import devices
    >>> make_single_device_sharding(devices()[0]).is_fully_replicated
    True
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def check_memory(kind: str | None, what: str) -> None:
    """Refuses kinds of memory that there are not."""
    if kind not in (None, Sharding.memory_kind):
        raise ArgumentError(f"{what}: memory_kind is {kind!r}: there is one memory", "leave it out")


class NamedSharding(Sharding):
    """Blocks along the axes of a mesh.

    mesh  the devices, and the names of their axes
    spec  a `PartitionSpec`: for each axis of the array the axes of the mesh that it is cut along

    Raises ValueError for names that the mesh has not.

    >>> from tapeless import P, make_mesh
    >>> NamedSharding(make_mesh((2, 2), ("x", "y")), P("x", "y")).shard_shape((8, 6))
    (4, 3)
    """

    def __init__(self, mesh: Mesh, spec: PartitionSpec, *, memory_kind: str | None = None) -> None:
        if not isinstance(mesh, Mesh) or not isinstance(spec, PartitionSpec):
            raise ArgumentTypeError(
                f"NamedSharding takes a Mesh and a PartitionSpec, not {type(mesh).__name__} and "
                f"{type(spec).__name__}"
            )
        check_memory(memory_kind, "NamedSharding")
        self.mesh, self.spec = mesh, spec
        for name in spec.names:
            if name not in mesh.axis_names:
                raise ArgumentError(
                    f"NamedSharding: {spec!r} names {name!r}, and the mesh has "
                    f"{', '.join(map(repr, mesh.axis_names))}"
                )

    @property
    def places(self) -> list[Device]:
        return list(self.mesh.devices.flat)

    def counts(self, ndim: int) -> list[int]:
        """Into how many blocks each axis is cut."""
        named = [*self.spec.by_axis, *[()] * ndim][:ndim]
        return [math.prod(self.mesh.shape[name] for name in names) for names in named]

    def indices(self, shape: Sequence[int]) -> list[Index]:
        counts = self.counts(len(shape))
        return [
            tuple(
                slice(None) if count == 1 else slice(n // count * k, n // count * (k + 1))
                for k, count, n in zip(self.block(place, len(shape)), counts, shape, strict=True)
            )
            for place in np.ndindex(*self.mesh.devices.shape)
        ]

    def block(self, place: tuple[int, ...], ndim: int) -> list[int]:
        """The number along each axis of the block that belongs to a place of the mesh."""
        at = dict(zip(self.mesh.axis_names, place, strict=True))
        numbers = []
        for names in [*self.spec.by_axis, *[()] * ndim][:ndim]:
            number = 0
            for name in names:
                number = number * self.mesh.shape[name] + at[name]
            numbers.append(number)
        return numbers

    @property
    def is_fully_replicated(self) -> bool:
        return all(self.mesh.shape[name] == 1 for name in self.spec.names)

    def check(self, shape: Sequence[Any], what: str) -> None:
        if len(self.spec) > len(shape):
            raise ArgumentError(
                f"{what}: {self.spec!r} is for arrays with {len(self.spec)} axes or more, and is "
                f"given the shape {tuple(shape)}",
                "for numbers it is PartitionSpec()",
            )
        for axis, (count, n) in enumerate(zip(self.counts(len(shape)), shape, strict=True)):
            if isinstance(n, int) and n % count:
                raise ArgumentError(
                    f"{what}: axis {axis} has the length {n}, which {count} blocks cannot share "
                    f"evenly ({self.spec!r})"
                )

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedSharding):
            return NotImplemented
        return (self.mesh, self.spec) == (other.mesh, other.spec)

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))


# -- arrays with shardings


def as_sharding(place: Any, what: str) -> Sharding:
    """A sharding, a device as one, or a PartitionSpec over the mesh of the context."""
    if isinstance(place, Sharding):
        return place
    if isinstance(place, PartitionSpec):
        mesh = context_mesh()
        if mesh is None:
            raise ArgumentError(
                f"{what}: {place!r} is over the axes of a mesh, and none is set",
                "say `with tapeless.set_mesh(mesh):` around it, or pass NamedSharding(mesh, spec)",
            )
        return NamedSharding(mesh, place)
    check_device(place, what)
    return SingleDeviceSharding(home() if place is None else place)


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """The value as arrays of `tapeless.numpy` on a device, or in blocks on several.

    x       a number, an array, or a tree of them
    device  a device of this process, a `Sharding`, a `PartitionSpec` over the mesh of the context,
            or a tree of these for parts of x; None leaves arrays where they are, and takes the
            default device for others

    Cores share their memory, so nothing is copied between them; a sharding is what `x.sharding` and
    `x.addressable_shards` tell. To a GPU arrays are copied on its current stream, and back from it
    they are waited for. The other arguments say where JAX takes memory from, and nothing here.
    Raises TypeError for what is no device, ValueError for a device of another process, for arrays
    that cannot be cut evenly, and where there is no GPU, MemoryError where it is full.

    >>> from tapeless import devices
    >>> device_put([1.0, 2.0], devices("cpu")[0])
    [Array(1., dtype=float64), Array(2., dtype=float64)]
    """
    return _put(x, device, "device_put")


def _put(x: Any, places: Any, what: str) -> Any:
    leaves, structure = tree.flatten(x)
    pairs = zip(leaves, spread_shardings(places, x, what), strict=True)
    return tree.unflatten(structure, [_put_leaf(leaf, place, what) for leaf, place in pairs])


def _put_leaf(x: Any, place: Any, what: str) -> Any:
    if place is None and not active():
        place = None if on_gpu(x) or isinstance(x, np.ndarray) else default_gpu()
    sharding = None if place is None else as_sharding(place, what)
    if active():
        return with_shape(x, sharding, what)
    gpu = _gpu_of(sharding, what)
    if gpu is not None or (sharding is None and on_gpu(x)):
        return gpu_arrays.put(x, gpu)
    if on_gpu(x):
        x = device_get(x)
    return laid_out(x if isinstance(x, Array) else np.asarray(x), sharding, what)


def _gpu_of(sharding: Sharding | None, what: str) -> Device | None:
    """The GPU that a sharding puts whole arrays on; None for cores."""
    if sharding is None or not any(device.platform == "gpu" for device in sharding.places):
        return None
    if len(sharding.places) > 1:
        raise UnsupportedError(
            f"{what}: arrays in blocks on several GPUs are not there yet ({sharding!r})",
            "put whole arrays on one GPU; pmap cuts its arguments itself",
        )
    return sharding.places[0]


def with_shape(x: Any, sharding: Sharding | None, what: str) -> Any:
    """A value of a staged run, whose shape has to fit a sharding."""
    if sharding is not None:
        sharding.check(leaf_type(x).shape if is_value(x) else (), what)
    return x


def laid_out(x: Any, sharding: Sharding | None, what: str) -> Array:
    """The same memory as an array with this sharding."""
    if sharding is None:
        return x if isinstance(x, Array) else x.view(Array)
    sharding.check(x.shape, what)
    placed: Array = x.view(Array)
    placed._sharding = sharding
    return placed


def spread_shardings(shardings: Any, value: Any, what: str) -> list[Any]:
    """One for each leaf of a value."""
    leaves, structure = tree.flatten(shardings, is_leaf=_is_place)
    numbers = tree.unflatten(structure, list(range(len(leaves))))
    return [leaves[k] for k in axis_per_leaf(numbers, value, what)]


def _is_place(x: Any) -> bool:
    return x is None or isinstance(x, (Device, Sharding, PartitionSpec))


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """The value with shardings, as `device_put` takes them; inside a transformed function the value
    itself, whose shape has to fit.

    >>> from tapeless import P, make_mesh
    >>> with make_mesh((2,), ("rows",)):
    ...     with_sharding_constraint(np.zeros(4), P("rows")).sharding.spec
    PartitionSpec('rows')
    """
    return _put(x, shardings, "with_sharding_constraint")


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> Array:
    """An array of the blocks that a function gives for indices, once for each block.

    >>> from tapeless import P, make_mesh
    >>> rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    >>> make_array_from_callback((4,), rows, lambda index: np.arange(4.0)[index])
    Array([0., 1., 2., 3.], dtype=float64)
    """
    sharding.check(shape, "make_array_from_callback")
    blocks: dict[Any, Any] = {}
    indices = sharding.indices(shape)
    for index in indices:
        key = _key(index)
        if key not in blocks:
            blocks[key] = np.asarray(data_callback(index), dtype)
    return _assemble(shape, sharding, [blocks[_key(index)] for index in indices])


def _key(index: Index) -> tuple[Any, ...]:
    return tuple((s.start, s.stop) for s in index)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Any], *, dtype: Any = None
) -> Array:
    """An array of its blocks, one for each place of the sharding.

    >>> from tapeless import P, make_mesh
    >>> rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    >>> make_array_from_single_device_arrays((4,), rows, [np.zeros(2), np.ones(2)])
    Array([0., 0., 1., 1.], dtype=float64)
    """
    sharding.check(shape, "make_array_from_single_device_arrays")
    if len(arrays) != len(sharding.places):
        raise ArgumentError(
            f"make_array_from_single_device_arrays: {len(arrays)} arrays for "
            f"{len(sharding.places)} places of {sharding!r}"
        )
    return _assemble(shape, sharding, [np.asarray(x, dtype) for x in arrays])


def _assemble(shape: Sequence[int], sharding: Sharding, blocks: list[Any]) -> Array:
    wanted = sharding.shard_shape(shape)
    whole = np.empty(tuple(shape), blocks[0].dtype)
    for index, block in zip(sharding.indices(shape), blocks, strict=True):
        if block.shape != wanted:
            raise ArgumentError(f"a block has the shape {block.shape}, and must have {wanted}")
        whole[index] = block
    return laid_out(whole, sharding, "an array of blocks")


@dataclass(frozen=True)
class Shard:
    """A part of an array on a device."""

    device: Device
    index: Index
    data: Array
    replica_id: int = 0


def shards(x: Array, sharding: Sharding) -> list[Shard]:
    """The block of each place, as a view."""
    seen: dict[Any, itertools.count[int]] = {}
    shards_by_place = []
    for device, index in zip(sharding.places, sharding.indices(x.shape), strict=True):
        replica = next(seen.setdefault(_key(index), itertools.count()))
        shards_by_place.append(Shard(device, index, x[index].view(Array), replica))
    return shards_by_place


__all__ = [
    "NamedSharding",
    "Shard",
    "Sharding",
    "SingleDeviceSharding",
    "device_put",
    "make_array_from_callback",
    "make_array_from_single_device_arrays",
    "with_sharding_constraint",
]
