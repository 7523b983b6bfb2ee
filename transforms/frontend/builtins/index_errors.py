"""Tests in try statements whether a list that a loop fills has an element, before it is taken;
elsewhere the program raises IndexError when it runs.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch, short_circuit
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import trace


def reach(items: Any, k: Any, message: str) -> None:
    """Raises IndexError where a list has no element k, and an except clause catches that."""
    if not isinstance(items, StagedList) or items.tail is None:
        return
    if trace().handlers.innermost(IndexError) is None or not isinstance(k, int | Symbol):
        return
    n = items.length()
    inside = short_circuit((lambda: k >= -n, lambda: k < n), True)
    if isinstance(inside, Symbol):
        branch(inside, lambda: None, lambda: raise_(IndexError(message)))
    elif not inside:
        raise IndexError(message)
