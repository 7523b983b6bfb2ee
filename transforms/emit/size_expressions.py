"""Writes sizes as Python expressions: the shape of a variable in scope, or a named integer.

np.zeros((n,)) where n is an axis of x      becomes      np.zeros(x.shape)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    For,
    Let,
    Statement,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.user_names import of_user
from tapeless.transforms.core.uses import sizes_in, written_params
from tapeless.transforms.errors import InternalError

Key = Size | tuple[dims.Symbol | Size, str]  # the latter for what is looked for last

Shaped = dict[tuple[Size, ...], list[Var]]  # arrays by their shapes


class Home(NamedTuple):
    """An axis of a variable, or an integer variable (None); the size is `more` than that."""

    var: Var
    axis: int | None
    more: int = 0


class Sizes:
    """How each statement spells the sizes it needs."""

    def __init__(self, block: Block) -> None:
        self.home: dict[Any, dict[Size, Home]] = {}
        self.whole: dict[Any, Var] = {}
        self.reads: dict[Any, set[Var]] = {}
        self.params = block.params
        self.at: dict[Any, int] = {}
        self.last = last_reads(block, self.at)
        self.names = Counter(v.name for v in (*block.params, *_made_variables(block)))
        self.unset = may_lack(block)
        self.scope: set[Var] = set()  # what has a value at the statement that is looked at
        self.counts: dict[tuple[Size, ...], Size] = {}  # how many numbers arrays of a shape have
        shaped: Shaped = {}
        for p in block.params:
            if (shape := getattr(p.type, "shape", ())) and not self.may_lack(p):
                shaped.setdefault(shape, []).append(p)
        self.scan(block, {}, shaped)

    def scan(self, block: Block, homes: dict[Key, list[Home]], shaped: Shaped) -> None:
        homes = {k: [*v] for k, v in homes.items()}
        shaped = {k: [*v] for k, v in shaped.items()}
        self.scope.update(block.params)
        for p in block.params:
            self.learn(p, homes, shaped)
        for s in block.body:
            if isinstance(s, Let):
                self.choose(s, homes, shaped)
            is_loop = isinstance(s, (For, While))
            around = set(self.scope) if is_loop else self.scope
            for b in blocks(s):
                self.scan(b, homes, shaped)
            self.scope = around  # what a pass has left is that of the last one
            self.scope.update(outputs(s))
            for v in outputs(s):
                self.learn(v, homes, shaped)
            if isinstance(s, Let) and s.op is size_value and of_user(s.outs[0].name):
                homes[s.params["size"]] = [Home(s.outs[0], None)]

    def learn(self, v: Var, homes: dict[Key, list[Home]], shaped: Shaped) -> None:
        shape = getattr(v.type, "shape", ())
        for axis, size in enumerate(shape):
            if not isinstance(size, dims.Dim):
                continue
            symbol = _of_integer(size)
            if _is_symbol(size) or of_user(v.name):
                homes.setdefault(size, []).append(Home(v, axis))
            elif symbol is not None:
                homes.setdefault((symbol, "integer"), []).append(Home(v, axis))
            else:
                homes.setdefault((size, "whole"), []).append(Home(v, axis))
            if (beyond := _symbol_and_excess(size)) is not None:
                symbol, more = beyond
                homes.setdefault((symbol, "shifted"), []).append(Home(v, axis, -more))
        if shape and of_user(v.name) and not self.may_lack(v):
            alike = shaped.setdefault(shape, [])
            if v not in alike:
                alike.append(v)

    def may_lack(self, v: Var) -> bool:
        """Whether a variable may have no value."""
        return v in self.unset

    def choose(self, s: Let, homes: dict[Key, list[Home]], shaped: Shaped) -> None:
        params = written_params(s)
        if not any(map(sizes_in, params.values())):
            return
        shape = params.get("shape")
        size = s.params.get("size") if s.op is size_value else None
        whole = shaped.get(shape, []) if isinstance(shape, tuple) else []
        if size is not None:
            whole = [
                v for k, vs in shaped.items() if len(k) > 1 and self.count(k) == size for v in vs
            ]
        if whole:
            v = self.best([Home(v, None) for v in whole], s).var
            self.whole[s], self.reads[s] = v, {v}
            return
        table: dict[Size, Home] = {}
        read: set[Var] = set()
        for each in _sizes(tuple(params.values())):
            self.spell(each, homes, table, read, s)
        self.home[s] = table
        self.reads[s] = {home.var for home in table.values()} | read

    def count(self, shape: tuple[Size, ...]) -> Size:
        """How many numbers an array has."""
        if shape not in self.counts:
            self.counts[shape] = dims.product(shape)
        return self.counts[shape]

    def home_of(self, key: Key, homes: dict[Key, list[Home]], s: Let) -> Home | None:
        """Where a statement finds a size."""
        candidates = homes.get(key)
        return self.best(candidates, s) if candidates else None

    def best(self, homes: list[Home], s: Let) -> Home:
        """The first, unless its name may hold something else by then: in that case one that is
        needed after `s` anyway, or the last of that name. None costs a copy of a name. One that
        may have no value is the last choice."""
        homes = [h for h in homes if not self.may_lack(h.var)] or homes
        at, name = self.at[s], homes[0].var.name
        if len(homes) == 1 or self.names[name] == 1 or not name:
            return homes[0]
        needed = [h for h in homes if self.last.get(h.var, 0) > at and of_user(h.var.name)]
        return needed[0] if needed else [h for h in homes if h.var.name == name][-1]

    def spell(
        self,
        size: Size,
        homes: dict[Key, list[Home]],
        table: dict[Size, Home],
        read: set[Var],
        s: Let,
    ) -> None:
        """Notes where a size is found, or else the parts that it is made of: these, rather than
        what may have no value."""
        home = None if isinstance(size, int) else self.home_of(size, homes, s)
        if home is not None and not (self.may_lack(home.var) and self.has_parts(size, homes, s)):
            table[size] = home
            return
        if home is None and not self.is_composed(size, homes, s):
            home = self.home_of((size, "whole"), homes, s)
            if home is not None:
                table[size] = home
                return
        for symbol in sizes_in(size):
            if symbol.var in self.scope:
                read.add(symbol.var)
                continue
            home = self.home_of_symbol(symbol, homes, s)
            if home is None:
                raise InternalError(f"the size {symbol} cannot be written here: {s}")
            more = size - dims.single(symbol)
            if home.more and isinstance(more, int):  # len(x) for n + 1, where n is len(x) - 1
                table[size] = home._replace(more=home.more + more)
            else:
                table[dims.single(symbol)] = home

    def is_composed(self, size: Size, homes: dict[Key, list[Home]], s: Let) -> bool:
        """Whether all symbols of a size are found."""
        return all(
            symbol.var in self.scope or self.home_of_symbol(symbol, homes, s) is not None
            for symbol in sizes_in(size)
        )

    def has_parts(self, size: Size, homes: dict[Key, list[Home]], s: Let) -> bool:
        """Whether all that a size is made of is found in what is sure to have a value."""
        for symbol in sizes_in(size):
            home = self.home_of_symbol(symbol, homes, s)
            if symbol.var not in self.scope and (home is None or self.may_lack(home.var)):
                return False
        return True

    def home_of_symbol(
        self, symbol: dims.Symbol, homes: dict[Key, list[Home]], s: Let
    ) -> Home | None:
        """Where a symbol is found; what may have no value is the last choice."""
        keys: tuple[Key, ...] = (dims.single(symbol), (symbol, "integer"), (symbol, "shifted"))
        candidates = [h for h in (self.home_of(key, homes, s) for key in keys) if h is not None]
        sure = [home for home in candidates if not self.may_lack(home.var)]
        return next(iter(sure or candidates), None)


def _made_variables(block: Block) -> Iterator[Var]:
    for s in statements(block):
        yield from outputs(s)
        for b in blocks(s):
            yield from b.params


def last_reads(block: Block, at: dict[Any, int]) -> dict[Var, int]:
    """When each variable is read last, by the number of the statement; a loop reads what it reads
    until it ends. The numbers go to `at`."""
    last: dict[Var, int] = {}

    def walk(b: Block) -> set[Var]:
        read: set[Var] = set()
        for s in b.body:
            at[s] = len(at)
            now = {a for a in operands(s) if isinstance(a, Var)}
            inner = set().union(*map(walk, blocks(s)))
            if inner and isinstance(s, (For, While)):
                last.update(dict.fromkeys(inner, len(at)))
            last.update({v: max(last.get(v, 0), at[s]) for v in now})
            read |= now | inner
        results = {a for a in b.results if isinstance(a, Var)}
        last.update(dict.fromkeys(results, len(at)))
        return read | results

    walk(block)
    return last


def _is_symbol(size: dims.Dim) -> bool:
    ((factors, c), *more) = size.terms
    return (
        not more
        and c == 1
        and len(factors) == 1
        and isinstance(factors[0], dims.Symbol)
        and factors[0].var is None
    )


def _of_integer(size: dims.Dim) -> dims.Symbol | None:
    """The symbol of an integer of the program, where a size is nothing else."""
    symbols = dims.symbols(size)
    symbol = next(iter(symbols)) if len(symbols) == 1 else None
    alone = symbol is not None and symbol.var is not None and size == dims.single(symbol)
    return symbol if alone else None


def _symbol_and_excess(size: dims.Dim) -> tuple[dims.Symbol, int] | None:
    """A symbol, and by how much a size is more than that, where it is no other expression."""
    symbol = next(iter(size.symbols)) if len(size.symbols) == 1 else None
    more = None if symbol is None else size - dims.single(symbol)
    return (symbol, more) if symbol is not None and isinstance(more, int) and more else None


def _sizes(value: Any) -> list[Size]:
    """The sizes in the parameters of an operation."""
    if isinstance(value, dims.Dim):
        return [value]
    if isinstance(value, slice):
        return _sizes((value.start, value.stop, value.step))
    if isinstance(value, (tuple, list)):
        return [size for each in value for size in _sizes(each)]
    return []


def size_reads(s: Statement, sizes: Sizes) -> set[Var]:
    """What a statement reads, with its blocks, to spell sizes."""
    variables = set(sizes.reads.get(s, ()))
    for b in blocks(s):
        for t in b.body:
            variables |= size_reads(t, sizes)
    return variables
