"""Inserts reads of saved values into the backward statements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.autodiff.residuals.definitions import Path
from tapeless.transforms.autodiff.residuals.min_cut_plan import mirrored_primal
from tapeless.transforms.autodiff.residuals.storage import Storage, storage_name
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Var,
    While,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.substitution import map_sizes, retype
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.numpy import indexing
from tapeless.transforms.ops.primitives import stacks
from tapeless.transforms.ops.primitives.axis_lengths import axis_size


class Loading:
    """Rebuilds the backward statements with reads of what was saved.

    lengths  the variables that hold sizes of the forward part
    born     the sizes that each block of the forward part shows first
    """

    def __init__(self, places: Storage, lengths: dict[dims.Symbol, Var]) -> None:
        self.lengths = lengths
        self.places, self.plan, self.primal = places, places.plan, places.plan.primal
        self.born: dict[Path, list[dims.Symbol]] = {}
        for symbol, home in self.primal.homes.items():
            self.born.setdefault(self.primal.path[home], []).append(symbol)

    def run_back(
        self, body: Any, path: Path, storage: dict[Var, Atom], new: dict[Var, Atom]
    ) -> None:
        b = builder.current()
        for s in body:
            b.origin = s.origin
            match s:
                case Let():
                    self.record(s, tuple(self.fresh(v, new) for v in s.outs), new)
                case Effect():
                    b.emit(replace(s, args=tuple(self.rename_atom(a, new) for a in s.args)))
                case If() | For():
                    self.back_structured(s, path, storage, new)
                case _:
                    raise TypeError(s)

    def fresh(self, v: Var, new: dict[Var, Atom]) -> Var:
        kind = (
            retype(v.type, new)
            if not isinstance(v.type, StackType)
            else StackType(retype(v.type.item, new))
        )
        if kind != v.type:
            variable = Var(kind, v.name, v.origin, partial=v.partial)
            new[v] = variable
            return variable
        return v

    def rename_atom(self, a: Atom, new: dict[Var, Atom]) -> Atom:
        if isinstance(a, Var) and a in new:
            return new[a]
        if isinstance(a, Var) and self.primal.path.get(a):
            raise InternalError(
                f"the value of {a.name or self.primal.let.get(a)} is needed by the backward part, "
                "but not at hand"
            )
        return a

    def back_structured(
        self, s: If | For, path: Path, storage: dict[Var, Atom], new: dict[Var, Atom]
    ) -> None:
        """A branch or loop; the stacks that it takes from are carried through it."""
        under = self.places.saved_under(s.mirror) if s.mirror is not None else []
        popped = [v for v in under if self.places.kind(v) == "stack"]
        outs = _variables_like(popped, storage)
        if isinstance(s, If):
            self.back_if(s, path, popped, outs, storage, new)
        else:
            self.back_for(s, path, popped, outs, storage, new)
        storage.update(zip(popped, outs, strict=True))

    def back_if(
        self,
        s: If,
        path: Path,
        popped: list[Var],
        outs: tuple[Var, ...],
        storage: dict[Var, Atom],
        new: dict[Var, Atom],
    ) -> None:
        test = self.rename_atom(s.test, new)
        then, orelse = (
            self.back_block(
                block, (*path, mirrored_primal(s, k)), popped, dict(storage), dict(new), ()
            )
            for k, block in enumerate((s.then, s.orelse))
        )
        outputs = (*(self.fresh(v, new) for v in s.outs), *outs)
        builder.current().emit(If(outputs, test, then, orelse, None, s.origin))

    def back_for(
        self,
        s: For,
        path: Path,
        popped: list[Var],
        outs: tuple[Var, ...],
        storage: dict[Var, Atom],
        new: dict[Var, Atom],
    ) -> None:
        start, stop, step = (self.rename_atom(a, new) for a in (s.start, s.stop, s.step))
        inits = (*(self.rename_atom(a, new) for a in s.inits), *(storage[v] for v in popped))
        params = _variables_like(popped, storage)
        index = Var(s.index.type, s.index.name, s.index.origin)
        inside = {**new, s.index: index}
        if isinstance(s.mirror, For):  # of which a second run has an index of its own
            inside[s.mirror.index] = index
        here = (*path, mirrored_primal(s, 0))
        self.rename_born(here, inside)
        carries = tuple(self.fresh(p, inside) for p in s.carries)
        saved_storage = {**storage, **dict(zip(popped, params, strict=True))}
        names = (index, *carries, *params)
        body = self.back_block(s.body, here, popped, saved_storage, inside, names)
        outputs = (*(self.fresh(v, new) for v in s.outs), *outs)
        loop = For(outputs, start, stop, step, inits, body, s.reverse, origin=s.origin)
        builder.current().emit(loop)

    def back_block(
        self,
        block: Block,
        here: Path,
        popped: list[Var],
        storage: dict[Var, Atom],
        new: dict[Var, Atom],
        params: tuple[Var, ...],
    ) -> Block:
        b = builder.current()
        with b.block() as statements:
            self.load(here, storage, new)
            self.run_back(block.body, here, storage, new)
            results = tuple(self.rename_atom(a, new) for a in block.results)
        return Block(params, tuple(statements), (*results, *(storage[v] for v in popped)))

    def load(self, here: Path, storage: dict[Var, Atom], new: dict[Var, Atom]) -> None:
        """Reads what was saved in this block and computes the rest again."""
        loaded = []
        for v in self.plan.saved:
            if self.primal.path[v] != here:
                continue
            match self.places.kind(v):
                case "branch":
                    new[v] = storage[v]
                    continue
                case "stack":
                    rest, value = stacks.pop.bind(storage[v])
                    storage[v] = rest
                    assert isinstance(rest, Var)
                    assert isinstance(value, Var)
                    rest.name = storage_name(v)
                case _:
                    key, position = self.places.position(v, new)
                    value = indexing.index(storage[self.places.home(v)], *position, key=key)
            value.name = v.name
            new[v] = value
            loaded.append(v)
        renamed: Any = new  # sizes too
        for symbol, v in self.lengths.items():
            if v in loaded:
                renamed[symbol] = builder.size_of(new[v])
        if any(isinstance(s, (For, While)) for s, _ in here):
            self.rename_born(here, renamed)
        for v in loaded:
            renamed[v].type = retype(v.type, new)
        self.load_lengths(loaded, here, new)
        for v in self.plan.in_order(v for v in self.plan.again if self.primal.path[v] == here):
            if v not in new:
                self.compute_again(self.plan.made_again(v), new)

    def rename_born(self, here: Path, new: Any) -> None:
        """Gives the sizes of a pass names of their own."""
        for symbol in self.born.get(here, ()):
            new.setdefault(symbol, dims.symbol(symbol.name, symbol.lower))

    def load_lengths(self, loaded: list[Var], here: Path, new: dict[Var, Atom]) -> None:
        """Integers of blocks inside that are lengths of what was read: a branch that is run
        backwards before the one that computes them may need them, too."""
        shown = {n for v in loaded for n in getattr(v.type, "shape", ())}
        for v in self.plan.in_order(self.plan.again) if shown else ():
            path, let = self.primal.path[v], self.plan.made_again(v)
            inside = len(path) > len(here) and path[: len(here)] == here
            if inside and v not in new and (n := _length(let)) in shown:
                self.compute_again(Let(let.outs, size_value, (), {"size": n}, let.origin), new)

    def compute_again(self, let: Let, new: dict[Var, Atom]) -> None:
        outs = tuple(Var(retype(o.type, new), o.name, o.origin) for o in let.outs)
        self.record(let, outs, new)
        new.update(zip(let.outs, outs, strict=True))

    def record(self, let: Let, outs: tuple[Var, ...], new: dict[Var, Atom]) -> None:
        """Records a statement of the primal program again, for new results."""
        b = builder.current()
        args = tuple(self.rename_atom(a, new) for a in let.args)
        b.emit(statement := Let(outs, let.op, args, map_sizes(let.params, new), let.origin))
        b.definitions.update(dict.fromkeys(outs, statement))


def _length(let: Let) -> Any:
    """The length that an integer is; None for others."""
    if let.op is axis_size:
        return let.args[0].type.shape[let.params["axis"]]
    return let.params["size"] if let.op is size_value else None


def _variables_like(values: list[Var], storage: dict[Var, Atom]) -> tuple[Var, ...]:
    """Variables like those that keep the values."""
    storages = [storage[v] for v in values]
    return tuple(Var(a.type, a.name) for a in storages if isinstance(a, Var))
