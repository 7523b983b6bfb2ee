"""Defines axis lengths as values: `x.shape[0]`."""

from __future__ import annotations

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import INT

axis_size = Op("axis_size", lambda x, *, axis: INT, "{0}.shape[{axis}]", word="n")
#: Of a variable that may have no value: nobody looks at what is as long.
size_if_set = Op("size_if_set", lambda x, *, axis: INT, "(0 if {0} is None else {0}.shape[{axis}])")
length_if_set = Op("length_if_set", lambda stack: INT, "(0 if {0} is None else len({0}))")
copy_if_set = Op("copy_if_set", lambda x: x.type, "(None if {0} is None else {0}.copy())")


def _batch_type(x: Atom, *, size: Size, axis: int) -> Type:
    return Type(x.type.dtype, (*x.type.shape[:axis], size, *x.type.shape[axis:]))


batch_if_set = Op(
    "batch_if_set",
    _batch_type,
    "(None if {0} is None else np.stack([{0}] * {size}, axis={axis}))",
)
