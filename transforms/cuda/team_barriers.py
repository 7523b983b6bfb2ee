"""Writes where the threads of a team wait for each other, in the order of statements.

for j in each(n): e[j] = x[j]      becomes      for (i64 j = threadIdx.x; ...) e[j] = x[j];
t = e[k]                                        team_sync();
                                                double t = e[k];

They also wait at the end of a pass for what the next pass touches, if that may be the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from tapeless.transforms.c_text.statements import Statements
from tapeless.transforms.cuda.barriers import ALL, Pending, SharedAccess, accesses


class TeamBarriers(Statements):
    """`pending` is what threads have done since they last waited, and `log` all that they do;
    `tracked` are the arrays that several threads see, and `shared_by` is what the loop around
    counts that threads share."""

    has_teams: bool
    tracked: Collection[str]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.shared_by = ""
        self.pending = Pending()
        self.log: list[tuple[SharedAccess, str]] = []
        self.before: list[Pending] = []  # the branches around the current place
        self.left: list[Pending] = []  # where the loops around it end

    def is_uniform(self) -> bool:
        """Whether all threads of a team make the current statement alike."""
        return self.has_teams and not self.shared_by

    def accesses(self, node: ast.AST) -> list[SharedAccess]:
        if not self.has_teams:
            return []
        same = self.taking_turns
        raw_accesses = accesses(node, self.tracked)
        return [SharedAccess(same.get(a.array, a.array), a.mode, a.places) for a in raw_accesses]

    def wait_for(self, node: ast.AST, who: str) -> None:
        """Waits until threads may make a statement, or may have the value of an expression."""
        self.wait(self.accesses(node), who)

    def wait(self, doing: Sequence[SharedAccess], who: str) -> None:
        if self.pending.conflicts(doing, who):
            self.put("team_sync();")
            self.pending = Pending()
        self.pending.note(doing, who)
        self.log += [(a, who) for a in doing]

    def branch(self, s: ast.If) -> None:
        self.before.append(self.pending.copy())
        super().branch(s)
        self.pending.join(self.before.pop())

    def suite(self, owner: ast.AST, name: str = "body") -> None:
        if name == "body":
            super().suite(owner, name)
            return
        then, self.pending = self.pending, self.before[-1].copy()
        super().suite(owner, name)
        self.pending.join(then)

    def serial(self, s: ast.For | ast.While, write: Callable[[], None]) -> None:
        """A loop that all threads of a team make alike, or one thread for itself."""
        uniform = self.is_uniform()
        if uniform:
            self.wait_for(s.test if isinstance(s, ast.While) else s.iter, ALL)
            if self.pending.conflicts(self.accesses(s), ALL):  # before the loop, not in each pass
                self.put("team_sync();")
                self.pending = Pending()
        self.left.append(self.pending.copy())
        write()
        pending_at_exits = self.left.pop()
        if uniform:
            self.pending.join(pending_at_exits)

    def passes(self, s: ast.For | ast.While) -> None:
        self.nested += 1
        mark = len(self.log)
        self.suite(s)
        if self.is_uniform():
            self.wait_at_end(self.log[mark:])
        self.nested -= 1

    def while_loop(self, s: ast.While) -> None:
        self.serial(s, lambda: super(TeamBarriers, self).while_loop(s))

    def wait_at_end(
        self, doing: Sequence[tuple[SharedAccess, str]], apart: tuple[str, ...] = ()
    ) -> None:
        """Waits at the end of a pass for what the next one touches. `apart` count passes that
        touch other elements, if each is the index along an axis, or at one distance from it."""
        touched = {a.array for a, _ in doing}
        own = {x for x in touched if apart and all(self.has_axis(x, doing, i) for i in apart)}
        if any(self.pending.conflicts([a], who) for a, who in doing if a.array not in own):
            self.put("team_sync();")
            self.pending = Pending()

    @staticmethod
    def has_axis(array: str, doing: Sequence[tuple[SharedAccess, str]], counter: str) -> bool:
        """Whether a counter is the same index along one axis wherever an array is touched."""
        moved = re.compile(rf"{re.escape(counter)}( [+-] \d+)?")
        indices = [{*enumerate(a.places or ())} for a, _ in doing if a.array == array]
        return any(moved.fullmatch(place) for _, place in set.intersection(*indices))

    def jump(self, s: ast.Break | ast.Continue) -> None:
        """Leaves a pass of a loop that all threads of a team make alike."""
        if isinstance(s, ast.Break):
            self.left[-1].join(self.pending)
        elif self.pending.done:
            self.put("team_sync();")
