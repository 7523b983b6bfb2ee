"""Casts values that are stored into an array of another dtype, as NumPy lets one.

x[0] = z[0]      is      x[0] = np.float64(z[0])      and warns; x[0] = 1j is a TypeError
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Literal, Type
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.ops.primitives.comparisons_and_rounding import trunc
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import cast, cast_to

Dtype = np.dtype[Any]
READER = {"f": "float", "i": "int", "u": "int"}


def cast_for_store(value: Any, dtype: Dtype) -> Any:
    """The value of a store into an array of this dtype: of NumPy's complex numbers the real parts.
    Python's are an error."""
    new: Atom = as_array(value, dtype if dtype.kind in READER and _are_integers(value) else None)
    if new.type.dtype.kind != "c" or dtype.kind == "c":
        return new
    refuse_complex(value, dtype)
    return cast(new, dtype=dtype)


def refuse_complex(value: Any, dtype: Dtype) -> None:
    """A TypeError for complex numbers of Python's where real ones are needed."""
    if dtype.kind in READER and any(t.weak and t.dtype.kind == "c" for t in _types(value)):
        raise TypeError(f"{READER[dtype.kind]}() argument must be a real number, not 'complex'")


def as_elements(value: Any, dtype: Dtype, numpys: bool = True) -> Any:
    """The numbers that a store puts into elements of integers: signed ones take what int() gives,
    so that nan, and what they do not hold, are errors; unsigned ones do so with Python's numbers,
    and wrap NumPy's around, as both do with arrays (and stores to places of a list, `numpys` false,
    with all of NumPy's numbers)."""
    if isinstance(value, (list, tuple)):
        return [as_elements(v, dtype, numpys) for v in value]
    number = atom(value)
    have = number.type
    if have.shape or have.dtype.kind not in "iuf" or dtype.kind not in "iu":
        return value
    if not (have.weak or (numpys and dtype.kind == "i")):
        return value
    if have.dtype.kind in "iu" and (have.weak or np.can_cast(have.dtype, dtype)):
        return value
    whole = trunc(number) if have.dtype.kind == "f" else number
    return cast(whole, dtype=INT.dtype, python=True)


def cast_by_rule(value: Any, dtype: Dtype, rule: str) -> Any:
    """The value in this dtype, as far as a casting rule allows; of Python's numbers what a store
    allows."""
    have = as_array(value)
    if not (isinstance(value, (list, tuple)) or have.type.weak):
        check(have.type, dtype, rule, "array data")
        return cast_to(have, dtype)
    if have.type.weak and rule != "safe":
        check(have.type, dtype, rule, "scalar")
    for number in leaves(value):
        check_bounds(number, dtype)
    return cast_to(cast_for_store(value, dtype), dtype)


def check(kind: Type, dtype: Dtype, rule: str, what: str) -> None:
    """A TypeError where a casting rule does not let numbers of this type become the dtype."""
    if kind.weak and kind.dtype.kind != "b":
        have = np.result_type(dtype, kind.dtype.type(0).item())  # Python's adapt
    else:
        have = kind.dtype
    if not np.can_cast(have, dtype, rule):  # type: ignore[arg-type]  # a casting rule by its name
        by = "with casting rule" if what.startswith("ufunc") else "according to the rule"
        raise TypeError(f"Cannot cast {what} from {have!r} to {dtype!r} {by} '{rule}'")


def leaves(value: Any) -> Iterator[Atom]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    else:
        yield atom(value)


def _are_integers(value: Any) -> bool:
    """Whether a value is a list of Python's integers, which arrays take or refuse."""
    listed = isinstance(value, (list, tuple))
    return listed and all(t.dtype.kind == "i" and not t.shape for t in _types(value))


def _types(value: Any) -> Iterator[Type]:
    return (a.type for a in leaves(value))


def check_bounds(number: Atom, dtype: Dtype) -> None:
    """An OverflowError where a constant of Python's is no integer of the dtype."""
    value = number.value if isinstance(number, Literal) else None
    if type(value) is int and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype}")
