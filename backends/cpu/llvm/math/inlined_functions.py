"""Inlines functions into the kernels that call them: sine, cosine, both at once, exp, fmod.

Those of numbers call the C library. There is one of vectors for each width that the CPU has, which
LLVM calls where it vectorises a loop:

    y[k] = sin(x[k])      becomes      y[k : k + 8] = tapeless_sin8(x[k : k + 8])

and which is then written in place of the call, so that constants stay in registers from pass to
pass. Arguments for which there is no short formula (large, infinite, nan) go to a function of
their own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.ir_helpers import declare, for_range
from tapeless.backends.cpu.llvm.math import exponential, fmod, sine_cosine
from tapeless.backends.cpu.llvm.math.formula_language import (
    DOUBLE,
    SINGLE,
    constant,
    intrinsic,
    scalar,
)
from tapeless.backends.cpu.runtime.simd_libraries import Variant, choice, widths
from tapeless.transforms.dataclass import dataclass

PURE = ("nounwind", "willreturn", "memory(none)")
WORD = ir.IntType(64)
FAR = "_far"  # ends the names of functions of arguments without a short formula
INLINE, CALLED = "alwaysinline", "noinline"


@dataclass(frozen=True)
class Bundled:
    """One function.

    names   the functions of the C library that give its results
    near    the results, where there is a short formula
    beyond  whether there is none
    far     one of the results, of all numbers; None if the C library gives it, number by number
    alone   whether numbers that are no part of a vector take the short formula, too
    """

    names: tuple[str, ...]
    near: Callable[..., Sequence[Any]]
    beyond: Callable[..., Any]
    far: Callable[..., Any] | None = None
    arity: int = 1
    alone: bool = False


def _is_at_least(limit: dict[Any, float]) -> Callable[[Any, Any], Any]:
    """Whether the size of a number is not below a limit."""

    def is_beyond(builder: Any, x: Any) -> Any:
        size = intrinsic(builder, "fabs", x)
        return builder.fcmp_unordered(">=", size, constant(x.type, limit[scalar(x.type)]))

    return is_beyond


LARGE = _is_at_least(sine_cosine.LIMIT)
FUNCTIONS = {
    "sin": Bundled(("sin",), lambda b, x: sine_cosine.sine_and_cosine(b, x)[:1], LARGE),
    "cos": Bundled(("cos",), lambda b, x: sine_cosine.sine_and_cosine(b, x)[1:], LARGE),
    "sincos": Bundled(("sin", "cos"), sine_cosine.sine_and_cosine, LARGE),
    "exp": Bundled(
        ("exp",),
        lambda b, x: [exponential.exp_below_limit(b, x)],
        _is_at_least(exponential.LIMIT),
        exponential.exp_of_any,
    ),
    "fmod": Bundled(
        ("fmod",),
        lambda b, x, y: [fmod.fmod_below_limit(b, x, y)],
        fmod.is_beyond_limit,
        arity=2,
        alone=True,
    ),
}
NAME = re.compile(rf"tapeless_({'|'.join(FUNCTIONS)})(f?)(\d*)")
CALL = re.compile(rf"call [^\n@]*@({NAME.pattern})\(")


def is_inlined(name: str, features: frozenset[str]) -> bool:
    """Whether there is a function for a CPU with these features: it takes fused multiply-adds."""
    return name in FUNCTIONS and ("+fma" in features or "+neon" in features)


def plain(name: str, kind: Any) -> str:
    return f"tapeless_{name}{'f' * (kind == SINGLE)}"


def variants(name: str, kind: Any, features: frozenset[str]) -> list[Variant]:
    """The functions of vectors."""
    if choice() == "none":
        return []
    bits = 32 if kind == SINGLE else 64
    lanes = [(w, w.bits // bits) for w in widths(features)]
    by_lane = "v" * FUNCTIONS[name].arity
    return [
        Variant(f"_ZGV{w.letter}N{n}{by_lane}_", n, f"{plain(name, kind)}{n}") for w, n in lanes
    ]


def declaration(module: Any, symbol: str) -> Any:
    match = NAME.fullmatch(symbol)
    assert match is not None
    kind: Any = SINGLE if match[2] else DOUBLE
    kind = ir.VectorType(kind, int(match[3])) if match[3] else kind
    which = FUNCTIONS[match[1]]
    result_type = ir.LiteralStructType([kind] * len(which.names)) if len(which.names) > 1 else kind
    function = declare(module, symbol, ir.FunctionType(result_type, [kind] * which.arity))
    for attribute in (*PURE, "speculatable"):
        set.add(function.attributes, attribute)
    return function


def used(text: str) -> set[str]:
    """The functions that the text of a module calls."""
    return {match[1] for match in CALL.finditer(text)}


def define(module: Any, symbol: str, how: str = INLINE) -> None:
    """Writes a function that is declared.

    how  CALLED where LLVM has yet to vectorise what calls it
    """
    function = declaration(module, symbol)
    function.linkage = "linkonce_odr"
    set.add(function.attributes, how)
    builder = ir.IRBuilder(function.append_basic_block())
    match, args = NAME.fullmatch(symbol), function.args
    assert match is not None
    which = FUNCTIONS[match[1]]
    if match[3] or which.alone:
        _return(builder, _by_formula(builder, which, args))
    else:
        functions = [_of_numbers(module, name, args[0].type, 1) for name in which.names]
        _return(builder, [builder.call(f, args) for f in functions])


def define_all(module: Any) -> None:
    """Writes the functions that are declared, called or not."""
    for f in [*module.functions]:
        if f.is_declaration and NAME.fullmatch(f.name):
            define(module, f.name, CALLED)


def _return(builder: Any, results: list[Any]) -> None:
    if len(results) == 1:
        builder.ret(results[0])
        return
    pair = ir.Constant(ir.LiteralStructType([x.type for x in results]), ir.Undefined)
    for k, each in enumerate(results):
        pair = builder.insert_value(pair, each, k)
    builder.ret(pair)


def _by_formula(builder: Any, which: Bundled, args: Sequence[Any]) -> list[Any]:
    kind, values = args[0].type, which.near(builder, *args)
    far = which.beyond(builder, *args)
    before, results = builder.block, []
    with builder.if_then(_any(builder, far), likely=False):
        beyond = builder.block
        functions = [_of_any_numbers(builder.module, name, which, kind) for name in which.names]
        others = [builder.call(f, args) for f in functions]
    for near, other in zip(values, others, strict=True):
        results.append(builder.phi(kind))
        results[-1].add_incoming(near, before)
        results[-1].add_incoming(other, beyond)
    return results


def _any(builder: Any, flags: Any) -> Any:
    if not isinstance(flags.type, ir.VectorType):
        return flags
    kind = ir.FunctionType(ir.IntType(1), [flags.type])
    some = declare(builder.module, f"llvm.vector.reduce.or.v{flags.type.count}i1", kind)
    return builder.call(some, [flags])


def _of_any_numbers(module: Any, name: str, which: Bundled, kind: Any) -> Any:
    """The function with any numbers as arguments."""
    if not isinstance(kind, ir.VectorType):
        return _of_numbers(module, name, kind, which.arity)
    symbol = f"{plain(name, scalar(kind))}{kind.count}{FAR}"
    if existing := module.globals.get(symbol):
        return existing
    function = ir.Function(module, ir.FunctionType(kind, [kind] * which.arity), symbol)
    function.linkage = "linkonce_odr"
    for attribute in (*PURE, "noinline", "cold"):
        set.add(function.attributes, attribute)
    builder = ir.IRBuilder(function.append_basic_block())
    of_all = which.far or functools.partial(_one_by_one, name)
    builder.ret(of_all(builder, *function.args))
    return function


def _one_by_one(name: str, builder: Any, *args: Any) -> Any:
    """What the C library gives for each number."""
    first, *_ = args
    kind, places = scalar(first.type), []
    for x in args:
        places.append(builder.alloca(x.type))
        builder.store(x, places[-1])
    function = _of_numbers(builder.module, name, kind, len(args))
    starts = [builder.bitcast(place, kind.as_pointer()) for place in places]
    with for_range(builder, WORD(first.type.count)) as k:
        at = [builder.gep(start, [k], inbounds=True) for start in starts]
        builder.store(builder.call(function, [*map(builder.load, at)]), at[0])
    return builder.load(places[0])


def _of_numbers(module: Any, name: str, kind: Any, arity: int) -> Any:
    """A function of the C library."""
    return declare(module, name + "f" * (kind == SINGLE), ir.FunctionType(kind, [kind] * arity))
