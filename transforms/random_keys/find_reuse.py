"""Finds keys of random numbers that are used twice on one way through a program.

    x = normal(key)                            reported: line 1 and line 2
    y = uniform(key)

    a, b = split(key)                          not reported
    y = normal(a) if x > 0 else uniform(a)

The program is walked in order. Values that are surely equal have one number (`numbers.py`), and a
use is remembered with the tests that it stands under: of two that contradict each other, one is
made. The body of a loop is walked twice, with what a pass leaves as what the next one begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Origin,
    Statement,
    Var,
    While,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.random_keys.exclusive_tests import Facts, contradict, facts
from tapeless.transforms.random_keys.key_events import InnerRun, KeyMade, KeyUse, Note, Notes
from tapeless.transforms.random_keys.key_slices import KeySlice
from tapeless.transforms.random_keys.value_numbering import Numbers

DEEP = 4  # loops inside of so many are walked once
ROUNDS = 2  # a function that calls itself is entered so often


class Twice(NamedTuple):
    """The report of a key that is used twice: what it says, and the line of the second use."""

    message: str
    file: str
    line: int


@dataclass
class KeyReuses:
    """Keys that are used twice, and the inputs that have a key which each call uses."""

    twice: tuple[Twice, ...] = ()
    inputs: frozenset[Var] = frozenset()


@dataclass(eq=False)
class _Record:
    """A use, where it is reached."""

    use: KeyUse
    number: int
    place: KeySlice
    facts: Facts
    reached: bool = True


def key_uses(block: Block, notes: Notes) -> KeyReuses:
    """What is found in a program whose staged run made these notes."""
    if not notes.at:
        return KeyReuses()
    walk = _Walk(notes.at)
    roots = {walk.numbers(v): v for v in block.params}
    walk.body(block.body)
    used = (r.place.root for r in walk.records if r.reached and not r.facts)
    return KeyReuses(tuple(walk.twice), frozenset(roots[n] for n in used if n in roots))


@dataclass
class _Walk:
    """A walk through a program, with what was used up to here."""

    at: dict[Var, list[Note]]
    numbers: Numbers = field(default_factory=Numbers)
    records: list[_Record] = field(default_factory=list)
    facts: Facts = frozenset()
    blamed: set[int] = field(default_factory=set)
    twice: dict[Twice, None] = field(default_factory=dict)
    loops: int = 0
    inside: list[Any] = field(default_factory=list)  # the functions that are walked now

    def body(self, body: Iterable[Statement]) -> bool:
        """Walks statements; whether their end is reached."""
        for s in body:
            for v in outputs(s)[:1]:
                for note in self.at.get(v, ()):
                    self.note(note)
            if not self.statement(s):
                return False
        return True

    def statement(self, s: Statement) -> bool:
        match s:
            case Let():
                self.call(s) if is_call(s) else self.numbers.let(s)
            case If():
                return self.branch(s)
            case For():
                self.loop(s)
            case While():
                self.repeat(s)
            case Effect():
                return s.kind != "raise"
            case _:
                raise TypeError(s)
        return True

    # -- notes

    def note(self, note: Note) -> None:
        match note:
            case KeyUse():
                self.use(note, self.key(note.key), self.facts)
            case KeyMade(key=key):
                self.name(key, self.numbers.fresh())
            case InnerRun(body=body, rows=rows, notes=notes):
                for v, (batch, axis) in rows.items():
                    self.numbers.of[v] = self.numbers.row(self.numbers(batch), axis)
                before, self.at = self.at, notes
                self.body(body)
                self.at = before

    def key(self, key: Any) -> int:
        """The number of a key, which may be an array that is known."""
        return self.numbers.number(_identity(key)) if _is_array(key) else self.numbers(key)

    def name(self, key: Any, number: int) -> None:
        if _is_array(key):
            self.numbers.table[_identity(key)] = number
        elif isinstance(key, Var):
            self.numbers.of[key] = number

    def use(self, use: KeyUse, number: int, facts_here: Facts) -> None:
        """Remembers a use, and reports one that meets another."""
        if number in self.numbers.choices:
            test, a, b = self.numbers.choices[number]
            self.use(use, a, facts_here | facts(self.numbers, test, True))
            self.use(use, b, facts_here | facts(self.numbers, test, False))
            return
        place = self.numbers.place(number)
        if rows := self.numbers.rows(place):
            for row in rows:
                self.use(use, row, facts_here)
            return
        other = next((r for r in self.records if _meets(r, place, facts_here)), None)
        if other is not None and not self.numbers.is_derived(number, self.blamed):
            self.blamed.add(number)
            self.twice[_report(other.use, use)] = None
        self.records.append(_Record(use, number, place, facts_here))

    # -- control flow

    @contextmanager
    def assuming(self, more: Facts) -> Iterator[bool]:
        """Inside, more is known; whether that can be."""
        before = self.facts
        self.facts = before | more
        try:
            yield not contradict(self.facts, self.facts)
        finally:
            self.facts = before

    def side(self, test: int, way: bool, block: Block) -> list[int] | None:
        """The numbers of what a side of a branch gives; None if it ends with an error, or is never
        taken."""
        start = len(self.records)
        with self.assuming(facts(self.numbers, test, way)) as possible:
            if not possible or self.numbers.is_known(test, not way):
                return None
            if self.body(block.body):
                return self.numbers.all(block.results)
        for record in self.records[start:]:
            record.reached = False
        return None

    def branch(self, s: If) -> bool:
        """Whether one of its sides comes to its end."""
        test = self.numbers(s.test)
        a, b = self.side(test, True, s.then), self.side(test, False, s.orelse)
        if a is None and b is None:
            self.give(s.outs, [self.numbers.fresh() for _ in s.outs])
            return False
        pairs = zip(b if a is None else a, a if b is None else b, strict=True)  # type: ignore[arg-type]
        self.give(s.outs, [self.numbers.choice(test, x, y) for x, y in pairs])
        return True

    def give(self, variables: Iterable[Var], numbers: Iterable[int]) -> None:
        self.numbers.of |= dict(zip(variables, numbers, strict=True))

    def passes(self, trips: float = float("inf")) -> int:
        """How many passes of a loop are walked."""
        return int(min(trips, 1 if self.loops >= DEEP else 2))

    def loop(self, s: For) -> None:
        end_numbers, assumed = self.numbers.all(s.inits), Facts()
        self.loops += 1
        ends = (s.stop, s.start, s.step) if s.reverse else (s.start, s.step)
        span = tuple(self.numbers.all(ends))
        for k in range(self.passes(_trips(s))):
            with self.assuming(assumed) as possible:
                if not possible:
                    break
                self.give(s.body.params, [self.numbers.index(span, k), *end_numbers])
                if not self.body(s.body.body):
                    break
            end_numbers = self.numbers.all(s.yields)
            if s.until:
                assumed |= facts(self.numbers, self.numbers(s.body.results[0]), False)
                if self.numbers.is_known(self.numbers(s.body.results[0]), True):
                    break
        self.loops -= 1
        self.give(s.outs, end_numbers)

    def repeat(self, s: While) -> None:
        end_numbers, assumed = self.numbers.all(s.inits), Facts()
        self.loops += 1
        for _ in range(self.passes()):
            self.give(s.test.params, end_numbers)
            self.give(s.body.params, end_numbers)
            with self.assuming(assumed):
                self.body(s.test.body)
            assumed |= facts(self.numbers, self.numbers(s.test.results[0]), True)
            with self.assuming(assumed) as possible:
                if not (possible and self.body(s.body.body)):
                    break
            end_numbers = self.numbers.all(s.body.results)
        self.loops -= 1
        self.give(s.outs, end_numbers)

    def call(self, s: Let) -> None:
        """A function of the program is walked where it is called."""
        function = s.params["function"]
        if self.inside.count(function) >= ROUNDS:
            self.give(s.outs, [self.numbers.fresh() for _ in s.outs])
            return
        block = function.block
        args = self.numbers.all(s.args)
        args += [self.numbers.fresh() for _ in block.params[len(args) :]]
        self.inside.append(function)
        self.give(block.params, args)
        ended = self.body(block.body)
        results = block.results[: len(s.outs)] if ended else ()
        self.inside.pop()
        numbers = self.numbers.all(results)
        self.give(s.outs, [*numbers, *(self.numbers.fresh() for _ in s.outs[len(numbers) :])])


def _meets(r: _Record, place: KeySlice, facts_here: Facts) -> bool:
    return r.reached and r.place.meets(place) and not contradict(r.facts, facts_here)


def _trips(s: For) -> float:
    """How many passes a loop makes at most."""
    span: list[Atom] = [s.start, s.stop, s.step]
    bounds = [int(a.value) for a in span if isinstance(a, Literal)]
    return len(range(*bounds)) if len(bounds) == len(span) else float("inf")


def _is_array(key: Any) -> bool:
    return isinstance(key, np.ndarray)


def _identity(key: Any) -> tuple[Any, ...]:
    """What tells an array from others."""
    owner = key
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return ("array", id(owner), key.__array_interface__["data"][0], key.tobytes())


def _report(first: KeyUse, second: KeyUse) -> Twice:
    """The report of two uses, or of one that is made in each pass of a loop."""
    name = getattr(second.key, "name", "") or getattr(first.key, "name", "")
    key = f"the key {name!r}" if name else "a key"
    a, b = _differing_lines(first.lines, second.lines)
    if first is second:
        message = (
            f"{key} is used again in each pass of a loop or recursion. The numbers are the same: "
            "split the key there, or use fold_in(key, i) with the number of the pass"
        )
    else:
        message = (
            f"{key} is used a second time; the first was in {a.file}, line {a.line}. The numbers "
            "are the same: split the key first, or clone it if that is meant"
        )
    return Twice(message, b.file, b.line)


def _differing_lines(
    first: tuple[Origin, ...], second: tuple[Origin, ...]
) -> tuple[Origin, Origin]:
    """Where two uses are: the innermost lines that differ, or the innermost."""
    nowhere = Origin("<unknown>", 0)
    pairs = zip(first, second, strict=False)
    differ = ((a, b) for a, b in pairs if (a.file, a.line) != (b.file, b.line))
    return next(differ, ((*first, nowhere)[0], (*second, nowhere)[0]))
