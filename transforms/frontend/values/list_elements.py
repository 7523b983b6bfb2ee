"""Tracks which containers are elements of lists that loops fill, and at which index each is.

Such a list keeps its elements in arrays. A list, dict or object that was put into it, or taken
from it, is a copy: a change of the copy must be stored to the list (`container_writes.py`), which
needs its index. Where the index is not known the change is refused.

rows.append(row); rows[0][k] = x      becomes      row_2 = rows[0]; row_2[k] = x; rows[0] = row_2
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.attribute_names import attributes
from tapeless.transforms.frontend.values.container_aliases import mutable
from tapeless.transforms.frontend.values.structure import EnumCoded


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
    """Records that a list which a loop fills has copies of these containers as elements."""
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
    """Records that a pass appends a container; each pass does if both are older than the pass."""
    if any(map(trace().containers.is_namespace, _containers_in(value))):
        why = "a list gets the __dict__ of an object, which goes on to change"
        raise CannotRoll(why, "append the object, or a copy: dict(vars(x))")
    if trace().loops.began and _is_old(owner) and any(map(_is_old, _containers_in(value))):
        _mark_doubled(owner.tail)
    register_element(owner, value)


def _is_old(container: Any) -> bool:
    """Whether a container was made before the pass that is staged."""
    t = trace()
    return t.birth(container) < t.loops.began[-1]


def _containers_in(value: Any) -> Iterator[Any]:
    if mutable(value):
        yield value
    for part in _parts(value):
        yield from _containers_in(part)


def _register_second_holder(owner: Any, value: Any) -> None:
    """Where a container is an element already, it is in two lists now, or in one twice; perhaps in
    each pass of a loop."""
    t = trace()
    for key in (id(value), *t.containers.kin_of(value)):
        element = t.containers.elements.get(key)
        if element is not None and element.present:
            _mark_sharing(owner.tail, element.tail)
            _mark_doubled(owner.tail)


def has_same_containers(whole: Any) -> bool:
    """Whether the containers in an element are those that it had when it was taken from a list."""
    elements = trace().containers.elements.values()
    taken = {id(e.container) for e in elements if e.whole is whole}
    return taken == {id(c) for c in _containers_in(whole)}


def _mark_sharing(a: Any, b: Any) -> None:
    """Records that two lists may have the same containers as elements."""
    sharing = trace().containers.sharing
    first, second = a.identity, b.identity
    group = {first, second, *sharing.get(first, ()), *sharing.get(second, ())}
    sharing |= dict.fromkeys(group, group)


def _mark_doubled(tail: Any) -> None:
    """Records that a container may be in this list at two places."""
    trace().containers.doubled.add(tail.identity)


def share_elements(*lists: Any) -> None:
    """Records that lists have the same elements, which may be containers."""
    tails = [new_list.tail for new_list in lists if new_list.tail is not None]
    if len(tails) < len(lists) or not any(has_containers(tail.spec) for tail in tails):
        return
    doubled = any(map(may_be_twice, tails))
    for tail in tails:
        _mark_sharing(tails[0], tail)
        if doubled:
            _mark_doubled(tail)


def join_elements(owner: Any, values: Any) -> None:
    """Records that a list gets the elements of another one in addition to its own."""
    mine, added = owner.tail, values.tail
    if added is mine or (added is not None and added.identity in others_with_elements_of(mine)):
        _mark_doubled(mine)
    share_elements(owner, values)


def others_with_elements_of(tail: Any) -> set[Any]:
    """The identities of the other lists that may have elements of this one."""
    return trace().containers.sharing.get(tail.identity, set()) - {tail.identity}


def has_containers(spec: Any) -> bool:
    """Whether values of a structure hold lists, dicts or objects."""
    own = isinstance(spec.kind, type) and not issubclass(spec.kind, (tuple, EnumCoded))
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
    """Records a store of a container at an index, perhaps of one that the list has at another index
    until that gets what was here. What was taken from this index before is not there now."""
    t, identity, target = trace(), owner.tail.identity, _position(place)
    for half in t.containers.twice:
        if half.identity == identity and half.source == target and id(value) in half.replaced:
            t.containers.twice.remove(half)
            register_element(owner, value, place)
            return
    element = _record_of(value)
    if element is None or element.owner is not owner or element.place is None:
        _forget_place(owner, target)
        register_element(owner, value)
        return
    source = _position(element.place)
    if source == target:
        for part in _containers_in(value):  # which may be new
            if (record := t.containers.elements.get(id(part))) is None or record.whole is not value:
                _register_second_holder(owner, part)
        register_element(owner, value, place)
        return
    taken = [e for e in t.containers.elements.values() if e.owner is owner and e.place is not None]
    replaced = {id(e.container) for e in taken if _position(e.place) == target}
    t.containers.twice.append(HalfSwap(identity, source, target, replaced))
    for moved in (source, target):
        _forget_place(owner, moved)
    register_element(owner, value, place)


def _record_of(value: Any) -> ElementOf | None:
    """What is known of an element; of a tuple, what is of a container in it."""
    elements = trace().containers.elements
    if not isinstance(value, tuple):
        return elements.get(id(value))
    parts = (elements.get(id(c)) for c in _containers_in(value))
    return next((e for e in parts if e is not None and e.whole is value), None)


def _forget_place(owner: Any, position: Any) -> None:
    """Forgets the index of elements that were taken from this one, or may have been."""
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
    if not whole or None in (x.place, y.place) or may_be_twice(x.tail):
        return None
    return _from_the_front(x), _from_the_front(y)


def _from_the_front(element: ElementOf) -> Any:
    """Where an element of a list is, counted from the first one."""
    if dims.at_least(trace().extreme(_position(element.place), False), 0):
        return element.place
    return element.place % element.owner.length()


def may_be_twice(tail: Any) -> bool:
    """Whether a container may be in this list at two places."""
    containers = trace().containers
    swaps = any(half.identity == tail.identity for half in containers.twice)
    return swaps or tail.identity in containers.doubled


def forget_positions(owner: Any) -> None:
    """Forgets the indices of all elements of a list, which was reordered or shortened."""
    for key, e in trace().containers.elements.items():
        if e.owner is owner:
            trace().containers.elements[key] = e._replace(place=None)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return list.__iter__(value)
    if isinstance(value, (tuple, deque)):
        return value
    return [getattr(value, name) for name in attributes(value)] if mutable(value) else ()


def refuse_if_lost(element: ElementOf) -> None:
    """Refuses a change of an element of which the list does not know the index."""
    if not element.present or element.place is not None:
        return
    refuse_change(element, "a container that was put into a list is changed")


def refuse_change(element: ElementOf, why: str) -> NoReturn:
    """Refuses a change of an element; the loops that fill the list are unrolled next time."""
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
