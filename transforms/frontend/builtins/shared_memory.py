"""Answers whether two arrays share memory: by what their names stand for, not by where the program
puts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace


def shares_memory(hooks: Any, a: Any, b: Any, max_work: Any = None) -> bool:
    """np.shares_memory, and np.may_share_memory"""
    if not isinstance(a, Symbol) or not isinstance(b, Symbol):
        return not (isinstance(a, Symbol) or isinstance(b, Symbol)) and np.shares_memory(a, b)
    if 0 in (*a.type.shape, *b.type.shape):
        return False
    p, q = a.base_cell(), b.base_cell()
    if p is q and (a.is_whole or b.is_whole):
        return True
    if p is not q and trace().memory.are_apart(p, q):
        return False
    raise UnsupportedError(
        "whether two arrays share memory, which may be parts of one, is known only in NumPy",
        "compare the indices of the parts",
    )
