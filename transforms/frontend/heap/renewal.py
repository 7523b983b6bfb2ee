"""Reads containers again that were taken from a list, after another element of it has changed.

a = rows[i]; b = rows[j]; a[k] = 1; b[k]      becomes      ...; rows[i] = a_2; b_2 = rows[j]; b_2[k]

The two indices may be one, by data. What the list holds is always right, for a change of an
element is stored to it (`container_writes.py`).
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tapeless.transforms.frontend.heap.locations import AttributeLocation, ContentsLocation, fill
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes
from tapeless.transforms.frontend.values.container_aliases import (
    mark_current,
    may_be_renewed,
    mutable,
)


def read_again(container: Any, fresh: Any) -> bool:
    """Gives a container, and those in it, what another of its structure holds; False where that
    is of another kind, or it may be in the list no more."""
    if isinstance(container, tuple):
        read = [
            read_again(old, new)
            for old, new in zip(container, fresh, strict=True)
            if _has_parts(old)
        ]
        return all(read)
    unlike = isinstance(container, (set, deque)) or type(container) is not type(fresh)
    if unlike or not may_be_renewed(container):
        return False
    mark_current(container)
    if isinstance(container, dict):
        trace().touch(ContentsLocation(container))
        fill(container, {k: _present(old, fresh[k]) for k, old in container.items()})
    elif isinstance(container, list):
        trace().touch(ContentsLocation(container))
        olds = list(list.__iter__(container))
        fill(container, ContentsLocation(fresh).get())
        for k, (old, new) in enumerate(zip(olds, list.__iter__(fresh), strict=False)):
            list.__setitem__(container, k, _present(old, new))
    else:
        for name in attributes(container):
            location = AttributeLocation(container, name)
            trace().touch(location)
            location.set(_present(getattr(container, name), getattr(fresh, name)))
    return True


def _present(old: Any, new: Any) -> Any:
    """What a container holds from now on in the place of an old value."""
    if isinstance(new, tuple):
        alike = isinstance(old, tuple) and len(old) == len(new)
        parts = map(_present, old, new) if alike else new
        return type(new)(*parts) if hasattr(new, "_fields") else type(new)(parts)
    return old if mutable(old) and read_again(old, new) else new


def _has_parts(value: Any) -> bool:
    return mutable(value) or isinstance(value, tuple)
