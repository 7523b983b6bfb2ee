"""Vectorizes a function over the leading axes of its arguments, as array code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection
from typing import Any

from tapeless import tree
from tapeless.dispatch.transformation import Transformed
from tapeless.staging.emitted_names import base_name
from tapeless.staging.subprogram import is_value, leaf_atom, leaf_type, shape_text, symbol
from tapeless.staging.user_calls import call_user
from tapeless.transformations.mapping.vmap import Vmap
from tapeless.transforms.core.builder import active, broadcast, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.ops.primitives.shapes import reshape

Core = tuple[str, ...]
GROUP = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
LIST = rf"{GROUP}(?:\s*,\s*{GROUP})*"


def parse_signature(signature: str) -> tuple[list[Core], list[Core]]:
    """The core axes of the inputs and of the outputs: "(n,m),(m)->(n)"."""
    if not re.fullmatch(rf"\s*{LIST}\s*->\s*{LIST}\s*", signature):
        raise ArgumentError(
            f"vectorize: {signature!r} is not a valid signature",
            "write the axes of each argument and each result: (n,m),(m)->(n)",
        )
    left, right = signature.split("->")
    return _groups(left), _groups(right)


def _groups(text: str) -> list[Core]:
    return [tuple(re.findall(r"\w+", group)) for group in re.findall(GROUP, text)]


class Vectorize(Transformed):
    """A function over all leading axes of its arguments, which broadcast."""

    suffix = "vectorized"

    def __init__(
        self, fun: Callable[..., Any], excluded: Collection[int | str] = (), signature: str = ""
    ) -> None:
        if not all(isinstance(e, (int, str)) for e in excluded):
            raise ArgumentTypeError("vectorize: excluded must hold positions and names")
        self.excluded, self.signature = frozenset(excluded), signature
        self.cores = parse_signature(signature) if signature else None
        super().__init__(fun)

    def options(self) -> tuple[Any, ...]:
        return (self.excluded, self.signature)

    def describe(self) -> str:
        return f"{base_name(self.fun)} over the leading axes of its arguments"

    def mapped_positions(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int]:
        """The positions of the arguments whose leading axes are mapped."""
        others = [k for k in kwargs if k not in self.excluded]
        if others:
            raise ArgumentError(
                f"vectorize: {base_name(self.fun)} is called with {others[0]} by name",
                "pass it by position, or name it in excluded",
            )
        places = [k for k in range(len(args)) if k not in self.excluded]
        if self.cores and len(places) != len(self.cores[0]):
            raise ArgumentError(
                f"vectorize: the signature {self.signature} is for {len(self.cores[0])} arguments, "
                f"and {base_name(self.fun)} is called with {len(places)}"
            )
        return places

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.loops(args, kwargs)

    def loops(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Size, ...]]:
        """The leading axes of each mapped argument; refuses core axes that do not fit."""
        sizes: dict[str, Size] = {}
        leading_axes = []
        for j, k in enumerate(self.mapped_positions(args, kwargs)):
            core = self.cores[0][j] if self.cores else ()
            shape = _shape(args[k])
            lead = len(shape) - len(core)
            if lead < 0:
                raise ArgumentError(
                    f"vectorize: argument {k} has shape {shape_text(shape)}, and the signature "
                    f"{self.signature} asks for {len(core)} axes"
                )
            for name, n in zip(core, shape[lead:], strict=True):
                _agree(sizes.setdefault(name, n), n, name)
            leading_axes.append(shape[:lead])
        return leading_axes

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        loops = self.loops(args, kwargs)
        places = self.mapped_positions(args, kwargs)
        shape = broadcast(*loops)
        inner = Inner(self, args, kwargs, places)
        core_arguments = [
            _without_ones(args[k], lead, shape) for k, lead in zip(places, loops, strict=True)
        ]
        has = [_mapped_axes(lead, shape) for lead in loops]
        call: Any = inner
        for axis in reversed(range(len(shape))):
            axes = tuple(0 if on[axis] else None for on in has)
            mapped = any(axis is not None for axis in axes)
            call = Vmap(call, axes) if mapped else functools.partial(_add_axis, call)
        return call_user(call, *core_arguments)


class Inner:
    """The call for one element: the mapped arguments in their places among the others."""

    def __init__(self, of: Vectorize, args: Any, kwargs: Any, places: list[int]) -> None:
        self.of, self.args, self.kwargs, self.places = of, args, kwargs, places
        self.__name__ = base_name(of.fun)

    def __call__(self, *mapped: Any) -> Any:
        args = list(self.args)
        for k, value in zip(self.places, mapped, strict=True):
            args[k] = value
        results = call_user(self.of.fun, *args, **self.kwargs)
        if self.of.cores:
            self.check(results)
        return results

    __staged_call__ = __call__

    def check(self, returned: Any) -> None:
        """Refuses results that the signature does not describe."""
        assert self.of.cores is not None
        cores = self.of.cores[1]
        results = returned if isinstance(returned, tuple) else (returned,)
        if len(results) != len(cores):
            raise ArgumentError(
                f"vectorize: {self.__name__} returns {len(results)} values, and the signature "
                f"{self.of.signature} names {len(cores)}"
            )
        for value, core in zip(results, cores, strict=True):
            if len(_shape(value)) != len(core):
                raise ArgumentError(
                    f"vectorize: {self.__name__} returns a value of shape "
                    f"{shape_text(_shape(value))}, and the signature {self.of.signature} asks for "
                    f"{len(core)} axes"
                )


def _shape(x: Any) -> tuple[Size, ...]:
    if not is_value(x):
        raise ArgumentTypeError(
            f"vectorize: {type(x).__name__} has no axes", "name its position in excluded"
        )
    return leaf_type(x).shape


def _agree(a: Size, b: Size, name: str) -> None:
    if a != b and not (active() and current().same_size(a, b)):
        raise ArgumentError(
            f"vectorize: the core axis {name} has length {shape_text((a,)).strip('(,)')} in one "
            f"argument and {shape_text((b,)).strip('(,)')} in another"
        )


def _mapped_axes(lead: tuple[Size, ...], shape: tuple[Size, ...]) -> list[bool]:
    """Which of the axes of the loop an argument has, and is not just repeated along."""
    missing = len(shape) - len(lead)
    own = [n != 1 or m == 1 for n, m in zip(lead, shape[missing:], strict=True)]
    return [False] * missing + [on and m != 1 for on, m in zip(own, shape[missing:], strict=True)]


def _without_ones(x: Any, lead: tuple[Size, ...], shape: tuple[Size, ...]) -> Any:
    """An argument without the leading axes of length one."""
    kept = tuple(n for n in lead if n != 1)
    if len(kept) == len(lead):
        return x
    a = leaf_atom(x)
    return symbol(reshape(a, shape=(*kept, *a.type.shape[len(lead) :])), x)


def _add_axis(fun: Any, *args: Any) -> Any:
    """The results with one more axis, of length one."""

    def wide(x: Any) -> Any:
        a = leaf_atom(x)
        return symbol(reshape(a, shape=(1, *a.type.shape)), x)

    leaves, structure = tree.flatten(call_user(fun, *args))
    return tree.unflatten(structure, [wide(x) for x in leaves])


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = (),
    signature: str | None = None,
) -> Vectorize:
    """The function over all leading axes of its arguments, which broadcast as in NumPy.

    excluded   positions and names of arguments that are passed on as they are
    signature  the axes that the function works on, by name: "(n,m),(m)->(n)"; without it, it
               works on numbers

    Returns a function. It is array code, not a loop: `numpy.vectorize` calls the function for each
    element.

    Raises ValueError for a signature that is none, and for arguments that it does not fit.

    >>> import numpy as np
    >>> matvec = vectorize(lambda a, x: a @ x, signature="(n,m),(m)->(n)")
    >>> matvec(np.ones((4, 2, 3)), np.ones(3)).shape
    (4, 2)
    """
    return Vectorize(pyfunc, excluded, signature or "")


__all__ = ["vectorize"]
