"""Defines every error: the user's file, line and source with a caret, what was met, and the way
out.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError


class Signal(BaseException):
    """Ends a part of staging, which is then done in another way; users never see it."""


class TapelessError(Exception):
    """Base of all errors that tapeless raises itself.

    `problem` says what was met; `hint` says one thing to do about it; `where` is the user's
    (file, line, column, end column) and is shown with the source line and a caret.
    """

    def __init__(
        self, problem: str, hint: str = "", where: tuple[str, int, int, int] | None = None
    ) -> None:
        super().__init__(problem)
        self.problem, self.hint, self.where = problem, hint, where

    def __str__(self) -> str:
        lines = [self.problem]
        if self.where is not None:
            file, line, column, end = self.where
            text = linecache.getline(file, line).rstrip("\n")
            lines.append(f'  File "{file}", line {line}')
            if text:
                shift = len(text) - len(text.lstrip())
                lines.append("    " + text.strip())
                if end > column >= shift:
                    lines.append(
                        "    "
                        + " " * (column - shift)
                        + "^" * min(end - column, len(text) - column)
                    )
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.problem, self.hint, self.where))


@contextmanager
def located(origin: Any) -> Iterator[None]:
    """Errors inside that name no line are those of the user's line `origin`."""
    try:
        yield
    except TapelessError as e:
        if e.where is None and origin is not None:
            e.where = (origin.file, origin.line, 0, 0)
        raise


class SourceError(TapelessError, TypeError):
    """The source of a function is missing or is not the one that runs."""


class UnsupportedError(TapelessError, NotImplementedError):
    """A construct or function that has no rule."""


class TooManyWaysError(UnsupportedError):
    """Tests on run-time values are inside of the sides of others, again and again."""


class ManyElementsError(UnsupportedError):
    """A batch has no program of all elements, which take ways of their own and are too many, or
    draw from generators of their own: the function can be called for each."""


class LongWayError(ManyElementsError):
    """A call that is traced does so much that its program is of no use: it can be made as it is."""


class UnevenError(UnsupportedError):
    """What differs in length between the elements of a batch is no array.

    at  the statement in which it was met, of the block that is looked at
    """

    at: Any


class NeedStaticError(TapelessError, TypeError):
    """Python needs a value while staging, and the value depends on the contents of arrays."""


class NotDifferentiableError(TapelessError, TypeError):
    """A derivative was asked of, or through, something that has none."""


class ArgumentError(TapelessError, ValueError):
    """A transformation was given bad arguments."""


class ArgumentTypeError(ArgumentError, TypeError):
    """A transformation was given arguments of the wrong type."""


class WideIntegerError(ArgumentError, OverflowError):
    """An integer argument of compiled code has more than 64 bits."""


class NoGpuError(ArgumentError, RuntimeError):
    """A GPU was asked for, and there is none that can be used."""


class OutOfMemoryError(TapelessError, MemoryError):
    """The memory of a GPU does not hold what a program needs."""


class MissingPackageError(TapelessError, ImportError):
    """An optional package is needed that is not installed."""


class ShapeError(TapelessError, ValueError):
    """Shapes that do not fit, found while staging."""


class NotSquareError(ShapeError, LinAlgError):
    """A matrix is not square, found while staging."""


class TypePromotionError(TapelessError, ValueError):
    """Different dtypes are combined, and `numpy_dtype_promotion` is "strict"."""


class StructureError(TapelessError, TypeError):
    """Branches or loop passes that end with values of different structure."""


class AliasError(TapelessError, ValueError):
    """An in-place write whose effect on other names is not known."""


class EscapeError(TapelessError, RuntimeError):
    """A symbol was kept by an outer object after its staged run ended."""


class UndefinedError(TapelessError, UnboundLocalError):
    """A variable is read that no pass or branch has set."""


class InternalError(TapelessError, RuntimeError):
    """A mistake in tapeless itself."""


class UnsetError(InternalError):
    """All elements of a batch are to have a value that is computed on one side of a branch only."""


#: What cannot be staged for all values; a trace on those of a call may do without.
TRACEABLE = (
    *(NeedStaticError, StructureError, AliasError, UndefinedError, UnsupportedError),
    ArgumentTypeError,
)
