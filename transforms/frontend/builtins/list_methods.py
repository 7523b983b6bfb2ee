"""Stages methods of lists, tuples and deques where what is equal, or an index, is known only at run
time.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.builtins.comparison import is_run_time_value
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import hashed_by_identity, trace
from tapeless.transforms.prelude.containers.list_methods import METHODS

ASKING = ("count", "index", "remove")


def ask_whether_equal(item: Any, container: Any) -> None:
    """Must be called before Python looks for an item in a list, by which object it is."""
    if hashed_by_identity(item) and own_attribute(container, "tail") is None:
        trace().ask_identity(item, *container)


def of_data(this: Any, name: str, args: tuple[Any, ...]) -> Any:
    """Our code for a method; None where Python's own will do."""
    if name not in METHODS or not isinstance(this, (list, tuple, deque)):
        return None
    by_columns = own_attribute(this, "tail") is not None
    if name in ASKING:
        ask_whether_equal(args[0], this)
        data = by_columns or any(map(is_run_time_value, (*args, *this)))
    else:
        end = name == "pop" and (not args or (isinstance(args[0], int) and args[0] in (0, -1)))
        data = not end and (by_columns or isinstance(args[0], Symbol))
    return METHODS[name] if data else None
