"""Functions of `math` in kernels, so that LLVM can replace them by SIMD versions.

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
from llvmlite import ir
from numba.core import types
from numba.extending import lower_builtin, type_callable

from tapeless.backends.numba.compiler import circular
from tapeless.backends.numba.libraries import ARITY, Variant, variants

PURE = ("nounwind", "willreturn", "memory(none)")
SMALL = frozenset(
    (types.float32, types.int8, types.uint8, types.int16, types.uint16, types.boolean)
)


def vectorised(value: Any) -> Any:
    """What a name of a module means inside compiled code, for its value outside."""
    return VECTOR.get(value, value) if isinstance(value, BuiltinFunctionType) else value


def callee(function: Any, values: dict[str, Any], options: dict[str, Any]) -> Any:
    """A kernel as other kernels call it."""
    return numba.njit(**options)(seeing(function, values))


def seeing(function: Any, values: dict[str, Any]) -> Any:
    """The function with other values of global names."""
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
        if name in circular.SHIFT and kind == types.float64:
            return _circular(context, builder, name, cast)
        return Call(context, builder, name, kind).made(cast)

    return function


def _circular(context: Any, builder: Any, name: str, args: list[Any]) -> Any:
    """Our own sine and cosine; those of the libraries where arguments are large."""
    size = builder.module.declare_intrinsic("llvm.fabs", [circular.DOUBLE])
    small = builder.fcmp_ordered(
        "<", builder.call(size, args), ir.Constant(circular.DOUBLE, circular.LIMIT)
    )
    with builder.if_else(small) as (then, otherwise):
        with then:
            ours, inside = circular.circular(builder, args[0], name), builder.block
        with otherwise:
            theirs = Call(context, builder, name, types.float64).made(args)
            outside = builder.block
    found = builder.phi(circular.DOUBLE)
    found.add_incoming(ours, inside)
    found.add_incoming(theirs, outside)
    return found


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


class Call:
    """A call of a scalar function that LLVM may widen."""

    def __init__(self, context: Any, builder: Any, name: str, kind: Any) -> None:
        self.builder, self.module = builder, builder.module
        self.kind, self.arity = context.get_value_type(kind), ARITY[name]
        single = kind == types.float32
        self.plain = name + "f" * single
        features = frozenset(str(context.codegen()._tm_features).split(","))
        self.found: list[Variant] = variants(name, single, features)

    def made(self, args: list[Any]) -> Any:
        scalar = self.declared(self.plain, self.kind)
        if not self.found:
            return _with(self.builder.call(scalar, args), PURE)
        call = self.builder.call(self.wrapper(scalar), args)
        for v in self.found:
            self.declared(v.symbol, ir.VectorType(self.kind, v.lanes))
        self.keep([self.module.globals[v.symbol] for v in self.found])
        names = ",".join(f"{v.prefix}{self.name}({v.symbol})" for v in self.found)
        return _with(call, (*PURE, f'"vector-function-abi-variant"="{names}"'))

    @property
    def name(self) -> str:
        return f"tapeless_{self.plain}"

    def declared(self, name: str, kind: Any) -> Any:
        known = self.module.globals.get(name)
        signature = ir.FunctionType(kind, [kind] * self.arity)
        return known or ir.Function(self.module, signature, name)

    def wrapper(self, scalar: Any) -> Any:
        """The scalar function under a name that LLVM does not know: it would turn log, log2 and
        log10 into operations of its own, and lose the attribute."""
        known = self.module.globals.get(self.name)
        if known:
            return known
        made = self.declared(self.name, self.kind)
        made.linkage = "linkonce_odr"
        _with(made, ("noinline", *PURE, "speculatable"))
        inner = ir.IRBuilder(made.append_basic_block())
        inner.ret(_with(inner.call(scalar, made.args), PURE))
        return made

    def keep(self, functions: list[Any]) -> None:
        """LLVM would drop declarations that nothing calls before it vectorises."""
        kept = self.module.__dict__.setdefault("_tapeless_kept", {})
        kept.update((f.name, f) for f in functions)
        pointer = ir.IntType(8).as_pointer()
        kind = ir.ArrayType(pointer, len(kept))
        used = self.module.globals.get("llvm.compiler.used")
        if used is None:
            used = ir.GlobalVariable(self.module, kind, "llvm.compiler.used")
            used.linkage, used.section = "appending", "llvm.metadata"
        used.value_type, used.type = kind, kind.as_pointer()
        used.initializer = ir.Constant(kind, [f.bitcast(pointer) for f in kept.values()])


def _with(value: Any, attributes: tuple[str, ...]) -> Any:
    for each in attributes:
        set.add(value.attributes, each)  # llvmlite's own check knows fewer
    return value


VECTOR = {getattr(math, name): _vector(name) for name in ARITY if hasattr(math, name)}
