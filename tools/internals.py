"""Provides what the command line asks of the engine beyond the names of JAX; each in one place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tapeless
from tapeless.backends import cache
from tapeless.backends.cpu.kernel_only_functions import KernelOnlyFunction
from tapeless.dispatch.jit_options import Options
from tapeless.profiler.line_profile import LineProfile, line_profile
from tapeless.staging.standalone_modules import StandaloneModule
from tapeless.transformations.array_form import Unchanged
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.c.python_package import package_files

Function = Callable[..., Any]


def forward(function: Function, argnums: tuple[int, ...]) -> Any:
    """A callable of (*primals, *tangents of argnums) that returns the value and its tangent."""
    return tapeless.jvp_fn(function, argnums)


def cache_folder() -> Path:
    """Where emitted modules are written: TAPELESS_CACHE_DIR, else the platform's cache folder."""
    return cache.folder()


def array_form(function: Function) -> Any:
    """The function itself as a transformed one, which is emitted as NumPy code."""
    return Unchanged(function)


def emitted_module(function: Any, args: tuple[Any, ...]) -> str:
    """The module that a transformed function emits for arguments, which may be none."""
    return StandaloneModule(function.for_arguments(args, {}), function.emitted_name).with_small()


def driver_profile(compiled: Any, args: tuple[Any, ...]) -> LineProfile:
    """The time by line of the driver of a compiled function, which runs as Python code for that;
    what it calls is machine code."""
    specialisation = copy.copy(compiled.for_arguments(args, {}))
    if isinstance(specialisation.run, KernelOnlyFunction):
        specialisation.run = specialisation.run.driver
    return line_profile(f"jit of {compiled.describe()}", specialisation, args, {})


def c_files(
    function: Function,
    args: tuple[Any, ...],
    results: Any,
    after: tuple[Any, ...],
    blas: bool,
    maths: str,
) -> dict[str, str]:
    """The files of a function in C99, by name; the test program compares with these `results`, and
    with what is in the arguments `after` the call. With `blas`, large products call a library.

    maths  "library", "inline": sine, cosine, tanh and exp are written out, or "fast": they are, and
           sums are in the order that waits least
    """
    c = JitToC(function, Options(fastmath=True) if maths == "fast" else Options())
    return c.files(args, {}, results, after, blas, inline=maths != "library")


def c_package(function: Function, args: tuple[Any, ...]) -> dict[str, str]:
    """A Python package around a function in C99, which setuptools compiles: its files by name."""
    return package_files(JitToC(function).module_for(args, {}))
