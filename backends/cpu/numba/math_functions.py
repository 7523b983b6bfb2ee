"""Lowers functions of `math` in kernels so that LLVM can replace them by SIMD versions.

Each becomes one scalar call with LLVM's attribute `vector-function-abi-variant`, which names the
SIMD versions. Where LLVM vectorises the loop around it, it calls those; elsewhere, and for what is
left at the end of a loop, the scalar function of the C library runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numba
from numba.core import types
from numba.extending import lower_builtin, type_callable

from tapeless.backends.cpu.llvm.math import inlined_functions
from tapeless.backends.cpu.llvm.math.simd_calls import call_math
from tapeless.backends.cpu.numba.error_texts import without_texts
from tapeless.backends.cpu.runtime.simd_libraries import ARITY

SMALL = frozenset(
    (types.float32, types.int8, types.uint8, types.int16, types.uint16, types.boolean)
)


def vectorised_function(value: Any) -> Any:
    """What a name of a module means inside compiled code, for its value outside."""
    return VECTOR.get(value, value) if isinstance(value, BuiltinFunctionType) else value


def callee(function: Any, values: dict[str, Any], options: dict[str, Any]) -> Any:
    """A kernel as other kernels call it."""
    return numba.njit(**options)(seeing(function, values))


def seeing(function: Any, values: dict[str, Any]) -> Any:
    """The function with other values of global names, and without texts that show numbers."""
    function = without_texts(function)
    copy = FunctionType(function.__code__, values, function.__name__, function.__defaults__)
    copy.__module__ = None  # type: ignore[assignment]  # Numba mistakes what it cannot import
    return copy


def _vector(name: str) -> Callable[..., Any]:
    """What stands in compiled code for the function of `math` with this name."""

    def function(*args: Any) -> Any:
        raise NotImplementedError(f"{name} of compiled code")

    function.__name__ = function.__qualname__ = name
    type_callable(function)(_typer(ARITY[name]))

    @lower_builtin(function, *[types.Any] * ARITY[name])  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = sig.return_type
        cast = [context.cast(builder, a, t, kind) for a, t in zip(args, sig.args, strict=True)]
        result = call_math(builder, name, cast, str(context.codegen()._tm_features))
        inlined_functions.define_all(builder.module)
        return result

    return function


def _typer(arity: int) -> Callable[..., Any]:
    if arity == 1:
        return lambda context: lambda x: _result(x)
    return lambda context: lambda x, y: _result(x, y)


def _result(*kinds: Any) -> Any:
    """The type of the result, as NumPy has it; None for what is not real."""
    if not all(isinstance(t, (types.Float, types.Integer, types.Boolean)) for t in kinds):
        return None
    single = types.float32 in kinds and SMALL.issuperset(kinds)
    return types.float32 if single else types.float64


VECTOR = {getattr(math, name): _vector(name) for name in ARITY if hasattr(math, name)}
