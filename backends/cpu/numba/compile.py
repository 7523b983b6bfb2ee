"""Compiles a kernel and its entry to object code by Numba's type inference and lowering."""

from __future__ import annotations

import contextlib
import dis
import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler, errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from tapeless.backends.cpu.llvm.interleave_chains import add_interleave_hints
from tapeless.backends.cpu.llvm.python_entry import NoEntryError
from tapeless.backends.cpu.numba.python_entry import NumbaEntryBuilder, numba_type
from tapeless.backends.cpu.numba.runtime import start
from tapeless.backends.cpu.numba.scratch import add_release_calls
from tapeless.backends.cpu.runtime.linking import introduce
from tapeless.backends.cpu.runtime.object_cache import ObjectCode
from tapeless.backends.cpu.runtime.signature import ArrayType, CallForm, Signature
from tapeless.transforms.errors import ArgumentError, UnsupportedError

COUNTING = re.compile(r"^\s*(tail )?call void @NRT_(inc|dec)ref\(.*\).*$", re.MULTILINE)
HEAD = re.compile(r"^define internal .*$", re.MULTILINE)  # of the kernel
DATA = re.compile(
    r"ptr ((?:[a-z_]+(?:\([^)]*\))? )*%arg\.\w+\.4\b)"
)  # where the numbers of an array are
ALLOCATION = re.compile(r"@NRT_(?!incref|decref)")
ALLOCATING = frozenset(["empty", "zeros", "dot", "linalg", "grown", "filled"])
RECURSION = ".numba.unresolved$"
FAILURES = (errors.NumbaError, NotImplementedError)


def compile_kernel(
    function: Callable[..., Any],
    wanted: Signature,
    options: dict[str, Any],
    symbol: str,
    form: CallForm | None = None,
    apart: bool = False,
) -> ObjectCode | None:
    """The object code of a kernel for one signature; None where only Numba itself can call it.

    function  plain Python; what it calls is Numba's or known to Numba
    wanted    the types of the arguments
    options   those of `numba.njit`
    symbol    the name of the entry
    form      of a function that only calls the kernel, and is what the entry stands for
    apart     whether no array shares memory with another one that is stored to

    Raises UnsupportedError where Numba cannot compile it, ArgumentError where it writes to an array
    that is read-only.
    """
    try:
        code: ObjectCode = _compile(function, wanted, options, symbol, form, apart)
        return code
    except NoEntryError:
        return None
    except FAILURES as e:
        if _writes(function, wanted, options):
            raise ArgumentError("assignment destination is read-only", "pass a copy") from e
        reason = str(e).strip()
        raise UnsupportedError(
            f"{function.__name__}({', '.join(map(str, wanted))}) cannot be compiled: {reason}"
        ) from e


def _writes(function: Callable[..., Any], wanted: Signature, options: dict[str, Any]) -> bool:
    """Whether the kernel can be compiled, if only its arrays may be written to."""
    writeable = tuple(replace(a, readonly=False) if isinstance(a, ArrayType) else a for a in wanted)
    try:
        return writeable != wanted and bool(_compile(function, writeable, options, "tapeless_try"))
    except NoEntryError:
        return True
    except FAILURES:
        return False


@global_compiler_lock  # type: ignore[untyped-decorator]
def _compile(
    function: Callable[..., Any],
    wanted: Signature,
    options: dict[str, Any],
    symbol: str,
    form: CallForm | None = None,
    apart: bool = False,
) -> ObjectCode:
    introduce()
    start()
    if not ALLOCATING.intersection(function.__code__.co_names):
        with contextlib.suppress(errors.NumbaRuntimeError):  # something in it allocates after all
            return _lower(function, wanted, _flags(options, counted=False), symbol, form, apart)
    return _lower(function, wanted, _flags(options), symbol, form, apart)


def _lower(
    function: Callable[..., Any],
    wanted: Signature,
    flags: Any,
    symbol: str,
    form: CallForm | None,
    apart: bool,
) -> ObjectCode:
    typing, target = cpu_target.typing_context, cpu_target.target_context
    library = target.codegen().create_library(symbol)
    library.enable_object_caching()
    library._optimize_functions = _not_yet
    passed = wanted if form is None else tuple(wanted[k] for k in form.order)
    types = tuple(map(numba_type, passed))
    lowered = compiler.compile_internal(typing, target, library, function, types, None, flags, {})
    if lowered.environment is not None and lowered.environment.consts:
        raise NoEntryError("it needs Python objects")
    if _calls_itself(library):
        raise NoEntryError("Numba finds functions that call themselves while they run")
    context, long = lowered.target_context, None if _has_loops(function) else False
    entry = NumbaEntryBuilder(context, symbol, lowered, wanted, long, form)
    library.add_ir_module(entry.build())
    _lighten(library, lowered.fndesc.llvm_func_name, apart)
    library.finalize()
    code, _ = library.serialize_using_object_code()[2]
    return ObjectCode(code, symbol, _externals(library), _environments(library))


def _calls_itself(library: Any) -> bool:
    """Whether there is a recursive function in what has not been linked yet."""
    called = (each._get_module_for_linking() for each in library._linking_libraries)
    modules = (library._final_module, *called)
    return any(x.name.startswith(RECURSION) for m in modules for x in m.global_variables)


def _lighten(library: Any, kernel: str, apart: bool) -> None:
    """Makes the kernel a part of its entry. If nothing is allocated, reference counts go, as arrays
    of the caller have no owner here, and with them Numba's run time and first round of passes."""
    module = library._final_module
    function = module.get_function(kernel)
    function.linkage = "internal"
    function.add_function_attribute("alwaysinline")  # the entry knows more of the arguments
    text = str(module)
    if not ALLOCATION.search(text):
        text = COUNTING.sub("", text)
        library._optimize_final_module = functools.partial(_optimize, library)
    text = add_interleave_hints(add_release_calls(text, kernel))
    if apart:
        text = HEAD.sub(lambda head: DATA.sub(r"ptr noalias \1", head[0]), text)
    library._final_module = llvm.parse_assembly(text)
    library._final_module.name = module.name


def _not_yet(module: Any) -> None:
    """Functions are optimised with their module."""


def _optimize(library: Any) -> None:
    passes, builder = library._codegen._module_pass_manager()
    passes.run(library._final_module, builder)


def _flags(options: dict[str, Any], counted: bool = True) -> Any:
    """With `counted`, references are: what allocates needs it, all else takes longer to compile."""
    flags = compiler.Flags()
    cpu_target.options.parse_as_flags(flags, {"nopython": True, **options})
    flags.nrt = counted
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _has_loops(function: Callable[..., Any]) -> bool:
    return any("BACKWARD" in i.opname for i in dis.get_instructions(function))


def _environments(library: Any) -> tuple[str, ...]:
    """Where code looks for Python objects when it makes an error."""
    names = (x.name for x in library._final_module.global_variables)
    return tuple(name for name in names if name.startswith("_ZN08NumbaEnv"))


def _externals(library: Any) -> tuple[str, ...]:
    """What the code needs from the process, but for what LLVM provides."""
    module = library._final_module
    declared = (*module.functions, *module.global_variables)
    return tuple(
        sorted(x.name for x in declared if x.is_declaration and not x.name.startswith("llvm."))
    )
