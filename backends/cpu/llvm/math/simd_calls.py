"""Marks calls of functions of `math` that LLVM may vectorise: each names its SIMD versions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.ir_helpers import declare
from tapeless.backends.cpu.llvm.math import inlined_functions
from tapeless.backends.cpu.llvm.math.formula_language import SINGLE
from tapeless.backends.cpu.llvm.math.inlined_functions import PURE
from tapeless.backends.cpu.runtime.simd_libraries import Variant, variants


def call_math(builder: Any, name: str, args: list[Any], features: str) -> Any:
    """The value of a function of `math`, of floats or of doubles.

    features  what the CPU has, as LLVM spells it: +avx2,+fma
    """
    kind, has = args[0].type, frozenset(features.split(","))
    if inlined_functions.is_inlined(name, has):
        return _call_inlined(builder, name, args, has)
    single = kind == SINGLE
    plain = name + "f" * single
    scalar = _function(builder.module, plain, kind, len(args))
    variants_found = variants(name, single, has)
    if not variants_found:
        return _add_attributes(builder.call(scalar, args), PURE)
    for v in variants_found:
        _function(builder.module, v.symbol, ir.VectorType(kind, v.lanes), len(args))
    return _call_with_variants(
        builder, _wrapper(builder.module, plain, scalar), args, variants_found
    )


def sine_and_cosine(builder: Any, x: Any, features: str) -> tuple[Any, Any] | None:
    """Both in one call; None where no function has them."""
    has = frozenset(features.split(","))
    if not inlined_functions.is_inlined("sincos", has):
        return None
    pair = _call_inlined(builder, "sincos", [x], has)
    return builder.extract_value(pair, 0), builder.extract_value(pair, 1)


def _call_inlined(builder: Any, name: str, args: list[Any], features: frozenset[str]) -> Any:
    kind = args[0].type
    module, variants_found = builder.module, inlined_functions.variants(name, kind, features)
    for v in variants_found:
        inlined_functions.declaration(module, v.symbol)
    scalar = inlined_functions.declaration(module, inlined_functions.plain(name, kind))
    return _call_with_variants(builder, scalar, args, variants_found)


def _call_with_variants(
    builder: Any, scalar: Any, args: list[Any], variants_found: list[Variant]
) -> Any:
    """A call of a function whose SIMD versions are declared."""
    call = _add_attributes(builder.call(scalar, args), PURE)
    if not variants_found:
        return call
    _keep(builder.module, [builder.module.globals[v.symbol] for v in variants_found])
    names = ",".join(f"{v.prefix}{scalar.name}({v.symbol})" for v in variants_found)
    return _add_attributes(call, (f'"vector-function-abi-variant"="{names}"',))


def _function(module: Any, name: str, kind: Any, arity: int) -> Any:
    return declare(module, name, ir.FunctionType(kind, [kind] * arity))


def _wrapper(module: Any, plain: str, scalar: Any) -> Any:
    """The scalar function under a name that LLVM does not know: it would turn log, log2 and log10
    into operations of its own, and lose the attribute."""
    name = f"tapeless_{plain}"
    if existing := module.globals.get(name):
        return existing
    kind = scalar.type.pointee
    wrapper = ir.Function(module, kind, name)
    wrapper.linkage = "linkonce_odr"
    _add_attributes(wrapper, ("noinline", *PURE, "speculatable"))
    inner = ir.IRBuilder(wrapper.append_basic_block())
    inner.ret(_add_attributes(inner.call(scalar, wrapper.args), PURE))
    return wrapper


def _keep(module: Any, functions: list[Any]) -> None:
    """LLVM would drop declarations that nothing calls before it vectorises."""
    kept = module.__dict__.setdefault("_tapeless_kept", {})
    kept.update((f.name, f) for f in functions)
    pointer = ir.IntType(8).as_pointer()
    kind = ir.ArrayType(pointer, len(kept))
    used = module.globals.get("llvm.compiler.used")
    if used is None:
        used = ir.GlobalVariable(module, kind, "llvm.compiler.used")
        used.linkage, used.section = "appending", "llvm.metadata"
    used.value_type, used.type = kind, kind.as_pointer()
    used.initializer = ir.Constant(kind, [f.bitcast(pointer) for f in kept.values()])


def _add_attributes(value: Any, attributes: tuple[str, ...]) -> Any:
    for each in attributes:
        set.add(value.attributes, each)  # llvmlite's own check knows fewer
    return value
