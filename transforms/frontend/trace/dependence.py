"""Finds what a recorded value depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Type,
    Var,
    free_variables,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.function_calls import acts

FEW_PASSES = 8  # so many may be written out


def depends_on(wanted: Atom, params: set[Var]) -> bool:
    seen: set[Var] = set()
    pending = [wanted]
    definitions, parents = trace().definitions, trace().parents
    while pending:
        a = pending.pop()
        if not isinstance(a, Var) or a in seen:
            continue
        seen.add(a)
        if a in params:
            return True
        if a in parents:
            pending += parents[a][2]
        elif a in definitions:
            let = definitions[a]
            pending += let.args
            if let.op is size_value:
                pending += [s.var for s in dims.symbols(let.params["size"]) if s.var is not None]
    return False


def can_be_known(wanted: Atom) -> bool:
    """Whether a value depends on nothing but integer inputs, sizes of inputs and passes of loops,
    and on one of these: what is made of constants alone has no input that could be made known."""
    return not isinstance(wanted, Var) or bool(_is_input(wanted))


def _is_input(wanted: Var) -> bool | None:
    """Whether what a value is made of can be known: true if an input is in it, false if there are
    only constants, and None if it cannot."""
    answers = trace().can_be_known
    begun: set[Var] = set()
    pending = [wanted]
    while pending:
        a = pending[-1]
        if a in answers:
            pending.pop()
            continue
        itself, sources = _made_of(a)
        so_far = [itself, *(answers[v] for v in sources if v in answers)]
        unasked = [v for v in sources if v not in answers and v not in begun]
        if unasked and None not in so_far:
            begun.add(a)
            pending += unasked
        else:
            answers[a] = None if None in so_far else any(so_far)
    return answers[wanted]


def _made_of(a: Var) -> tuple[bool | None, list[Var]]:
    """Whether a value is an input that can be known, None if it is another one; and the variables
    that it is made of."""
    t = trace()
    if a in t.definitions:
        let = t.definitions[a]
        sources = [v for v in let.args if isinstance(v, Var)]
        if let.op is not size_value:
            return False, sources
        symbols = dims.symbols(let.params["size"])
        if any(s.var is None and s not in t.decisions.homes for s in symbols):
            return None, []
        return True, [*sources, *(s.var for s in symbols if s.var is not None)]
    if a in t.parents:
        kind, _, atoms = t.parents[a]
        return kind == "loop", [v for v in atoms if isinstance(v, Var)]
    integer = isinstance(a.type, Type) and not a.type.shape and a.type.dtype.kind in "iu"
    named = integer and a.size is not None and dims.symbols(a.size) & {*t.decisions.homes}
    return True if named else None, []


def need_integers(function: str, args: tuple[Any, ...]) -> None:
    """Functions without a rule that take integers of the arguments must be given known ones."""
    for value in args:
        if not isinstance(value, Value):
            continue
        a = value.value()
        is_integer = a.type.dtype.kind in "iu" and not a.type.shape
        if is_integer and (can_be_known(a) or not decided_by_data(a)):
            raise NeedStatic(a, f"{function} needs this integer")


def decided_by_data(wanted: Atom, of_many_passes: bool = False) -> bool:
    """Whether a value depends on what arrays contain, or on variables that loops carry, and not
    on integer inputs, sizes and indices of loops alone; with `of_many_passes`, or on the index of a
    loop that an input says the length of, and that makes more than a few passes in this call."""
    t = trace()
    seen: set[Var] = set()
    pending, decided = [wanted], False
    while pending:
        a = pending.pop()
        if not isinstance(a, Var) or a in seen:
            continue
        seen.add(a)
        if a in t.definitions:
            decided = decided or t.definitions[a].op is size_value
            pending += t.definitions[a].args
        elif a in t.parents:
            pending += t.parents[a][2]
        elif a in t.loops.flows or not _is_index(a):
            return True
        else:
            decided = True
            sizes = set(_bounds(a))
            if any(s.var is None and s not in t.hints for s in sizes):
                return True  # a length that the program finds out
            if of_many_passes and sizes and _makes_many_passes(a):
                return True
            pending += [s.var for s in sizes if s.var is not None]
    return not decided


def _makes_many_passes(index: Var) -> bool:
    value = trace().value
    symbols = dims.symbols(index.size) if index.size is not None else ()
    ends = [value(n) for s in symbols for n in trace().bounds.get(s, ())]
    return any(n is None or n > FEW_PASSES for n in ends)


def _bounds(index: Var) -> Iterator[dims.Symbol]:
    """What the bounds of a loop variable are made of."""
    for symbol in dims.symbols(index.size) if index.size is not None else ():
        for bound in trace().bounds.get(symbol, ()):
            yield from dims.symbols(bound)


def _is_index(a: Var) -> bool:
    return isinstance(a.type, Type) and not a.type.shape and a.type.dtype.kind in "iu"


def depends_on_program(block: Block, inits: Any, seq: Any) -> bool:
    """Whether a loop reads anything that is not known now, or has effects."""
    if any(isinstance(a, Var) for a in inits) or free_variables(block):
        return True
    if seq is not None and any(isinstance(a, Var) for a in seq.span):
        return True
    return acts(block) or any(
        s.outs and getattr(s.outs[0].type, "shape", ()) for s in statements(block)
    )
