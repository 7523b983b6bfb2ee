"""Writes a kernel and all functions that it calls as one LLVM module."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.calls import HELPERS
from tapeless.backends.cpu.llvm.control_flow import AgainError, Hints
from tapeless.backends.cpu.llvm.function import FunctionBuilder
from tapeless.backends.cpu.llvm.ir import values
from tapeless.backends.cpu.llvm.ir.values import (
    POINTER,
    STATUS,
    ArrayValue,
    LlvmUnsupportedError,
    Number,
    Stream,
)
from tapeless.backends.cpu.runtime.signature import ArrayType
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels import matrix_products, scratch
from tapeless.transforms.lowering.schedule import reassociable_sums, stack_capacity
from tapeless.transforms.ops.primitives import complex_functions

TEXTS = (
    reassociable_sums.PLUS,
    reassociable_sums.MULTIPLIED,
    matrix_products.PRODUCT,
    matrix_products.MATRIX,
    scratch.SCRATCH,
    stack_capacity.GROWN,
    stack_capacity.FILLED,
    complex_functions.EXP,
)
OPTIONS = frozenset(("nogil", "error_model", "fastmath", "forceinline"))
STREAM = "stream"  # the kind of a generator of random numbers
ATTEMPTS = 20  # to find the dtypes of variables in loops
Error = tuple[str, tuple[Any, ...], int]  # class, arguments, line of the module


@dataclass(frozen=True)
class CompiledFunction:
    """A function of LLVM's, the dtypes of what it returns, whether it may raise an error, and how
    many words the numbers take that its errors tell of."""

    function: Any
    results: tuple[Any, ...] | None
    single: bool
    fails: bool
    told: int


class LlvmModuleWriter:
    """Writes functions of a module of loop form.

    sources   their definitions
    options   what is given to `njit` for each
    globals   what other names mean
    features  those of the CPU
    apart     whether no array of the first function shares memory with one that is stored to
    """

    def __init__(
        self,
        module: Any,
        sources: Mapping[str, ast.FunctionDef],
        options: Mapping[str, dict[str, Any]],
        globals_: dict[str, Any],
        features: str,
        apart: bool,
    ) -> None:
        self.module, self.sources, self.given = module, sources, options
        self.globals, self.features, self.apart = globals_, features, apart
        self.errors: list[Error] = []
        self.made: dict[Any, CompiledFunction | None] = {}

    def options(self, name: str) -> dict[str, Any]:
        options = self.given[name]
        if not options.keys() <= OPTIONS:
            raise LlvmUnsupportedError("an option of Numba")
        return options

    def helper(self, name: str) -> str | None:
        """Which helper of loop form a function of the module is, if it is one."""
        node = self.sources.get(name)
        is_helper = node is not None and name in HELPERS and ast.dump(node) == _helpers()[name]
        exact = name in ("grown", "filled", "complex_exp")
        wanted = None if exact else {"reassoc", "contract"}
        return name if is_helper and self.given[name].get("fastmath") == wanted else None

    def error(self, kind: type, args: tuple[Any, ...], line: int) -> int:
        """The number of an error that a line of the module raises."""
        name = kind.__name__
        classes = (getattr(builtins, name, None), self.globals.get(name), np.linalg.LinAlgError)
        if kind not in classes:
            raise LlvmUnsupportedError("an error of the user's")
        if not all(map(_is_told, args)):
            raise LlvmUnsupportedError("what an error says")
        if (name, args, line) not in self.errors:
            self.errors.append((name, args, line))
        return 1 + self.errors.index((name, args, line))

    def function(self, name: str, args: tuple[Any, ...], inline: bool = False) -> CompiledFunction:
        """The function for arguments like these."""
        wanted = tuple(_kind(x) for x in args)
        if (name, wanted) not in self.made:
            self.made[name, wanted] = None
            self.made[name, wanted] = self.write_function(name, wanted, inline)
        function = self.made[name, wanted]
        if function is None:
            raise LlvmUnsupportedError("a function that calls itself")
        return function

    def write_function(self, name: str, wanted: tuple[Any, ...], inline: bool) -> CompiledFunction:
        hints: Hints = {}
        names = [a.arg for a in self.sources[name].args.args]
        if len(names) != len(wanted):
            raise LlvmUnsupportedError("another number of arguments")
        for _ in range(ATTEMPTS):
            function = self.declare(name, wanted)
            function.attributes.add("alwaysinline" if inline else "nounwind")
            try:
                writer = FunctionBuilder(self, self.sources[name], function, hints)
                results = writer.write(self.arguments(function, names, wanted, inline))
                return CompiledFunction(function, results, writer.single, writer.fails, writer.told)
            except AgainError:
                del self.module.globals[function.name]
        raise LlvmUnsupportedError("variables whose dtypes are not found")

    def declare(self, name: str, wanted: tuple[Any, ...]) -> Any:
        types: list[Any] = []
        for kind in wanted:
            if kind == STREAM:
                types.append(POINTER)
            elif isinstance(kind, ArrayType):
                steps = kind.ndim * (2 if kind.layout == "A" else 1)
                types += [POINTER, *[values.WORD] * steps]
            else:
                types.append(values.register(kind[0]))
        signature = ir.FunctionType(STATUS, [*types, POINTER])
        function = ir.Function(self.module, signature, self.module.get_unique_name(name))
        function.linkage = "internal"
        return function

    def arguments(
        self, function: Any, names: list[str], wanted: tuple[Any, ...], first: bool
    ) -> list[Any]:
        remaining: list[Any] = [*function.args[:-1]]
        arguments: list[Any] = []
        for name, kind in zip(names, wanted, strict=False):
            if kind == STREAM:
                arguments.append(Stream(remaining.pop(0)))
            elif isinstance(kind, ArrayType):
                if first and self.apart:
                    remaining[0].add_attribute("noalias")
                remaining[0].name = f"arg.{name}"
                arguments.append(values.unflatten_array(kind, remaining))
            else:
                arguments.append(Number(kind[0], remaining.pop(0), natural=kind[1]))
        return arguments


def _is_told(x: Any) -> bool:
    """Whether an argument of an error can be kept with object code."""
    if isinstance(x, list):
        return all(map(_is_told, x))
    return isinstance(x, (str, int, float, dict))


def _kind(x: Any) -> Any:
    if isinstance(x, Stream):
        return STREAM
    if isinstance(x, ArrayValue):
        return values.signature_of(x)
    number = values.numbers(x)[0]
    return (number.dtype, number.natural)


@functools.cache
def _helpers() -> dict[str, str]:
    nodes = [ast.parse(text).body[0] for text in TEXTS]
    return {node.name: ast.dump(node) for node in nodes}  # type: ignore[attr-defined]
