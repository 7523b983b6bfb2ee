"""Records which containers may be one and the same list, dict or object (may-alias sets).

Where run-time values decide which container a name stands for, the name gets a container of its
own, made of both. A write to it is not seen in those that it was made of, nor the other way round:
from then on these are stale, and reading a stale container is refused.

    c = a if x > 0 else b; c[0] = x      makes `a` and `b` stale
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import AliasError
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import is_record
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.uneven_contents import require_definite

MUTABLE = (list, dict, set, deque)
MOVES = "a list that it changes goes from name to name"
COPY = "copy the one that is changed, or choose by an index: [a, b][k]"


@dataclass(frozen=True)
class StaleKey:
    """A stale container, in a table that holds the cells of stale arrays, too."""

    of: int
    birth: int


def mutable(value: Any) -> bool:
    return isinstance(value, MUTABLE) or (is_record(value) and not isinstance(value, Either))


@dataclass(frozen=True, eq=False)
class PossibleSources:
    """What a container stands for: one of its sources. `event` is the branch or loop that gives it,
    if others that this gives may be told apart from it."""

    serial: int
    sources: tuple[Any, ...]
    event: Any

    def is_apart_from(self, other: PossibleSources) -> bool | None:
        """Whether two of one event are different containers; None for those of two events."""
        if self.event is None or self.event is not other.event:
            return None
        if isinstance(self.event, LoopAliases):
            return not self.event.may_share(self.sources[0], other.sources[0])
        pairs = zip(self.sources, other.sources, strict=True)  # what both sides leave
        return not any(may_be_one_object(a, b) for a, b in pairs)


def may_be_one_object(a: Any, b: Any) -> bool:
    """Whether two containers of the program may stand for one and the same of the user's, as far as
    what they stand for tells."""
    if a is b:
        return True
    first, second = (trace().containers.possible_sources.get(id(c)) for c in (a, b))
    if first is None and second is None:
        return False
    if first is not None and second is not None:
        apart = first.is_apart_from(second)
        if apart is not None:
            return not apart
    if second is None or (first is not None and first.serial > second.serial):
        assert first is not None
        return any(may_be_one_object(source, b) for source in first.sources)
    return any(may_be_one_object(a, source) for source in second.sources)


def record_aliases(symbol: Any, *sources: Any, event: Any = None) -> Any:
    """Records that a new container stands for one of others; `event`: the branch whose sides leave
    one each, in their order, or the loop that leaves one in the place of the first."""
    containers = trace().containers
    if mutable(symbol):
        containers.possible_sources[id(symbol)] = PossibleSources(
            next(trace().serials), sources, event
        )
        older = {id(s): s for s in sources if s is not symbol}
        for source in list(older.values()):
            older |= containers.kin_of(source)
        containers.kin[id(symbol)] = (symbol, older)
    return symbol


def may_be_one(a: Any, b: Any) -> bool:
    """Whether two containers may be one and the same: one of them stands for others, or
    for an element of a list; also lists that loops filled, in the place of which arrays stand.
    Tuples of what run-time values decide are put together anew where they are picked."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        decided = len(a) != len(b) or trace().tracing
        return not decided and any(isinstance(part, Value) for part in (*a, *b))
    if type(a) is type(b) and mutable(a):
        return any(map(trace().containers.stands_for_others, (a, b)))
    tails = [own_attribute(x, "listing") or own_attribute(x, "tail") for x in (a, b)]
    return None not in tails and any(isinstance(x, Value) for x in (a, b))


def freeze(container: Any, *sources: Any) -> Any:
    """A container that holds what one of others does, and cannot be changed."""
    trace().containers.read_only[id(container)] = container
    return record_aliases(container, *sources)


class LoopAliases:
    """Which older containers a variable may stand for that a loop gives another one.

    others    by the container that it stands for before the loop
    finals    what it stands for before the loop, and what a pass left there, for each variable
    together  those pairs, by what is there before the loop, that a pass may leave as one container
    """

    def __init__(self) -> None:
        self.others: dict[int, dict[int, Any]] = {}
        self.finals: list[tuple[Any, Any]] = []
        self.together: dict[frozenset[int], tuple[Any, Any]] = {}
        self.news = False

    def begin(self) -> None:
        """A pass is staged."""
        self.finals.clear()

    def meet(self, before: Any, after: Any, started: int) -> None:
        """A pass left `after` where `before` was."""
        t = trace()
        older = t.containers.kin_of(after)
        for c in (after, *older.values()):
            is_older = mutable(c) and c is not before and t.birth(c) < started
            if is_older and may_be_one_object(after, c):
                self.tell(before, c)
        for other_before, other in self.finals if mutable(after) else ():
            if other_before is not before and may_be_one_object(after, other):
                self.tell_together(before, other_before)
        self.finals.append((before, after))

    def tell(self, before: Any, other: Any) -> None:
        observed = self.others.setdefault(id(before), {})
        if id(other) not in observed:
            observed[id(other)] = other
            self.news = True

    def tell_together(self, before: Any, other: Any) -> None:
        """Two variables get one container."""
        self.tell(before, other)
        self.tell(other, before)
        pair = frozenset((id(before), id(other)))
        if pair not in self.together:
            self.together[pair] = before, other
            self.news = True

    def may_share(self, before: Any, other: Any) -> bool:
        """Whether two variables may stand for one container at the start of a pass."""
        pair = frozenset((id(before), id(other)))
        return pair in self.together or may_be_one_object(before, other)

    def others_of(self, before: Any) -> Iterable[Any]:
        return self.others.get(id(before), {}).values()

    def certain(self, before: Any, after: Any) -> bool:
        """Whether each pass leaves the same older container."""
        return id(after) in self.others.get(id(before), {})

    def has_news(self) -> bool:
        """Whether something was found since this was asked."""
        news, self.news = self.news, False
        return news


class OfOtherElement(str):
    """Why a container is stale: an element of the list that it was taken from has changed, at an
    index that may be its own. What the list has there is what it holds."""

    __slots__ = ()


def mark_stale(obj: Any, kind: type[str] = str) -> None:
    t = trace()
    line = f", which line {t.origin.line} changes" if t.origin else ""
    why, key = kind(f"may be another, by data{line}"), StaleKey(id(obj), t.birth(obj))
    if kind is str or isinstance(t.memory.stale.get(key, why), OfOtherElement):
        t.memory.stale[key] = why
    if (namespace := t.containers.own_namespace(obj)) is not None:
        mark_stale(namespace, kind)


def may_be_renewed(obj: Any) -> bool:
    """Whether a container is not stale, or only as an element of a list is."""
    why = stale_reason(obj)
    return why is None or isinstance(why, OfOtherElement)


def mark_current(obj: Any) -> None:
    t = trace()
    t.memory.stale.pop(StaleKey(id(obj), t.birth(obj)), None)
    if (namespace := t.containers.own_namespace(obj)) is not None:
        mark_current(namespace)


def stale_reason(obj: Any) -> str | None:
    t = trace()
    return t.memory.stale.get(StaleKey(id(obj), t.birth(obj))) if t.memory.stale else None


def require_all_current(*values: Any) -> None:
    """Refuses to read containers that are stale, or that hold stale ones."""
    if trace().memory.stale:
        for value in values:
            if isinstance(value, MUTABLE):
                require_current(value)
            if isinstance(value, (tuple, dict)):
                require_all_current(*(value.values() if isinstance(value, dict) else value))
            elif isinstance(value, list):
                require_all_current(*list.__iter__(value))


def require_current(obj: Any) -> None:
    """Refuses to look into a container that is out of date, or of which the length is known at run
    time only."""
    require_definite(obj)
    require_fresh(obj)


def require_fresh(obj: Any) -> None:
    """Refuses to look into a container that is out of date."""
    if trace().memory.stale:
        why = stale_reason(obj)
        if why is not None and not (isinstance(why, OfOtherElement) and _is_read_again(obj)):
            _, loop = trace().containers.unneeded.get(id(obj), (None, None))
            if loop is not None:
                trace().decisions.unroll_all({loop: MOVES})
            kind = type(obj).__name__.removeprefix("Staged")
            raise AliasError(f"this {kind.lower() if kind == 'List' else kind} {why}", COPY)


def _is_read_again(obj: Any) -> bool:
    """Whether a container that was taken from a list gets what the list has there now."""
    element = trace().containers.elements.get(id(obj))
    if element is None or not element.present or element.place is None:
        return False
    element.owner.renew(element)
    return stale_reason(obj) is None
