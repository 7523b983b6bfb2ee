"""Moves what the user's code prints to standard error: standard output is the command's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def printing_aside() -> Iterator[None]:
    """While code of the user runs: what comes out of `tapeless view ... > page.html` is the page,
    also if the program prints."""
    with redirect_stdout(sys.stderr):
        yield
