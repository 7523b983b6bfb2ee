"""Maps a function over a batch that is spread over devices (`pmap`)."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tapeless import tree
from tapeless.backends.spmd.rendezvous import Meeting
from tapeless.backends.spmd.threads import run_together
from tapeless.backends.spmd.world import ALONE, World, world
from tapeless.dispatch.gpu_arguments import has_gpu_arrays
from tapeless.dispatch.inspection import Stages
from tapeless.dispatch.transformation import Transformed
from tapeless.dispatch.typed_function import P, R, TypedFunction
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import plural
from tapeless.staging.device_list import (
    GPU,
    Device,
    check_device,
    chosen_devices,
    default_gpu,
    local_devices,
    single_gpu,
)
from tapeless.staging.emitted_names import base_name, place
from tapeless.staging.jax_arrays import functional, has_functional
from tapeless.staging.subprogram import is_value, leaf_atom
from tapeless.transformations.bound_arguments import Fixed, positions
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transformations.compilation.disable_jit import is_disabled
from tapeless.transformations.ignored_parameters import check_unneeded
from tapeless.transformations.mapping.pmap_shard import Call, ShardProgram
from tapeless.transformations.mapping.vmap import Vmap
from tapeless.transformations.mapping.vmap_axes import axis_per_leaf
from tapeless.transforms.core.builder import active, static
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import (
    TRACEABLE,
    ArgumentError,
    ArgumentTypeError,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol

if TYPE_CHECKING:
    from tapeless.transformations.compilation import jit_on_gpu as gpu
else:
    gpu = lazy_module("tapeless.transformations.compilation.jit_on_gpu")


class Pmap(Vmap):
    """A function over a batch, a part of which runs on each device.

    Inside another transformation it is `vmap`: one program for the whole batch.
    """

    suffix = title = "pmap"

    def __init__(
        self,
        fun: Callable[..., Any],
        axis_name: Any = None,
        in_axes: Any = 0,
        out_axes: Any = 0,
        devices: Iterable[Device] | None = None,
        axis_size: int | None = None,
        static_broadcasted_argnums: int | Sequence[int] = (),
        donate_argnums: int | Sequence[int] = (),
    ) -> None:
        super().__init__(fun, in_axes, out_axes, axis_name, axis_size)
        if not isinstance(devices, Iterable | None):
            raise ArgumentTypeError(
                f"pmap: devices must be a list of devices, not {devices!r}",
                "pass tapeless.devices()[:2], or leave it out for all devices",
            )
        self.devices = None if devices is None else tuple(devices)
        if self.devices == ():
            raise ArgumentError("pmap: devices is empty", "leave it out for all devices")
        for device in self.devices or ():
            check_device(device, "pmap")
        self.gpu = single_gpu(self.devices or (), "pmap")
        self.static = positions(static_broadcasted_argnums, "static_broadcasted_argnums")
        self.donated = positions(donate_argnums, "donate_argnums")
        axes = (self.in_axes, self.out_axes, axis_name)
        self.plain = ShardProgram(fun, *axes)
        self.compiled = ShardProgram(fun, *axes, isinstance(fun, Jit))
        self.mapped = (fun, *axes, axis_size)
        whole = Vmap(*self.mapped)
        self.whole = Jit(whole) if isinstance(fun, Jit) else whole
        self.fixed: dict[Any, Pmap] = {}
        self.last_used = self

    def options(self) -> tuple[Any, ...]:
        return (*super().options(), getattr(self, "devices", None), getattr(self, "static", ()))

    # -- static arguments

    def of_rest(self, args: tuple[Any, ...]) -> tuple[Pmap, tuple[Any, ...]]:
        """The function of the other arguments, and these; static ones are part of the function."""
        if not self.static:
            return self, args
        if missing := [k for k in self.static if k >= len(args)]:
            raise ArgumentError(
                f"pmap: static_broadcasted_argnums holds {missing[0]}, and {base_name(self.fun)} "
                f"is called with {plural(len(args), 'positional argument')}"
            )
        values = tuple(_static_value(args[k]) for k in self.static)
        try:
            key = tuple(map(_static_key, values))
            of_others = self.fixed.get(key)
        except TypeError as e:
            raise ArgumentTypeError(
                f"pmap: a static argument of {base_name(self.fun)} is not hashable ({e})",
                "pass it as an argument that is mapped over None in in_axes",
            ) from e
        if of_others is None:
            in_axes = self.in_axes
            if isinstance(in_axes, (tuple, list)) and len(in_axes) == len(args):
                in_axes = tuple(k for j, k in enumerate(in_axes) if j not in self.static)
            of_others = self.fixed[key] = Pmap(
                fix_arguments(self.fun, dict(zip(self.static, values, strict=True))),
                self.axis_name,
                in_axes,
                self.out_axes,
                self.devices,
                self.axis_size,
            )
        return of_others, tuple(x for k, x in enumerate(args) if k not in self.static)

    # -- use

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if active():
            return self.stage(args, kwargs)
        inner, rest = self.of_rest(args)
        self.last_used = inner
        if not inner.is_whole(rest, kwargs):
            return inner.run(rest, kwargs)
        with said_of("pmap"):
            return inner.whole_axis(*rest, **kwargs)

    @property
    def shard(self) -> ShardProgram:
        """What runs on each device."""
        return self.plain if is_disabled() else self.compiled

    @functools.cached_property
    def whole_axis(self) -> Any:
        """The function of the whole axis, where that is one shard."""
        if self.gpu is None:
            return self.whole
        return gpu.GpuJit(Vmap(*self.mapped), device=self.gpu)

    def is_whole(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the whole axis is one shard: it is on a GPU, which runs the axis as `vmap` does.

        Raises ArgumentError for arrays of a GPU where cores are asked for, and UnsupportedError
        for several processes with GPUs.
        """
        on_gpu = has_gpu_arrays(args, kwargs)
        if on_gpu and self.devices is not None and self.gpu is None:
            raise ArgumentError(
                "pmap: an argument lies on a GPU, and devices are cores",
                "leave devices out, or transfer it: tapeless.device_get(x)",
            )
        if self.gpu is None and not on_gpu and (self.devices is not None or not default_gpu()):
            return len(chosen_devices(self.devices)) == 1 and self.talks_to() is ALONE
        if self.talks_to() is not ALONE:
            raise UnsupportedError(
                f"pmap: the axis {self.axis_name!r} of several processes does not run on GPUs",
                "pmap runs on the cores of several processes, or on one GPU",
            )
        return True

    def talks_to(self) -> World:
        """The processes that the axis is spread over."""
        everyone = ALONE if self.axis_name is None else world().processes_along(self.axis_name)
        return ALONE if everyone.size == 1 else everyone

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        inner, rest = self.of_rest(args)
        with said_of("pmap"):
            super(Pmap, inner).check(rest, kwargs)

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        inner, rest = self.of_rest(args)
        if inner is not self:
            return inner.stage(rest, kwargs)
        if self.talks_to() is not ALONE:
            raise UnsupportedError(
                f"pmap over the axis {self.axis_name!r} of several processes inside another "
                "transformation",
                "put pmap outside: pmap(grad(f)), pmap(jit(f))",
            )
        with said_of("pmap"):
            return super().stage(args, kwargs)

    @functools.cached_property
    def told_apart(self) -> str:
        """What the function is called, and where it stands: names may be the same."""
        if (file_and_line := place(self.fun)) is None:
            return self.emitted_name
        return f"{self.emitted_name} ({os.path.basename(file_and_line[0])}:{file_and_line[1]})"

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The results of all shards, joined."""
        shard, everyone = self.shard, self.talks_to()
        everyone.begin(self.told_apart)
        with said_of("pmap"):
            parts = self.parts(args, kwargs, everyone)
        meeting = Meeting(len(parts), everyone)
        try:
            with said_of("pmap"):
                try:
                    programs = shard.programs(parts)
                except TRACEABLE:
                    if everyone is not ALONE or STRICT[0]:
                        raise
                    return self.whole(*args, **kwargs)  # traced on values, one after another
            results = run_together(
                lambda k: shard.run(programs[k], parts[k], meeting.place(k)),
                len(parts),
                meeting.abort,
            )
            return results[0] if len(results) == 1 else self.join_results(results)
        except BaseException as e:
            everyone.give_up()
            if isinstance(e, Exception) and shard.last is not None:
                shard.locate(e, shard.last)
            raise

    def parts(self, args: tuple[Any, ...], kwargs: dict[str, Any], everyone: World) -> list[Call]:
        """The arguments of each shard."""
        leaves, structure = tree.flatten((args, kwargs))
        axes, n = self.axes(args, kwargs)
        assert isinstance(n, int)
        start, total = everyone.extent(n)
        cuts = evenly(n, len(chosen_devices(self.devices)))
        calls = []
        for low, high in cuts:
            cut = [
                x if k is None else np.asanyarray(x)[(slice(None),) * k + (slice(low, high),)]
                for x, k in zip(leaves, axes, strict=True)
            ]
            own_args, own_kwargs = tree.unflatten(structure, cut)
            index = np.arange(start + low, start + high)
            calls.append(self.shard.with_place(own_args, own_kwargs, index, total))
        return calls

    def join_results(self, results: list[Any]) -> Any:
        """One value, joined along the axes of `out_axes`; the first of what is the same for all."""
        first, structure = tree.flatten(results[0])
        rows = zip(*map(tree.leaves, results), strict=True)
        axes = axis_per_leaf(self.out_axes, results[0], "out_axes")
        joined = [
            row[0] if k is None or not is_value(x) else np.concatenate(row, axis=k)
            for x, row, k in zip(first, rows, axes, strict=True)
        ]
        value = tree.unflatten(structure, joined)
        return functional(value) if has_functional(first) else value

    # -- what was emitted

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The emitted module of one shard; without arguments, that of the last call."""
        own, (own_args, own_kwargs) = self.emitter(args, kwargs)
        return own.source(*own_args, **own_kwargs)

    def save(self, file: Any, /, *args: Any, **kwargs: Any) -> Path:
        """Writes the emitted module of one shard to a file that stands alone."""
        own, (own_args, own_kwargs) = self.emitter(args, kwargs)
        return own.save(file, *own_args, **own_kwargs)

    def file(self, /, *args: Any, **kwargs: Any) -> str:
        """The path of the emitted module of one shard."""
        own, (own_args, own_kwargs) = self.emitter(args, kwargs)
        return own.file(*own_args, **own_kwargs)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation of one shard, or of the last call."""
        own, (own_args, own_kwargs) = self.emitter(args, kwargs)
        return own.stages(*own_args, **own_kwargs)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted program for the whole axis, as one shard."""
        inner, rest = self.of_rest(args)
        return inner.whole_axis.profile(*rest, **kwargs)

    def emitter(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Transformed, Any]:
        """What emits the program of a call, and what it takes; nothing where no call is given."""
        inner, rest = self.of_rest(args) if args or kwargs else (self.last_used, ())
        if inner.is_whole(rest, kwargs):
            return inner.whole_axis, (rest, kwargs)
        if not (args or kwargs):
            return inner.shard, ((), {})
        return inner.shard, inner.parts(rest, kwargs, ALONE)[0]


@contextmanager
def said_of(name: str) -> Iterator[None]:
    """Errors of `vmap` inside say this name."""
    try:
        yield
    except ArgumentError as e:
        if not e.problem.startswith("vmap: "):
            raise
        problem = e.problem.replace("vmap", name, 1)
        raise type(e)(problem, e.hint, e.where) from e


def _static_key(v: Any) -> Any:
    """What tells values apart that are equal: 1, 1.0 and True; 0.0 and -0.0."""
    return type(v), v, repr(v) if isinstance(v, (float, complex, np.inexact)) else ""


def fix_arguments(fun: Any, values: dict[int, Any]) -> Any:
    """The function with some arguments given; compiled if it was."""
    return Jit(Fixed(fun.fun, values)) if isinstance(fun, Jit) else Fixed(fun, values)


def _static_value(x: Any) -> Any:
    """A static argument, whose value becomes part of the program around it, too."""
    if not isinstance(x, Symbol):
        return x
    return static(leaf_atom(x), "a static argument of pmap must be known")


def evenly(n: int, count: int) -> list[tuple[int, int]]:
    """range(n) in up to `count` parts, none empty if n is not 0; the first are the longest.

    >>> evenly(5, 2), evenly(1, 2)
    ([(0, 3), (3, 5)], [(0, 1)])
    """
    count = max(1, min(n, count))
    short, more = divmod(n, count)
    ends = [k * short + min(k, more) for k in range(count + 1)]
    return list(itertools.pairwise(ends))


def pmap(
    fun: Callable[P, R],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    devices: Iterable[Device] | None = None,
    axis_size: int | None = None,
    static_broadcasted_argnums: int | Sequence[int] = (),
    donate_argnums: int | Sequence[int] = (),
    backend: str | None = None,
) -> TypedFunction[P, R]:
    """The function for a batch, a part of which runs on each device.

    axis_name   a name of the mapped axis, for collectives such as `tapeless.lax.psum`
    in_axes     which axis of each argument is mapped, as for `vmap`
    out_axes    where it is in the results, as for `vmap`
    devices     where to run; a device that is named twice gets two shards. All devices of this
                process, where it is left out
    axis_size   the length of the axis, where no argument is mapped
    static_broadcasted_argnums
                positions of arguments that are part of the program: any hashable values
    donate_argnums
                positions of arguments that are not needed afterwards; they are left alone
    backend     "cpu", or "gpu": the first GPU, which runs the whole axis, as under `vmap`; None:
                where the arguments lie

    Returns a function of the same arguments. The mapped axis may have any length; its elements go
    evenly to the devices, and are there one batch, as under `vmap`. With several processes
    (`tapeless.distributed`) each passes its own part of the axis, and gets its own part of the
    results. Inside another transformation pmap is `vmap`: one program for the whole axis.

    Raises at the call what `vmap` raises. An error in one shard ends all of them.

    >>> import numpy as np
    >>> from tapeless.lax import psum
    >>> normalize = pmap(lambda x: x / psum(x, "i"), axis_name="i")
    >>> normalize(np.array([1.0, 2.0, 3.0, 2.0]))
    array([0.125, 0.25 , 0.375, 0.25 ])
    """
    if backend in GPU and devices is None:
        devices = local_devices(backend="gpu")[:1]
    check_unneeded("pmap", backend=None if backend in GPU else backend)
    spread = Pmap(
        fun,
        axis_name,
        in_axes,
        out_axes,
        devices,
        axis_size,
        static_broadcasted_argnums,
        donate_argnums,
    )
    return cast("TypedFunction[P, R]", spread)


__all__ = ["Pmap", "pmap"]
