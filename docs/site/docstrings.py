"""Turns docstrings of this package into Markdown.

fun   returns one number    becomes  a list of parameters
>>> f(2.0)                  becomes  a block of code
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

CODE = re.compile(r"(`[^`]*`)")
PARAMETER = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: {2,}(\S.*)|)$")


def to_markdown(docstring: str) -> str:
    """The Markdown of a docstring whose indentation is removed."""
    return "\n\n".join(map(_block, _paragraphs(docstring.splitlines())))


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines between blank ones."""
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _block(lines: list[str]) -> str:
    if lines[0].startswith(">>>"):
        return "\n".join(["```pycon", *lines, "```"])
    if all(line.startswith("    ") for line in lines):
        return "\n".join(["```text", *(line[4:] for line in lines), "```"])
    if any(_names(line) for line in lines[:1]) and _described(lines):
        return "\n".join(_parameters(lines))
    return _escaped("\n".join(lines))


def _escaped(prose: str) -> str:
    """Prose whose only markup is code between backticks."""
    parts = CODE.split(prose)
    parts[::2] = [re.sub(r"([\\*_<\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _names(line: str) -> str:
    """The parameters that a line describes."""
    match = PARAMETER.match(line)
    return match[1] if match else ""


def _described(lines: list[str]) -> bool:
    """Whether names stand at the left, and what they mean at the right, in a column."""
    return "  " in lines[0].strip() or (len(lines) > 1 and lines[1].startswith("   "))


def _parameters(lines: list[str]) -> Iterator[str]:
    for line in lines:
        match = None if line.startswith(" ") else PARAMETER.match(line)
        if match:
            names = ", ".join(f"`{name}`" for name in match[1].split(", "))
            yield f"- {names}: {_escaped(match[2] or '')}".rstrip()
        else:
            yield f"    {_escaped(line.strip())}"
