"""Defines copies of arrays, in another type too, and what NumPy tells of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.ops.primitives.joining import as_array, axes_of
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.shapes import copy as copied


def _astype(
    x: Any,
    dtype: Any,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Any:
    x, target = as_array(x), np.dtype(dtype)
    same = x.type.dtype == target and not x.type.weak
    if same:
        return copied(x) if copy else x
    return cast(x, dtype=target)


def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return copy(as_array(a))


def _size_of_axes(a: Any, axis: Any = None) -> Any:
    a = as_array(a)
    return atom(dims.product(a.type.shape[k] for k in axes_of(axis, a.type.ndim)))


NUMPY = {
    np.copy: _copy,
    np.astype: _astype,
    np.shape: lambda a: tuple(atom(s) for s in as_array(a).type.shape),
    np.ndim: lambda a: as_array(a).type.ndim,
    np.iterable: lambda y: bool(as_array(y).type.shape),
    np.size: _size_of_axes,
    np.isscalar: lambda element: not as_array(element).type.shape,
    np.iscomplexobj: lambda x: as_array(x).type.dtype.kind == "c",
    np.isrealobj: lambda x: as_array(x).type.dtype.kind != "c",
    np.common_type: lambda *arrays: np.common_type(
        *(np.empty(0, as_array(a).type.dtype) for a in arrays)
    ),
    np.result_type: lambda *kinds: np.result_type(
        *(getattr(getattr(k, "type", None), "dtype", k) for k in kinds)
    ),
}


METHODS = {
    "astype": _astype,
    "copy": _copy,
}
