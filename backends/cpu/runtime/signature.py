"""Describes what a kernel is compiled for: dtype, rank and layout of arrays, types of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentTypeError

NAMES = "? i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 c8 c16"
DTYPES = tuple(np.dtype(name) for name in NAMES.split())
TWINS = {float: np.float64, int: np.int64, bool: np.bool_, complex: np.complex128}
PYTHON: dict[type, type] = {numpy: python for python, numpy in TWINS.items()}
NUMBERS = frozenset({float, int, bool, complex, *(d.type for d in DTYPES)})


@dataclass(frozen=True)
class ArrayType:
    """An array argument. The layout is C or F where the memory is contiguous, else A."""

    dtype: np.dtype[Any]
    ndim: int
    layout: str
    readonly: bool = False
    aligned: bool = True

    def __str__(self) -> str:
        axes = [":"] * self.ndim
        if self.layout == "C" and axes:
            axes[-1] = "::1"
        elif self.layout == "F":
            axes[0] = "::1"
        marks = ["readonly "] * self.readonly + ["unaligned "] * (not self.aligned)
        return f"{''.join(marks)}{self.dtype.name}[{', '.join(axes)}]"


@dataclass(frozen=True)
class NumberType:
    """A number; `kind` is its type, or that of Python which means the same, if not `exact`. The
    place of a row is never negative."""

    kind: type
    exact: bool = False
    place: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.kind)

    def __str__(self) -> str:
        name = f"np.{self.dtype.name}" if issubclass(self.kind, np.generic) else self.kind.__name__
        return "row" if self.place else f"exactly {name}" if self.exact else name


@dataclass(frozen=True)
class GeneratorType:
    """A generator of random numbers: NumPy's `Generator`, of any bit generator."""

    def __str__(self) -> str:
        return "Generator"


@dataclass(frozen=True)
class CallForm:
    """How a function of numbers passes its arguments to a kernel, and what it returns.

    order    of each argument of the kernel, the place among those of the function
    results  of each result, the place among those of the kernel, and the type of NumPy that it is
             converted to
    single   whether it returns one number, not a tuple
    """

    order: tuple[int, ...]
    results: tuple[tuple[int, str | None], ...]
    single: bool


Argument = ArrayType | NumberType | GeneratorType
Signature = tuple[Argument, ...]


def signature(args: tuple[Any, ...], split: bool = False) -> Signature:
    """The signature of a call with arguments that are `plain`. Kernels that work on some of the
    rows (`split`) get the first of these and the one after the last."""
    if split:
        return (NumberType(int, place=True), NumberType(int, place=True), *map(_argument, args[2:]))
    return tuple(map(_argument, args))


def _argument(x: Any) -> Argument:
    if _draws(x):
        return GeneratorType()
    if not isinstance(x, np.ndarray):
        return NumberType(PYTHON.get(type(x), type(x)))
    flags = x.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return ArrayType(x.dtype, x.ndim, layout, not flags.writeable, flags.aligned)


def plain(x: Any) -> Any:
    """The argument as compiled code takes it: the same memory, of class ndarray and a dtype that
    has one name only; arrays without axes are numbers. Raises TypeError for what compiled code
    cannot take."""
    if type(x) is np.ndarray or (  # this first: importing np.ma takes long
        isinstance(x, np.ndarray) and not isinstance(x, np.ma.MaskedArray)
    ):
        x = x.view(np.ndarray)
        if x.dtype in DTYPES:  # equal: long and long long, or a copy of a dtype
            x = x.view(DTYPES[DTYPES.index(x.dtype)])
            return x if x.ndim else x[()]
    elif type(x) in NUMBERS or _draws(x):
        return x
    elif isinstance(x, np.number) and x.dtype in DTYPES:  # long long, where it equals long
        return DTYPES[DTYPES.index(x.dtype)].type(x)
    raise ArgumentTypeError(
        f"compiled code takes numbers and arrays of booleans, integers and floats in the machine's "
        f"byte order, not {_describe(x)}",
        "convert it first, with astype say",
    )


def _draws(x: Any) -> bool:
    """Whether compiled code draws from a value."""
    return is_generator(x) and isinstance(x, np.random.Generator)


def _describe(x: Any) -> str:
    is_array = isinstance(x, np.ndarray)
    return f"{type(x).__name__} of {x.dtype.str}" if is_array else type(x).__name__
