"""Compiles functions ahead of time: a function is traced, lowered and compiled for some types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.specialisation import is_same_leaf
from tapeless.staging.device_placement import as_sharding, spread_shardings
from tapeless.staging.emitted_names import base_name, leaf_paths
from tapeless.staging.standalone_modules import StandaloneModule
from tapeless.staging.subprogram import leaf_type
from tapeless.transformations.compilation.cost_analysis import MemoryStats, flops, memory
from tapeless.transformations.eval_shape import (
    ShapeDtypeStruct,
    eval_shape,
    known_lengths,
    stand_in,
)
from tapeless.transformations.make_jaxpr import CoreProgram
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.language import Program
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tapeless.transformations.compilation.compiled_function import Jit

SCALARS = (bool, int, float, complex, np.generic, np.ndarray)


@dataclass(frozen=True)
class ArgInfo:
    """The shape and dtype of an argument, and whether its memory is given away."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    donated: bool = False


# A tree of arguments has one ArgInfo a leaf.
tree.register_pytree_node(ArgInfo, lambda a: ((), a), lambda a, _: a)


class Staged:
    """A function and arguments of some types.

    fun     the function, as `jit` made it
    args, kwargs
            arguments, whose values do not count where they are arrays or numbers
    """

    def __init__(self, fun: Jit, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fun = fun
        self.args, self.kwargs = tree.map(stand_in, (args, kwargs))
        self.static = fun.static(args, kwargs)
        self.found = fun.specialise(self.args, self.kwargs)

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return base_name(self.fun.fun)

    @property
    def dynamic_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that are not static."""
        args = tuple(x for k, x in enumerate(self.args) if k not in self.static)
        return args, {k: x for k, x in self.kwargs.items() if k not in self.static}

    @property
    def in_tree(self) -> Any:
        """The structure of (args, kwargs), without static arguments."""
        return tree.structure(self.dynamic_arguments)

    @property
    def args_info(self) -> Any:
        """The arguments with an `ArgInfo` for each array or number."""
        call_arguments, donated = self.dynamic_arguments, self.donated_leaves()
        leaves, structure = tree.flatten(call_arguments)
        infos = [
            _info(x, gone) if isinstance(x, SCALARS) else x
            for x, gone in zip(leaves, donated, strict=True)
        ]
        return tree.unflatten(structure, infos)

    def donated_leaves(self) -> list[bool]:
        """Whether the memory of each leaf is given away."""
        asked = {k % len(self.args) for k in self.fun.asked.donate_argnums}
        by_position = [k in asked for k in range(len(self.args)) if k not in self.static]
        args, kwargs = self.dynamic_arguments
        pairs = [*zip(args, by_position, strict=True), *((kwargs[k], False) for k in kwargs)]
        return [gone for x, gone in pairs for _ in tree.leaves(x)]

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The leaves whose memory is given away, by number."""
        return tuple(k for k, gone in enumerate(self.donated_leaves()) if gone)

    @property
    def in_avals(self) -> Any:
        """The arguments as shapes and dtypes."""
        return tree.map(_struct, self.dynamic_arguments)

    @property
    def out_info(self) -> Any:
        """The shapes and dtypes of the results."""
        return eval_shape(self.fun.plain, *self.args, **self.kwargs)

    out_avals = out_info

    @property
    def out_tree(self) -> Any:
        """The structure of the results."""
        return tree.structure(self.out_info)

    def source(self) -> str:
        """The emitted module."""
        return StandaloneModule(self.found, self.fun.emitted_name).with_small()

    def cost_analysis(self) -> dict[str, float]:
        """How much is computed and passed: "flops" and "transcendentals" of the program, loops
        whose length depends on values counted once, and "bytes accessed", those of the arguments
        and results."""
        lengths = known_lengths(self.found, tree.leaves((self.args, self.kwargs)))
        total, transcendental = flops(self.found.simplified, lengths)
        passed = memory(tree.leaves(self.dynamic_arguments), tree.leaves(self.out_info))
        bytes_ = passed.argument_size_in_bytes + passed.output_size_in_bytes
        return {"flops": total, "transcendentals": transcendental, "bytes accessed": float(bytes_)}


class Traced(Staged):
    """A function that is staged for arguments.

    >>> from tapeless import jit
    >>> jit(lambda x: 2 * x).trace(1.0).out_info
    ShapeDtypeStruct(shape=(), dtype=float64)
    """

    @property
    def jaxpr(self) -> CoreProgram:
        """The core program, which prints as text."""
        return CoreProgram(Program(self.fun_name, self.found.staged.block))

    def lower(self) -> Lowered:
        """The function, before it is compiled."""
        return Lowered(self.fun, self.args, self.kwargs)


class Lowered(Staged):
    """A function and arguments, before it is compiled for them."""

    def as_text(self) -> str:
        """The emitted module."""
        return self.source()

    def compile(self, compiler_options: Any = None) -> Compiled:
        """The function, whose kernels are compiled for these arguments; it is not run. A kernel
        that gets what a function of NumPy returns is compiled when it is called."""
        self.fun.compile_ahead(self.found, self.args, self.kwargs)
        return Compiled(self.fun, self.args, self.kwargs)


class Compiled(Staged):
    """A compiled function that takes arguments of the types that it was compiled for, and no
    others. Static arguments are left out in its calls.

    >>> from tapeless import jit
    >>> f = jit(lambda x, n: x**n, static_argnums=1).lower(1.0, 2).compile()
    >>> f(3.0)
    9.0
    """

    def __init__(self, fun: Jit, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(fun, args, kwargs)
        leaves, self.structure = tree.flatten(self.dynamic_arguments)
        self.kinds = [_kind(x) for x in leaves]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if active():
            raise ArgumentTypeError(
                f"{self.fun_name} was compiled for arguments of some types, and is called inside "
                "another transformed function",
                "transform and call the function before it is compiled",
            )
        leaves, structure = tree.flatten((args, kwargs))
        if structure != self.structure:
            raise ArgumentTypeError(
                f"{self.fun_name} was compiled for arguments built like "
                f"{tree.structure_stars(self.structure)}, and is called with "
                f"{tree.structure_stars(structure)}",
                "give what it was lowered for, without static arguments",
            )
        for k, (x, kind) in enumerate(zip(leaves, self.kinds, strict=True)):
            if (now := _kind(x)) != kind and not _same_object(kind, x):
                self.refuse(k, now)
        args, kwargs = self.with_static(args, kwargs)
        self.refuse_other_values(tree.leaves((args, kwargs)))
        return self.fun(*args, **kwargs)

    __staged_call__ = __call__

    def refuse(self, k: int, now: Any) -> None:
        """Says which argument is of another type."""
        raise ArgumentTypeError(
            f"{self.fun_name} was compiled for {self.path(self.dynamic_arguments, k)}: "
            f"{_text(self.kinds[k])}, and is called with {_text(now)}",
            "jit compiles for other types by itself; or lower it for these",
        )

    def refuse_other_values(self, leaves: list[Any]) -> None:
        """Refuses other values of what is part of the program."""
        for k, value in self.found.static:
            if not is_same_leaf(value, leaves[k]) and not hasattr(value, "value"):
                raise ArgumentTypeError(
                    f"{self.fun_name} was compiled for "
                    f"{self.path((self.args, self.kwargs), k)} = {value!r}, which decides what "
                    f"the program is, and is called with {leaves[k]!r}",
                    "jit compiles for other values by itself; or lower it for this one",
                )

    def path(self, call_arguments: Any, k: int) -> str:
        """A leaf of the arguments as an expression."""
        args, kwargs = call_arguments
        names = self.fun.arguments(self.args, self.kwargs)
        if call_arguments is not (self.args, self.kwargs):
            kept = [n for j, n in enumerate(names) if j not in self.static and n not in self.static]
            names = kept if len(kept) == len(args) + len(kwargs) else names
        return leaf_paths(args, kwargs, names)[k]

    def with_static(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The arguments of a call with the static ones."""
        if not self.static:
            return args, kwargs
        rest = iter(args)
        every = tuple(x if k in self.static else next(rest) for k, x in enumerate(self.args))
        return every, {k: kwargs.get(k, x) for k, x in self.kwargs.items()}

    def as_text(self) -> str:
        """The emitted module."""
        return self.source()

    def memory_analysis(self) -> MemoryStats:
        """How many bytes arguments, results and the arrays between the kernels take."""
        lengths = known_lengths(self.found, tree.leaves((self.args, self.kwargs)))
        form = self.fun.forms.get(self.found.text)
        driver = None if form is None else form.driver
        return memory(
            tree.leaves(self.dynamic_arguments), tree.leaves(self.out_info), driver, lengths
        )

    @property
    def input_shardings(self) -> Any:
        """Where arguments are expected."""
        places = spread_shardings(
            getattr(self.fun, "in_shardings", None), self.dynamic_arguments[0], "jit"
        )
        leaves, structure = tree.flatten(self.dynamic_arguments)
        places += [None] * (len(leaves) - len(places))
        return tree.unflatten(structure, [as_sharding(p, "jit") for p in places])

    @property
    def output_shardings(self) -> Any:
        """Where results are."""
        infos = self.out_info
        places = spread_shardings(getattr(self.fun, "out_shardings", None), infos, "jit")
        structure = tree.structure(infos)
        return tree.unflatten(structure, [as_sharding(p, "jit") for p in places])


def _kind(x: Any) -> Any:
    """The shape and dtype of a leaf; of others the leaf."""
    if isinstance(x, np.ndarray) or on_gpu(x):
        return x.shape, x.dtype
    return ((), leaf_type(x).dtype) if isinstance(x, SCALARS) else x


def _info(x: Any, donated: bool) -> ArgInfo:
    shape, dtype = _kind(x)
    return ArgInfo(shape, dtype, donated)


def _same_object(kind: Any, x: Any) -> bool:
    return type(kind) is not tuple and is_same_leaf(kind, x)


def _struct(x: Any) -> Any:
    return ShapeDtypeStruct(*_kind(x)) if isinstance(x, SCALARS) else x


def _text(kind: Any) -> str:
    if type(kind) is not tuple:
        return f"{type(kind).__name__} {kind!r}"
    shape, dtype = kind
    return f"{dtype.name}[{','.join(map(str, shape))}]"


__all__ = ["ArgInfo", "Compiled", "Lowered", "Traced"]
