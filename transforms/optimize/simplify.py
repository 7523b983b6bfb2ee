"""Simplifies structured programs: algebra, common subexpressions and dead code, in rounds.

a = x * 1; b = sin(a); c = sin(x); d = b + c      becomes      b = sin(x); d = b + b

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(simplify, '''
... (x: f8[n]):
...     a = mul(x, 1.0)
...     b = sin(a)
...     c = sin(x)
...     d = add(b, c)
...     e = cos(x)
...     return d
... '''))
(x: f8[n]):
    b: f8[n] = sin(x)
    d: f8[n] = mul(2, b)
    return d
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.structural_hash import params_key
from tapeless.transforms.core import builder, dims, passes
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
    blocks,
    is_undefined,
    outputs,
)
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.substitution import map_sizes, map_symbols
from tapeless.transforms.core.uses import reads_of, sizes_in
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not
from tapeless.transforms.ops.primitives.joining import array
from tapeless.transforms.ops.primitives.new_arrays import (
    empty,
    full,
    new_stack,
    ones,
    zero_items,
    zeros,
    zeros_of_items,
)
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update
from tapeless.transforms.ops.primitives.stacks import add_item, push, set_item, unstack
from tapeless.transforms.optimize.algebra.facts import fits
from tapeless.transforms.optimize.algebra.rules import algebra
from tapeless.transforms.optimize.dead_code import dead_code
from tapeless.transforms.optimize.dead_stores import remove_dead_stores
from tapeless.transforms.optimize.equal_regions import earlier_twin
from tapeless.transforms.optimize.loop_carries import (
    called_alike,
    carries,
    known_flags,
    twins,
    unchanged_carries,
    without_carries,
)
from tapeless.transforms.optimize.merge_stores import merge_stores

STORES = frozenset({update, add_at})
MADE = frozenset({zeros, ones, empty, full, new_stack})
FRESH = MADE | frozenset(
    {zero_items, zeros_of_items, set_item, add_item, array, copy, unstack, push, update, add_at}
)


ROUNDS = 5
REACH = 3  # how many definitions a rule looks through at most


def _is_known(s: Effect, available: dict[Any, Any]) -> bool:
    """Whether two lengths are found to be one, or have been compared before."""
    return available.setdefault(("check", frozenset(s.args)), s) is not s or s.args[0] == s.args[1]


def simplify(block: Block) -> Block:
    """The simplified block."""
    pass_ = None
    for _ in range(ROUNDS):
        pass_ = Simplifier(block, pass_)
        after_pass = pass_.run()
        if pass_.before is not None and not pass_.changed:
            break
        block = passes.run(after_pass, dead_code, merge_stores, remove_dead_stores)
    return block


class Simplifier:
    """One round over a program. What `before`, the round before, left as it was, and all that the
    rules could see of it, is not looked at again."""

    def __init__(self, program: Block, before: Simplifier | None = None) -> None:
        self.program = program
        self.changed = False
        self.uses = reads_of(program)
        self.first_uses = self.uses.copy()
        self.before = before
        self.tried: dict[Var, Let] = {}
        self.news: dict[Var, int] = {}  # how many definitions away something is new
        self.new: dict[Var, Atom] = {}
        self.sized: dict[Var, Atom] = {}  # those replaced ones that sizes are made of
        self.sizes: dict[Any, Any] = {}  # sizes of values that were replaced by equal ones
        self.scopes: list[set[dims.Symbol]] = []  # sizes that each open block shows first
        self.definitions: dict[Var, Let] = {}
        self.told: dict[Atom, bool] = {}  # what the branches that are open say of tests
        self.sides: dict[Atom, tuple[Atom, Atom, Atom]] = {}  # test, and what each side gives

    def run(self) -> Block:
        block = self.program
        b = builder.Builder()
        with builder.building(b):
            b.definitions = self.definitions
            self.scopes.append(set())
            self.see(block.params)
            self.statements(block.body, {})
            return Block(
                block.params, tuple(b.blocks[0]), tuple(self.atom(a) for a in block.results)
            )

    def atom(self, a: Atom) -> Atom:
        while isinstance(a, Var) and a in self.new:
            a = self.new[a]
        return a

    def block(self, block: Block, available: dict[Any, Any]) -> Block:
        self.scopes.append(set())
        self.see(block.params)
        before = self.told
        with builder.current().block() as statements:
            self.statements(block.body, dict(available))
        self.told = before
        self.scopes.pop()
        return Block(block.params, tuple(statements), tuple(self.atom(a) for a in block.results))

    def see(self, variables: Iterable[Var]) -> None:
        for v in variables:
            for n in getattr(v.type, "shape", ()):
                for symbol in dims.symbols(n):
                    if not (symbol.given or any(symbol in seen for seen in self.scopes)):
                        self.scopes[-1].add(symbol)

    def statements(self, body: tuple[Statement, ...], available: dict[Any, Any]) -> None:
        b = builder.current()
        for s in body:
            b.origin = s.origin
            match s:
                case Let():
                    self.let(s, available)
                case If():
                    self.branch(s, available)
                case For() | While():
                    self.region(self.loop(self.lean(s), available), available)
                case Effect():
                    s = replace(s, args=tuple(map(self.atom, s.args)))
                    if s.kind == "check" and _is_known(s, available):
                        self.changed = True
                    else:
                        b.emit(s)

    def loop(self, s: For | While, available: dict[Any, Any]) -> For | While:
        inits, body = tuple(map(self.atom, s.inits)), self.block
        self.retype((*s.outs, *(p for b in blocks(s) for p in b.params)))
        if isinstance(s, While):
            test = body(s.test, available)
            test = replace(test, results=tuple(map(self.as_true, test.results)))
            return replace(s, inits=inits, test=test, body=body(s.body, available))
        start, stop, step = map(self.atom, (s.start, s.stop, s.step))
        if s.reverse and step == builder.atom(-1):  # backwards through indices that fall
            start, stop, step = add(stop, 1), add(start, 1), builder.atom(1)
            s = replace(s, reverse=False)
            self.changed = True
        new_body = body(s.body, available)
        return replace(s, start=start, stop=stop, step=step, inits=inits, body=new_body)

    def lean(self, s: For | While) -> For | While:
        """The loop without carries that hold nothing of their own."""
        rows = [s.outs, carries(s)] + ([s.test.params] if isinstance(s, While) else [])
        drop: dict[int, list[Atom]] = {}
        for k in unchanged_carries(s):
            drop[k] = [_of_type(self.atom(s.inits[k]), s.outs[k].type)] * len(rows)
        for k, j in twins(s, self.start_alike, params_key).items():
            if k not in drop and called_alike([r[j] for r in rows], [r[k] for r in rows]):
                drop[k] = [row[j] for row in rows]
        drop = {k: to for k, to in drop.items() if all(row[k].size is None for row in rows)}
        for k, to in drop.items():
            for row, value in zip(rows, to, strict=True):
                self.replace_by(row[k], self.atom(value))
        s = without_carries(s, drop) if drop else s
        for p in known_flags(s):
            self.new[p] = Literal(False, p.type)
            self.changed |= p in self.uses
        return s

    def start_alike(self, a: Atom, b: Atom) -> bool:
        """Whether two loop variables start from the same, or from arrays or stacks made alike."""
        a, b = self.atom(a), self.atom(b)
        if isinstance(a, Literal) or a is b:
            return a == b
        s, t = self.define(a), self.define(b)
        if s is None or t is None or s.op not in MADE:
            return False
        return s.op is t.op and s.args == t.args and params_key(s.params) == params_key(t.params)

    def let(self, s: Let, available: dict[Any, Any]) -> None:
        s = self.with_new_atoms(s)
        params = s.params
        if len(s.outs) == 1 and self.has_news(s) and not any(map(is_undefined, s.args)):
            value = s.op.simplify(s.args, params) if s.op.simplify is not None else None
            if value is None:
                value = algebra(s, self.uses)
            if value is not None and _fits(value, s.outs[0].type):
                if isinstance(value, Var) and value in s.args:
                    self.uses[value] -= 1  # this statement reads it no more
                self.replace_by(s.outs[0], self.atom(value))
                return
        if s.op not in FRESH and s.op.pure:
            key = (s.op, s.args, params_key(params) if params else ())
            if key in available:
                for old, new in zip(s.outs, available[key].outs, strict=True):
                    self.replace_by(old, new)
                return
            available[key] = s
        self.note_size(s, available)
        for v in s.outs:
            self.definitions[v] = self.tried[v] = s
        self.see(s.outs)
        builder.current().emit(s)

    def note_size(self, s: Let, available: dict[Any, Any]) -> None:
        """Later statements that ask for the size which a result is read the result."""
        v = s.outs[0] if len(s.outs) == 1 else None
        if v is not None and v.type == INT and isinstance(v.size, dims.Dim):
            available.setdefault((size_value, (), params_key({"size": v.size})), s)

    def with_new_atoms(self, s: Let) -> Let:
        """The statement with what its arguments and sizes were replaced by; itself if not."""
        params = map_sizes(s.params, self.sized) if self.sized and s.params else s.params
        if self.sizes:
            params = map_symbols(params, self.sizes)
        self.retype(s.outs)
        args = tuple([self.new.get(a, a) if type(a) is Var else a for a in s.args])
        if args == s.args and params is s.params:
            return s
        return Let(s.outs, s.op, tuple(map(self.atom, args)), params, s.origin)

    def retype(self, variables: Iterable[Var]) -> None:
        """Lengths of values follow what they were replaced by."""
        for v in variables if self.sized or self.sizes else ():
            typed = {"type": v.type}
            typed = map_symbols(map_sizes(typed, self.sized), self.sizes)
            v.type = typed["type"]

    def has_news(self, s: Let) -> bool:
        """Whether a rule may find more in a statement than it found in the round before."""
        if self.before is None:
            return True
        (v,) = s.outs
        near = 0
        if self.before.tried.get(v) is s:
            near = min([self.news_of(a) for a in s.args if type(a) is Var], default=REACH + 1)
            near += s.op not in STORES  # rules follow stores into one array all the way
        self.news[v] = near
        return near <= REACH

    def news_of(self, a: Var) -> int:
        assert self.before is not None
        if self.first_uses.get(a) == 1 and self.before.uses.get(a) != 1:
            return 0
        return self.news.get(a, REACH + 1)

    def replace_by(self, old: Var, value: Atom) -> None:
        self.changed = True
        if isinstance(value, Var) and old.name and not value.name:
            value.name = old.name
        if old.size is not None:
            self.sized[old] = value
        if isinstance(value, Var):
            is_new = value not in self.uses and value not in self.tried
            if is_new and isinstance(old.type, Type):
                _keep_names(value, old.type)
            self.uses[value] = self.uses.get(value, 0) + self.uses.get(old, 0)
        shapes = (getattr(x.type, "shape", ()) for x in (old, value))
        for a, b in zip(*shapes, strict=False):
            if a != b:  # equal when the program runs: one name for both, an input's if it has one
                own, other = _own_symbol(a), _own_symbol(b)
                if own is not None and self.of_this_block(own):
                    self.sizes[own] = b
                elif own is not None and other is not None and self.of_this_block(other):
                    self.sizes[other] = a
        self.new[old] = value

    def of_this_block(self, symbol: dims.Symbol) -> bool:
        """Whether a size is one of this block only, where it may be found to be another."""
        return not (symbol.given or any(symbol in seen for seen in self.scopes[:-1]))

    def branch(self, s: If, available: dict[Any, Any]) -> None:
        test = self.as_true(self.atom(s.test))
        opposite = self.define(test)
        if opposite is not None and opposite.op is logical_not and not test.type.shape:
            test, s = opposite.args[0], replace(s, then=s.orelse, orelse=s.then)
            self.changed = True
        if test in self.told:  # inside of a branch by the same test
            test = Literal(self.told[test], test.type)
        if isinstance(test, Literal):
            self.changed = True
            side = s.then if test.value else s.orelse
            self.statements(side.body, available)
            for v, a in zip(s.outs, side.results, strict=True):
                self.replace_by(v, self.atom(a))
            return
        sides = []
        for value, side in ((True, s.then), (False, s.orelse)):
            before, self.told = self.told, {**self.told, test: value}
            sides.append(self.block(side, available))
            self.told = before
        then, orelse = sides
        inside = {v for side in (then, orelse) for t in side.body for v in outputs(t)}
        keep: list[int] = []
        chosen: dict[tuple[Atom, Atom], Var] = {}
        for k, v in enumerate(s.outs):
            p, q = self.side(then.results[k], test, 0), self.side(orelse.results[k], test, 1)
            then, orelse = (_with_result(b, k, a) for b, a in ((then, p), (orelse, q)))
            twin = chosen.setdefault((p, q), v)
            if twin is not v and twin.type == v.type and v.size is None:
                self.replace_by(v, twin)
            elif p == q and isinstance(p, (Literal, Var)) and (isinstance(p, Literal) or p is q):
                self.replace_by(v, p)
            elif is_undefined(p) and not is_undefined(q) and q not in inside and q.type == v.type:
                self.replace_by(v, q)
            elif is_undefined(q) and not is_undefined(p) and p not in inside and p.type == v.type:
                self.replace_by(v, p)
            elif _is_truth(p, True) and _is_truth(q, False):
                self.replace_by(v, _truth(test, v.type.weak))
            elif _is_truth(p, False) and _is_truth(q, True):
                self.replace_by(v, _truth(logical_not(test), v.type.weak))
            else:
                keep.append(k)
                if not inside & {p, q}:
                    self.sides[v] = (test, p, q)
        outs = tuple(s.outs[k] for k in keep)
        then, orelse = (
            Block((), side.body, tuple(side.results[k] for k in keep)) for side in (then, orelse)
        )
        self.region(If(outs, test, then, orelse, s.mirror, s.origin), available)
        for value, side in ((False, then), (True, orelse)):
            if _ends_by_raising(side):  # what follows is for the other side
                self.told = {**self.told, test: value}

    def region(self, s: If | For | While, available: dict[Any, Any]) -> None:
        """Emits a branch or a loop, unless one that computes the same came before."""
        twin = earlier_twin(s, available, set().union(*self.scopes))
        if twin is not None and len(outputs(s)) <= len(outputs(twin)):  # with the count of passes
            for old, new in zip(outputs(s), outputs(twin), strict=False):
                self.replace_by(old, new)
            return
        self.see(s.outs)
        builder.current().emit(s)

    def side(self, a: Atom, test: Atom, k: int) -> Atom:
        """What was chosen before by the same test is, on one side of it, what that side gave."""
        chosen = self.sides.get(a)
        if chosen is None or chosen[0] != test or chosen[1 + k].type != a.type:
            return a
        self.changed = True
        return chosen[1 + k]

    def as_true(self, test: Atom) -> Atom:
        """What is as true as a test: x for bool(x)."""
        definition = self.define(test)
        same = (
            definition is not None
            and definition.op is cast
            and definition.args[0].type.dtype == test.type.dtype
        )
        return (
            definition.args[0]
            if definition is not None and same and test.type.dtype.kind == "b"
            else test
        )

    def define(self, a: Atom) -> Let | None:
        return self.definitions.get(a) if isinstance(a, Var) else None


def _truth(test: Atom, python: bool) -> Atom:
    """A truth value as one of Python's, if that is asked for, else as one of NumPy's."""
    return test if test.type.weak == python else cast(test, dtype=test.type.dtype, python=python)


def _with_result(block: Block, k: int, a: Atom) -> Block:
    """The block with another result."""
    results = block.results
    return (
        block if results[k] is a else replace(block, results=(*results[:k], a, *results[k + 1 :]))
    )


def _ends_by_raising(side: Block) -> bool:
    last = side.body[-1] if side.body else None
    return isinstance(last, Effect) and last.kind == "raise"


def _is_truth(a: Atom, value: bool) -> bool:
    return isinstance(a, Literal) and a.value is value


def _of_type(a: Atom, to_type: Any) -> Atom:
    """A constant with the type of what it takes the place of."""
    return Literal(a.value, to_type) if isinstance(a, Literal) and a.value is not None else a


def _keep_names(new: Var, was: Type) -> None:
    """A value that takes the place of another has its sizes, not new ones that equal them."""
    let = builder.defining_statement(new)
    if let is None or len(new.type.shape) != len(was.shape):
        return
    others = sizes_in([a.type for a in let.args])

    def is_new(size: Any) -> bool:
        own = _own_symbol(size)
        return own is not None and not own.given and own not in others

    pairs = zip(new.type.shape, was.shape, strict=True)
    new.type = new.type.with_shape(tuple(a if is_new(b) else b for b, a in pairs))


def _own_symbol(size: Any) -> Any:
    """The symbol that a size consists of, if it is one."""
    if isinstance(size, int) or len(sizes_in(size)) != 1:
        return None
    (symbol,) = sizes_in(size)
    return symbol if symbol.var is None and size == dims.single(symbol) else None


def _fits(value: Atom, to_type: Any) -> bool:
    if isinstance(to_type, StackType):
        return True
    return fits(value, to_type)


__all__ = ["dead_code", "simplify"]
