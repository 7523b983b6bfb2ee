"""Derives what is known where a test goes one way, so that two uses under tests can exclude each
other.

    if x > 0: ...            x > 0, not x < 0, not x == 0
    if not (a or b): ...     not a, not b
    if mode == 2: ...        mode is 2
    if i == n: ...           this pass of a loop over i, and no other

Tests that are not among these are taken to be independent.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives import comparisons_and_rounding
from tapeless.transforms.random_keys.value_numbering import Numbers

Facts = frozenset[tuple[int, Any]]  # values, and what they are known to be

ALL = frozenset("<=>")
#: In which cases a comparison is true; with nan it is false in none of them.
TRUE = {
    comparisons_and_rounding.less: frozenset("<"),
    comparisons_and_rounding.less_equal: frozenset("<="),
    comparisons_and_rounding.greater: frozenset(">"),
    comparisons_and_rounding.greater_equal: frozenset(">="),
    comparisons_and_rounding.equal: frozenset("="),
    comparisons_and_rounding.not_equal: frozenset("<>"),
}
MIRRORED = {"<": ">", "=": "=", ">": "<"}


def facts(numbers: Numbers, test: int, way: bool) -> Facts:
    """What is known where a test goes this way."""
    implied: Facts = frozenset({(test, way)})
    op, args = numbers.logic.get(test, (None, ()))
    if op is comparisons_and_rounding.logical_not:
        return implied | facts(numbers, args[0], not way)
    if op is (comparisons_and_rounding.logical_and if way else comparisons_and_rounding.logical_or):
        return implied.union(*(facts(numbers, a, way) for a in args))
    if op in TRUE:
        a, b = args
        return implied | _facts_of_comparison(numbers, op, a, b, way)
    if test in numbers.choices:
        by, a, b = numbers.choices[test]
        if numbers.is_known(a, not way):
            return implied | facts(numbers, by, False) | facts(numbers, b, way)
        if numbers.is_known(b, not way):
            return implied | facts(numbers, by, True) | facts(numbers, a, way)
    return implied


def _facts_of_comparison(numbers: Numbers, op: Op, a: int, b: int, way: bool) -> Facts:
    holds = TRUE[op]
    if a > b:
        a, b, holds = b, a, frozenset(MIRRORED[case] for case in holds)
    implied: set[tuple[int, Any]] = set()
    implied |= {(numbers.number((case, a, b)), False) for case in (ALL - holds if way else holds)}
    if way and len(holds) == 1:
        implied |= {(numbers.number((case, a, b)), True) for case in holds}
    if (op is comparisons_and_rounding.equal) is way and op in (
        comparisons_and_rounding.equal,
        comparisons_and_rounding.not_equal,
    ):
        for x, y in ((a, b), (b, a)):
            if y in numbers.literals:
                implied.add((numbers.number(("is", x)), numbers.literals[y]))
            if x in numbers.passes:  # one pass of a loop has this index
                loop, k = numbers.passes[x]
                implied.add((numbers.number(("pass", loop, y)), k))
    return frozenset(implied)


def contradict(a: Facts, b: Facts) -> bool:
    """Whether both cannot hold in one run."""
    values: dict[int, set[Any]] = {}
    for number, value in a:
        values.setdefault(number, set()).add(value)
    return any(values.get(number, {value}) != {value} for number, value in b)
