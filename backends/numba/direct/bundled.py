"""Functions that come along with a kernel that calls them: sine, cosine, and both at once.

Those of numbers call the C library. There is one of vectors for each width that the CPU has, which
LLVM calls where it vectorises a loop:

    y[k] = sin(x[k])      becomes      y[k : k + 8] = tapeless_sin8(x[k : k + 8])

Arguments that are too large for the formulas, infinite, or nan go to the C library, one by one.
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
    for attribute in (*PURE, "noinline"):
        set.add(function.attributes, attribute)
    return function


def used(text: str) -> set[str]:
    """The functions that the text of a module calls."""
    return {match[1] for match in CALL.finditer(text)}


def define(module: Any, symbol: str) -> None:
    """Writes a function that is declared."""
    function = declaration(module, symbol)
    function.linkage = "linkonce_odr"
    builder = ir.IRBuilder(function.append_basic_block())
    match, x = NAME.fullmatch(symbol), function.args[0]
    assert match is not None
    names = NAMES[match[1]]
    found = (
        [_one_by_one(builder, name, x) for name in names]
        if not match[3]
        else _of_vector(builder, names, x)
    )
    if len(found) == 1:
        builder.ret(found[0])
        return
    pair = ir.Constant(ir.LiteralStructType([x.type] * 2), ir.Undefined)
    for k, each in enumerate(found):
        pair = builder.insert_value(pair, each, k)
    builder.ret(pair)


def define_all(module: Any) -> None:
    """Writes the functions that are declared, called or not."""
    for f in [*module.functions]:
        if f.is_declaration and NAME.fullmatch(f.name):
            define(module, f.name)


def _of_vector(builder: Any, names: tuple[str, ...], x: Any) -> list[Any]:
    sine, cosine = circular.both(builder, x)
    found = [sine if name == "sin" else cosine for name in names]
    limit = constant(x.type, circular.LIMIT[scalar(x.type)])
    far = builder.fcmp_unordered(">=", intrinsic(builder, "fabs", x), limit)
    kind = ir.FunctionType(ir.IntType(1), [far.type])
    some = declared(builder.module, f"llvm.vector.reduce.or.v{x.type.count}i1", kind)
    before, results = builder.block, []
    with builder.if_then(builder.call(some, [far]), likely=False):
        others, beyond = [_one_by_one(builder, name, x) for name in names], builder.block
    for near, other in zip(found, others, strict=True):
        results.append(builder.phi(x.type))
        results[-1].add_incoming(near, before)
        results[-1].add_incoming(other, beyond)
    return results


def _one_by_one(builder: Any, name: str, x: Any) -> Any:
    """What a function of the C library gives for each number."""
    kind = scalar(x.type)
    name += "f" * (kind == SINGLE)
    function = declared(builder.module, name, ir.FunctionType(kind, [kind]))
    if x.type == kind:
        return builder.call(function, [x])
    place = builder.alloca(x.type)
    builder.store(x, place)
    first = builder.bitcast(place, kind.as_pointer())
    with for_range(builder, WORD(x.type.count)) as k:
        at = builder.gep(first, [k], inbounds=True)
        builder.store(builder.call(function, [builder.load(at)]), at)
    return builder.load(place)
