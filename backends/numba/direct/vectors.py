"""Calls of functions of `math` that LLVM may widen: each names its SIMD versions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tapeless.backends.numba.direct import circular
from tapeless.backends.numba.libraries import ARITY, Variant, variants

SINGLE = ir.FloatType()
PURE = ("nounwind", "willreturn", "memory(none)")


def called(builder: Any, name: str, args: list[Any], features: str) -> Any:
    """The value of a function of `math`, of floats or of doubles.

    features  what the CPU has, as LLVM spells it: +avx2,+fma
    """
    kind = args[0].type
    if name in circular.SHIFT and kind != SINGLE:
        return _circular(builder, name, args, features)
    return Call(builder, name, kind, features).made(args)


def _circular(builder: Any, name: str, args: list[Any], features: str) -> Any:
    """Our own sine and cosine; those of the libraries where arguments are large."""
    size = builder.module.declare_intrinsic("llvm.fabs", [circular.DOUBLE])
    small = builder.fcmp_ordered(
        "<", builder.call(size, args), ir.Constant(circular.DOUBLE, circular.LIMIT)
    )
    with builder.if_else(small) as (then, otherwise):
        with then:
            ours, inside = circular.circular(builder, args[0], name), builder.block
        with otherwise:
            theirs = Call(builder, name, circular.DOUBLE, features).made(args)
            outside = builder.block
    found = builder.phi(circular.DOUBLE)
    found.add_incoming(ours, inside)
    found.add_incoming(theirs, outside)
    return found


class Call:
    """A call of a scalar function that LLVM may widen."""

    def __init__(self, builder: Any, name: str, kind: Any, features: str) -> None:
        self.builder, self.module = builder, builder.module
        self.kind, self.arity = kind, ARITY[name]
        single = kind == SINGLE
        self.plain = name + "f" * single
        self.found: list[Variant] = variants(name, single, frozenset(features.split(",")))

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
