"""Builds the driver of a program as a builtin function, for arguments of the types of one call."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from tapeless.backends.cpu.driver.argument_forms import ArgumentForm
from tapeless.backends.cpu.driver.statements import DriverBody
from tapeless.backends.cpu.llvm.ir.values import LlvmUnsupportedError
from tapeless.backends.cpu.runtime import linking
from tapeless.backends.fork_safe_locks import COMPILING

SYMBOL = "tapeless_driver"


def compile_driver(
    function: Callable[..., Any],
    text: str,
    forms: Sequence[ArgumentForm],
    tests: Iterable[str],
    guards: Iterable[Callable[[], Any]],
    missed: Any,
) -> Callable[..., Any] | None:
    """A builtin function that does what a function of loop form does; None if it takes Python.

    function  from `load`
    text      its module
    given     what arguments must be like
    tests     of leaves `a0` and their lengths `s0`, as expressions
    guards    callables that have to return True
    missed    what is returned for other arguments, and where sizes do not fit
    """
    function = getattr(function, "driver", function)  # of a `Whole`, for arguments like these
    with COMPILING:
        return _compile_driver(function, text, forms, tests, guards, missed)


def _compile_driver(
    function: Callable[..., Any],
    text: str,
    forms: Sequence[ArgumentForm],
    tests: Iterable[str],
    guards: Iterable[Callable[[], Any]],
    missed: Any,
) -> Callable[..., Any] | None:
    linking.introduce()
    module = ir.Module(SYMBOL, context=ir.Context())
    module.triple = llvm.get_process_triple()
    written = DriverBody(module, SYMBOL, missed)
    try:
        _write(written, function, text, forms, tests, guards)
    except LlvmUnsupportedError:
        return None
    parsed = llvm.parse_assembly(str(module))
    declared = (*parsed.functions, *parsed.global_variables)
    names = [x.name for x in declared if x.is_declaration and not x.name.startswith("llvm.")]
    place = linking.link(_machine().emit_object(parsed), tuple(names))
    return linking.builtin(place(SYMBOL), function.__name__, tuple(written.constants))


def _write(
    written: DriverBody,
    function: Any,
    text: str,
    forms: Sequence[ArgumentForm],
    tests: Iterable[str],
    guards: Iterable[Callable[[], Any]],
) -> None:
    functions = [s for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]
    driver = next(s for s in functions if s.name == function.__name__)
    if driver.decorator_list:
        raise LlvmUnsupportedError("a driver with a decorator")
    written.kernels = frozenset(s.name for s in functions if s.decorator_list)
    written.values = function.__globals__
    held = written.arguments(forms)
    for k, leaf in written.leaves.items():
        written.names |= {f"a{k}": leaf, f"s{k}": leaf.shape}
    for t in tests:
        written.require(written.test(ast.parse(t, mode="eval").body))
    for g in guards:
        answer = written.call(written.constant(g), [])
        written.require(written.is_same_object(answer, written.constant(True)))
    names = [a.arg for a in driver.args.args]
    if len(names) != len(held):
        raise LlvmUnsupportedError("other arguments than those of the call")
    written.names = dict(zip(names, held, strict=True))
    written.body(driver)
    written.close()


@functools.cache
def _machine() -> Any:
    """The machine, for code that is short, has no loops, and should be made at once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(opt=0, reloc="static", codemodel="jitdefault", jit=True)
