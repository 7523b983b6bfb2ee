"""Stages the program of one shard of a mapped axis: for its elements, with what it tells the
others.

def normalize_shard(x, shards):
    return x / shards.psum(np.sum(x))
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable
from typing import Any

from tapeless import tree
from tapeless.backends import array_form
from tapeless.backends.spmd.rendezvous import Shards
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation import Transformed
from tapeless.staging.emitted_names import argument_names, base_name, parameters, unused_name
from tapeless.staging.subprogram import leaf_atom
from tapeless.transformations.mapping.vmap import Mapped
from tapeless.transformations.mapping.vmap_axes import (
    axes_key,
    axis_per_leaf,
    batch_length,
    input_axes,
)
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.language import Block
from tapeless.transforms.emit.module import flat_text, is_plain, result_text, write_module
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.staging.stage import Staged
from tapeless.transforms.ops.primitives.random_draws import draws
from tapeless.transforms.spmd.axes import Axis

Call = tuple[tuple[Any, ...], dict[str, Any]]
_here = threading.local()  # .shards: what the shard of this thread meets the others through


class ShardProgram(Transformed):
    """A function over the elements of one shard. Two arguments by name follow those of the user:
    the positions of the elements on the whole axis, and the length of that."""

    suffix = "shard"
    outlines = False  # collectives are met where the axis is mapped

    def __init__(
        self,
        fun: Callable[..., Any],
        in_axes: Any,
        out_axes: Any,
        axis: Any,
        compiled: bool = False,
    ) -> None:
        self.in_axes, self.out_axes, self.axis_name = in_axes, out_axes, axis
        self.compiled = compiled
        self.key = (
            axes_key(in_axes, "in_axes", "pmap"),
            axes_key(out_axes, "out_axes", "pmap"),
            *(axis, compiled),
        )
        self.known_names: dict[Any, tuple[str, str, str]] = {}
        super().__init__(fun)

    def options(self) -> tuple[Any, ...]:
        return self.key

    def describe(self) -> str:
        return f"{base_name(self.fun)} for the elements of one shard"

    def names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str, str]:
        """What the positions, the length and the meeting place are called."""
        key = (len(args), *kwargs)
        if key not in self.known_names:
            taken = argument_names(self.fun, args, kwargs)
            unused_names = [
                unused_name(name, taken) for name in ("axis_index", "axis_size", "shards")
            ]
            self.known_names[key] = (unused_names[0], unused_names[1], unused_names[2])
        return self.known_names[key]

    def with_place(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], index: Any, size: int
    ) -> Call:
        """The arguments of a call."""
        names = self.names(args, kwargs)
        return args, {**kwargs, names[0]: index, names[1]: size}

    def own(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        """The user's arguments by name, and the names of the others."""
        user = dict(list(kwargs.items())[:-2])
        return user, self.names(args, user)

    # -- compilation

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        user, (index, size, shards) = self.own(args, kwargs)
        leaves, structure = tree.flatten((args, user))
        axes = input_axes(self.in_axes, args, user, base_name(self.fun))
        own = batch_length([*leaves, kwargs[index]], [*axes, 0], None)
        axis = None
        if self.axis_name is not None:
            total, positions = leaf_atom(kwargs[size]), leaf_atom(kwargs[index])
            axis = Axis(self.axis_name, size_of(total), positions, shards)
        mapped = Mapped(self.fun, leaves, structure, axes, own, axis)
        return mapped.results(axis_per_leaf(self.out_axes, mapped.value, "out_axes"))

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        self.extra = self.own(args, kwargs)[1]
        return super().compile(args, kwargs)

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        """The module, whose function takes what it uses of the positions, length and place."""
        if draws(block):
            raise UnsupportedError(
                "pmap: shards run side by side, and draw from one generator in no fixed order",
                "draw outside and pass the numbers in, or use tapeless.random with a key for each",
            )
        flat = bool(staged.writes) or not is_plain(staged.result)
        result = flat_text if flat else functools.partial(result_text, staged.result)
        names, unpack = parameters(staged, [*arguments, self.extra[2]], paths)
        write: Callable[..., str] = functools.partial(write_module, self.emitted_name, block)
        if self.compiled:
            # on first use: importing these takes long
            from tapeless.transforms.lowering.lower import lower  # noqa: PLC0415
            from tapeless.transforms.lowering.module_text import write_compiled  # noqa: PLC0415

            lowered = lower(self.emitted_name, block, staged.sizes, hints=staged.hints)
            staged.sizes.extend(lowered.relied)
            parts = (lowered.driver, lowered.kernels, lowered.errors)
            write = functools.partial(write_compiled, self.emitted_name, *parts)
        text = write(names, unpack, result, self.doc(staged, names))
        self.left_out = [names.index(name) for name in self.extra if not _reads(text, name)]
        kept = [name for k, name in enumerate(names) if k not in self.left_out]
        unpack = [(v, path) for v, path in unpack if path not in names or path in kept]
        self.at = len(arguments)
        return write(kept, unpack, result, self.doc(staged, names)), flat

    def load_emitted(self, text: str) -> Callable[..., Any]:
        if not self.compiled:
            return array_form.load(self.emitted_name, text)
        from tapeless.backends import cpu  # noqa: PLC0415 (takes time to import)

        return cpu.load(self.emitted_name, text)

    def load(self, text: str) -> Callable[..., Any]:
        run, left_out, at = self.load_emitted(text), set(self.left_out), self.at

        def with_shards(*values: Any) -> Any:
            every = (*values[:at], _here.shards, *values[at:])
            return run(*(x for k, x in enumerate(every) if k not in left_out))

        return with_shards

    # -- use

    def programs(self, calls: list[Call]) -> list[Specialisation]:
        """What runs on each shard: the same program, if it serves the shorter ones as well."""
        first, last = calls[0], calls[-1]
        whole = rest = self.specialise(*first)
        if _length(last) != _length(first) and not whole.accepts(tree.leaves(last)):
            rest = self.specialise(*last)
            self.last = whole
        return [whole if _length(call) == _length(first) else rest for call in calls]

    def run(self, specialisation: Specialisation, call: Call, shards: Shards) -> Any:
        """The results for the elements of one shard."""
        before = getattr(_here, "shards", None)
        _here.shards = shards
        try:
            return specialisation(*call)
        finally:
            _here.shards = before


def _length(call: Call) -> int:
    """How many elements a shard has."""
    return len(list(call[1].values())[-2])


def _reads(text: str, name: str) -> bool:
    """Whether an emitted function mentions a parameter in its body."""
    return len(re.findall(rf"\b{name}\b", text)) > 1
