"""Marks the arguments of a compiled function whose values the program is made for."""

from __future__ import annotations

from typing import Any

from tapeless.staging.argument_checks import checked_argnums


class Constant:
    """An argument whose value the program is made for."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def unwrap_static(x: Any) -> Any:
    return x.value if isinstance(x, Constant) else x


def checked_positions(positions: Any, what: str) -> tuple[int, ...]:
    numbers = checked_argnums(() if positions is None else positions, "jit", what)
    return numbers if isinstance(numbers, tuple) else (numbers,)
