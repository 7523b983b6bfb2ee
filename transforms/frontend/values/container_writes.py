"""Keeps aliases and lists right when a container changes: what to do before a write, and after it.

Before it, all containers that may be the same one become stale. After it, the list that the
container was taken from gets the changed element.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import StructureError, UnsupportedError
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import (
    OfOtherElement,
    mark_stale,
    may_be_one_object,
    require_current,
)
from tapeless.transforms.frontend.values.list_elements import (
    ElementOf,
    has_same_containers,
    may_be_twice,
    others_with_elements_of,
    refuse_change,
    refuse_if_lost,
)


def before_write(obj: Any) -> None:
    """Must be called before a container changes: those that may be the same become stale."""
    t = trace()
    if (element := t.containers.elements.get(id(obj))) is not None:
        refuse_if_lost(element)
    if not t.containers.read_only.keys().isdisjoint((id(obj), *t.containers.kin_of(obj))):
        kind = type(obj).__name__.removeprefix("Staged").lower()
        raise UnsupportedError(
            f"a {kind} is changed that data picks from others of the caller's, or of other lengths",
            "make arrays of what they hold, and store to these",
        )
    if t.containers.object_of(obj) is not None:
        raise UnsupportedError(
            "the __dict__ of an object from outside is changed by a method",
            "set one attribute after the other: setattr(x, name, value)",
        )
    require_current(obj)
    kin, older = t.containers.kin, t.containers.kin_of(obj)
    if not kin:
        return
    same = {id(obj), *older}
    later = [alias for alias, others in kin.values() if not same.isdisjoint((id(alias), *others))]
    mine = t.containers.elements.get(id(obj))
    for other in (*older.values(), *later):
        if other is not obj and may_be_one_object(other, obj):
            mark_stale(other)
            if (element := t.containers.elements.get(id(other))) is not None:
                refuse_if_lost(element)
                if id(other) in older and element.present and not _is_of_one_list(mine, element):
                    refuse_change(element, "one of the containers of a list is changed")


def _is_of_one_list(a: ElementOf | None, b: ElementOf) -> bool:
    return a is not None and a.owner is b.owner


def write_back(obj: Any) -> None:
    """Must be called after a container changed: the list that it was taken from changes."""
    element = trace().containers.elements.get(id(obj))
    if element is None or not element.present:
        return
    if may_be_twice(element.tail):
        refuse_change(element, "a container that may be in a list twice is changed")
    before_write(element.owner)  # which may be in a list itself
    for symbol, value in zip(element.tail.stacks, element.tail.spec.leaf_values(), strict=False):
        if own_attribute(value, "listing") is not None:  # the list may be what changed
            trace().memory.changed_inside(symbol.cell)
    same_parts = has_same_containers(element.whole)
    try:
        element.owner[element.place] = element.whole
    except StructureError:
        key, decisions = getattr(element.owner, "grows_key", None), trace().decisions
        if key is not None and isinstance(element.whole, list) and key not in decisions.rows:
            decisions.as_rows(key)
        refuse_change(element, "a container in a list gets another structure than the others")
    write_back(element.owner)
    _outdate_others(element, same_parts)


def _outdate_others(changed: ElementOf, same_parts: bool) -> None:
    """Marks as stale what may be the container that changed: taken from the list at an index that
    may be the same, or element of another list. Containers in those may no longer be there, unless
    the one that changed has the `same_parts` as ever."""
    t = trace()
    others = others_with_elements_of(changed.tail)
    for tail in t.containers.tails:
        if tail.identity in others:
            t.memory.stale |= {s.cell: t.memory.blame(s.cell) for s in tail.stacks}
    related = {
        id(e.container): (e.container, e.container is e.whole)
        for e in t.containers.elements.values()
        if (e.tail is changed.tail or e.tail.identity in others) and e.whole is not changed.whole
    }
    for container, is_whole in related.values():
        mark_stale(container, OfOtherElement if is_whole or same_parts else str)
    for alias, older in t.containers.kin.values():
        if id(alias) not in related and not older.keys().isdisjoint(related):
            mark_stale(alias)
