"""Branches between functions: `cond`, `switch`, `platform_dependent`."""

from __future__ import annotations

from typing import Any

from tapeless.lax.loop_body_types import (
    Sides,
    checked_branches,
    checked_cond,
    checked_index,
    checked_platform,
    checked_test,
)
from tapeless.lax.transformations import one_of

__staged__ = True  # plain NumPy code: a staged run enters it
_NOTHING = object()


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = _NOTHING) -> Any:
    """true_fun(*operands) where the test holds, else false_fun(*operands).

    pred       one boolean or number
    true_fun   operands to a tree of numbers and arrays
    false_fun  operands to a tree of the same structure, shapes and dtypes
    operands   any values

    The older form `cond(pred, true_operand, true_fun, false_operand, false_fun)` works too. Only
    one side runs, also in the derivative. Raises TypeError for a test that is not one boolean or
    number, and, in a staged run, for sides that return different types.

    >>> from tapeless import lax
    >>> lax.cond(2.0 > 1.0, lambda x: x + 1, lambda x: x - 1, 10.0)
    11.0
    """
    true_fun, false_fun, operands_of = checked_cond(
        true_fun, false_fun, operands, () if operand is _NOTHING else (operand,)
    )
    sides = Sides("cond")
    if checked_test("cond", pred):
        result = sides.note(0, true_fun(*operands_of[0]))
    else:
        result = sides.note(1, false_fun(*operands_of[1]))
    return result


def switch(index: Any, branches: Any, *operands: Any, operand: Any = _NOTHING) -> Any:
    """branches[index](*operands); an index beyond an end means the one at the end.

    index     one integer
    branches  functions of the operands, to trees of one structure, shapes and dtypes
    operands  any values

    Only one branch runs, also in the derivative. Raises TypeError for an index that is not one
    integer, ValueError where there are no branches.

    >>> from tapeless import lax
    >>> lax.switch(1, [lambda x: x, lambda x: 2 * x, lambda x: 3 * x], 10.0)
    20.0
    """
    branches = checked_branches(branches)
    if operand is not _NOTHING:
        operands = (operand,)
    sides = Sides("switch")
    calls = [_note_result(sides, k, branch, operands) for k, branch in enumerate(branches)]
    return one_of(checked_index("switch", index, "index"), calls)


def _note_result(sides: Any, k: int, branch: Any, operands: Any) -> Any:
    return lambda: sides.note(k, branch(*operands))


def platform_dependent(*args: Any, default: Any = None, **per_platform: Any) -> Any:
    """The function for the platform that the program runs on, which is "cpu".

    args          what it is called with
    default       the function for platforms that are not named
    per_platform  functions by platform

    Raises NotImplementedError where there is none.

    >>> from tapeless import lax
    >>> lax.platform_dependent(2.0, cpu=lambda x: 2 * x, default=lambda x: x)
    4.0
    """
    chosen = per_platform.get("cpu", default)
    checked_platform(chosen)
    return chosen(*args)
