"""Records, beside the program, what a staged run does with random keys.

    numbers = random.normal(key, (3,))     t1 = index(key, 0:1)      noted at t1: key is used here
                                           ...

A note stands before the statement that is recorded next in its block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Origin,
    Statement,
    Var,
    outputs,
    statements,
)
from tapeless.transforms.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class KeyUse:
    """A key, an atom or an array that is known, is drawn from or split.

    lines  those of the user that were being run, the innermost first
    """

    key: Any
    lines: tuple[Origin, ...]


@dataclass(frozen=True, eq=False)
class KeyMade:
    """A key is made, of a seed or as a clone: it is not one that was there before."""

    key: Any


@dataclass(frozen=True, eq=False)
class InnerRun:
    """Statements that a transformation takes the place of, such as those of a function under grad.

    rows   of vmap: the variables for one element, with the batch and its axis
    notes  those of these statements
    """

    body: tuple[Statement, ...]
    rows: Mapping[Var, tuple[Atom, int]]
    notes: dict[Var, list[Note]]


Note = KeyUse | KeyMade | InnerRun


@dataclass
class Notes:
    """The notes of a run, by the first variable of the statement that they stand before."""

    at: dict[Var, list[Note]] = field(default_factory=dict)
    pending: list[tuple[list[Statement], Note]] = field(default_factory=list)

    def add(self, note: Note, block: list[Statement]) -> None:
        self.pending.append((block, note))

    def attach(self, statement: Statement, block: list[Statement]) -> None:
        """Gives a statement of a block what is pending there."""
        defined = outputs(statement)
        mine = [note for b, note in self.pending if b is block]
        if defined and mine:
            self.at.setdefault(defined[0], []).extend(mine)
            self.pending = [(b, note) for b, note in self.pending if b is not block]

    def inner(
        self,
        body: Iterable[Statement],
        rows: Mapping[Var, tuple[Atom, int]],
        block: list[Statement],
    ) -> None:
        """Statements that are taken from a block to be transformed take their notes along."""
        whole = tuple(body)
        defined = (outputs(s)[:1] for s in statements(Block((), whole, ())))
        notes = {v: self.at.pop(v) for vs in defined for v in vs if v in self.at}
        if notes:
            self.add(InnerRun(whole, rows, notes), block)

    def rename(self, new: Mapping[Var, Atom]) -> None:
        """Statements were copied with new variables."""
        for old, notes in list(self.at.items()):
            new_name = new.get(old)
            if isinstance(new_name, Var):
                self.at[new_name] = [_rename(n, new) for n in notes if not isinstance(n, InnerRun)]

    def forget(self, body: Iterable[Statement]) -> None:
        """What is pending of statements that are not part of the program."""
        whole = tuple(body)
        self.pending = [
            (b, note)
            for b, note in self.pending
            if not (isinstance(note, InnerRun) and note.body == whole)
        ]


def _rename(note: KeyUse | KeyMade, new: Mapping[Var, Atom]) -> KeyUse | KeyMade:
    return replace(note, key=new.get(note.key, note.key)) if isinstance(note.key, Var) else note
