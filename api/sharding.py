"""Maps a function over blocks of arrays, on a mesh of devices whose axes have names
(`shard_map`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.gpu_arguments import has_gpu_arrays
from tapeless.dispatch.inspection import Stages
from tapeless.lazy_import import lazy_module
from tapeless.missing import missing
from tapeless.staging.device_list import single_gpu
from tapeless.staging.device_meshes import AxisType as AxisType
from tapeless.staging.device_meshes import Mesh, P, PartitionSpec, context_mesh
from tapeless.staging.device_meshes import get_mesh as get_mesh
from tapeless.staging.device_meshes import make_mesh as make_mesh
from tapeless.staging.device_meshes import set_mesh as set_mesh
from tapeless.staging.device_placement import NamedSharding as NamedSharding
from tapeless.staging.device_placement import Sharding as Sharding
from tapeless.staging.device_placement import SingleDeviceSharding as SingleDeviceSharding
from tapeless.staging.device_placement import device_put
from tapeless.staging.device_placement import (
    make_single_device_sharding as make_single_device_sharding,
)
from tapeless.staging.emitted_names import base_name, check_callable
from tapeless.staging.jax_arrays import functional, has_functional
from tapeless.staging.subprogram import is_value, leaf_type
from tapeless.staging.user_calls import call_user
from tapeless.transformations.mapping.mesh_blocks import cut, join_blocks
from tapeless.transformations.mapping.pmap import Pmap
from tapeless.transformations.mapping.vmap import Vmap
from tapeless.transformations.mapping.vmap_axes import axis_per_leaf
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from tapeless.transformations.compilation import jit_on_gpu as gpu
else:
    gpu = lazy_module("tapeless.transformations.compilation.jit_on_gpu")


class ShardMap:
    """A function of whole arrays, which runs on blocks of them. It is a pmap over the first axis of
    the mesh of a vmap over each other."""

    def __init__(
        self,
        fun: Callable[..., Any],
        mesh: Mesh,
        in_specs: Any,
        out_specs: Any,
        names: tuple[str, ...],
        check: bool = True,
    ) -> None:
        self.fun, self.mesh, self.names = fun, mesh, names
        self.in_specs = tree.plain(in_specs)
        self.out_specs = tree.plain(out_specs)
        self.check = check
        functools.update_wrapper(self, fun, updated=())
        self.check_specs(self.in_specs, "in_specs")
        self.check_specs(self.out_specs, "out_specs")
        self.gpu = single_gpu(tuple(mesh.devices.flat), "shard_map")
        self.mapped = self.nest()

    @functools.cached_property
    def on_gpu(self) -> Any:
        """The function on a GPU: one program for all blocks."""
        return gpu.GpuJit(self, device=self.gpu)

    def check_specs(self, specs: Any, what: str) -> None:
        """Refuses what is no tree of specs over axes of the mesh."""
        for spec in tree.leaves(specs, is_leaf=lambda x: x is None):
            if spec is not None and not isinstance(spec, PartitionSpec):
                raise ArgumentTypeError(
                    f"shard_map: {what} is {specs!r}", "it must be a tree of PartitionSpec"
                )
            for name in spec.names if spec is not None else ():
                if name not in self.names:
                    raise ArgumentError(
                        f"shard_map: {what} names {name!r}, and the mesh has "
                        f"{', '.join(map(repr, self.names))}"
                    )

    def nest(self) -> Any:
        """The function over all axes of the mesh, the first outermost."""
        nested = self.fun
        for k, name in reversed(list(enumerate(self.names))):
            axes = _axes(self.in_specs, name), self.out_axes(name)
            if k:
                nested = Vmap(nested, *axes, name, self.mesh.shape[name])
                continue
            place = self.mesh.axis_names.index(name)
            row = np.moveaxis(self.mesh.devices, place, 0).reshape(self.mesh.shape[name], -1)
            nested = Pmap(nested, name, *axes, row[:, 0], self.mesh.shape[name])
        return nested

    def out_axes(self, name: str) -> Any:
        return _axes(self.out_specs, name) if self.check else 0

    def places(self, spec: PartitionSpec | None) -> list[str]:
        """The names that a spec mentions, in the order of the mesh."""
        used = () if spec is None else spec.names
        return [name for name in self.names if name in used]

    def __call__(self, *args: Any) -> Any:
        if not active() and (self.gpu is not None or has_gpu_arrays(args, {})):
            if self.gpu is None:
                raise ArgumentError(
                    "shard_map: an argument lies on a GPU, and the mesh is one of cores",
                    "make_mesh(shape, names, devices=tapeless.devices('gpu')[:1]) is one of a GPU",
                )
            return self.on_gpu(*args)
        leaves, structure = tree.flatten(args)
        specs = axis_per_leaf(self.in_specs, args, "in_specs")
        blocks = [self.cut(x, s) for x, s in zip(leaves, specs, strict=True)]
        value = self.value(*tree.unflatten(structure, blocks))
        follows = not active() and has_functional((*leaves, *tree.leaves(value)))
        leaves, structure = tree.flatten(value)
        specs = axis_per_leaf(self.out_specs, value, "out_specs")
        joined_value = tree.unflatten(
            structure, [self.join_blocks(x, s) for x, s in zip(leaves, specs, strict=True)]
        )
        return functional(joined_value) if follows else joined_value

    __staged_call__ = __call__

    def value(self, *blocks: Any) -> Any:
        """The blocks of the results."""
        try:
            return self.mapped(*blocks)
        except ArgumentError as e:
            if "out_axes is None" not in e.problem:
                raise
            raise ArgumentError(
                f"shard_map: a result of {base_name(self.fun)} differs along an axis of the mesh "
                "that out_specs does not name",
                "name it there, or make the result the same by psum or pmean",
                e.where,
            ) from e

    def cut(self, x: Any, spec: PartitionSpec | None) -> Any:
        """The blocks of one array, along axes in the order of the mesh."""
        if spec is None or not spec.names:
            return x
        self.fits(x, spec)
        sizes = self.mesh.shape
        counts = tuple(tuple(sizes[name] for name in names) for names in spec.by_axis)
        places = [name for names in spec.by_axis for name in (*names, None)]
        at = {name: k for k, name in enumerate(places) if name is not None}
        return call_user(cut, x, counts, tuple(at[name] for name in self.places(spec)))

    def fits(self, x: Any, spec: PartitionSpec) -> None:
        """Refuses an array that does not have these axes, or cannot be cut evenly."""
        shape = leaf_type(x).shape if is_value(x) else ()
        if len(spec.parts) > len(shape):
            raise ArgumentError(
                f"shard_map: {spec!r} is for {len(spec.parts)} axes, and {base_name(self.fun)} "
                f"is given an array with {len(shape)}"
            )
        for k, names in enumerate(spec.by_axis):
            count = math.prod(self.mesh.shape[name] for name in names)
            if not active() and shape[k] % count:
                raise ArgumentError(
                    f"shard_map: axis {k} has the length {shape[k]}, which {count} blocks cannot "
                    f"share evenly ({spec!r})"
                )

    def join_blocks(self, x: Any, spec: PartitionSpec | None) -> Any:
        """The array of the blocks of one result."""
        lead = self.places(spec)
        if not self.check:
            x = x[tuple(slice(None) if name in lead else 0 for name in self.names)]
        if spec is None or not lead:
            return x
        places = tuple(tuple(lead.index(name) for name in names) for names in spec.by_axis)
        return call_user(join_blocks, x, len(lead), places)

    # -- what was emitted

    def source(self, *args: Any) -> str:
        """The emitted module of one shard; without arguments, that of the last call."""
        if self.gpu is not None:
            return self.on_gpu.source(*args)  # type: ignore[no-any-return]
        return self.mapped.source(*self.blocks(args))  # type: ignore[no-any-return]

    def stages(self, *args: Any) -> Stages:
        """Each stage of the compilation of one shard."""
        if self.gpu is not None:
            return self.on_gpu.stages(*args)  # type: ignore[no-any-return]
        return self.mapped.stages(*self.blocks(args))  # type: ignore[no-any-return]

    def blocks(self, args: Any) -> Any:
        leaves, structure = tree.flatten(args)
        specs = axis_per_leaf(self.in_specs, args, "in_specs") if args else []
        cuts = [self.cut(x, s) for x, s in zip(leaves, specs, strict=True)] if args else []
        return tree.unflatten(structure, cuts) if args else ()


def _axes(specs: Any, name: str) -> Any:
    """Where blocks lie along an axis of the mesh: in front, or they are the same."""
    return tree.map(
        lambda s: 0 if s is not None and name in s.names else None,
        specs,
        is_leaf=lambda x: x is None,
    )


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    mesh: Mesh | None = None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Iterable[str] = (),
    check_vma: bool = True,
) -> Any:
    """The function of whole arrays that `f` computes of blocks of them, one for each device.

    f           gets blocks: arrays with as many axes, shorter along those that are cut
    mesh        the devices, and the names of their axes; that of the context (`set_mesh`), where it
                is left out
    in_specs    how arguments are cut: a PartitionSpec for each, a tree of them built like the
                argument, or one for all
    out_specs   how blocks of results are put together; an axis of the mesh that is not named has
                to give the same result all along
    axis_names  the axes of the mesh that are used; all, where it is left out
    check_vma   whether results that must be the same have to be so for all arguments; without it
                the first is taken

    Collectives of `tapeless.lax` talk along the axes of the mesh by their names. Blocks along the
    first axis run on the devices of the mesh, as under `pmap`; those along the others are computed
    together on each. Inside another transformation all are one program.

    Raises ValueError for arrays that cannot be cut evenly, and for names that the mesh has not.

    >>> import numpy as np
    >>> from tapeless.lax import psum
    >>> mesh = make_mesh((2,), ("rows",))
    >>> f = shard_map(lambda a, x: psum(a @ x, "rows"), mesh=mesh,
    ...               in_specs=(P(None, "rows"), P("rows")), out_specs=P())
    >>> f(np.ones((3, 4)), np.ones(4))
    array([4., 4., 4.])
    """
    mesh = context_mesh() if mesh is None else mesh
    if not isinstance(mesh, Mesh):
        raise ArgumentTypeError(
            "shard_map: mesh is missing, and none is set"
            if mesh is None
            else f"shard_map: mesh is {type(mesh).__name__}",
            "make_mesh((2,), ('data',)) is one: pass it, or say set_mesh(mesh)",
        )
    names = tuple(name for name in mesh.axis_names if not axis_names or name in set(axis_names))
    if f is None:
        return lambda fun: ShardMap(fun, mesh, in_specs, out_specs, names, check_vma)
    check_callable(f, "shard_map")
    return ShardMap(f, mesh, in_specs, out_specs, names, check_vma)


def reshard(xs: Any, out_shardings: Any) -> Any:
    """The value with other shardings, as `device_put` takes them.

    >>> import numpy as np
    >>> rows = NamedSharding(make_mesh((2,), ("rows",)), P("rows"))
    >>> reshard(np.zeros(4), rows).sharding == rows
    True
    """
    return device_put(xs, out_shardings)


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise missing("tapeless.sharding", name)


__all__ = [
    "AxisType",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "ShardMap",
    "Sharding",
    "SingleDeviceSharding",
    "get_mesh",
    "make_mesh",
    "make_single_device_sharding",
    "reshard",
    "set_mesh",
    "shard_map",
]
