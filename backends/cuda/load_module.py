"""Loads emitted modules for a GPU as callables: the driver runs as it is, launches are made by this
package.

module = cp.RawModule(code=CODE)      compiled by us when a kernel is first called, or found on disk
class Kernel: ...                     gives way to one that launches faster and notes errors
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends import cache
from tapeless.backends.compilation import Compilation
from tapeless.backends.cuda import errors, memory
from tapeless.backends.cuda.availability import cupy
from tapeless.backends.cuda.driver_effects import only_launches
from tapeless.backends.cuda.launch import CudaModule, LaunchedKernel
from tapeless.backends.cuda.placement import (
    device_count,
    number_on_device,
    on_device,
    refuse_elsewhere,
)


class GpuProgram:
    """An emitted module, and its function on each device that it has run on."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        stored = cache.store(name, text)
        self.path = f"<emitted {name}>" if stored is None else str(stored)
        linecache.cache[self.path] = (
            *(len(text), None),
            *(text.splitlines(keepends=True), self.path),
        )
        self.compilations: list[Compilation] = []
        self.functions: dict[int, Callable[..., Any]] = {}  # by device
        self.launches = 0  # of its kernels

    def function_on(self, device: int) -> Callable[..., Any]:
        """The function for a device, which is the current one. The module runs once on each: its
        kernels are functions of that device."""
        function = self.functions.get(device)
        if function is None:
            memory.limit_pool(device)
            function = self.functions[device] = self._run()
        return function

    def _run(self) -> Callable[..., Any]:
        values: dict[str, Any] = {
            "__name__": f"{cache.PACKAGE}{self.name}",
            "__file__": self.path,
            "RawModule": functools.partial(CudaModule, self),
        }
        values["Kernel"] = lambda *args, **kwargs: LaunchedKernel(values["module"], *args, **kwargs)
        exec(self.code, values)
        if "read" in values:
            values["read"] = errors.read
        if "on_device" in values:
            values["on_device"] = number_on_device
        return values[self.name]  # type: ignore[no-any-return]

    @functools.cached_property
    def code(self) -> Any:
        """The module with our launches."""
        tree = ast.parse(self.text, self.path)
        tree.body = [s for s in tree.body if not _is_kernel(s)]
        for s in tree.body:
            match s:
                case ast.Assign(
                    value=ast.Call(func=ast.Attribute(ast.Name("cp"), "RawModule")) as call
                ):
                    call.func = ast.copy_location(ast.Name("RawModule", ast.Load()), call.func)
        return compile(tree, self.path, "exec", dont_inherit=True)

    @functools.cached_property
    def only_launches(self) -> bool:
        """Whether the driver does nothing but launch kernels and make arrays, by its text."""
        return only_launches(ast.parse(self.text, self.path))


def _is_kernel(s: ast.stmt) -> bool:
    return isinstance(s, ast.ClassDef) and s.name == "Kernel"


def load(name: str, text: str, **_: Any) -> Callable[..., Any]:
    """The function `name` of an emitted module for a GPU, on whatever device is the current one.

    name  a function of the module
    text  the module; it runs by itself with CuPy

    Nothing is asked of CuPy before the first call. A call raises what kernels have noted until
    then, and does not wait; what its own kernels note is raised at the next call, or where somebody
    waits.
    """
    program = GpuProgram(name, text)
    functions, pending = program.functions, errors.pending
    current: Callable[[], int] | None = None
    several = False

    def run(*args: Any) -> Any:
        nonlocal current, several
        if current is None:
            several = device_count() > 1
            current = cupy().cuda.runtime.getDevice
        if pending:
            errors.raise_noted()
        for x in args:
            if isinstance(x, np.ndarray):  # read from outside, or passed to the module itself
                args = tuple(map(on_device, args))
                break
        device = current()
        if several:
            refuse_elsewhere(args, device, name)
        try:
            function = functions.get(device) or program.function_on(device)
            return function(*args)
        except Exception as e:
            noted = errors.noted_before(e)
            if noted is not None:
                raise noted from e
            if memory.is_out_of_memory(e):
                raise memory.as_out_of_memory(e, f"arrays of {name}") from e
            raise

    run.__name__ = run.__qualname__ = name
    run.program = program  # type: ignore[attr-defined]
    return run


def prepare(function: Any) -> None:
    """Compiles the kernels of a function from `load` for the current device, without a call."""
    program = program_of(function)
    if program is not None:
        module = program.function_on(cupy().cuda.runtime.getDevice()).__globals__.get("module")
        if module is not None:
            module.load()


def program_of(function: Any) -> GpuProgram | None:
    """The module of a function that `load` returned; None for other functions."""
    program = getattr(function, "program", None)
    return program if isinstance(program, GpuProgram) else None


def compilations(function: Any) -> list[Compilation]:
    """What has been compiled, or found in the cache, for a function from `load`, in order."""
    program = program_of(function)
    return program.compilations if program else []
