"""Writes programs that call one function, as a user would write them: a staged run enters them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__staged__ = True

Program = Callable[..., Any]


def plain(function: Any, argument_values: dict[str, Any]) -> Program:
    """All arguments are arrays, or numbers of Python's."""
    return lambda *arrays: function(*arrays, **argument_values)


def mixed_program(
    function: Any, argument_values: dict[str, Any], args: Any, places: Any
) -> Program:
    """The arguments at `places` are arrays, all others constants."""

    def run(*arrays: Any) -> Any:
        values = list(args)
        for k in range(len(places)):
            values[places[k]] = arrays[k]
        return function(*values, **argument_values)

    return run


def storing(function: Any, argument_values: dict[str, Any], args: Any, places: Any) -> Program:
    """What a function stores to its first argument."""

    def run(*arrays: Any) -> Any:
        values = list(args)
        for k in range(len(places)):
            values[places[k]] = arrays[k]
        function(*values, **argument_values)
        return values[0]

    return run


def beside_a_weight(run: Program) -> Program:
    """A program with a number to derive it by, beside which its value goes along."""
    return lambda weight, *arrays: (weight, run(*arrays))
