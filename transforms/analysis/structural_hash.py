"""Computes the form of a stretch of statements without the names of its values: equal forms compute
the same.

y = sin(x) * a      and      v = sin(u) * b      have one form, with the inputs x, a and u, b
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    outputs,
)


class StructuralForm:
    """A stretch without the names of its values: equal `key`s mean equal stretches.

    inputs   the variables that it reads from around it, in order of first use
    made     those it makes, in order
    again    views that were taken before, with the variables that are the same: how often a view
             is taken is no difference
    symbols  the sizes that it knows by name, in order
    """

    def __init__(self, body: Iterable[Statement], weak: bool = True) -> None:
        self.weak = weak  # whether Python's numbers are other types than NumPy's
        self.numbers: dict[Var, int] = {}
        self.symbols: dict[dims.Symbol, int] = {}
        self.inputs: list[Var] = []
        self.made: list[Var] = []
        self.again: dict[Var, Var] = {}
        self.views: dict[Any, Var] = {}
        self.count = itertools.count().__next__
        self.key = tuple(k for s in body if (k := self.statement(s)) is not None)

    def define(self, v: Var) -> Any:
        self.numbers[v] = self.count()
        self.made.append(v)
        return self.of_type(v.type)

    def atom(self, a: Atom) -> Any:
        if isinstance(a, Literal):
            return ("literal", type(a.value), repr(a.value), self.of_type(a.type))
        if a not in self.numbers:
            self.numbers[a] = self.count()
            self.inputs.append(a)
            return ("input", self.numbers[a], self.of_type(a.type))
        return self.numbers[a]

    def atoms(self, operands: Iterable[Atom]) -> Any:
        return tuple(map(self.atom, operands))

    def of_type(self, t: Any) -> Any:
        if isinstance(t, StackType):
            return ("stack", self.of_type(t.item))
        return (t.dtype, t.weak and self.weak, *map(self.size, t.shape))

    def size(self, n: dims.Size) -> Any:
        if isinstance(n, int):
            return n
        return frozenset((tuple(map(self.factor, factors)), c) for factors, c in n.terms)

    def factor(self, f: Any) -> Any:
        if isinstance(f, dims.Symbol):
            if f.var is not None:
                return self.atom(f.var)
            return ("axis", self.symbols.setdefault(f, len(self.symbols)))
        return (f.kind, self.size(f.left), self.size(f.right))

    def value(self, value: Any) -> Any:
        """A parameter of an operation."""
        if isinstance(value, dims.Dim):
            return self.size(value)
        if isinstance(value, (Type, StackType)):
            return self.of_type(value)
        if isinstance(value, (tuple, list)):
            return (type(value), *map(self.value, value))
        if isinstance(value, dict):
            return tuple((k, self.value(v)) for k, v in sorted(value.items()))
        if isinstance(value, slice):
            return ("slice", *map(self.value, (value.start, value.stop, value.step)))
        try:
            hash(value)
        except TypeError:
            return id(value)
        return (type(value), value)

    def statement(self, s: Statement) -> Any:
        match s:
            case Let():
                key: Any = (s.op, self.atoms(s.args), self.value(s.params))
                if s.op.view and self.is_repeated_view(key, s.outs[0]):
                    return None
            case Effect():
                key = (s.kind, self.atoms(s.args), self.value(s.params))
            case If():
                sides = (self.block(s.then), self.block(s.orelse))
                key = ("if", self.atom(s.test), sides, id(s.mirror))
            case For():
                span = self.atoms((s.start, s.stop, s.step, *s.inits))
                key = ("for", span, self.block(s.body), s.reverse, s.until, id(s.mirror))
            case While():
                key = ("while", self.atoms(s.inits), self.block(s.test), self.block(s.body))
        return (*key, *map(self.define, outputs(s)))

    def is_repeated_view(self, key: Any, v: Var) -> bool:
        """Whether a view was taken before."""
        first_view = self.views.setdefault(key, v)
        if first_view is not v:
            self.numbers[v], self.again[v] = self.numbers[first_view], first_view
        return first_view is not v

    def block(self, block: Block) -> Any:
        params, views = tuple(map(self.define, block.params)), dict(self.views)
        body = tuple(k for s in block.body if (k := self.statement(s)) is not None)
        self.views = views
        return (params, body, self.atoms(block.results))


def whole_form(block: Block) -> Any:
    """The same for blocks that compute the same from their parameters."""
    return StructuralForm((), weak=False).block(block)


def params_key(value: Any) -> Any:
    """Something hashable that is equal for equal parameters of operations."""
    if isinstance(value, dict):
        return tuple((k, params_key(v)) for k, v in sorted(value.items()))
    if isinstance(value, (tuple, list)):
        return tuple(map(params_key, value))
    if isinstance(value, slice):
        return ("slice", params_key(value.start), params_key(value.stop), params_key(value.step))
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tobytes())
    return (type(value), value)
