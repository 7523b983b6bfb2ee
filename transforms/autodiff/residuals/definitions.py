"""Finds the statement that defines each variable of the primal program, and its blocks."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.autodiff.residuals.replay import reading
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    StackType,
    Statement,
    Var,
    While,
    blocks,
    free_variables,
    is_undefined,
    outputs,
)
from tapeless.transforms.core.uses import sizes_in, written_params

Path = tuple[tuple[Any, int], ...]  # (structured statement, which of its blocks), outer first


class Definitions:
    """Where each variable of the primal program is defined."""

    def __init__(self, body: list[Statement]) -> None:
        self.path: dict[Var, Path] = {}
        self.let: dict[Var, Let] = {}
        self.order: dict[Var, int] = {}
        self.homes: dict[dims.Symbol, Var] = {}
        self.index: set[Var] = set()
        self.partial: set[Var] = set()  # what only one side of a branch gives a value
        outside = free_variables(Block((), tuple(body), ()))
        self.given = set().union(*(sizes_in(v.type) for v in outside))
        self.scan(body, ())

    def define(self, v: Var, path: Path) -> None:
        self.path[v] = path
        self.order[v] = len(self.order)
        if not (path or isinstance(v.type, StackType)):  # not made in a loop or branch
            self.given |= {s for s in sizes_in(v.type) if s not in self.homes}

    def record_new_sizes(self, v: Var, sources: Any) -> None:
        """Sizes of v that none of the values it is made from has."""
        source_sizes = set().union(*(sizes_in(a.type) for a in sources)) if sources else set()
        for symbol in sizes_in(v.type) - source_sizes - self.given:
            if (
                symbol.var is None
                and not symbol.given
                and self.path[v]
                and dims.single(symbol) in getattr(v.type, "shape", ())
            ):
                self.homes.setdefault(symbol, v)

    def scan(self, body: Any, path: Path) -> None:
        for s in body:
            for k, block in enumerate(blocks(s)):
                inner = (*path, (s, k))
                for p in block.params:
                    self.define(p, inner)
                tested = isinstance(s, While) and k == 0
                inits = s.inits if isinstance(s, (For, While)) and not tested else ()
                for p, init in zip(
                    block.params[-len(inits) :] if inits else (), inits, strict=True
                ):
                    self.record_new_sizes(p, () if is_undefined(init) else (init,))
                if isinstance(s, For):
                    self.index.add(s.index)
                if isinstance(s, While) and k == 1:
                    self.index.add(block.params[0])
                self.scan(block.body, inner)
            for k, v in enumerate(outputs(s)):
                self.define(v, path)
                if isinstance(s, Let):
                    self.let[v] = reading(s)
                    self.record_new_sizes(v, [*s.args, *map(_Sized, written_params(s).values())])
                elif isinstance(s, If):
                    self.record_new_sizes(v, [*s.then.results, *s.orelse.results])
                    if any(is_undefined(side.results[k]) for side in blocks(s)):
                        self.partial.add(v)
                elif isinstance(s, (For, While)):
                    self.record_new_sizes(v, s.body.results)


class _Sized:
    """Something with sizes in it, as if it were a type."""

    def __init__(self, value: Any) -> None:
        self.type = value
