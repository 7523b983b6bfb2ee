"""Holds and checks the options of `jit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tapeless.staging.emitted_names import base_name
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Options:
    """What `jit` was asked for."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    fastmath: bool | None = None
    boundscheck: bool = True
    parallel: bool = True
    donate_argnums: tuple[int, ...] = ()

    def check(self, fun: Callable[..., Any]) -> None:
        """Refuses what the function has no argument for."""
        for option in ("fastmath", "boundscheck", "parallel"):
            value = getattr(self, option)
            accepted = (True, False, None) if option == "fastmath" else (True, False)
            if not any(value is taken_value for taken_value in accepted):
                *first, last = map(str, accepted)
                raise ArgumentTypeError(
                    f"jit: {option} is {value!r}", f"pass {', '.join(first)} or {last}"
                )
        if not (self.static_argnums or self.static_argnames or self.donate_argnums):
            return
        try:
            parameters = inspect.signature(fun).parameters.values()
        except (TypeError, ValueError):
            return  # of C, say: the call tells
        kinds = [p.kind for p in parameters]
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            self.check_positions(base_name(fun), sum(k in POSITIONAL for k in kinds))
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            self.check_names(base_name(fun), [p.name for p in parameters if p.kind in BY_NAME])

    def check_positions(self, name: str, count: int) -> None:
        for option in ("static_argnums", "donate_argnums"):
            for k in getattr(self, option):
                if not -count <= k < count:
                    raise ArgumentError(
                        f"jit: {option} has {k}, but {name} takes {count} by position",
                        "positions count from 0",
                    )

    def check_names(self, name: str, option_names: list[str]) -> None:
        for k in self.static_argnames:
            if k not in option_names:
                raise ArgumentError(
                    f"jit: static_argnames has {k!r}, but {name} has no argument of this name",
                    f"it has {', '.join(option_names) or 'none'}",
                )
