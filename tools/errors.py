"""A request that the command line cannot understand."""

from __future__ import annotations

from tapeless import TapelessError


class UsageError(TapelessError, ValueError):
    """What was typed names nothing that exists, or is not in the form that is accepted."""


def pointing(problem: str, text: str, start: int, end: int, hint: str) -> UsageError:
    """An error that shows `text` with a caret under its columns from `start` to `end`."""
    caret = " " * start + "^" * max(1, end - start)
    return UsageError(f"{problem}\n    {text}\n    {caret}", hint)
