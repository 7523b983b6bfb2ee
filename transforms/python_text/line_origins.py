"""Reads from the comments of an emitted module which of the user's lines each line comes from.

y = np.sin(x)  # line 3      comes from      3
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tapeless.transforms.dataclass import dataclass

#: The comment that names a line of the user, in Python or in CUDA C.
COMMENT = re.compile(r"(?:#|//) line (\d+)(, .*)?$")
HEAD = re.compile(r"\s*(?:for|while|with)\b.*[:{]$")
DEFINITION = re.compile(r'(?:def|extern "C" __global__ void) (\w+)\(')
CALL = re.compile(r"(?<![.\w])(?:in_parallel\()?(\w+)[(,]")
ALLOCATION = re.compile(r"\s*\w+ = (?:empty|scratch)\(|\s*return\b")


@dataclass(frozen=True)
class NotedLine:
    """A line of an emitted module.

    text     the line
    current  the user's line that the last comment of the same function names; 0 where none does
    noted    whether the line has that comment itself
    """

    text: str
    current: int
    noted: bool


def noted_lines(text: str) -> list[NotedLine]:
    """The lines with the comments in force; a function begins at the left margin, with none.

    >>> text = "def f(x):\\n    y = x + 1  # line 3\\n    z = 2 * y"
    >>> [line.current for line in noted_lines(text)]
    [0, 3, 3]
    """
    lines, current = [], 0
    for line in text.splitlines():
        if re.match(r"[^\s)}]", line):
            current = 0
        comment = COMMENT.search(line.rstrip())
        current = int(comment[1]) if comment else current
        lines.append(NotedLine(line, current, comment is not None))
    return lines


def line_origins(text: str) -> list[tuple[int, ...]]:
    """For each line the user's lines that it belongs to, in order.

    A loop that has no comment belongs to what its body does, the head of a function to all that the
    function does, and a call of a function of the module to what that one does. Allocations and the
    return of results belong to no line unless their comment says so.

    >>> kernel = "def k(x):\\n    for i in r:\\n        x[i] = 1  # line 3\\n"
    >>> line_origins(kernel + "def f(x):\\n    k(x)")
    [(3,), (3,), (3,), (3,), (3,)]
    """
    lines = noted_lines(text)
    origins = [_own(line) for line in lines]
    for k in reversed(range(len(lines))):
        if HEAD.match(lines[k].text) and not lines[k].noted:
            origins[k] = _union(origins[j] for j in _body(lines, k))
    called: dict[str, tuple[int, ...]] = {}
    for k, line in enumerate(lines):
        definition = DEFINITION.match(line.text)
        names = CALL.findall(line.text) if not definition and not line.noted else []
        if functions := [called[name] for name in names if called.get(name)]:
            origins[k] = _union(functions)
        if definition:
            called[definition[1]] = _union(origins[j] for j in _body(lines, k))
    for k, line in enumerate(lines):
        if definition := DEFINITION.match(line.text):
            origins[k] = _union(origins[j] for j in _body(lines, k))
    return origins


def _own(line: NotedLine) -> tuple[int, ...]:
    code = re.search(r"\w", COMMENT.sub("", line.text)) or line.noted
    if not line.current or not code or (ALLOCATION.match(line.text) and not line.noted):
        return ()
    return (line.current,)


def _body(lines: Sequence[NotedLine], head: int) -> Iterator[int]:
    """The lines that are deeper than a head, up to the first that is not."""
    depth = _depth(lines[head].text)
    for k in range(head + 1, len(lines)):
        text = lines[k].text
        if text.strip() and _depth(text) <= depth and not re.match(r"\s*[)}]", text):
            return
        yield k


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _union(origins: Iterator[tuple[int, ...]] | Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({n for numbers in origins for n in numbers}))
