"""Renews containers that were taken from a list, after another element of it has changed.

a = rows[i]; b = rows[j]; a[k] = 1; b[k]      becomes      ...; rows[i] = a_2; b_2 = rows[j]; b_2[k]

The two indices may be one, by data. What the list holds is always right, for a change of an
element is stored to it (`container_writes.py`).
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.frontend.heap.locations import AttributeLocation, ContentsLocation, fill
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes
from tapeless.transforms.frontend.values.container_aliases import mark_current, mutable


def read_again(container: Any, fresh: Any) -> bool:
    """Gives a container, and those in it, what another of its structure holds; False where that
    is of another kind."""
    pairs = list(_places(container, fresh))
    if any(mutable(old) and type(old) is not type(new) for _, old, new in pairs):
        return False
    mark_current(container)
    t = trace()
    if not isinstance(container, (list, dict)):
        for name, old, new in pairs:
            if not (mutable(old) and read_again(old, new)):
                location = AttributeLocation(container, name)
                t.touch(location)
                location.set(new)
        return True
    t.touch(ContentsLocation(container))
    kept = {k: old for k, old, new in pairs if mutable(old) and read_again(old, new)}
    if isinstance(container, dict):
        fill(container, fresh | kept)
    else:
        fill(container, ContentsLocation(fresh).get())
        for k, old in kept.items():
            list.__setitem__(container, k, old)
    return True


def _places(container: Any, fresh: Any) -> Any:
    """(name, old, new) of all that a container holds directly."""
    if isinstance(container, dict):
        return [(k, old, fresh[k]) for k, old in container.items()]
    if isinstance(container, list):
        items = map(list.__iter__, (container, fresh))
        return [(k, *pair) for k, pair in enumerate(zip(*items, strict=False))]
    return [(n, getattr(container, n), getattr(fresh, n)) for n in attributes(container)]
