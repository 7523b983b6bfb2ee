"""Says why a function was compiled once more: what is new about the first call of a specialisation.

x of float64 with shape (3, 4), then (1, 4)      becomes      "x gained an axis of length one"

Of two specialisations for arguments of the same types, the newer one was made since the older one
relies on something that did not hold in a call. That is noted when the newer one is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapeless.backends import cpu, cuda
from tapeless.dispatch import ways
from tapeless.dispatch.other_objects import changed_values
from tapeless.dispatch.specialisation import (
    Specialisation,
    always_miss,
    is_same_leaf,
    leaf_key,
)
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object
from tapeless.transforms.frontend.trace.readers import GONE
from tapeless.transforms.frontend.trace.recorded_reads import SIMPLE
from tapeless.transforms.lowering.schedule.parallel_nests import BESIDE_PRODUCTS, HEAVY

FIRST = "first call"
LONGEST = 40  # characters of a value that is written out
FAR = 100  # what differs in more than its dtype and lengths of axes
Key = tuple[Any, ...]


def compilations(cache: Mapping[Key, Sequence[Any]]) -> Iterator[Any]:
    """What the specialisations of a function were compiled to, with reasons.

    cache  the specialisations by the types of arguments, the newest of each first
    """
    earlier: list[tuple[Key, Any]] = []
    pairs = (
        (key, each)
        for key, specialisations in cache.items()
        for each in reversed(specialisations)
        if each.has_code
    )
    reported = set()
    for key, each in sorted(pairs, key=lambda pair: pair[1].number):
        if each.run in reported:  # for other objects
            continue
        reported.add(each.run)
        reason = _reason(earlier, key, each)
        earlier.append((key, each))
        for c in (*cpu.compilations(each.run), *cuda.compilations(each.run)):
            yield dataclasses.replace(c, reason=reason) if c.reason == FIRST else c


def _reason(earlier: list[tuple[Key, Any]], key: Key, specialisation: Any) -> str:
    """What tells a specialisation from the nearest of those before it."""
    if not earlier:
        return FIRST
    if specialisation.reason:
        return str(specialisation.reason)
    alike = [before for before, _ in earlier if _frame(before) == _frame(key)]
    if not alike:
        return "other arguments or containers"
    before = min(alike, key=lambda k: sum(map(_distance, _leaves(k), _leaves(key))))
    pairs = zip(specialisation.staged.leaves, _leaves(before), _leaves(key), strict=True)
    return "; ".join(_difference(leaf, a, b) for leaf, a, b in pairs if a != b)


def nearest(earlier: Sequence[Specialisation], leaves: Sequence[Any], names: Sequence[str]) -> str:
    """What the one of several specialisations relies on, and does not hold for these arguments,
    of which the least does not hold, and then the most does.

    names  of the leaves, as expressions of the user's parameters
    """
    reasons = [(failed_requirements(e, leaves, names), e) for e in earlier]
    parts, _ = min(reasons, key=lambda pair: (len(pair[0]), -_facts(pair[1])))
    return "; ".join(parts)


def _facts(specialisation: Specialisation) -> int:
    """How much a specialisation relies on."""
    outside = len(specialisation.guards) + len(specialisation.captured)
    return (
        len(specialisation.static) + len(specialisation.axes) + outside + len(specialisation.sizes)
    )


def count_of_single_calls(earlier: Sequence[Specialisation], leaves: Sequence[Any]) -> int:
    """How many of the newest specialisations were for one call each, as an object that was their
    argument, or what they read outside of the function, is another one now."""
    count = 0
    for specialisation in earlier:
        once = specialisation.enter is always_miss and specialisation.stands_for is None
        if not (once and ways.may_begin(specialisation)):
            break
        objects = ((k, x) for k, x in specialisation.static if is_plain_object(x))
        same_objects = all(leaves[k] is x for k, x in objects)
        if same_objects and all(guard.holds() for guard in specialisation.guards):
            break
        count += 1
    return count


def failed_requirements(
    specialisation: Specialisation, leaves: Sequence[Any], names: Sequence[str]
) -> list[str]:
    """What a specialisation relies on that does not hold for these arguments."""
    parts = [
        *(
            f"{names[k]} is {_show_value(leaves[k])}{_differences(specialisation, value, leaves)}"
            for k, value in specialisation.static
            if not is_same_leaf(value, leaves[k])
        ),
        *(
            f"{names[k]}.shape[{axis}] is {leaves[k].shape[axis]}, not {n}"
            for k, axis, n in specialisation.axes
            if leaves[k].shape[axis] != n
        ),
        *(_change_outside(guard) for guard in specialisation.guards if not guard.holds()),
        *(arrays := [*_changed_captures(specialisation)]),
    ]
    if not arrays:  # else there may be no such arrays or axes any more
        parts += specialisation.memory.failures(specialisation.inputs(leaves))
        parts += [_relation(*r) for r in specialisation.unmet_relations(leaves, names)]
    return [*dict.fromkeys(parts)]


def _differences(specialisation: Specialisation, value: Any, leaves: Sequence[Any]) -> str:
    """What the program relies on of an object, and is another value in the one of this call."""
    if not is_plain_object(value):
        return ""
    different = dict.fromkeys(g.name for g in changed_values(specialisation, leaves))
    return f", with other values: {', '.join(different)}" if different else ""


def _changed_captures(specialisation: Specialisation) -> Iterator[str]:
    """Arrays from outside that are of other types."""
    names = specialisation.captured_names
    for name, (get, key) in zip(names, specialisation.captured, strict=True):
        try:
            now = leaf_key(get())
        except GONE:
            yield f"{name} is not there any more"
            continue
        if now != key:
            yield _array(name, now, key)


def _show_value(value: Any) -> str:
    """A value in a line of text."""
    if isinstance(value, np.ndarray):
        return f"another array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= LONGEST else f"another {type(value).__name__}"


def _change_outside(guard: Any) -> str:
    """What is new about something that is read from outside."""
    try:
        now = guard.get()
    except GONE:
        return f"{guard.name} is not there any more"
    simple = type(now) in SIMPLE and type(guard.value) in SIMPLE
    if simple and len(repr(now)) <= LONGEST:
        return f"{guard.name} is {now!r}, not {guard.value!r}"
    return f"{guard.name} is another {type(now).__name__}, or holds other values"


def _array(name: str, now: Any, before: Any) -> str:
    if _is_array(before) and _is_array(now):
        return _new_array(name, before, now)
    return f"{name} is of another type"


def _relation(relation: str, a: str, b: str, left: int, right: int) -> str:
    """What is new about sizes: `a relation b` does not hold, as their values show."""
    if relation == ">=":
        if a in {str(HEAVY - 1), str(BESIDE_PRODUCTS - 1)}:
            return f"the work is worth threads: {right} additions"
        bound = b if a == str(left) else a
        value, limit = (right, left) if bound == b else (left, right)
        other = a if bound == b else b
        word = "more" if bound == b else "less"
        return f"{bound} is {value}, {word} than {_with_value(other, limit)}"
    return f"{a} is {left}, {'as' if relation == '!=' else 'not'} {_with_value(b, right)}"


def _with_value(text: str, value: int) -> str:
    return text if text == str(value) else f"{value}, which {text} is"


def _leaves(key: Key) -> Key:
    """What is known of each leaf; in front of them may be how containers hold them."""
    return key[2:] if key and hasattr(key[0], "num_leaves") else key


def _frame(key: Key) -> Key:
    leaves = _leaves(key)
    return (*key[: len(key) - len(leaves)], len(leaves))


def _distance(before: Any, now: Any) -> int:
    if not (_is_array(before) and _is_array(now)) or len(before) != len(now):
        return FAR if before != now else 0
    return sum(a != b for a, b in zip(before, now, strict=True))


def _difference(leaf: Any, before: Any, now: Any) -> str:
    """What is new about an argument, or a part of one."""
    name = leaf.name
    if not _is_array(now):
        return f"{name} is {now.__name__ if isinstance(now, type) else repr(leaf.value)}"
    if not _is_array(before):
        return f"{name} is an array"
    return _new_array(name, before, now)


def _new_array(name: str, before: Any, now: Any) -> str:
    """What is new about an array."""
    parts = [f"new dtype of {name}: {now[0].name}"] if before[0] != now[0] else []
    if len(before) != len(now):
        axes = "1 axis" if len(now) == 2 else f"{len(now) - 1} axes"
        parts.append(f"{name} has {axes}, not {len(before) - 1}")
    elif before[1:] != now[1:]:
        parts.append(_new_axes(name, before, now))
    return "; ".join(parts)


def _new_axes(name: str, before: Any, now: Any) -> str:
    """What is new about the axes of length zero or one."""
    for length, word in ((1, "one"), (0, "zero")):
        if now[1:].count(length) > before[1:].count(length):
            return f"{name} gained an axis of length {word}"
    for length, word in ((1, "one"), (0, "zero")):
        if now[1:].count(length) < before[1:].count(length):
            return f"{name} has one axis of length {word} less"
    return f"{name} has other axes of length zero or one"


def _is_array(kind: Any) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], np.dtype)
