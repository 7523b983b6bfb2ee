"""Tells whether values hold an object: in containers, and in what Python does not let one look
into.
"""

from __future__ import annotations

import gc
import types
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.iterators import CHANGED, MAKE_A_LIST, Advancing
from tapeless.transforms.frontend.heap.locations import ListContents
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.identity import Variables
from tapeless.transforms.frontend.values.uneven_contents import FlaggedContents, UnevenContents

PLAIN = (int, float, complex, str, bytes, range, np.ndarray, np.generic, types.NoneType)
ITERATORS = ("iterators", "sequences", "once", "comprehensions")  # modules that define them
MOST = 1000  # objects that are looked at


def holds(value: Any, obj: Any) -> bool:
    """Whether a value is an object, or a location that has such contents has it."""
    if value is obj:
        return True
    if isinstance(value, (ListContents, UnevenContents, FlaggedContents)):
        return any(holds(v, obj) for v in value.items)
    if isinstance(value, dict):
        return any(holds(v, obj) for v in value.values())
    if isinstance(value, (tuple, frozenset)):
        return any(holds(v, obj) for v in value)
    if isinstance(value, Either):
        return any(holds(v, obj) for v in (value.yes, value.no))
    return leads_to(value, obj)


def leads_to(value: Any, obj: Any) -> bool:
    """Whether an iterator, a bound method or its like has an object, however deep."""
    if isinstance(value, (list, dict)) or trace().birth(value):
        return False  # it is looked at by itself
    pending, seen = [value], {id(value)}
    while pending:
        for part in _parts(pending.pop()):
            if part is obj:
                return True
            if id(part) not in seen and len(seen) < MOST:
                seen.add(id(part))
                pending.append(part)
    return len(seen) >= MOST  # it may


def _parts(value: Any) -> Any:
    """What an object of Python's holds. Frames and containers of the program are looked at by
    themselves; of our objects only iterators hold lists."""
    if isinstance(value, types.FunctionType):
        return value.__closure__ or (), value.__defaults__, value.__kwdefaults__
    if isinstance(value, Either):
        return value.yes, value.no
    if isinstance(value, (types.ModuleType, type, Symbol, Variables, *PLAIN)):
        return ()
    module = type(value).__module__
    if module.startswith("tapeless.") and module.rpartition(".")[2] not in ITERATORS:
        return ()
    return gc.get_referents(value)


def _took_items(value: Any) -> bool:
    """Whether it is an iterator of Python's; a generator expression that is not begun is none."""
    return isinstance(value, Advancing) and getattr(value, "started", True)


def refuse_iterators(items: Any) -> None:
    """Before the items of a list move elsewhere: iterators over it would find none."""
    t = trace()
    frames = (f for _, f in t.births.values() if isinstance(f, Variables) and id(f) not in t.ended)
    variables = [v for f in frames for v in vars(f).values()]
    if any(_took_items(v) and leads_to(v, items) for v in (*variables, *t.loops.run_over)):
        raise UnsupportedError(CHANGED, MAKE_A_LIST)
