"""Answers what x.flags says: in which order the elements of an array lie, and whether it takes
stores."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.memory_order import is_laid_out

#: The names of NumPy's flags, as attributes and as keys.
KEYS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "c_contiguous"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "f_contiguous"),
    **dict.fromkeys(("W", "WRITEABLE"), "writeable"),
    **dict.fromkeys(("A", "ALIGNED"), "aligned"),
    "FORC": "forc",
    "FNC": "fnc",
}


class ArrayFlags:
    """The flags of an array of the program."""

    __slots__ = ("array",)
    aligned = True

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def c_contiguous(self) -> bool:
        return self._lies_in("C")

    @property
    def f_contiguous(self) -> bool:
        return self._lies_in("F")

    @property
    def contiguous(self) -> bool:
        return self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def writeable(self) -> bool:
        return not self.array.frozen

    @writeable.setter
    def writeable(self, on: bool) -> None:
        self.array.setflags(write=on)

    def __getitem__(self, key: str) -> bool:
        if key not in KEYS:
            raise UnsupportedError(f"the flag {key!r} of an array", "ask for one of its order")
        return bool(getattr(self, KEYS[key]))

    def _lies_in(self, order: str) -> bool:
        verdict = is_laid_out(self.array, order)
        if verdict is None:
            raise UnsupportedError(
                "the flags of an array whose order in memory is not known",
                "take a copy first: x.copy() is in C order",
            )
        return verdict
