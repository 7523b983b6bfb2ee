"""Turns the binding of a name to a new list under a test into a change of the list that it has,
where nobody else has that, so that both arms leave one list.

if v > 1: groups.append(cur); cur = []      becomes      ...; cur.clear()
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

from tapeless.transforms.frontend.control_flow.loop_ranges import lists_of
from tapeless.transforms.frontend.heap.frames import Frame, FrameLocation
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import (
    AttributeLocation,
    ContentsLocation,
    before_change,
)
from tapeless.transforms.frontend.heap.reachability import holds
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import StaleKey
from tapeless.transforms.frontend.values.uneven_contents import contents_of


def rebind_list(frame: Frame, name: str, new_list: StagedList) -> StagedList:
    """The list that the name stands for from now on."""
    old = vars(frame).get(name)
    if type(old) is not StagedList or not _is_older(old) or _is_kin(old) or _is_run_over(old):
        return new_list
    if new_list.tail is not None:
        return new_list
    location_key = FrameLocation(frame, name).key
    holders = {loc.key: loc for loc in _holders(old) if loc.key != location_key}
    t = trace()
    element = t.containers.elements.get(id(old))
    if element is not None and element.whole is not old:
        return new_list
    if not all(_can_have_a_copy(loc, old) for loc in holders.values()):
        return new_list
    for loc in holders.values():
        assert isinstance(loc, ContentsLocation)
        t.touch(loc)
        items = [old.copy() if x is old else x for x in list.__iter__(loc.obj)]
        list.__setitem__(loc.obj, slice(None), items)
    t.containers.elements.pop(id(old), None)
    t.memory.stale.pop(StaleKey(id(old), t.birth(old)), None)
    before_change(old)
    old.clear()
    for item in new_list:
        old.append(item)
    return old


def _can_have_a_copy(loc: Location, old: StagedList) -> bool:
    """Whether it is a list of the program that has the list itself, and not in a tuple."""
    items = loc.obj if isinstance(loc, ContentsLocation) and loc.birth else None
    if not isinstance(items, StagedList) or items.tail is not None or contents_of(items):
        return False
    return not any(x is not old and holds(x, old) for x in list.__iter__(items))


def _is_older(old: StagedList) -> bool:
    """Whether a side of a test, in this pass, would leave another list than the other side."""
    t = trace()
    began = t.loops.began[-1] if t.loops.began else 0
    return bool(t.sides) and max(began, t.birth(old)) < t.sides[-1][0] and t.birth(old) > 0


def _is_kin(old: StagedList) -> bool:
    kin = trace().containers.kin
    return id(old) in kin or any(id(old) in others for _, others in kin.values())


def _is_run_over(old: StagedList) -> bool:
    return any(x is old for items in trace().loops.run_over for x in (items, *lists_of(items)))


def _holders(obj: Any) -> Iterator[Location]:
    """Where the program has an object: in variables, containers and objects that it made, and in
    what it wrote to of those outside."""
    t = trace()
    for journal in t.journals:
        for loc, _ in list(journal.old.values()):
            ended = isinstance(loc, FrameLocation) and id(loc.frame) in t.ended
            if not ended and holds(loc.get(), obj):
                yield loc
    for _, holder in list(t.births.values()):
        if id(holder) in t.ended:
            continue
        if isinstance(holder, Frame):
            yield from (FrameLocation(holder, n) for n, v in vars(holder).items() if holds(v, obj))
        elif isinstance(holder, (list, dict, set)):
            if holds(ContentsLocation(holder).get(), obj):
                yield ContentsLocation(holder)
        elif any(holds(part, obj) for part in gc.get_referents(holder)):
            yield AttributeLocation(holder, "")
