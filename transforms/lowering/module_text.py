"""Writes the module of a compiled program: the kernels, and the function that calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeless.transforms.core.language import Block, Effect, Let, Var
from tapeless.transforms.emit.counter_placement import place_counters
from tapeless.transforms.emit.module import called_functions, function_text, join_module
from tapeless.transforms.emit.writer import Writer, emit_function
from tapeless.transforms.lowering.error_functions import raising_decorator
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.optimize.out_parameters import store_out_parameters
from tapeless.transforms.lowering.pooled_arrays import pooled_text
from tapeless.transforms.lowering.schedule.user_errors import UserErrors
from tapeless.transforms.memory.materialize_fills import materialize_fills
from tapeless.transforms.python_text.python_source import template, to_source


class Driver(Writer):
    """Writes a block in which stores are decided, and kernels are called."""

    @staticmethod
    def prepare(block: Block) -> Block:
        return place_counters(materialize_fills(block))

    def effect(self, s: Effect) -> None:
        if s.kind != "kernel":
            super().effect(s)
            return
        holes = {str(k): self.expr(a) for k, a in enumerate(s.args)}
        self.put(to_source(template(s.params["text"], holes)), s.origin)


class CompiledDriver(Driver):
    """A driver whose arrays lie in memory that was used before."""

    def source(self, s: Let) -> Any:
        return pooled_text(s) or super().source(s)


def write_compiled(
    name: str,
    driver: Block,
    kernels: Iterable[Kernel],
    errors: UserErrors,
    arguments: list[str],
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
) -> str:
    """The whole text of the module."""
    functions: list[Any] = []
    kernels = list(kernels)
    njit = {"from numba import njit"}
    functions += [(kernel.text, list(kernel.helpers), njit) for kernel in kernels]
    imports = import_lines(kernels)
    functions += [function_text(f.name, b, "") for f, b in called_functions([driver], name).items()]
    taken = {*arguments, *(kernel.name for kernel in kernels)}
    signature = ", ".join(arguments)
    main = emit_function(name, driver, signature, unpack, result, doc, taken, CompiledDriver)
    decorator = ""
    if any(kernel.tells for kernel in kernels):
        decorator, raising = raising_decorator(errors, name, {*taken, name})
        functions = [*raising, *functions]
    functions.append((decorator + main[0], main[1], main[2] | imports))
    return join_module(functions)


def import_lines(kernels: Iterable[Kernel]) -> set[str]:
    """One line for each module that kernels import from."""
    names: dict[str, set[str]] = {}
    for module, function in (pair for kernel in kernels for pair in kernel.imports):
        names.setdefault(module, set()).add(function)
    return {
        f"from {module} import {', '.join(sorted(imported_names))}"
        for module, imported_names in names.items()
    }


def write_plain(
    name: str,
    block: Block,
    stored: Sequence[Var],
    arguments: list[str],
    unpack: list[tuple[Var, str]],
    result: Callable[[list[str]], str],
    doc: str,
) -> str:
    """The text of a module in array form, whose function overwrites the parameters `stored`."""
    functions = [function_text(f.name, b, "") for f, b in called_functions([block], name).items()]
    owned, signature = store_out_parameters(block, stored), ", ".join(arguments)
    main = emit_function(name, owned, signature, unpack, result, doc, set(arguments), Driver)
    return join_module([*functions, main])
