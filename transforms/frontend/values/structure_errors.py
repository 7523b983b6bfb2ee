"""Describes in errors how the two arms of a test left a container with other contents."""

from __future__ import annotations

import enum
import itertools
from typing import Any

import numpy as np

from tapeless.transforms.frontend.source.tree_building import plain
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import Variables
from tapeless.transforms.frontend.values.structure import Structure

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def differing(obj: Any, x: Structure, y: Structure, problem: str) -> str:
    """What is the matter with a list, deque, dict or set, whose contents are `x` or `y`."""
    kind, name = type(obj).__name__, variable_of(obj)
    what = f"the {kind} '{name}'" if name else f"a {kind}"
    if isinstance(obj, set):
        only = [sorted(map(repr, a.value - b.value)) for a, b in ((x, y), (y, x))]
        return f"{what} has {', '.join(only[0] + only[1])} on one side only"
    if isinstance(obj, dict) and x.keys != y.keys:
        sides = [", ".join(map(repr, side.keys)) or "no keys" for side in (x, y)]
        return f"{what} has {sides[0]} on one side and {sides[1]} on the other"
    n, m = len(x.children), len(y.children)
    if isinstance(obj, dict) or n == m:
        return f"the elements of {what} do not fit together: {problem}"
    return f"{what} has {n} element{'s' * (n != 1)} on one side and {m} on the other"


def differs(obj: Any, *sides: Any) -> None:
    """The sides of a test leave other keys in a dictionary, or members in a set: it is made anew,
    as one of data if its keys are numbers, else as one of keys that may be there."""
    site = trace().containers.makers.get(id(obj))
    if site is None:
        return
    contents = [sorted(s.value, key=repr) if isinstance(obj, set) else s.keys for s in sides]
    keys = tuple(dict.fromkeys(itertools.chain(*sorted(contents, key=len, reverse=True))))
    if all(map(_is_number, keys)):
        trace().decisions.as_keyed(site[1])
    elif all(map(is_lasting, keys)) and any(set(c) != set(keys) for c in contents):
        trace().decisions.as_optional(site[1], keys)


def _is_number(key: Any) -> bool:
    return isinstance(key, NUMBERS) or (isinstance(key, tuple) and all(map(_is_number, key)))


def is_lasting(key: Any) -> bool:
    """Whether a key is the same one in another staged run."""
    if isinstance(key, (tuple, frozenset)):
        return all(map(is_lasting, key))
    return key is None or isinstance(key, (str, bytes, enum.Enum, complex, *NUMBERS))


def variable_of(obj: Any) -> str:
    """The name of the first variable that holds an object."""
    for _, frame in trace().births.values():
        if isinstance(frame, Variables):
            for name, value in vars(frame).items():
                if value is obj:
                    return plain(name)
    return ""
