"""Defines the public function `jit`, with JAX's signature, and the types of what it makes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from tapeless.dispatch.jit_options import Options
from tapeless.dispatch.typed_function import P, R, Typed
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import checked_argnames
from tapeless.staging.device_list import Device
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transformations.compilation.jit_keywords import JitKeywords
from tapeless.transformations.compilation.static_arguments import checked_positions
from tapeless.transformations.ignored_parameters import check_unneeded
from tapeless.transforms.errors import ArgumentError

if TYPE_CHECKING:
    from tapeless.dispatch import placed_results
    from tapeless.transformations.compilation import jit_on_gpu as gpu
else:
    placed_results = lazy_module("tapeless.dispatch.placed_results")
    gpu = lazy_module("tapeless.transformations.compilation.jit_on_gpu")

GPU = ("gpu", "cuda")  # names of one backend


class TypedJit(Typed[P, R], Jit):
    """A compiled function with parameters P that returns R, for annotations."""


@overload
def jit(fun: Callable[P, R], **keywords: Unpack[JitKeywords]) -> TypedJit[P, R]: ...
@overload
def jit(
    fun: None = None, **keywords: Unpack[JitKeywords]
) -> Callable[[Callable[P, R]], TypedJit[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    device: str | Device | None = None,
    fastmath: bool | None = None,
    boundscheck: bool = True,
    parallel: bool = True,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Any = None,
) -> Any:
    """The function, compiled to machine code at its first call with new types.

    fun              any function that can be staged, also a transformed one
    static_argnums   positions of arguments whose values the program is made for; those that have to
    static_argnames  be known are found without this. They must be hashable
    donate_argnums   arguments that the caller does not need any more: results of the same dtype
                     and shape are written to their memory
    device           a device, or the name of a backend: arguments are put there first, and results
    backend          stay there. "cpu", or "gpu" ("cuda" is another name of it). None: arrays of a
                     GPU among the arguments say so
    fastmath         None: sums over axes are added up in any order, constants of products and
                     quotients meet, and three quotients by one number that is never near zero are
                     products with its reciprocal. False: sums in the order of their elements (those
                     of parts that threads share are added up afterwards), and all else as it is
                     written. True: all sums may be reordered (in loops whose passes wait for each
                     other so that they wait least), and a * b + c rounded once; NaN and
                     infinities stay what they are
    boundscheck      whether an index out of bounds raises IndexError; else it is not looked for
    parallel         whether threads may share the rows of large arrays; results have the same bits
                     for any number of threads
    in_shardings     a sharding for each positional argument, or one for all; arguments that are
                     laid out in another way are refused
    out_shardings    those of the results, which are arrays of `tapeless.numpy` with them

    The other arguments are those of JAX, and say nothing here.

    Returns a function of the same arguments and value. Arrays that `fun` overwrites are
    overwritten. `.source()` is the emitted module: kernels of fused loops, and the function that
    calls them; `.compilations` says what was compiled and why.

    Raises at the call what `fun` raises, and what cannot be staged, with the line and the reason.

    >>> import numpy as np
    >>> @jit
    ... def f(x):
    ...     return np.sum(x * x + 1)
    >>> float(f(np.arange(3.0)))
    8.0
    """
    check_unneeded(
        "jit",
        donate_argnames=donate_argnames,
        keep_unused=keep_unused,
        inline=inline,
        compiler_options=compiler_options,
    )
    checked_argnames(donate_argnames, "jit", "donate_argnames")
    asked = Options(
        checked_positions(static_argnums, "static_argnums"),
        checked_argnames(static_argnames, "jit", "static_argnames"),
        fastmath,
        boundscheck,
        parallel,
        checked_positions(donate_argnums, "donate_argnums"),
    )
    make: Callable[..., Any] = Jit
    if is_gpu(device, "device") or is_gpu(backend, "backend"):
        make = functools.partial(gpu.GpuJit, device=device)
    if in_shardings is not None or out_shardings is not None:
        make = functools.partial(
            placed_results.PlacedJit, arguments=in_shardings, results=out_shardings
        )
    if fun is None:
        return lambda f: make(f, asked)
    return make(fun, asked)


def is_gpu(place: Any, what: str) -> bool:
    """Whether a device or a backend is a GPU. Raises ArgumentError for what is neither."""
    name = place.platform if isinstance(place, Device) else place
    if name is not None and not (isinstance(name, str) and name in ("cpu", *GPU)):
        raise ArgumentError(f"jit: {what} is {place!r}", 'there are "cpu" and "gpu"')
    return name in GPU


__all__ = ["Jit", "jit"]
