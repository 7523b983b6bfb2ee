"""sorted() of things whose order is known only when the program runs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.comprehensions import Lazy, comprehension
from tapeless.transforms.frontend.iteration import map_
from tapeless.transforms.frontend.staged_list import StagedList, from_arrays
from tapeless.transforms.frontend.symbols import Symbol, apply
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.values import contains_symbol, take_apart
from tapeless.transforms.ops.table import FUNCTIONS


def sorted_(hooks: Any, x: Any, key: Any = None, reverse: bool = False) -> Any:
    x = x.listed() if isinstance(x, Lazy) else x
    if isinstance(x, StagedList) and x.tail is not None and x.tail.spec.kind == "leaf":
        x = x.arrays()[0]
    items = x if isinstance(x, Symbol) else list(x)
    keys = items if key is None else _mapped(hooks, key, items)
    known = None if isinstance(keys, Symbol) else _known(keys)
    if known is None:
        return _sorted_by(items, keys, bool(reverse))
    order = sorted(range(len(items)), key=lambda k: known[k], reverse=reverse)
    return trace().born(StagedList(items[k] for k in order))


def _known(keys: list[Any]) -> list[Any] | None:
    """The keys, of tuples the parts before the first symbol, where they decide the order: those of
    sorted(params.items()) are names. None if values at run time decide."""
    if not contains_symbol(keys):
        return keys
    if not all(type(key) is tuple for key in keys):
        return None
    heads = [tuple(itertools.takewhile(lambda x: not contains_symbol(x), key)) for key in keys]
    for a, b in itertools.pairwise(sorted(heads)):
        if all(x == y for x, y in zip(a, b, strict=False)):  # what follows would be compared
            return None
    return heads


def _mapped(hooks: Any, key: Any, items: Any) -> Any:
    made = map_(hooks, key, items)
    if not isinstance(items, Symbol):
        return list(made)
    filled = comprehension("ListComp", (made, lambda item: (lambda: True, lambda: item), False))
    return filled.arrays()[0]


def _has_text(x: Any) -> bool:
    return isinstance(x, str) or (isinstance(x, (tuple, list)) and any(map(_has_text, x)))


def _sorted_by(items: Any, keys: Any, reverse: bool) -> Any:
    """Items in the order of keys that are known only when the program runs; as in Python, items of
    the same key keep their order."""
    if not isinstance(items, Symbol) and any(map(_has_text, items)):
        raise UnsupportedError("sorted() of text by values of the run", "use np.argsort")
    keys, table = (
        x if isinstance(x, Symbol) else apply(FUNCTIONS[np.asarray], x) for x in (keys, items)
    )
    if keys.type.ndim != 1:
        raise UnsupportedError("sorted() by keys that are not numbers", "use np.argsort")
    order = apply(FUNCTIONS[np.argsort], keys[::-1] if reverse else keys, kind="stable")
    if reverse:
        order = (keys.shape[0] - 1 - order)[::-1]
    made = table[order]
    if isinstance(items, Symbol):
        return from_arrays(take_apart(made[0]), [made])
    return trace().born(StagedList(made[k] for k in range(len(items))))
