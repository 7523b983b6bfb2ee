"""Containers that may be one and the same list, dict or object, by data.

Where data decides which container a name stands for, the name gets one of its own, made of both.
A change of it is not seen in those that it was made of, nor the other way round: from then on
these are out of date, and to look into them is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import AliasError, StructureError, UnsupportedError
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.attribute_names import attributes, is_record
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.uneven_contents import require_definite

MUTABLE = (list, dict, set, deque)
MOVES = "a list that it changes goes from name to name"
COPY = "copy the one that is changed, or choose by an index: [a, b][k]"


@dataclass(frozen=True)
class StaleKey:
    """What is out of date, in the place of the cell of an array."""

    of: int
    birth: int


def mutable(value: Any) -> bool:
    return isinstance(value, MUTABLE) or (is_record(value) and not isinstance(value, Either))


def record_aliases(symbol: Any, *sources: Any) -> Any:
    """Tells that a container which was made now stands for one of others."""
    containers = trace().containers
    if mutable(symbol):
        older = {id(s): s for s in sources if s is not symbol}
        for source in list(older.values()):
            older |= containers.kin_of(source)
        containers.kin[id(symbol)] = (symbol, older)
    return symbol


def may_be_one(a: Any, b: Any) -> bool:
    """Whether two containers may be one and the same, by data: one of them stands for others, or
    for an element of a list; also lists that loops filled, in the place of which arrays stand.
    Tuples of what data decides are put together anew where they are picked."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        decided = len(a) != len(b) or trace().tracing
        return not decided and any(isinstance(part, Value) for part in (*a, *b))
    if type(a) is type(b) and mutable(a):
        return any(map(trace().containers.stands_for_others, (a, b)))
    tails = [getattr(x, "listing", None) or getattr(x, "tail", None) for x in (a, b)]
    return None not in tails and any(isinstance(x, Value) for x in (a, b))


def freeze(container: Any, *sources: Any) -> Any:
    """A container that holds what one of others does, and cannot be changed."""
    trace().containers.read_only[id(container)] = container
    return record_aliases(container, *sources)


def before_write(obj: Any) -> None:
    """Must be called before a container changes: those that may be the same are out of date."""
    if (element := trace().containers.elements.get(id(obj))) is not None:
        _refuse_element(element)
    t = trace()
    if not t.containers.read_only.keys().isdisjoint((id(obj), *t.containers.kin_of(obj))):
        kind = type(obj).__name__.removeprefix("Staged").lower()
        raise UnsupportedError(
            f"a {kind} is changed that data picks from others of the caller's, or of other lengths",
            "make arrays of what they hold, and store to these",
        )
    kin = trace().containers.kin
    require_current(obj)
    if not kin:
        return
    older = trace().containers.kin_of(obj)
    same = {id(obj), *older}
    later = [alias for alias, others in kin.values() if not same.isdisjoint((id(alias), *others))]
    for other in (*older.values(), *later):
        if other is not obj:
            mark_stale(other)
            if (element := trace().containers.elements.get(id(other))) is not None:
                _refuse_element(element)


class ElementOf(NamedTuple):
    """A container that a list which a loop fills has a copy of.

    whole  the element of the list that it is, or is in
    place  the index of that, of an element that was taken from the list
    """

    container: Any
    owner: Any
    tail: Any
    whole: Any
    place: Any = None

    @property
    def present(self) -> bool:
        """Not if the loop that filled the list was given up, and is unrolled."""
        return self.owner.tail is self.tail


def register_element(owner: Any, value: Any, place: Any = None, outer_list: Any = None) -> None:
    """Tells that a list which a loop fills has copies of these containers as elements."""
    outer_list = value if outer_list is None else outer_list
    if id(value) in trace().containers.read_only:
        _mark_doubled(owner.tail)
    if mutable(value):
        if place is None:
            _register_second_holder(owner, value)
        trace().containers.elements[id(value)] = ElementOf(
            value, owner, owner.tail, outer_list, place
        )
    for part in _parts(value):
        register_element(owner, part, place, outer_list)


def register_append(owner: Any, value: Any) -> None:
    """Tells that a pass adds a container to a list: each does, if both are older than the pass."""
    t = trace()
    if t.loops.began and max(t.birth(value), t.birth(owner)) < t.loops.began[-1] and mutable(value):
        _mark_doubled(owner.tail)
    for part in _parts(value):
        register_append(owner, part)
    register_element(owner, value)


def _register_second_holder(owner: Any, value: Any) -> None:
    """Where a container is an element already, it is in two lists now, or in one twice; perhaps in
    each pass of a loop."""
    t = trace()
    for key in (id(value), *t.containers.kin_of(value)):
        element = t.containers.elements.get(key)
        if element is not None and element.present:
            _mark_sharing(owner.tail, element.tail)
            _mark_doubled(owner.tail)


def _mark_sharing(a: Any, b: Any) -> None:
    """Tells that two lists may have the same containers as elements."""
    sharing = trace().containers.sharing
    one, other = a.identity, b.identity
    group = {one, other, *sharing.get(one, ()), *sharing.get(other, ())}
    sharing |= dict.fromkeys(group, group)


def _mark_doubled(tail: Any) -> None:
    """Tells that a container may be in this list at two places."""
    trace().containers.doubled.add(tail.identity)


def share_elements(*lists: Any) -> None:
    """Tells that lists have the same elements, which may be containers."""
    tails = [new_list.tail for new_list in lists if new_list.tail is not None]
    if len(tails) < len(lists) or not any(has_containers(tail.spec) for tail in tails):
        return
    doubled = any(map(_may_be_twice, tails))
    for tail in tails:
        _mark_sharing(tails[0], tail)
        if doubled:
            _mark_doubled(tail)


def join_elements(owner: Any, values: Any) -> None:
    """Tells that a list gets the elements of another one in addition to its own."""
    mine, added = owner.tail, values.tail
    if added is mine or (added is not None and added.identity in _others_with_elements_of(mine)):
        _mark_doubled(mine)
    share_elements(owner, values)


def _others_with_elements_of(tail: Any) -> set[Any]:
    """The identities of the other lists that may have elements of this one."""
    return trace().containers.sharing.get(tail.identity, set()) - {tail.identity}


def has_containers(spec: Any) -> bool:
    own = isinstance(spec.kind, type) and not issubclass(spec.kind, tuple)
    return own or any(map(has_containers, spec.children))


class HalfSwap(NamedTuple):
    """An element of a list is at a second place, too, until what was there gets its first one:
    `h[i], h[j] = h[j], h[i]`.

    identity  tells the list
    source    the first place
    target    the second one
    replaced  the ids of containers that were taken from the second one
    """

    identity: Any
    source: Any
    target: Any
    replaced: set[int]


def register_store(owner: Any, value: Any, place: Any) -> None:
    """Tells that a list has a container at a place: perhaps one that it has at another, too, until
    that gets what was here. What was taken from there before is no longer there."""
    t, identity, target = trace(), owner.tail.identity, _position(place)
    for half in t.containers.twice:
        if half.identity == identity and half.source == target and id(value) in half.replaced:
            t.containers.twice.remove(half)
            register_element(owner, value, place)
            return
    element = t.containers.elements.get(id(value))
    if element is None or element.owner is not owner or element.place is None:
        _forget_place(owner, target)
        register_element(owner, value)
        return
    source = _position(element.place)
    if source == target:
        return
    taken = [e for e in t.containers.elements.values() if e.owner is owner and e.place is not None]
    replaced = {id(e.container) for e in taken if _position(e.place) == target}
    t.containers.twice.append(HalfSwap(identity, source, target, replaced))
    for moved in (source, target):
        _forget_place(owner, moved)
    register_element(owner, value, place)


def _forget_place(owner: Any, position: Any) -> None:
    """Tells that what was taken from a list at a place, or may have been, is not there any more."""
    elements = trace().containers.elements
    for key, e in elements.items():
        taken = e.owner is owner and e.place is not None
        if taken and not _are_apart(_position(e.place), position):
            elements[key] = e._replace(place=None)


def _are_apart(a: Any, b: Any) -> bool:
    """Whether two indices mean different places for sure."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b and (a < 0) is (b < 0)
    from_the_front = dims.at_least(a, 0) and dims.at_least(b, 0)
    return from_the_front and any(dims.at_least(p - q, 1) for p, q in ((a, b), (b, a)))


def was_taken_from(owner: Any, value: Any, place: Any) -> bool:
    """Whether a container was taken from this place of a list."""
    element = trace().containers.elements.get(id(value))
    mine = element is not None and element.owner is owner and element.place is not None
    return mine and bool(_position(element.place) == _position(place))  # type: ignore[union-attr]


def _position(place: Any) -> Any:
    """Two expressions of one index are equal."""
    return size_of(place.value()) if isinstance(place, Value) else place


def places_in_one_list(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Where two containers were taken from in a list that has no container twice: they are
    one if these places are. None for others."""
    x, y = (trace().containers.elements.get(id(container)) for container in (a, b))
    if x is None or y is None or x.owner is not y.owner or not (x.present and y.present):
        return None
    whole = x.whole is x.container and y.whole is y.container
    if not whole or None in (x.place, y.place) or _may_be_twice(x.tail):
        return None
    return _from_the_front(x), _from_the_front(y)


def _from_the_front(element: ElementOf) -> Any:
    """Where an element of a list is, counted from the first one."""
    if dims.at_least(trace().extreme(_position(element.place), False), 0):
        return element.place
    return element.place % element.owner.length()


def _may_be_twice(tail: Any) -> bool:
    """Whether a container may be in this list at two places."""
    containers = trace().containers
    swaps = any(half.identity == tail.identity for half in containers.twice)
    return swaps or tail.identity in containers.doubled


def forget_positions(owner: Any) -> None:
    """Tells that what was taken from a list may not be where it was, or not in it at all."""
    for key, e in trace().containers.elements.items():
        if e.owner is owner:
            trace().containers.elements[key] = e._replace(place=None)


def write_back(obj: Any) -> None:
    """Must be called after a container changed: the list that it was taken from changes."""
    element = trace().containers.elements.get(id(obj))
    if element is None or not element.present:
        return
    if _may_be_twice(element.tail):
        _refuse(element, "a container that may be in a list twice is changed")
    before_write(element.owner)  # which may be in a list itself
    for symbol, value in zip(element.tail.stacks, element.tail.spec.leaf_values(), strict=False):
        if getattr(value, "listing", None) is not None:  # the list may be what changed
            trace().memory.changed_inside(symbol.cell)
    try:
        element.owner[element.place] = element.whole
    except StructureError:
        key, decisions = getattr(element.owner, "grows_key", None), trace().decisions
        if key is not None and isinstance(element.whole, list) and key not in decisions.rows:
            decisions.as_rows(key)
        _refuse(element, "a container in a list gets another structure than the others")
    write_back(element.owner)
    _outdate_others(element)


def _outdate_others(changed: ElementOf) -> None:
    """What may be the container that changed is out of date: taken from the list at a place that
    may be the same, or in another list."""
    t = trace()
    others = _others_with_elements_of(changed.tail)
    for tail in t.containers.tails:
        if tail.identity in others:
            t.memory.stale |= {s.cell: t.memory.blame(s.cell) for s in tail.stacks}
    for other in list(t.containers.elements.values()):
        related = other.tail is changed.tail or other.tail.identity in others
        if related and other.whole is not changed.whole:
            kin = t.containers.kin
            kin.setdefault(id(other.container), (other.container, {}))
            for alias, older in list(kin.values()):
                if alias is other.container or id(other.container) in older:
                    mark_stale(alias)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return list.__iter__(value)
    if isinstance(value, (tuple, deque)):
        return value
    return [getattr(value, name) for name in attributes(value)] if mutable(value) else ()


def _refuse_element(element: ElementOf) -> None:
    if not element.present or element.place is not None:
        return
    _refuse(element, "a container that was put into a list is changed")


def _refuse(element: ElementOf, why: str) -> NoReturn:
    trace().decisions.unroll_all(dict.fromkeys(element.tail.loops, why))
    if trace().loops.rolling:
        raise CannotRoll(why)
    raise UnsupportedError(
        why.replace("put into a list", "put into a list by a loop"),
        "change it before, take it from the list and change that, or use tuples or arrays",
    )


def refuse_changed_elements(journal: Any) -> None:
    """What each pass puts into a list must not be what the passes change."""
    ids = {k[1] for k in journal.old if k[0] in ("contents", "attribute")}
    if any(id(e.container) in ids and e.present for e in trace().containers.elements.values()):
        raise CannotRoll("a container that it changes is put into a list")


class LoopAliases:
    """Which older containers a variable may stand for that a loop gives another one.

    others  by the container that it stands for before the loop
    fresh   the containers that a pass made, and for which one each stands in the next pass
    """

    def __init__(self) -> None:
        self.others: dict[int, dict[int, Any]] = {}
        self.fresh: dict[int, tuple[Any, Any]] = {}
        self.news = False

    def begin(self) -> None:
        """A pass is staged."""
        self.fresh.clear()

    def meet(self, before: Any, after: Any, started: int) -> None:
        """A pass left `after` where `before` was."""
        t = trace()
        older = t.containers.kin_of(after)
        for c in (after, *older.values()):
            if mutable(c) and c is not before:
                if t.birth(c) < started:
                    self.tell(before, c)
                    continue
                _, other = self.fresh.setdefault(id(c), (c, before))
                if other is not before:  # two variables get one container
                    self.tell(before, other)
                    self.tell(other, before)

    def tell(self, before: Any, other: Any) -> None:
        observed = self.others.setdefault(id(before), {})
        if id(other) not in observed:
            observed[id(other)] = other
            self.news = True

    def others_of(self, before: Any) -> Iterable[Any]:
        return self.others.get(id(before), {}).values()

    def certain(self, before: Any, after: Any) -> bool:
        """Whether each pass leaves the same older container."""
        return id(after) in self.others.get(id(before), {})

    def has_news(self) -> bool:
        """Whether something was found since this was asked."""
        news, self.news = self.news, False
        return news


def mark_stale(obj: Any) -> None:
    t = trace()
    line = f", which line {t.origin.line} changes" if t.origin else ""
    t.memory.stale[StaleKey(id(obj), t.birth(obj))] = f"may be another, by data{line}"


def stale_reason(obj: Any) -> str | None:
    t = trace()
    return t.memory.stale.get(StaleKey(id(obj), t.birth(obj))) if t.memory.stale else None


def require_all_current(*values: Any) -> None:
    """Refuses to look into containers that are out of date, or that hold such."""
    if trace().memory.stale:
        for value in values:
            if isinstance(value, MUTABLE):
                require_current(value)
            if isinstance(value, (tuple, dict)):
                require_all_current(*(value.values() if isinstance(value, dict) else value))
            elif isinstance(value, list):
                require_all_current(*list.__iter__(value))


def require_current(obj: Any) -> None:
    """Refuses to look into a container that is out of date, or of which data says how much it
    holds."""
    require_definite(obj)
    if trace().memory.stale:
        why = stale_reason(obj)
        if why is not None:
            _, loop = trace().containers.unneeded.get(id(obj), (None, None))
            if loop is not None:
                trace().decisions.unroll_all({loop: MOVES})
            kind = type(obj).__name__.removeprefix("Staged")
            raise AliasError(f"this {kind.lower() if kind == 'List' else kind} {why}", COPY)
