"""Raises `NeedStatic` where Python must know the value of a number or array; the staged run decides
what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import NeedStatic, atom_of_size
from tapeless.transforms.core.language import Literal
from tapeless.transforms.frontend.arrays.operators import Operators
from tapeless.transforms.ops.primitives.identities import known_number

#: The end of the text by which a symbol is seen in the texts of objects that hold it.
SHOWN_AS = "known when the program runs>"


class Unknown(Operators):
    """A value that is known only when the program runs."""

    __slots__ = ()

    def _need(self, why: str) -> Any:
        value = self.value()
        if isinstance(value, Literal):
            return value.value
        return builder.static(value, why)

    def read_as_number(self, why: str) -> Any:
        """A number on its way to code that is not staged, behind which it has no derivative."""
        return known_number(self.value(), why)

    def __bool__(self) -> bool:
        return bool(self._need("Python needs to know whether this is true"))

    def __index__(self) -> int:
        if self.type.dtype.kind not in "iub" or self.type.shape:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        if self.type.dtype.kind == "b" and not self.type.weak:
            raise TypeError("'numpy.bool' object cannot be interpreted as an integer")
        return int(self._need("Python needs this integer"))

    def __int__(self) -> int:
        return int(self._need("int() needs the value"))

    def __float__(self) -> float:
        return float(self.read_as_number("float() needs the value"))

    def __complex__(self) -> complex:
        return complex(self.read_as_number("complex() needs the value"))

    def __len__(self) -> int:
        shape = self.type.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return int(builder.static(atom_of_size(shape[0]), "Python needs this length"))

    def __iter__(self) -> Iterator[Any]:
        if not self.type.shape:
            raise TypeError("iteration over a 0-d array")
        array: Any = self
        return (array[k] for k in range(len(array)))  # what it holds by then

    def __hash__(self) -> int:
        if self.type.shape:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self._need("a dictionary or set needs this value"))

    def __array__(self, /, *args: Any, **kwargs: Any) -> Any:
        raise NeedStatic(self.value(), "a function without a rule needs the elements of this array")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NeedStatic(self.value(), "a function without a rule needs what this is made of")

    def __repr__(self) -> str:
        return f"<{self.type} {SHOWN_AS}"

    def __str__(self) -> str:
        return str(self.read_as_number("text needs this value"))

    def __format__(self, spec: str) -> str:
        return format(self.read_as_number("text needs this value"), spec)
