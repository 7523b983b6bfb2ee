"""Compiles transformed functions for a GPU: the same programs, for the device of their arguments.

f = jit(loss, backend="gpu"); f(x)      x goes to the GPU, the kernels run there, the result stays

Calls return before the kernels have run. What they raise is raised where somebody waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.backends import cuda
from tapeless.disk_cache.store import Shelf
from tapeless.dispatch.gpu_entry import GpuEntries
from tapeless.dispatch.jit_options import Options
from tapeless.dispatch.specialisation import NUMBERS, Specialisation
from tapeless.staging.device_list import Device, default_gpu
from tapeless.staging.emitted_names import parameters
from tapeless.staging.gpu_arrays import Mixin, as_gpu_array, like_arguments
from tapeless.staging.jax_arrays import Array, functional
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transformations.eval_shape import short_axes, stand_in
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.language import Block
from tapeless.transforms.cuda.launch_text import NAMES
from tapeless.transforms.cuda.module import write_cuda
from tapeless.transforms.errors import ArgumentError
from tapeless.transforms.frontend.arrays.foreign_arrays import staged_for_gpu
from tapeless.transforms.frontend.staging.stage import Staged
from tapeless.transforms.lowering import lower
from tapeless.transforms.lowering.floating_point_errors import without_errstate
from tapeless.transforms.lowering.target import GPU

SHORT = 8  # elements of an axis that programs are made for


class GpuJit(Jit):
    """A function that is compiled for a GPU at its first call with a new signature.

    device  the GPU that runs it; None: that of the arrays among the arguments, else the current one
    """

    reserved = frozenset(["empty", "read", "stack_places", "last_store", *NAMES])
    on_cores = False
    derived = Jit.derived | {"on_device", "entries"}

    def __init__(
        self, fun: Callable[..., Any], options: Options | None = None, device: Any = None
    ) -> None:
        self.device = device if isinstance(device, Device) else None
        super().__init__(fun, options)

    def begin(self) -> None:
        super().begin()
        self.on_device: dict[Any, list[Specialisation]] = {}  # by types of leaves on the device
        self.entries = GpuEntries()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if active():
            return self.stage(args, kwargs)
        self.renew()
        quick = None if kwargs else self.entries.find(args)
        return self.call_on_device(args, kwargs)[1] if quick is None else quick(*args)

    def call_on_device(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Specialisation, Any]:
        """The specialisation for a call, and what it returns."""
        passed = args
        args, kwargs = self.with_static_arguments(args, kwargs)
        inputs, structure = tree.flatten((args, kwargs))
        with cuda.device_of(inputs, self.device, default_gpu()):
            leaves = [_move_to_device(x) for x in inputs]
            specialisation = self.last = self.pick_on_device(leaves, structure)
            stored = (
                self.overwritten(specialisation, inputs, leaves)
                if specialisation.memory.stored
                else ()
            )
            moved_args, moved_kwargs = tree.unflatten(structure, leaves)
            receive = partial(_receive, specialisation, inputs)
            value = specialisation.called_for((args, kwargs), moved_args, moved_kwargs, receive)
            for k in stored:
                if inputs[k] is not leaves[k] and leaves[k].shape:  # else its one number was stored
                    cuda.copy_back(leaves[k], inputs[k])
            if args is passed and not kwargs:  # else some are constants
                self.entries.note(args, specialisation)
            return specialisation, like_arguments(value, inputs)

    def where(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self

    def overwritten(
        self, specialisation: Specialisation, inputs: list[Any], leaves: list[Any]
    ) -> list[int]:
        """The leaves that a program stores to, which must lie row by row, and share no memory with
        others, on the device or on the host, where the `inputs` are."""
        stored = [k for k in specialisation.memory.stored if k < len(leaves)]
        for k in stored:
            name = specialisation.staged.leaves[k].name
            if not leaves[k].flags.c_contiguous:
                raise ArgumentError(
                    f"the function stores to '{name}', which does not lie row by row in memory",
                    f"pass a copy: {name}.copy()",
                )
            for j, other in enumerate(leaves):
                if j != k and (
                    (cuda.is_array(other) and cuda.overlap(leaves[k], other))
                    or _share_memory(inputs[k], inputs[j])
                ):
                    twin = specialisation.staged.leaves[j].name
                    raise ArgumentError(
                        f"'{name}' and '{twin}' share memory, and the function stores to '{name}'",
                        f"pass a copy of one of them: {name}.copy()",
                    )
        return stored

    def pick_on_device(self, leaves: list[Any], structure: Any) -> Specialisation:
        """The specialisation for leaves that lie on the device."""
        key = (structure, *map(_key, leaves))
        for specialisation in self.on_device.get(key, ()):
            if specialisation.fits(leaves):
                return specialisation
        args, kwargs = tree.unflatten(structure, [_stand_in(x) for x in leaves])
        specialisation = self.specialise(args, kwargs)
        self.on_device[key] = [specialisation, *self.on_device.get(key, ())]
        return specialisation

    def specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        with staged_for_gpu():
            return super().specialise(*tree.map(_stand_in, (args, kwargs)))

    def known_axes(self, leaves: Sequence[Any]) -> Collection[tuple[int, int]]:
        """Short axes, which threads keep in registers: points of three coordinates, say."""
        return [(k, axis) for k, axis in short_axes(leaves, SHORT) if axis or leaves[k].ndim == 1]

    def shelf(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shelf | None:
        """Programs for a GPU are staged in each process; their machine code is kept."""
        return None

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        advice = "test values by np.isfinite, or call the function with arrays of NumPy"
        block = without_errstate(block, "on a GPU", advice)
        names, unpack = parameters(staged, arguments, paths)
        result, flat = self.result(staged)
        asked, fastmath = self.asked, self.asked.fastmath is not False
        lowered = lower.lower(
            *(self.emitted_name, block, staged.sizes, self.stored, staged.hints),
            *(asked.boundscheck, True, self.donated_variables(staged)),
            fastmath=fastmath,
            target=GPU,
            on_device=staged.without_axes(),
        )
        staged.sizes.extend(lowered.relied)
        staged.overwritten.update(lowered.overwritten)
        staged.notes.extend(lowered.notes)
        doc = self.doc(staged, names)
        text = write_cuda(
            *(self.emitted_name, lowered.driver, lowered.kernels, names, unpack, result, doc),
            on_device=lambda v: v not in lowered.host,
            fastmath=fastmath,
        )
        self.forms[text] = lowered
        return text, flat

    def prepare(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Nothing: kernels are compiled where there is a GPU, when they are called."""

    def compile_ahead(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        with cuda.device_of((), self.device, default_gpu()):
            cuda.prepare(specialisation.run)

    def load(self, text: str, outline: Any = None) -> Callable[..., Any]:
        return cuda.load(self.emitted_name, text)


def _move_to_device(x: Any) -> Any:
    """An argument on the device; arrays of `tapeless.numpy` are such arrays there."""
    moved = cuda.on_device(x)
    return as_gpu_array(moved) if isinstance(x, Array) else moved


def _receive(specialisation: Specialisation, inputs: list[Any], results: Any) -> Any:
    """The results of a program as the caller gets them. What it leaves in containers and variables
    of Python are numbers of the host where Python's are, for they may meet others there; what it
    stores to an array of NumPy from outside is one of NumPy.
    """
    staged = specialisation.staged
    if not (specialisation.flat and (specialisation.changes or staged.writes)):
        return results
    value = staged.result.children[0] if specialisation.changes else staged.result
    written = [w for w in staged.writes for _ in w.spec.leaves()]
    outside = {len(results) - len(written) + k for k, w in enumerate(written) if w.is_to_array}
    types = [x.type for x in staged.block.results]
    received = list(results)
    for k in range(len(list(value.leaves())), len(results)):
        x = results[k]
        if not cuda.is_array(x):
            continue
        if types[k].weak:
            received[k] = x.item()
        elif k in outside:
            received[k] = cuda.on_host(x)
        else:
            received[k] = like_arguments(x, inputs)
    return tuple(received)


def _stand_in(x: Any) -> Any:
    """As `stand_in`; arrays of a GPU without axes are arrays, and no numbers of the host. `x += v`
    gives an array of ours a new one, also while staging."""
    array = np.zeros((), x.dtype) if cuda.is_array(x) and not x.shape else stand_in(x)
    return functional(array) if isinstance(x, (Mixin, Array)) else array


def _share_memory(x: Any, y: Any) -> bool:
    """Whether two arrays of the host have memory in common."""
    both = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    return both and np.may_share_memory(x, y)


def _key(x: Any) -> Any:
    """What a program for a GPU is specialised on; as `leaf_key`, for arrays there."""
    kind = type(x)
    if kind in NUMBERS:
        return kind
    if cuda.is_array(x):
        return (isinstance(x, Mixin), x.dtype, *[n if n < 2 else 2 for n in x.shape])
    return (kind, x) if isinstance(x, (str, bytes, bool, np.bool_)) else id(x)
