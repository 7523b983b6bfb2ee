"""Turns lists that grow in a rolled loop into stacks of their elements."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.heap.coded_constants import is_codable
from tapeless.transforms.frontend.heap.list_columns import to_columns
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.trace.journals import Journal
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.attribute_names import is_program_object
from tapeless.transforms.frontend.values.structure import Structure, is_in_stacks


@dataclass(eq=False)
class Growth:
    """What the passes of a loop do to the lengths of lists.

    constants how many constants columns of lists may have at the start of a pass
    lengths  of lists before the loop
    grew     lists whose length a pass changes: in a pass it is not known
    stacks   those of lists that grow in the loop
    marks    (tail, changes logged, length) of each list at the start of a pass
    growing  lists, an element, and whether no pass makes them longer or shorter after all
    """

    constants: list[tuple[Any, int]] = field(default_factory=list)
    lengths: dict[int, Size | None] = field(default_factory=dict)
    grew: set[int] = field(default_factory=set)
    stacks: set[Any] = field(default_factory=set)
    marks: list[tuple[Any, int, Size | None]] = field(default_factory=list)
    growing: list[tuple[StagedList, Structure, bool]] = field(default_factory=list)

    def stage_growth(self, target: Any, entry: Structure, final: Structure, by_data: bool) -> bool:
        """A list that got longer by appending, or shorter in some of the passes: its
        elements move to stacks before the loop."""
        n = len(entry.children)
        if not isinstance(target, StagedList) or entry.keys[0] != id(None):
            return False
        if target.tail is not None:  # a branch or an inner loop made it a stack
            self.growing.append((target, target.tail.spec, n > 0 and not target.tail.log))
            return True
        if len(final.children) < n and by_data and list(entry.children[0].leaves()):
            self.growing.append((target, entry.children[0], False))
            return True
        if len(final.children) <= n:
            return False
        element = final.children[n]
        if is_codable(element, target):
            trace().decisions.codable = True
        if element.kind == "static" and not (
            trace().decisions.codes and is_codable(element, target)
        ):
            if is_program_object(element.value):
                trace().decisions.as_values(type(element.value))
            raise CannotRoll(f"a list of {element.describe()} grows in it")
        self.growing.append((target, element, False))
        return True

    def stage_rebinding(self, entry: Structure, final: Structure) -> bool:
        """A variable whose list another one takes the place of, which is made of more or fewer
        elements: `path = path + [x]`; or a list in a tuple, or another container, that is one. The
        elements move to stacks before the loop, too."""
        if entry.kind is not final.kind or entry.value is final.value:
            return False
        target = entry.value
        if not isinstance(target, StagedList):
            news = False
            for a, b in zip(entry.children, final.children, strict=False):
                news |= self.stage_rebinding(a, b)
            return news
        if not isinstance(final.value, StagedList) or target.tail is not None:
            return False
        if is_in_stacks(final):
            element = final.keys[0].tail.spec
        elif len(entry.children) != len(final.children):
            element = (entry.children or final.children)[0]
        else:
            return False
        if element.kind == "static" or not list(element.leaves()):
            return False
        if not trace().decisions.moves_lists:
            return False
        trace().decisions.moved_lists = True
        self.growing.append((target, element, False))
        return True

    def start(self) -> bool:
        """Moves the elements of the lists that grow to stacks, once for each list, which several
        variables may have; True if there are any."""
        started = bool(self.growing)
        first_reasons = {id(each[0]): each for each in reversed(self.growing)}
        for target, element, complete in reversed(first_reasons.values()):
            trace().touch(ContentsLocation(target))
            to_columns(target, element, complete)
            assert target.tail is not None
            self.stacks |= {symbol.cell for symbol in target.tail.stacks}
        self.growing.clear()
        return started

    def mark(self) -> None:
        """Notes the lists at the start of a pass."""
        self.constants = [(c, len(c.numbers)) for c in trace().containers.columns_of_constants]
        self.marks = []
        for tail in trace().containers.tails:
            before = self.lengths.setdefault(id(tail), tail.length)
            tail.length = None if id(tail) in self.grew else before
            self.marks.append((tail, len(tail.log), before))

    def note(self) -> bool:
        """Whether a pass changed the length of a list that is taken to be known in it, or what a
        list may hold."""
        news = {id(tail) for tail, mark, _ in self.marks if len(tail.log) > mark} - self.grew
        self.grew |= news
        return bool(news) or any(len(c.numbers) > n for c, n in self.constants)

    def measure(self, loop: Any, count: Size | None, journal: Journal) -> None:
        """How long lists are now that got the same number of elements in each of `count` passes;
        `journal` is that of the pass."""
        for tail, mark, before in self.marks:
            added = tail.log[mark:]
            if not added:
                tail.length = before
                continue
            tail.loops.add(loop)
            alike = all(j is journal and n is not None for j, n in added)
            if count is not None and before is not None and alike:
                tail.length = before + sum(n for _, n in added) * count
            else:
                tail.length = None

    def forget(self) -> None:
        """Lists are as long again as before the loop."""
        for tail in trace().containers.tails:
            tail.length = self.lengths.get(id(tail), tail.length)
