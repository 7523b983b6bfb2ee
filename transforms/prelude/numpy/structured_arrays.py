"""Implements structured arrays that a function makes: an array for each of their fields.

np.zeros(n, dtype=[("a", float), ("b", int)])      is      np.zeros(n), np.zeros(n, int)

What is not here is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain code: a staged run enters it

WAY_OUT = "work with the arrays of its fields: r['name'], or keep an array for each of them"


class StructuredArray:
    """The methods of arrays with named fields that have a rule; without axes it is one record."""

    __array_ufunc__ = None  # operators of plain arrays leave it to those of this class
    __stays_inside__ = "return the arrays of its fields: r['name']"

    def __init__(self, fields: Any, dtype: Any, shape: Any) -> None:
        self.fields, self.dtype, self.shape = fields, dtype, shape

    @property
    def ndim(self) -> Any:
        return len(self.shape)

    @property
    def size(self) -> Any:
        size = 1
        for n in self.shape:
            size = size * n
        return size

    def __len__(self) -> Any:
        if not self.shape:
            return len(self.fields)
        return self.shape[0]

    def _field(self, name: Any) -> Any:
        if name not in self.fields:
            raise ValueError(f"no field of name {name}")
        field = self.fields[name]
        if isinstance(field, StructuredArray) or field.ndim:
            return field
        return field[()]  # a number of a record

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(key)
        if isinstance(key, list) and key and isinstance(key[0], str):
            dtype = np.dtype([(n, self.dtype[n]) for n in key])
            return StructuredArray({n: self.fields[n] for n in key}, dtype, self.shape)
        if not self.shape:
            return self._field(self.dtype.names[key])
        place = (*(key if isinstance(key, tuple) else (key,)), ...)
        parts = {n: _part(f, place) for n, f in self.fields.items()}
        return StructuredArray(parts, self.dtype, _shape(parts, self.dtype))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.fields[key][...] = value
            return
        if not self.shape:
            self.fields[self.dtype.names[key]][...] = value
            return
        if isinstance(value, list):
            value = array(value, self.dtype)
        if isinstance(value, StructuredArray):
            parts = [value.fields[n] for n in value.dtype.names]
        elif isinstance(value, tuple):
            parts = list(value)
        else:
            parts = [value for _ in self.fields]
        for name, part in zip(self.dtype.names, parts, strict=True):
            self.fields[name][key] = part

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            yield from [self._field(n) for n in self.dtype.names]
        else:
            for k in range(self.shape[0]):
                yield self[k]

    def copy(self, order: Any = "C") -> Any:
        return StructuredArray(
            {n: f.copy() for n, f in self.fields.items()}, self.dtype, self.shape
        )

    def item(self) -> Any:
        return tuple(self)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
        """By the fields in `order`, then by the others."""
        if self.ndim != 1:
            raise UnsupportedError("a structured array of several axes is sorted", WAY_OUT)
        first = [order] if isinstance(order, str) else list(order or ())
        names = first + [n for n in self.dtype.names if n not in first]
        return np.lexsort(tuple(self.fields[n] for n in reversed(names)))

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
        places = self.argsort(axis, kind, order)
        for n in self.dtype.names:
            self.fields[n][...] = self.fields[n][places]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
        raise UnsupportedError(f".{name} of a structured array has no rule", WAY_OUT)

    def _refuse_operator(self, *_: Any) -> Any:
        raise UnsupportedError("this operator of a structured array has no rule", WAY_OUT)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _refuse_operator
    __bool__ = __float__ = __int__ = __array__ = _refuse_operator
    __hash__ = None  # type: ignore[assignment]  # arrays change


def _part(field: Any, place: Any) -> Any:
    return field[place[:-1]] if isinstance(field, StructuredArray) else field[place]


def _shape(parts: Any, dtype: Any) -> Any:
    """The axes that all fields have."""
    name = dtype.names[0]
    own = dtype[name].subdtype
    shape = parts[name].shape
    return shape if own is None else shape[: len(shape) - len(own[1])]


def _make_by(make: Any) -> Any:
    def new(shape: Any, dtype: Any = None, order: Any = "C") -> Any:
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return of_fields(make, shape, np.dtype(dtype))

    return new


def of_fields(make: Any, shape: Any, dtype: Any) -> Any:
    """A structured array whose fields `make` makes."""
    if dtype.names is None:
        own, inner = (dtype, ()) if dtype.subdtype is None else dtype.subdtype
        return make((*shape, *inner), own)
    return StructuredArray({n: of_fields(make, shape, dtype[n]) for n in dtype.names}, dtype, shape)


def array(rows: Any, dtype: Any = None, copy: Any = True) -> Any:
    """An array of records, which are tuples; one record of a tuple."""
    kind = np.dtype(dtype)
    if isinstance(rows, StructuredArray):
        return rows.copy()
    if isinstance(rows, tuple):
        parts = {n: np.array(rows[k], kind[n].base) for k, n in enumerate(kind.names)}
        return StructuredArray(parts, kind, ())
    if not isinstance(rows, list):
        raise UnsupportedError("a structured array of an array", "store its fields: r['name'] = x")
    columns = {
        n: np.array([row[k] for row in rows], kind[n].base) for k, n in enumerate(kind.names)
    }
    return StructuredArray(columns, kind, (len(rows),))


def zeros_like(a: Any) -> Any:
    return of_fields(np.zeros, a.shape, a.dtype)


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    new = a.copy()
    new.sort(axis, kind, order)
    return new


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    return a.argsort(axis, kind, order)


def copy_array(a: Any) -> Any:
    return a.copy()


#: Functions that make arrays, where their dtype has fields.
MAKERS: dict[Any, Any] = {
    np.zeros: _make_by(np.zeros),
    np.empty: _make_by(np.zeros),
    np.ones: _make_by(np.ones),
    np.array: array,
    np.asarray: array,
}
#: Functions of structured arrays.
READERS: dict[Any, Any] = {
    np.zeros_like: zeros_like,
    np.empty_like: zeros_like,
    np.sort: sort,
    np.argsort: argsort,
    np.copy: copy_array,
    np.shape: lambda a: a.shape,
    np.size: lambda a: a.size,
    np.ndim: lambda a: a.ndim,
}
