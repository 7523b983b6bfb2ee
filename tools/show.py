"""Prints source on standard output: highlighted on a terminal, plain in a pipe."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.syntax import Syntax


def show_source(source: str) -> None:
    """Print Python source."""
    if sys.stdout.isatty():
        text = Syntax("", "python", theme="ansi_dark").highlight(source)
        Console().print(text, soft_wrap=True, end="")
    else:
        sys.stdout.write(source if source.endswith("\n") else source + "\n")
