"""Gives an array of the program another shape in place, as `x.shape = (n, 3)` does.

The object that all its names stand for becomes a view of its own memory; views of it stay.
"""

from __future__ import annotations

import gc
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.trace import trace

WAY_OUT = "make a new one: x = x.reshape(...)"


def set_shape(x: Symbol, shape: Any) -> None:
    """x.shape = shape, of an array that the function made and outside of loops and branches."""
    run = trace()
    if len(run.journals) > 1 or len(run.blocks) > 1:
        raise UnsupportedError("the shape of an array is set in a loop or branch", WAY_OUT)
    root = x if x.parent is None else x.parent
    first = None if root.cell is None else root.cell.made
    if root.cell is None or (first is not None and first not in run.definitions):
        raise UnsupportedError("the shape of an argument, or of a view of one, is set", WAY_OUT)
    view = x.reshape(shape)
    if view is x:
        return
    if view.parent is not root:
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape."
        )
    if x.parent is None:
        root = _root_for(x)
    x.parent, x.chain, x.kind, x.cell = root, view.chain, view.kind, None


def _root_for(x: Symbol) -> Symbol:
    """An array with the memory of `x`, which views of `x` are views of from now on."""
    assert x.cell is not None
    root = Symbol(x.cell.atom, is_array=x.is_array)
    root.cell, root.read_only = x.cell, x.read_only
    for view in gc.get_referrers(x):
        if isinstance(view, Value) and view.parent is x:
            view.parent = root
    return root
