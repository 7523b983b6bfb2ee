"""Functions that come along with a kernel that calls them: sine, cosine, both at once, and exp.

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
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from tapeless.backends.numba.direct import circular, exponential
from tapeless.backends.numba.direct.blocks import declared, for_range
from tapeless.backends.numba.direct.formulas import DOUBLE, SINGLE, constant, intrinsic, scalar
from tapeless.backends.numba.libraries import Variant, choice, widths

PURE = ("nounwind", "willreturn", "memory(none)")
WORD = ir.IntType(64)
FAR = "_far"  # ends the names of functions of arguments without a short formula
INLINE, CALLED = "alwaysinline", "noinline"


@dataclass(frozen=True)
class Bundled:
    """One function.

    names  the functions of the C library that give its results
    near   the results, of numbers whose size is below limit
    far    one of the results, of all numbers; None if the C library gives it, number by number
    """

    names: tuple[str, ...]
    near: Callable[[Any, Any], Sequence[Any]]
    limit: dict[Any, float]
    far: Callable[[Any, Any], Any] | None = None


FUNCTIONS = {
    "sin": Bundled(("sin",), lambda b, x: circular.both(b, x)[:1], circular.LIMIT),
    "cos": Bundled(("cos",), lambda b, x: circular.both(b, x)[1:], circular.LIMIT),
    "sincos": Bundled(("sin", "cos"), circular.both, circular.LIMIT),
    "exp": Bundled(
        ("exp",), lambda b, x: [exponential.near(b, x)], exponential.LIMIT, exponential.far
    ),
}
NAME = re.compile(rf"tapeless_({'|'.join(FUNCTIONS)})(f?)(\d*)")
CALL = re.compile(rf"call [^\n@]*@({NAME.pattern})\(")


def known(name: str, features: frozenset[str]) -> bool:
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
    return [Variant(f"_ZGV{w.letter}N{n}v_", n, f"{plain(name, kind)}{n}") for w, n in lanes]


def declaration(module: Any, symbol: str) -> Any:
    match = NAME.fullmatch(symbol)
    assert match is not None
    kind: Any = SINGLE if match[2] else DOUBLE
    kind = ir.VectorType(kind, int(match[3])) if match[3] else kind
    results = len(FUNCTIONS[match[1]].names)
    made = ir.LiteralStructType([kind] * results) if results > 1 else kind
    function = declared(module, symbol, ir.FunctionType(made, [kind]))
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
    match, x = NAME.fullmatch(symbol), function.args[0]
    assert match is not None
    which = FUNCTIONS[match[1]]
    if match[3]:
        _return(builder, _of_vector(builder, which, x))
    else:
        functions = [_of_number(module, name, x.type) for name in which.names]
        _return(builder, [builder.call(f, [x]) for f in functions])


def define_all(module: Any) -> None:
    """Writes the functions that are declared, called or not."""
    for f in [*module.functions]:
        if f.is_declaration and NAME.fullmatch(f.name):
            define(module, f.name, CALLED)


def _return(builder: Any, found: list[Any]) -> None:
    if len(found) == 1:
        builder.ret(found[0])
        return
    pair = ir.Constant(ir.LiteralStructType([x.type for x in found]), ir.Undefined)
    for k, each in enumerate(found):
        pair = builder.insert_value(pair, each, k)
    builder.ret(pair)


def _of_vector(builder: Any, which: Bundled, x: Any) -> list[Any]:
    found = which.near(builder, x)
    limit = constant(x.type, which.limit[scalar(x.type)])
    far = builder.fcmp_unordered(">=", intrinsic(builder, "fabs", x), limit)
    kind = ir.FunctionType(ir.IntType(1), [far.type])
    some = declared(builder.module, f"llvm.vector.reduce.or.v{x.type.count}i1", kind)
    before, results = builder.block, []
    with builder.if_then(builder.call(some, [far]), likely=False):
        beyond = builder.block
        functions = [_far(builder.module, name, which.far, x.type) for name in which.names]
        others = [builder.call(f, [x]) for f in functions]
    for near, other in zip(found, others, strict=True):
        results.append(builder.phi(x.type))
        results[-1].add_incoming(near, before)
        results[-1].add_incoming(other, beyond)
    return results


def _far(module: Any, name: str, formula: Callable[[Any, Any], Any] | None, kind: Any) -> Any:
    """The function of vectors with any numbers in them."""
    symbol = f"{plain(name, scalar(kind))}{kind.count}{FAR}"
    if known := module.globals.get(symbol):
        return known
    function = ir.Function(module, ir.FunctionType(kind, [kind]), symbol)
    function.linkage = "linkonce_odr"
    for attribute in (*PURE, "noinline", "cold"):
        set.add(function.attributes, attribute)
    builder = ir.IRBuilder(function.append_basic_block())
    of_all = formula or functools.partial(_one_by_one, name)
    builder.ret(of_all(builder, function.args[0]))
    return function


def _one_by_one(name: str, builder: Any, x: Any) -> Any:
    """What the C library gives for each number."""
    kind = scalar(x.type)
    place = builder.alloca(x.type)
    builder.store(x, place)
    first = builder.bitcast(place, kind.as_pointer())
    with for_range(builder, WORD(x.type.count)) as k:
        at = builder.gep(first, [k], inbounds=True)
        found = builder.call(_of_number(builder.module, name, kind), [builder.load(at)])
        builder.store(found, at)
    return builder.load(place)


def _of_number(module: Any, name: str, kind: Any) -> Any:
    """A function of the C library."""
    return declared(module, name + "f" * (kind == SINGLE), ir.FunctionType(kind, [kind]))
