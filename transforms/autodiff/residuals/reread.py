"""Reads elements of arrays that loops fill from the arrays themselves where they are unchanged at
the end, so that nothing is saved.

for t in range(1, n):                     for t in reversed(range(1, n)):
    y[t] = y[t - 1] * sin(y[t - 1])           y_part = y[t - 1]

No store after the read goes to the same place (`places.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tapeless.transforms.autodiff.residuals.definitions import Definitions
from tapeless.transforms.autodiff.residuals.dependence_test import Places
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    For,
    If,
    Let,
    Statement,
    Type,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.numpy.indexing import add_at, index, update
from tapeless.transforms.ops.primitives.index_keys import result_shape


@dataclass
class History:
    """The first and the last version of an array, and the stores between them; each pass of the
    first `around` of its loops and branches has an array of its own."""

    first: Var
    last: Var
    stores: list[Let]
    around: int


class Reloads:
    """`size` gives the size that an integer stands for."""

    def __init__(
        self, body: list[Statement], primal: Definitions, size: Callable[[Atom], Size]
    ) -> None:
        self.primal, self.places = primal, Places(primal, size)
        self.made_of: dict[Var, tuple[Atom, ...]] = {}  # versions, each of the ones before it
        self.stores_of: dict[Atom, list[Let]] = {}  # by the value
        self.histories: dict[Var, History] = {}  # by the version
        self.found: dict[Var, Let | None] = {}
        self.scan(body)
        self.follow_all(body)

    def scan(self, body: Iterable[Statement]) -> None:
        for s in body:
            match s:
                case If():
                    sides = zip(s.then.results, s.orelse.results, strict=True)
                    self.made_of |= dict(zip(s.outs, sides, strict=True))
                case For():
                    self.places.enter(s)
                    self.carry(s.carries, s.outs, s.inits, s.yields)
                case While():
                    self.carry(s.body.params, s.outs, s.inits, s.body.results)
                case Let() if s.op in (update, add_at):
                    self.made_of[s.outs[0]] = s.args[:1]
                    if s.op is update:
                        self.stores_of.setdefault(s.args[1], []).append(s)
            for block in blocks(s):
                self.scan(block.body)

    def carry(
        self,
        carries: tuple[Var, ...],
        outs: tuple[Var, ...],
        inits: tuple[Atom, ...],
        yields: tuple[Atom, ...],
    ) -> None:
        self.made_of |= dict(zip(carries, zip(inits, yields, strict=True), strict=True))
        self.made_of |= {v: (p,) for v, p in zip(outs, carries, strict=True)}

    def follow_all(self, body: Iterable[Statement]) -> None:
        """Follows the arrays that are filled in a block, and then those in the blocks inside."""
        statements = [*body]
        for s in reversed(statements):
            for v in outputs(s):
                if v in self.made_of and v not in self.histories and isinstance(v.type, Type):
                    self.follow(v)
        for s in statements:
            for block in blocks(s):
                self.follow_all(block.body)

    def follow(self, last: Var) -> None:
        """Notes the versions before the last one, if they are all of one array, which was made in
        the block of the last one, or outside of all loops."""
        versions, first, todo = {last}, set[Atom](), [last]
        while todo:
            for a in self.made_of[todo.pop()]:
                if not isinstance(a, Var) or a not in self.made_of:
                    first.add(a)
                elif a not in versions:
                    versions.add(a)
                    todo.append(a)
        path = self.primal.path[last]
        if len(first) == 1 and all(
            isinstance(a, Var) and self.primal.path.get(a, ()) == path for a in first
        ):
            stores = [self.primal.let[v] for v in versions if v in self.primal.let]
            (start,) = first
            history = History(start, last, stores, len(path))  # type: ignore[arg-type]
            self.histories |= dict.fromkeys(versions, history)

    def read(self, v: Var) -> Let | None:
        """The read of the last version that gives `v`, where that still holds it: it was read of an
        earlier version, or stored to it."""
        if v not in self.found:
            self.found[v] = self.read_again(v) or self.read_back(v) or self.read_ahead(v)
        return self.found[v]

    def read_again(self, v: Var) -> Let | None:
        let = self.primal.let.get(v)
        inside = let and let.op is index and self.primal.path.get(let.args[0])  # type: ignore[arg-type]
        reload = self.of_last(let, v, let.args[0], let.args[1:]) if let and inside else None
        return reload if reload is not None and self.is_current(let.args[0], v) else None  # type: ignore[union-attr, arg-type]

    def read_ahead(self, v: Var) -> Let | None:
        """The read of the first version, where no store before the read goes to the same place. The
        array is then copied before anything is stored: that is less than to keep `v` of each pass,
        where it has another length in each."""
        let = self.primal.let.get(v)
        history = let and let.op is index and self.histories.get(let.args[0])  # type: ignore[arg-type]
        if not history or history.around or all(map(dims.is_given, v.type.shape)):
            return None
        assert let is not None
        if not self.places.is_untouched(let, let.args[1:], history.stores, before=True):
            return None
        return Let((v,), index, (history.first, *let.args[1:]), let.params, let.origin)

    def is_current(self, version: Var, v: Var) -> bool:
        """Whether no store has been made to a version of an array before it is read: then the
        stores that come after the read are those that come after the version."""
        order, path = self.primal.order, self.primal.path
        around = [s for s, _ in path[v][len(path[version]) :] if isinstance(s, (For, While))]
        return not any(
            order[version] < order[store.outs[0]] < order[v]
            or any(s in around for s, _ in path[store.outs[0]])
            for store in self.histories[version].stores
        )

    def read_back(self, v: Var) -> Let | None:
        for store in self.stores_of.get(v, ()):
            array, rest = store.args[0], store.args[2:]
            if self.primal.path[store.outs[0]] != self.primal.path[v]:
                continue
            kind = Type(array.type.dtype, result_shape(array.type.shape, store.params["key"], rest))
            same = kind == replace(v.type, weak=False)
            if (
                same
                and all(map(self.places.plain, rest))
                and (reload := self.of_last(store, v, store.outs[0], rest))
            ):
                return reload
        return None

    def of_last(self, access: Let, v: Var, version: Atom, rest: tuple[Atom, ...]) -> Let | None:
        """The read of `v` from the last version of the array that holds it in this one."""
        history = self.histories.get(version)  # type: ignore[arg-type]
        if history and self.places.is_untouched(access, rest, history.stores, history.around):
            return Let((v,), index, (history.last, *rest), access.params, access.origin)
        return None
