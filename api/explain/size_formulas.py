"""Finds the formulas of lengths and integers of a program: what they are at all sizes of arguments.

for i in range(n - 1): y[i] = x[:i] @ x[:i]      has n - 1 passes
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeless.explain.formulas import Formulas, SizeFormula, largest
from tapeless.explain.known_numbers import KnownNumbers
from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, For, Literal, Var


class SizeFormulas(KnownNumbers):
    """The same as `KnownNumbers`, for all calls at once: formulas stand for numbers.

    table    where formulas are kept
    lengths  the formulas of the sizes of arguments
    values   those of parameters that are integers
    """

    def __init__(
        self,
        table: Formulas,
        block: Block,
        lengths: Mapping[dims.Symbol, SizeFormula],
        values: Mapping[Var, SizeFormula],
        bounded: Callable[[Size], Size] = lambda size: size,
    ) -> None:
        super().__init__(block, lengths, values, bounded)  # type: ignore[arg-type]
        self.table = table

    def length(self, size: Size) -> Any:
        number = self.size(size)
        if number is None:
            return self.table.number(0)
        number = number.or_else(0)
        certain = dims.lower_bound(size)
        return number if certain is not None and certain >= 0 else largest(number, 0)

    def size(self, size: Size) -> Any:
        exact = self.evaluate(size)
        if exact is None:
            return self.evaluate(self.bounded(size))
        if not self.table.partial[exact.place]:
            return exact
        return exact.or_else(self.evaluate(self.bounded(size)))

    def evaluate(self, size: Size) -> Any:
        terms = [
            [coefficient, *map(self.factor, factors)]
            for factors, coefficient in dims.terms_of(size)
        ]
        if any(None in term for term in terms):
            return None
        products = (functools.reduce(operator.mul, term) for term in terms)
        return functools.reduce(operator.add, products, self.table.number(0))

    def factor(self, factor: dims.Factor) -> SizeFormula | None:
        """A size, or a quotient of two, as a formula."""
        if isinstance(factor, dims.Quotient):
            sides = self.evaluate(factor.left), self.evaluate(factor.right)
            return None if None in sides else self.table.compute(factor.kind, *sides)
        if factor in self.lengths:
            return self.lengths[factor]  # type: ignore[return-value]
        return None if factor.var is None else self.number(factor.var)

    def number(self, a: Any) -> Any:
        value = super().number(a)
        return self.table.number(value) if isinstance(a, Literal) and value is not None else value

    def apply(self, ufunc: Any, numbers: list[Any]) -> Any:
        if not isinstance(ufunc, np.ufunc):
            return None
        return self.table.compute(ufunc.__name__, *numbers)

    def middle(self, loop: For) -> Any:
        return self.of_range(loop, "middle")

    def passes(self, loop: For) -> Any:
        passes = self.of_range(loop, "passes")
        return None if passes is None else passes.or_else(1)

    def of_range(self, loop: For, name: str) -> SizeFormula | None:
        """What an operator makes of the range of a loop."""
        ends = [self.number(a) for a in (loop.start, loop.stop, loop.step)]
        return None if None in ends else self.table.compute(name, *ends)
