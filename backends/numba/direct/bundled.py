"""Functions that come along with a kernel that calls them: sine, cosine, and both at once.

Those of numbers call the C library. There is one of vectors for each width that the CPU has, which
LLVM calls where it vectorises a loop:

    y[k] = sin(x[k])      becomes      y[k : k + 8] = tapeless_sin8(x[k : k + 8])

and which is then written in place of the call, so that constants stay in registers from pass to
pass. Arguments that are too large for the formulas, infinite, or nan go to the C library, one by
one, in a function of their own.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import ir

from tapeless.backends.numba.direct import circular
from tapeless.backends.numba.direct.blocks import declared, for_range
from tapeless.backends.numba.direct.circular import SINGLE, constant, intrinsic, scalar
from tapeless.backends.numba.libraries import Variant, choice, widths

PURE = ("nounwind", "willreturn", "memory(none)")
NAMES = {"sin": ("sin",), "cos": ("cos",), "sincos": ("sin", "cos")}
NAME = re.compile(r"tapeless_(sin|cos|sincos)(f?)(\d*)")
CALL = re.compile(rf"call [^\n@]*@({NAME.pattern})\(")
WORD = ir.IntType(64)
FAR = "_far"  # ends the names of functions of arguments that are too large
INLINE, CALLED = "alwaysinline", "noinline"


def known(name: str, features: frozenset[str]) -> bool:
    """Whether there is a function for a CPU with these features: it takes fused multiply-adds."""
    return name in NAMES and ("+fma" in features or "+neon" in features)


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
    kind: Any = SINGLE if match[2] else circular.DOUBLE
    kind = ir.VectorType(kind, int(match[3])) if match[3] else kind
    both = match[1] == "sincos"
    made = ir.LiteralStructType([kind] * 2) if both else kind
    function = declared(module, symbol, ir.FunctionType(made, [kind]))
    for attribute in PURE:
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
    names = NAMES[match[1]]
    if match[3]:
        _return(builder, _of_vector(builder, names, x))
    else:
        _return(builder, [builder.call(_of_number(module, name, x.type), [x]) for name in names])


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


def _of_vector(builder: Any, names: tuple[str, ...], x: Any) -> list[Any]:
    sine, cosine = circular.both(builder, x)
    found = [sine if name == "sin" else cosine for name in names]
    limit = constant(x.type, circular.LIMIT[scalar(x.type)])
    far = builder.fcmp_unordered(">=", intrinsic(builder, "fabs", x), limit)
    kind = ir.FunctionType(ir.IntType(1), [far.type])
    some = declared(builder.module, f"llvm.vector.reduce.or.v{x.type.count}i1", kind)
    before, results = builder.block, []
    with builder.if_then(builder.call(some, [far]), likely=False):
        beyond = builder.block
        others = [builder.call(_far(builder.module, name, x.type), [x]) for name in names]
    for near, other in zip(found, others, strict=True):
        results.append(builder.phi(x.type))
        results[-1].add_incoming(near, before)
        results[-1].add_incoming(other, beyond)
    return results


def _far(module: Any, name: str, kind: Any) -> Any:
    """The function that goes to the C library for each number of a vector."""
    symbol = f"{plain(name, scalar(kind))}{kind.count}{FAR}"
    if known := module.globals.get(symbol):
        return known
    function = ir.Function(module, ir.FunctionType(kind, [kind]), symbol)
    function.linkage = "linkonce_odr"
    for attribute in (*PURE, "noinline", "cold"):
        set.add(function.attributes, attribute)
    builder, one = ir.IRBuilder(function.append_basic_block()), scalar(kind)
    place = builder.alloca(kind)
    builder.store(function.args[0], place)
    first = builder.bitcast(place, one.as_pointer())
    with for_range(builder, WORD(kind.count)) as k:
        at = builder.gep(first, [k], inbounds=True)
        builder.store(builder.call(_of_number(module, name, one), [builder.load(at)]), at)
    builder.ret(builder.load(place))
    return function


def _of_number(module: Any, name: str, kind: Any) -> Any:
    """A function of the C library."""
    return declared(module, name + "f" * (kind == SINGLE), ir.FunctionType(kind, [kind]))
