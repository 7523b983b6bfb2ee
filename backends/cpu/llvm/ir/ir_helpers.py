"""Builds small parts of functions of LLVM's: loops, variables, functions that are known by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

WORD = ir.IntType(64)
#: What LLVM is told of loops: several passes in a row, up to 512 instructions on some processors,
#: take it long to compile and run no faster. Loops of a few known passes are written out even so.
ROLLED = "llvm.loop.unroll.runtime.disable"
MASKED = "llvm.loop.vectorize.predicate.enable"


def variable(builder: Any, kind: Any) -> Any:
    """The address of a variable of a function, which is zero at first."""
    with builder.goto_entry_block():
        place = builder.alloca(kind)
        builder.store(ir.Constant(kind, None), place)
    return place


def spill(builder: Any, value: Any) -> Any:
    """The address of a variable with this value."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


@contextlib.contextmanager
def for_range(builder: Any, count: Any) -> Iterator[Any]:
    """A loop of so many passes; gives their number."""
    head, body = (builder.append_basic_block(name) for name in ("head", "body"))
    after, before = builder.append_basic_block("after"), builder.block
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(WORD)
    k.add_incoming(WORD(0), before)
    builder.cbranch(builder.icmp_signed("<", k, count), body, after)
    builder.position_at_end(body)
    yield k
    k.add_incoming(builder.add(k, WORD(1), flags=("nsw",)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)


def go_back(builder: Any, head: Any, masked: bool = False) -> None:
    """Branches to where a loop begins; `masked`: its last passes, which do not fill a vector, are
    made by a vector of which some lanes do nothing, not one by one."""
    module = builder.module
    loop = ir.MDValue(module, (), name=str(len(module.metadata)))
    hints = [module.add_metadata([ir.MetaDataString(module, ROLLED)])]
    if masked:
        hint = [ir.MetaDataString(module, MASKED), ir.Constant(ir.IntType(1), 1)]
        hints.append(module.add_metadata(hint))
    loop.operands = (loop, *hints)
    builder.branch(head).set_metadata("llvm.loop", loop)


def length(builder: Any, start: Any, stop: Any, step: Any) -> Any:
    """The length of a range, whose step is not zero."""
    up = builder.icmp_signed(">", step, WORD(0))
    forward, back = (builder.icmp_signed(sign, start, stop) for sign in "<>")
    nearer = builder.select(up, WORD(-1), WORD(1))
    whole = builder.sdiv(builder.add(builder.sub(stop, start), nearer), step)
    some = builder.select(up, forward, back)
    return builder.select(some, builder.add(whole, WORD(1)), WORD(0))


def declare(module: Any, name: str, kind: Any) -> Any:
    """A function that the process knows by name."""
    return module.globals.get(name) or ir.Function(module, kind, name)
