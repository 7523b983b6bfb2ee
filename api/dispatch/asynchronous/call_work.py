"""Estimates how long a call takes, by the lengths of its arguments alone: the same call is always
handed over, or never.

x @ x       for a matrix of 1000 rows       2e9 operations of a library: 1.3e8 additions
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.explain.known_numbers import KnownNumbers
from tapeless.explain.work import WorkStep, WorkWalk
from tapeless.transformations.compilation.cost_analysis import PRODUCTS
from tapeless.transformations.eval_shape import known_lengths
from tapeless.transforms.core.language import Let, Type
from tapeless.transforms.emit.module import called_functions
from tapeless.transforms.lowering.placement import Placement

COSTLY = 8.0  # additions that a sine or a quotient takes as long as
PRODUCT = 1 / 16  # of an operation of a product of matrices, which libraries do in blocks
NUMBER = 8.0  # bytes that are loaded or stored in the time of an addition


class CallWork:
    """The work of one program, the lengths of its results, and what both depend on."""

    def __init__(self, specialisation: Any, placement: Placement, results: list[Type]) -> None:
        self.staged, self.placement, self.results = specialisation.staged, placement, results
        self.known_lengths = functools.partial(known_lengths, specialisation)
        self.bodies = [placement.block, *called_functions([placement.block]).values()]
        asked = self.numbers({}, {})
        self.additions(asked)
        self.shapes(asked)
        leaves = enumerate(self.staged.leaves)
        #: The leaves that lengths or loops depend on.
        self.integers = [k for k, leaf in leaves if leaf.var in asked.numbers]

    def signature(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """What the work depends on: the shapes of arguments, and integers."""
        shapes = [x.shape for x in leaves if isinstance(x, np.ndarray)]
        return (*shapes, *[leaves[k] for k in self.integers])

    def numbers_of(self, leaves: Sequence[Any]) -> KnownNumbers:
        """The lengths and integers of a call."""
        pairs = zip(self.staged.leaves, leaves, strict=True)
        values = {p.var: int(x) for p, x in pairs if p.var is not None and is_integer(x)}
        return self.numbers(self.known_lengths(leaves), values)

    def numbers(self, lengths: Any, values: Any) -> KnownNumbers:
        upper = self.placement.analysis.upper
        return KnownNumbers(self.placement.block, lengths, values, upper)

    def additions(self, numbers: KnownNumbers) -> float:
        """How long the program takes, in the time of an addition in a loop."""
        walk = WorkWalk(numbers, self.placement)
        return sum(_additions(step) for body in self.bodies for step in walk.steps(body))

    def shapes(self, numbers: KnownNumbers) -> tuple[tuple[int, ...] | None, ...]:
        """The shape of each result; None where the elements of arrays decide it."""
        lengths = ([numbers.evaluate(n) for n in kind.shape] for kind in self.results)
        return tuple(None if None in of_one else tuple(of_one) for of_one in lengths)  # type: ignore[arg-type]


def is_integer(x: Any) -> bool:
    """Whether an argument is an integer that a length or a loop may depend on."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _additions(step: WorkStep) -> float:
    s, each = step.statement, 1.0
    if isinstance(s, Let) and s.op in PRODUCTS and step.kernel is None:
        each = PRODUCT
    elif isinstance(s, Let) and s.op.costly:
        each = COSTLY
    return each * step.work.operations + step.work.bytes / NUMBER
