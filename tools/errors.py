"""Defines errors of what was typed: what the command line cannot understand or carry out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tapeless import TapelessError


class UsageError(TapelessError, ValueError):
    """What was typed names nothing that exists, or is not in the form that is accepted."""


def pointing(problem: str, text: str, start: int, end: int, hint: str) -> UsageError:
    """An error that shows `text` with a caret under its columns from `start` to `end`."""
    caret = " " * start + "^" * max(1, end - start)
    return UsageError(f"{problem}\n    {text}\n    {caret}", hint)


@contextlib.contextmanager
def writing(
    path: Path, accepted: str = "a file in a folder that exists", option: str = "-o"
) -> Iterator[None]:
    """Inside, an output that cannot be written is an error of usage. Code of the user runs before
    or after that: its own errors are no ones of the output."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", f"{option} names {accepted}"
        ) from None
