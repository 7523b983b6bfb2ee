"""Keeps formulas of lengths as rows of steps, which are evaluated for many lengths.

2 * n + max(n, 8)      becomes      n; 2; 2 * n; 8; max(n, 8); the third + the fifth
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

Quantity = Union[int, float, "SizeFormula"]
Step = tuple[Any, ...]  # an operator and its operands: places of earlier steps

NUMBER, SIZE, OTHERWISE = "number", "size", "otherwise"


def _range_passes(start: int, stop: int, step: int) -> int | None:
    return len(range(start, stop, step)) if step else None


def _range_middle(start: int, stop: int, step: int) -> int | None:
    if not step:
        return None
    indices = range(start, stop, step)
    return indices[len(indices) // 2] if indices else start


def _divide(number: int, by: int) -> int | None:
    return number // by if by else None


def _remainder(number: int, by: int) -> int | None:
    return number % by if by else None


#: What a step computes of numbers; None where there is no number. The script of the page that
#: `tapeless view` writes has the same table.
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "*": operator.mul,
    "//": _divide,
    "%": _remainder,
    "max": max,
    "min": min,
    "log2": math.log2,
    "passes": _range_passes,  # how many a loop over a range makes
    "middle": _range_middle,  # the index in the middle of a range
}
PARTIAL = ("//", "%", "passes", "middle")  # may give no number


class Formulas:
    """The steps of some formulas; equal steps are one.

    >>> table = Formulas()
    >>> n = table.size(0)
    >>> twice = 2 * n + largest(n, 8)
    >>> table.evaluate_at([5])(twice), table.evaluate_at([10])(twice)
    (18, 30)
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.partial: list[bool] = []  # whether a step may give no number
        self.places: dict[Step, int] = {}

    def size(self, k: int) -> SizeFormula:
        """The size with this number."""
        return self.step(SIZE, k)

    def number(self, value: float) -> SizeFormula:
        """A constant."""
        return self.step(NUMBER, int(value) if value == int(value) else value)

    def compute(self, name: str, *operands: Quantity) -> SizeFormula:
        """What an operator makes of formulas and numbers; of constants, a constant."""
        formulas = [x if isinstance(x, SizeFormula) else self.number(x) for x in operands]
        constants = [x.constant for x in formulas]
        if None not in constants and name in OPERATORS:
            value = OPERATORS[name](*constants)
            if value is not None:
                return self.number(value)
        return self.step(name, *[x.place for x in formulas])

    def step(self, name: str, *operands: Any) -> SizeFormula:
        key = (name, *operands)
        if key not in self.places:
            self.places[key] = len(self.steps)
            self.steps.append(key)
            self.partial.append(self._is_partial(name, operands))
        return SizeFormula(self, self.places[key])

    def _is_partial(self, name: str, operands: Sequence[int]) -> bool:
        if name in (NUMBER, SIZE):
            return False
        inner = [self.partial[k] for k in operands]
        if name == OTHERWISE:
            return all(inner)
        return name in PARTIAL or name not in OPERATORS or any(inner)

    def evaluate_at(self, sizes: Sequence[int]) -> Evaluation:
        """What gives the numbers of formulas for these sizes."""
        return Evaluation(self, sizes)


class Evaluation:
    """Gives the number of a formula for some sizes; None where that is no number. Numbers that are
    no formulas are themselves."""

    def __init__(self, table: Formulas, sizes: Sequence[int]) -> None:
        self.table, self.sizes = table, sizes
        self.values: list[Any] = []  # of the steps, as far as these were asked for

    def __call__(self, formula: Any) -> Any:
        if not isinstance(formula, SizeFormula):
            return formula
        while len(self.values) <= formula.place:
            self.values.append(self.value(*self.table.steps[len(self.values)]))
        return self.values[formula.place]

    def value(self, name: str, *operands: Any) -> Any:
        """What a step gives."""
        if name == NUMBER:
            return operands[0]
        if name == SIZE:
            return self.sizes[operands[0]]
        numbers = [self.values[k] for k in operands]
        if name == OTHERWISE:
            return next((x for x in numbers if x is not None), None)
        if None in numbers:
            return None
        return (
            OPERATORS[name](*numbers) if name in OPERATORS else of_ufunc(getattr(np, name), numbers)
        )


def of_ufunc(ufunc: Any, numbers: list[Any]) -> int | None:
    """What a ufunc makes of integers; None where that is no integer."""
    if not isinstance(ufunc, np.ufunc):
        return None
    with np.errstate(all="ignore"):
        value = ufunc(*numbers)
    return int(value) if np.asarray(value).dtype.kind in "iu" else None


class SizeFormula:
    """A number that depends on sizes; it is added and multiplied like one."""

    def __init__(self, table: Formulas, place: int) -> None:
        self.table, self.place = table, place

    @property
    def constant(self) -> float | None:
        """Its value where it does not depend on sizes."""
        name, *operands = self.table.steps[self.place]
        return operands[0] if name == NUMBER else None

    def __add__(self, other: Quantity) -> SizeFormula:
        if _is(other, 0):
            return self
        return self._as_formula(other) if _is(self, 0) else self.table.compute("+", self, other)

    def __mul__(self, other: Quantity) -> SizeFormula:
        if _is(other, 1):
            return self
        if _is(self, 0) or _is(other, 0):
            return self.table.number(0)
        return self._as_formula(other) if _is(self, 1) else self.table.compute("*", self, other)

    def _as_formula(self, other: Quantity) -> SizeFormula:
        return other if isinstance(other, SizeFormula) else self.table.number(other)

    def __neg__(self) -> SizeFormula:
        return self * -1

    def __sub__(self, other: Quantity) -> SizeFormula:
        return self + other * -1

    __radd__, __rmul__ = __add__, __mul__

    def or_else(self, other: Quantity | None) -> SizeFormula:
        """The same, or another where it is no number."""
        same = isinstance(other, SizeFormula) and other.place == self.place
        if other is None or same or not self.table.partial[self.place]:
            return self
        return self.table.compute(OTHERWISE, self, other)

    def __bool__(self) -> bool:
        raise TypeError("whether a formula is zero depends on sizes")


def _is(x: Quantity, number: int) -> bool:
    return (x.constant if isinstance(x, SizeFormula) else x) == number


def _apply(name: str, *operands: Quantity) -> Any:
    table = next((x.table for x in operands if isinstance(x, SizeFormula)), None)
    return OPERATORS[name](*operands) if table is None else table.compute(name, *operands)


def largest(a: Any, b: Any) -> Any:
    """The larger of two numbers or formulas."""
    return a if a is b else _apply("max", a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two numbers or formulas."""
    return a if a is b else _apply("min", a, b)


def log2(a: Any) -> Any:
    """The logarithm to base 2 of a number or formula."""
    return _apply("log2", a)
