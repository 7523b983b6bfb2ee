"""One kernel and its entry as object code, by Numba's type inference and lowering."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

from numba.core import compiler, errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from tapeless.backends.numba.compiler.entry import Entry, numba_type
from tapeless.backends.numba.compiler.runtime import start
from tapeless.backends.numba.linking import introduce
from tapeless.backends.numba.objects import ObjectCode
from tapeless.backends.numba.signature import Signature
from tapeless.transforms.errors import UnsupportedError

NEEDS_MEMORY = "NRT required but not enabled"


def compile_kernel(
    function: Callable[..., Any], wanted: Signature, options: dict[str, Any], symbol: str
) -> ObjectCode:
    """The object code of a kernel for one signature.

    function  plain Python; what it calls is Numba's or known to Numba
    wanted    the types of the arguments
    options   those of `numba.njit`
    symbol    the name of the entry

    Raises UnsupportedError where Numba cannot compile it.
    """
    try:
        with global_compiler_lock:
            introduce()
            try:
                return _compiled(function, wanted, options, symbol, allocates=False)
            except errors.NumbaError as e:
                if NEEDS_MEMORY not in str(e):
                    raise
                return _compiled(function, wanted, options, symbol, allocates=True)
    except (errors.NumbaError, NotImplementedError) as e:
        reason = str(e).strip()
        raise UnsupportedError(
            f"{function.__name__}({', '.join(map(str, wanted))}) cannot be compiled: {reason}"
        ) from e


def _compiled(
    function: Callable[..., Any],
    wanted: Signature,
    options: dict[str, Any],
    symbol: str,
    allocates: bool,
) -> ObjectCode:
    """Code that allocates nothing does without reference counts, and so without Numba's runtime."""
    start()
    typing, target = cpu_target.typing_context, cpu_target.target_context
    library = target.codegen().create_library(symbol)
    library.enable_object_caching()
    types = tuple(map(numba_type, wanted))
    lowered = compiler.compile_internal(
        typing, target, library, function, types, None, _flags(options, allocates), {}
    )
    if lowered.environment is not None and lowered.environment.consts:
        raise NotImplementedError("it needs Python objects")
    entry = Entry(lowered.target_context, symbol, lowered, wanted, _has_loops(function))
    library.add_ir_module(entry.build())
    library.finalize()
    code, _ = library.serialize_using_object_code()[2]
    return ObjectCode(code, symbol, _externals(library))


def _flags(options: dict[str, Any], allocates: bool) -> Any:
    flags = compiler.Flags()
    cpu_target.options.parse_as_flags(flags, {"nopython": True, **options})
    flags.nrt = allocates
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _has_loops(function: Callable[..., Any]) -> bool:
    return any("BACKWARD" in i.opname for i in dis.get_instructions(function))


def _externals(library: Any) -> tuple[str, ...]:
    """What the code needs from the process, but for what LLVM provides."""
    module = library._final_module
    declared = (*module.functions, *module.global_variables)
    return tuple(
        sorted(x.name for x in declared if x.is_declaration and not x.name.startswith("llvm."))
    )
