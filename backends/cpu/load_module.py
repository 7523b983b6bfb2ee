"""Loads emitted loop form as callables: kernels are compiled when they are called first, the rest
runs as it is.

@njit                                  a Kernel of ours, which the disk cache may know
def f_kernel(x, out): ...
def f(x):
    out = empty(x.shape, x.dtype)      memory that is used again
    in_parallel(f_kernel, x, out)      parts of the arrays, by several threads
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import linecache
import re
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.backends import cache
from tapeless.backends.compilation import Compilation
from tapeless.backends.cpu import compile_ahead
from tapeless.backends.cpu.kernel import JitKernel, KernelModule
from tapeless.backends.cpu.kernel_only_functions import (
    KernelOnlyFunction,
    formed_in,
    kernel_only_or_same,
)
from tapeless.backends.cpu.runtime.buffer_pool import copy_of, empty, full, zeros
from tapeless.backends.cpu.runtime.linear_algebra import numpy_in_one_thread
from tapeless.backends.cpu.runtime.products import matmul
from tapeless.backends.cpu.runtime.signature import CallForm
from tapeless.backends.cpu.runtime.threads import in_parallel
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.python_text.tree_walk import walk

OURS = {
    "empty": empty,
    "zeros": zeros,
    "full": full,
    "copy_of": copy_of,
    "matmul": matmul,
    "in_parallel": in_parallel,
}
LIBRARY_CALL = re.compile(r"\bnp\.(linalg|dot|einsum|inner|tensordot|vdot)\b")
PROGRAM, OUTLINE = "__program__", "__outline__"
IMPORT = "\nfrom numba import njit\n"


@dataclass(frozen=True)
class ModuleOutline:
    """What is to be known of a module before it runs.

    compiled  what machine code depends on, whatever else is in the module and its comments
    split     the kernels that are called for some of the rows
    formed    the kernel that the function calls and nothing else, and how; None if it does more
    """

    compiled: str
    split: tuple[str, ...]
    formed: tuple[str, CallForm] | None

    def plain(self) -> list[Any]:
        """As lists, text and numbers."""
        formed = self.formed and (self.formed[0], *dataclasses.astuple(self.formed[1]))
        return [self.compiled, self.split, formed]


def _outline_of(name: str, tree: ast.Module) -> ModuleOutline:
    return ModuleOutline(_compiled_part(tree), tuple(_split(tree)), formed_in(tree, name))


def _of_plain(parts: list[Any]) -> ModuleOutline:
    compiled, split, formed = parts
    if formed is not None:
        kernel, order, results, single = formed
        formed = kernel, CallForm(tuple(order), tuple(map(tuple, results)), single)
    return ModuleOutline(compiled, tuple(split), formed)


def load(
    name: str,
    text: str,
    apart: bool = False,
    saved_outline: list[Any] | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """The function `name` of a module of loop form.

    name     a function of the module, compiled or not
    text     the module; it runs by itself with NumPy and Numba
    apart    whether no kernel gets an array in the memory of another one that it stores to
    known    what `outline` says of it, if it was loaded before: takes less time
    options  of `njit`, over those that the text names: fastmath, boundscheck, error_model

    Functions under `njit` become kernels of ours, and `empty` and `in_parallel` of the text give
    way to those of this package, which reuse memory and use threads; so do NumPy's for matrices.
    """
    stored = cache.store(name, text)
    path = f"<emitted {name}>" if stored is None else str(stored)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    code, outlined = _read(name, text, path, saved_outline)
    values: dict[str, Any] = {"__name__": f"{cache.PACKAGE}{name}", "__file__": path}
    program = KernelModule(values, outlined.compiled, apart)
    values["njit"] = _decorator(program, options)
    values[PROGRAM], values[OUTLINE] = program, outlined
    exec(code, values)
    values.update({k: v for k, v in OURS.items() if k in values})
    if LIBRARY_CALL.search(text):
        values["np"] = numpy_in_one_thread()
    for kernel in outlined.split:
        program.kernels[kernel].split = True
    values[name] = kernel_only_or_same(outlined.formed, program, values[name])
    return values[name]  # type: ignore[no-any-return]


def _read(
    name: str, text: str, path: str, saved_outline: list[Any] | None
) -> tuple[Any, ModuleOutline]:
    """The module without the import of `njit`, compiled, and its outline."""
    if saved_outline is not None and text.count(IMPORT) == 1:
        code = compile(text.replace(IMPORT, "\n"), path, "exec", dont_inherit=True)
        return code, _of_plain(saved_outline)
    tree = ast.parse(text, path)
    tree.body = [s for s in tree.body if _without_njit(s)]
    return compile(tree, path, "exec", dont_inherit=True), _outline_of(name, tree)


def outline(function: Any) -> list[Any] | None:
    """What `load` found out about a function that it returned; None for other functions."""
    values = function.program.values if isinstance(function, JitKernel) else _values(function)
    return values[OUTLINE].plain() if OUTLINE in values else None


def compilations(function: Any) -> list[Compilation]:
    """What has been compiled, or found in the cache, for a function from `load`, in order."""
    program = program_of(function)
    return program.compilations if program else []


def program_of(function: Any) -> KernelModule | None:
    """The kernels of the module of a function that `load` returned; None for other functions."""
    return function.program if isinstance(function, JitKernel) else _values(function).get(PROGRAM)


def _values(function: Any) -> dict[str, Any]:
    """The module of a function, which may stand below np.errstate."""
    return inspect.unwrap(function).__globals__  # type: ignore[no-any-return]


def prepare(function: Any, text: str, args: tuple[Any, ...]) -> None:
    """Compiles what a call of a function from `load` needs, as far as arguments like these tell,
    without the call; `text` is its module."""
    program = program_of(function)
    if isinstance(function, KernelOnlyFunction) and function.takes(args):
        function.ready(args)
    elif program is not None:
        name = (
            function.driver.__name__
            if isinstance(function, KernelOnlyFunction)
            else function.__name__
        )
        written = [s for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]
        compile_ahead.prepare(program, next(s for s in written if s.name == name), args)


def _without_njit(s: ast.stmt) -> bool:
    """Takes `njit` out of an import; whether something is left of the statement."""
    if isinstance(s, ast.ImportFrom) and s.module == "numba":
        s.names = [name for name in s.names if name.name != "njit"]
        return bool(s.names)
    return True


def _split(tree: ast.Module) -> Iterator[str]:
    """The kernels that are called for some of the rows."""
    for e in walk(tree):
        match e:
            case ast.Call(func=ast.Name(id="in_parallel"), args=[ast.Name(id=kernel), *_]):
                yield kernel


def _compiled_part(tree: ast.Module) -> str:
    """What machine code depends on, whatever else is in the module and however it is commented."""
    return ast.unparse(
        [s for s in tree.body if not isinstance(s, ast.FunctionDef) or s.decorator_list]  # type: ignore[arg-type]
    )


def _decorator(program: KernelModule, over: dict[str, Any]) -> Callable[..., Any]:
    """What stands for `numba.njit` in a module."""

    def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
        if function is None:
            return lambda f: njit(f, **options)
        return program.kernel(function, {**options, **over})

    return njit
