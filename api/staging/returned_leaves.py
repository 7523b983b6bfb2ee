"""Checks the leaves that a function returns to a transformation of it: numbers and plain arrays
stay, what stands for values of the program only while it is staged is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, call_numpy
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.structure import (
    Structure,
    has_symbols,
    refuse_unreturnable,
)
from tapeless.transforms.frontend.values.text import Text
from tapeless.transforms.prelude.containers.hashed_containers import Keys
from tapeless.transforms.prelude.numpy.derived_arrays import elements_of
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray


def returned_leaf(leaf: Any, began: int) -> Any:
    """A leaf as the transformation has it: an array of a class derived from np.ndarray is a plain
    one, as np.asarray gives it, and what is masked in others is nan.

    `began`: the number of the objects that were there before the call
    """
    if isinstance(leaf, MaskedArray):
        leaf = _data_of(leaf)
    leaf = elements_of(leaf)
    if isinstance(leaf, Symbol):
        return leaf
    if hasattr(type(leaf), "__stays_inside__"):
        refuse_unreturnable(Structure("static", leaf))
    if isinstance(leaf, (Text, Either)):
        refuse_unreturnable(Structure("static", leaf))
    if isinstance(leaf, Keys):
        raise UnsupportedError(
            f"a {leaf.kind.__name__} whose keys depend on run-time values is returned from "
            "a function that is transformed",
            "return lists of what it holds, or arrays",
        )
    if trace().birth(leaf) > began and _holds_values(leaf):
        raise UnsupportedError(
            f"a {type(leaf).__name__} with values of the program is returned from a function that "
            "is transformed",
            "return the arrays that it holds, or make the class a dataclass",
        )
    return leaf


def _data_of(x: MaskedArray) -> Any:
    """The elements of a masked array; those that are masked are nan, so that nobody takes them for
    values."""
    if x.masked is None:
        return x.elements
    if x.dtype.kind not in "fc":
        raise UnsupportedError(
            f"a masked array of {x.dtype} is returned from a function that is transformed, and "
            "which of its elements are masked would be lost",
            "return m.filled(0), or both m.data and m.mask",
        )
    return call_numpy(np.where, (x.masked, np.asarray(np.nan, x.dtype), x.elements), {})


def _holds_values(obj: Any) -> bool:
    """Whether an object that the program made has attributes that it computes."""
    return any(has_symbols(getattr(obj, name)) for name in attributes(obj))
