r"""Drops lines of a driver in C that set a variable which nothing reads.

const i64 n = x_0 + 1;      becomes      nothing, if no other line names n

>>> without_unread(["  const i64 n = x_0;", "  double y = 0.0;", "  y += 1.0;", "  *out = x_0;"])
['  *out = x_0;']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tapeless.transforms.c_text.renaming import without_texts, words

DECLARED = re.compile(r" *(?:const )?(?:unsigned |signed )?\w+\*? (\w+) = [^;]*;")
SET = re.compile(r" *(\w+) (?:[-+]?=) [^;]*;|\s*(\w+)(?:\+\+|--);")


def without_unread(lines: Sequence[str]) -> list[str]:
    """The lines, as long as some go. Expressions in a driver have no effects; a call that may fail
    is tested in the next line."""
    kept = list(lines)
    while True:
        declared = {name for line in kept if (name := _declared_variable(line))}
        named = Counter(name for line in kept for name in words(_code(line)) - {_set(line)})
        dead = {name for name in declared if not named[name]}
        if not dead:
            return kept
        kept = [line for line in kept if _set(line) not in dead]


def _code(line: str) -> str:
    return without_texts(line)


def _declared_variable(line: str) -> str:
    """The variable that a line declares."""
    m = DECLARED.fullmatch(_code(line).rstrip())
    return m[1] if m else ""


def _set(line: str) -> str:
    """The variable that a line sets, and does nothing else."""
    m = SET.fullmatch(_code(line).rstrip())
    return _declared_variable(line) or ((m[1] or m[2]) if m else "")


def read_by(lines: Iterable[str]) -> set[str]:
    """The names in lines."""
    return {name for line in lines for name in words(_code(line))}
