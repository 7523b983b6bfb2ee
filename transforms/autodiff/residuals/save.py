"""Inserts saves into the primal statements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.autodiff.residuals.definitions import Path
from tapeless.transforms.autodiff.residuals.storage import Storage
from tapeless.transforms.core import builder
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    outputs,
)


class Saving:
    """Rebuilds the primal statements with saves."""

    def __init__(self, places: Storage) -> None:
        self.places, self.plan = places, places.plan

    def rebuild(self, body: Any, path: Path, storage: dict[Var, Atom]) -> None:
        """Records `body` with saves; `storage` follows the stores of each saved variable."""
        b = builder.current()
        for s in body:
            b.origin = s.origin
            inner = self.places.saved_under(s) if blocks(s) else []
            if not inner:
                b.emit(s)
            else:
                for v in inner:
                    if v not in storage:
                        storage[v] = self.places.allocate(v)
                self.rebuild_structured(s, path, inner, storage)
            if isinstance(s, Let):
                for v in s.outs:
                    b.definitions[v] = s
            for v in outputs(s):
                if v in self.plan.saved:
                    home = self.places.home(v)
                    storage[home] = self.places.save(v, storage[home])

    def rebuild_block(
        self, s: Statement, k: int, path: Path, inner: list[Var], storage: dict[Var, Atom]
    ) -> tuple[list[Statement], list[Atom]]:
        b = builder.current()
        block = blocks(s)[k]
        with b.block() as statements:
            local = dict(storage)
            for p in block.params:
                if p in self.plan.saved and p not in self.places.leads:
                    local[p] = self.places.save(p, local[p])
            self.rebuild(block.body, (*path, (s, k)), local)
        return statements, [local[v] for v in inner]

    def rebuild_structured(
        self, s: Statement, path: Path, inner: list[Var], storage: dict[Var, Atom]
    ) -> None:
        b = builder.current()
        if isinstance(s, For):
            for p in s.carries:
                if p in self.places.leads:
                    storage[p] = self.places.begin(p, s, storage[p])
        kinds = [storage[v].type for v in inner]
        names = [
            a.name if isinstance(a, Var) else v.name for v, a in ((v, storage[v]) for v in inner)
        ]
        outs = tuple(
            Var(storage[v].type, n, partial=_partial(storage[v]))
            for v, n in zip(inner, names, strict=True)
        )
        if isinstance(s, If):
            made_blocks = []
            for k, block in enumerate((s.then, s.orelse)):
                statements, finals = self.rebuild_block(s, k, path, inner, storage)
                made_blocks.append(Block((), tuple(statements), (*block.results, *finals)))
            b.emit(replace(s, outs=(*s.outs, *outs), then=made_blocks[0], orelse=made_blocks[1]))
        else:
            params = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
            k = 1 if isinstance(s, While) else 0
            statements, finals = self.rebuild_block(
                s, k, path, inner, {**storage, **dict(zip(inner, params, strict=True))}
            )
            old = blocks(s)[k]
            block = Block((*old.params, *params), tuple(statements), (*old.results, *finals))
            assert isinstance(s, (For, While))
            inits = (*s.inits, *(storage[v] for v in inner))
            if isinstance(s, While):
                test_params = tuple(Var(t, n) for t, n in zip(kinds, names, strict=True))
                test = Block((*s.test.params, *test_params), s.test.body, s.test.results)
                b.emit(replace(s, outs=(*s.outs, *outs), inits=inits, test=test, body=block))
            else:
                b.emit(replace(s, outs=(*s.outs, *outs), inits=inits, body=block))
        storage.update(zip(inner, outs, strict=True))


def _partial(a: Atom) -> bool:
    """Whether what is saved in one side of a branch has no value where another is taken."""
    return a.value is None if isinstance(a, Literal) else a.partial
