"""Verifies that a core program is well formed.

Every variable is defined once, before it is read, in a scope around it; blocks take and give what
their statement says; results have the type that the rule of their operation gives for the
operands. `passes.run` calls it after every pass in the tests: a statement that a pass leaves as it
is is not typed again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from weakref import WeakKeyDictionary

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    operands,
    outputs,
)
from tapeless.transforms.core.operation import types_given
from tapeless.transforms.errors import InternalError

#: The types of operands and results with which a statement was found right.
_checked_types: WeakKeyDictionary[Let, list[Any]] = WeakKeyDictionary()


def verify(block: Block, stage: str = "", around: Collection[Var] = ()) -> None:
    """Raises InternalError at the first mistake; `stage` is the pass that made the block, `around`
    the variables of a program around it that it may read."""
    with building(Builder()):
        _block(block, set(around), set(), stage)


def well_formed(block: Block) -> bool:
    try:
        verify(block)
    except InternalError:
        return False
    return True


def _fail(stage: str, what: str) -> None:
    raise InternalError(
        f"the core program is not well formed{' after ' + stage if stage else ''}: {what}"
    )


def _block(block: Block, scope: set[Var], ever: set[Var], stage: str) -> None:
    scope = set(scope)
    for p in block.params:
        _define(p, scope, ever, stage)
    for s in block.body:
        _statement(s, scope, ever, stage)
        for v in outputs(s):
            _define(v, scope, ever, stage)
    for a in block.results:
        _read(a, scope, None, stage)


def _define(v: Var, scope: set[Var], ever: set[Var], stage: str) -> None:
    if v in ever:
        _fail(stage, f"{v} is defined twice")
    scope.add(v)
    ever.add(v)


def _read(a: Any, scope: set[Var], by: Statement | None, stage: str) -> None:
    if isinstance(a, Var) and a not in scope:
        where = _place(by) if by else "a result"
        _fail(stage, f"{a}: {a.type} is read by {where}, where it is not defined")


def _place(s: Statement) -> str:
    name = f"{s.op.name} -> {s.outs}" if isinstance(s, Let) else type(s).__name__
    return f"{name} (line {s.origin.line})" if s.origin else name


def _statement(s: Statement, scope: set[Var], ever: set[Var], stage: str) -> None:
    for a in operands(s):
        _read(a, scope, s, stage)
    match s:
        case Let():
            types = [a.type for a in (*s.args, *s.outs)]
            if _checked_types.get(s) != types:
                _check_types(s, stage)
                _checked_types[s] = types
        case If():
            for side in (s.then, s.orelse):
                _same_number(side.results, s.outs, s, stage)
                _same_types(side.results, s.outs, s, stage)
                _block(side, scope, ever, stage)
        case For():
            if not s.body.params or s.index.type.dtype.kind not in "iu":
                _fail(stage, f"{_place(s)} has no index")
            _same_number(s.carries, s.inits, s, stage)
            _same_number(s.yields, s.outs, s, stage)
            _same_number(s.carries, s.outs, s, stage)
            for values in (s.inits, s.yields, s.outs):
                _same_types(s.carries, values, s, stage)
            _block(s.body, scope, ever, stage)
        case While():
            _same_number(s.body.params, s.inits, s, stage)
            _same_number(s.test.params, s.inits, s, stage)
            _same_number(s.body.results, s.outs, s, stage)
            _same_number(s.test.results, (None,), s, stage)
            _same_number(s.body.params, s.outs, s, stage)
            for values in (s.inits, s.test.params, s.body.results, s.outs):
                _same_types(s.body.params, values, s, stage)
            _block(s.test, scope, ever, stage)
            _block(s.body, scope, ever, stage)


def _check_types(s: Let, stage: str) -> None:
    """Compares results with what the rule of their operation says; lengths may have other names."""
    if s.op.infer is types_given:
        return
    inferred = s.op.infer(*s.args, **s.params)
    kinds = inferred if isinstance(inferred, tuple) else (inferred,)
    _same_number(kinds, s.outs, s, stage)
    for kind, v in zip(kinds, s.outs, strict=True):
        if not _are_compatible(kind, v.type):
            _fail(stage, f"{_place(s)} is {v.type}, where its operands make {kind}")


def _are_compatible(a: Any, b: Any) -> bool:
    """Whether two types are one, but for lengths that are not known."""
    if type(a) is not type(b):
        return False
    if isinstance(a, StackType):
        return _are_compatible(a.item, b.item)
    if not isinstance(a, Type):
        return bool(a == b)
    lengths = zip(a.shape, b.shape, strict=False)
    return (
        a.dtype == b.dtype
        and a.ndim == b.ndim
        and all(m == n for m, n in lengths if isinstance(m, int) and isinstance(n, int))
    )


def _same_number(a: Any, b: Any, s: Statement, stage: str) -> None:
    if len(a) != len(b):
        _fail(stage, f"{_place(s)} gives {len(a)} values where {len(b)} are taken")


def _same_types(a: Any, b: Any, s: Statement, stage: str) -> None:
    for x, y in zip(a, b, strict=True):
        if isinstance(x.type, StackType) != isinstance(y.type, StackType):
            _fail(stage, f"{_place(s)} carries {x.type} but gives {y.type}")
        if not isinstance(x.type, StackType) and (
            x.type.dtype != y.type.dtype or x.type.ndim != y.type.ndim
        ):
            _fail(stage, f"{_place(s)} carries {x.type} but gives {y.type}")
