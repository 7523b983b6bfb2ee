"""Finds the places of known keys in dictionaries and sets of which run-time values decide what they
hold, also of texts that run-time values choose.

counts[label] += 1      becomes      if label is "low": counts["low"] += 1 ...
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Literal
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import for_each_option
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import (
    Either,
    as_either,
    has_identity,
    is_one_of_texts,
    note_test,
    value_under_tests,
)
from tapeless.transforms.frontend.values.structure_errors import NUMBERS, is_lasting


def is_chosen(key: Any) -> bool:
    """Whether a key, or a part of it, is one of several texts or other constants."""
    if isinstance(key, tuple):
        return any(map(is_chosen, key))
    return isinstance(key, Either) or is_one_of_texts(key)


def for_each_key(action: Callable[[Any], Any], key: Any) -> Any:
    """A function of a key, on each side of the tests that choose it."""
    if not isinstance(key, tuple):
        return for_each_option(action, as_either(key))
    k = next((k for k, part in enumerate(key) if is_chosen(part)), None)
    if k is None:
        return action(key)
    return for_each_key(
        lambda part: for_each_key(action, (*key[:k], part, *key[k + 1 :])),
        key[k],
    )


def at_key(
    hooks: Any, names: tuple[Any, ...], site: Any, key: Any, entering: bool, action: Any
) -> Any:
    """What a function gives for the place of a key among names, -1 if it is none of them; one that
    is put in for the first time is another name in the next staged run."""
    if is_chosen(key):
        return for_each_key(
            lambda option: at_key(hooks, names, site, option, entering, action), key
        )
    if not is_lasting(key):
        raise UnsupportedError(
            "a dictionary or set of texts, of which data decides which are there, is asked for "
            "another key",
            "use one for each kind of key",
        )
    trace().ask_identity(key)
    if key not in names and entering:
        trace().decisions.as_optional(site, (key,))
    return hooks.call(action, names.index(key) if key in names else -1)


def held_at(hooks: Any, key: Any, read: Callable[[Any], Any], mapping: Any = None) -> Any:
    """What is read at a key; of one that run-time values choose, one of the containers themselves,
    so that a change of it is one on the side of each; of a dictionary whose keys are known, if it
    has them all."""
    if not is_chosen(key):
        return hooks.call(read, key)
    either = None if isinstance(key, tuple) else as_either(key)
    options = either.options() if isinstance(either, Either) else []
    if mapping is not None and any(option not in mapping for option in options):
        return for_each_key(read, key)
    if not options or not all(map(_is_option, options)):
        return for_each_key(lambda option: held_at(hooks, option, read, mapping), key)
    values = {option: hooks.call(read, option) for option in options}
    if not all(map(has_identity, values.values())):
        return for_each_key(lambda option: held_at(hooks, option, read, mapping), key)
    return _choice(either, values)


def _is_option(key: Any) -> bool:
    return key is not None and is_lasting(key)


def _choice(key: Any, values: dict[Any, Any]) -> Any:
    if not isinstance(key, Either):
        return values[key]
    yes, no = _choice(key.yes, values), _choice(key.no, values)
    return yes if yes is no else Either(key.test, yes, no)


def _constant(flag: Any) -> Any:
    """A truth value that is known; None of others."""
    value = flag.value() if isinstance(flag, Symbol) else flag
    value = value.value if isinstance(value, Literal) else value
    return bool(value) if isinstance(value, (bool, np.bool_)) else None


def truth_under_tests(flag: Any) -> Any:
    """A truth value, or what the tests around this say that it is."""
    if isinstance(flag, Symbol) and _constant(flag) is None:
        known_value = value_under_tests(flag)
        return flag if known_value is None else known_value
    return flag


def with_mark(flag: Any) -> Any:
    """A truth value of which code under a test of it may ask for what it is."""
    if isinstance(flag, Symbol) and _constant(flag) is None:
        note_test(flag)
    return flag


def may_be_any(flags: list[Any]) -> bool:
    return any(_constant(flag) is not False for flag in flags)


def shown_key(key: Any) -> Any:
    return repr(key) if isinstance(key, (enum.Enum, frozenset)) else key


def require_order(ordered: Any, site: Any) -> None:
    if not _constant(ordered):
        trace().decisions.as_in_order(site)


def require_same(now: Any, before: Any) -> None:
    contents = [x.value() if isinstance(x, Symbol) else x for x in (now, before)]
    if contents[0] is not contents[1] and contents[0] != contents[1]:
        raise UnsupportedError(
            "a dictionary gets other keys in a loop over it",
            "loop over a list of its keys: list(d)",
        )


def before_first(site: Any, initial: Any) -> Any:
    placeholders = trace().decisions.placeholders
    return (lambda: placeholders[site]) if site in placeholders else initial


def note_value(site: Any, value: Any) -> None:
    decisions = trace().decisions
    zero = _zero_of(value)
    if zero is not None and site not in decisions.placeholders and not decisions.observing:
        decisions.as_valued(site, zero)


def _zero_of(value: Any) -> Any:
    """Zeros in the places of numbers; None for what holds others."""
    if isinstance(value, tuple) and type(value) is tuple and value:
        zeros = tuple(map(_zero_of, value))
        return None if None in zeros else zeros
    if isinstance(value, Symbol) and not value.type.shape and not value.is_array:
        zero = value.dtype.type(0)
        return zero.item() if value.type.weak else zero
    return type(value)(0) if isinstance(value, NUMBERS) else None
