"""Spells scalars with their dtype where they are no Python scalars and that decides a dtype.

np.float64(3.0) * x is of float64 where x is of float32; 3.0 * x would not be.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.arithmetic import floordiv, mod, truediv
from tapeless.transforms.ops.primitives.elementwise import power
from tapeless.transforms.ops.primitives.new_arrays import full
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update
from tapeless.transforms.optimize.dead_code import dead_code
from tapeless.transforms.python_text.python_source import number, template

PYTHON: dict[str, Any] = {"i": 0, "f": 0.0, "c": 0j}
RAISE = (truediv, floordiv, mod, power)  # where NumPy's numbers give inf or nan
EITHER = (update, add_at, index, broadcast_to, full)  # arrays: they have a dtype


def deciding(args: tuple[Atom, ...]) -> Iterator[int]:
    """The arguments of an elementwise operation that are constants and would not give the same
    dtype as Python scalars."""
    for k, a in enumerate(args):
        if type(a) is Literal and not a.type.weak and a.type.dtype.kind in PYTHON:
            strong = [o.type for o in args if type(o) is not Literal and not _weak(o)]
            dtypes = {t.dtype for t in strong}
            if dtypes and dtypes != {a.type.dtype} and decides(a, dtypes):
                yield k


def forced_constants(block: Block) -> set[tuple[Let, int]]:
    """The constants that are computed with Python scalars only, where the result decides a dtype:
    in `(K * s) * x`, where K is of float64, s a Python float and x of float32."""
    definitions: dict[Atom, Let] = {}
    statements_forced: set[tuple[Let, int]] = set()
    for s in statements(block):
        if not isinstance(s, Let) or not s.op.elementwise:
            continue
        computed = [a for a in s.args if a in definitions]
        others = {
            a.type.dtype
            for a in s.args
            if not (is_weak_or_constant(a) or a in definitions or is_test(a))
        }
        either = s.op is select and not s.outs[0].type.shape
        if not others or either:
            definitions |= {out: s for out in s.outs if not _weak(out)}
            continue
        for a in computed:
            if a.type.dtype.kind in PYTHON and decides(a, others):
                statements_forced |= set(_sources(a, definitions))
    return statements_forced


def is_test(a: Atom) -> bool:
    return a.type.dtype.kind == "b" and not a.type.shape


def is_weak_or_constant(a: Atom) -> bool:
    return type(a) is Literal or _weak(a)


def _sources(a: Atom, definitions: dict[Atom, Let]) -> Iterator[tuple[Let, int]]:
    """The constant that a value has its dtype from, or each that it may be."""
    s = definitions[a]
    for k, arg in enumerate(s.args):
        is_defined = arg in definitions
        if is_defined:
            yield from _sources(arg, definitions)
        elif type(arg) is Literal and not arg.type.weak:
            yield s, k
            is_defined = True
        if is_defined and s.op is not select:
            return


def _weak(a: Atom) -> bool:
    return not isinstance(a.type, Type) or a.type.weak


def decides(a: Atom, others: set[np.dtype[Any]]) -> bool:
    return bool(
        np.result_type(a.type.dtype, *others) != np.result_type(PYTHON[a.type.dtype.kind], *others)
    )


def is_numpy(a: Atom) -> bool:
    """Whether an atom is a constant of NumPy's."""
    return isinstance(a, Literal) and not a.type.weak and a.type.dtype.kind in PYTHON


def typed_constant(a: Atom) -> ast.expr:
    """A constant with its dtype."""
    assert isinstance(a, Literal)
    plain = a.value.item() if isinstance(a.value, np.generic) else a.value
    typed_expression: ast.expr = template(f"np.{a.type.dtype.name}({{0}})", {"0": number(plain)})
    return typed_expression


def plain(block: Block) -> Block:
    """The block without casts of Python's numbers to NumPy's, and back, that decide nothing."""
    kinds = Kinds(block)
    drop = {v: a for v, a in kinds.casts.items() if v not in kinds.needed_casts()}
    return dead_code(substitute(block, drop)) if drop else block


class Kinds:
    """Where it matters whether a number is one of Python's or of NumPy's.

    casts      those that make one of the other, and of what
    came_from  for each value that would be of the other kind without some of them: of what it is
    matters    values that decide a dtype, whether an error is raised, or what is shown
    """

    def __init__(self, block: Block) -> None:
        self.casts: dict[Var, Atom] = {}
        self.came_from: dict[Atom, set[Atom]] = {}
        self.matters: set[Atom] = set()
        if any(_changes_kind(s) for s in statements(block)):
            while self.block(block):  # loops carry values back to their first statement
                pass
            self.matters |= {a for a in block.results if a in self.came_from}

    def needed_casts(self) -> set[Var]:
        """The casts that what matters comes from."""
        needed_variables, todo, seen = set[Var](), list(self.matters), set(self.matters)
        while todo:
            a = todo.pop()
            if isinstance(a, Var) and a in self.casts:
                needed_variables.add(a)
                continue
            fresh = self.came_from.get(a, set()) - seen
            seen |= fresh
            todo += fresh
        return needed_variables

    def block(self, block: Block) -> bool:
        """Looks at each statement; whether something was found about a value."""
        changed = [self.statement(s) for s in block.body]
        return any(changed)

    def statement(self, s: Statement) -> bool:
        if isinstance(s, Let):
            return self.let(s)
        changed = [self.block(b) for b in blocks(s)]
        if isinstance(s, If):
            for side in (s.then, s.orelse):
                changed += map(self.is_of, s.outs, side.results)
        elif isinstance(s, For):
            for values in (s.inits, s.yields):
                changed += map(self.is_of, s.carries, values)
            changed += map(self.is_of, s.outs, s.carries)
        elif isinstance(s, While):
            for values in (s.inits, s.body.results):
                changed += map(self.is_of, s.body.params, values)
            for names in (s.test.params, s.outs):
                changed += map(self.is_of, names, s.body.params)
        else:
            self.matters.update(operands(s))
        return any(changed)

    def is_of(self, v: Var, *values: Atom) -> bool:
        """Notes what a value comes from, where that is of one kind or the other."""
        sources = {a for a in values if a in self.came_from}
        have = self.came_from.get(v, set())
        if sources <= have:
            return False
        self.came_from[v] = have | sources
        return True

    def let(self, s: Let) -> bool:
        if _changes_kind(s):
            changed = s.outs[0] not in self.casts
            self.casts[s.outs[0]] = s.args[0]
            self.came_from.setdefault(s.outs[0], set())
            return self.is_of(s.outs[0], s.args[0]) or changed
        of = {a for a in s.args if a in self.came_from}
        if not of or s.op in EITHER:
            return False
        if not s.op.elementwise or self.decides(s, of):
            self.matters |= of
        elif not self.dtypes_of_others(s):
            changes = [self.is_of(v, *of) for v in s.outs if v.type.dtype.kind in PYTHON]
            return any(changes)
        return False

    def decides(self, s: Let, of: set[Atom]) -> bool:
        others = self.dtypes_of_others(s)
        if not others:
            return s.op in RAISE
        return any(decides(a, others) for a in of)

    def dtypes_of_others(self, s: Let) -> set[np.dtype[Any]]:
        """The dtypes of arguments that are NumPy's in any case; tests have no say."""
        dtypes = (
            a for a in s.args if not (is_weak_or_constant(a) or a in self.came_from or is_test(a))
        )
        return {a.type.dtype for a in dtypes}


def _changes_kind(s: Statement) -> bool:
    """Whether a statement makes a number of NumPy's of one of Python's, or one of Python's."""
    if not isinstance(s, Let) or s.op is not cast or s.args[0].type.shape:
        return False
    have, result = s.args[0].type, s.outs[0].type
    return bool(
        result.dtype == have.dtype and result.dtype.kind in "fc" and result.weak != have.weak
    )
