"""Decides whether statements of C store to an element before they read it, on all paths.

x[i] = 1.0;
x[i] = 0.5 * x[i];      stored first: nobody needs what the element held before

x[i] += 1.0;            read: what it held must be loaded
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

LOOP = re.compile(r"(for|while|do)\b")


class First(Enum):
    """What statements do first to an element; LEFT: they may end without having stored to it."""

    STORED, READ, LEFT, NOTHING = range(4)


def is_stored_first(array: str, lines: Sequence[str]) -> bool:
    """Whether no path reads the elements of an array, or comes to an end, before it has stored.

    lines  statements, one a line, in which all elements of the array are one

    >>> is_stored_first("x", ["if (a > 0) {", "  x[i] = a;", "} else {", "  x[i] = 0;", "}"])
    True
    >>> is_stored_first("x", ["if (a > 0) x[i] = a;"])
    False
    """
    code = [line.partition("//")[0].strip() for line in lines]
    return _Paths(array, code).block(0, in_loop=False)[0] is First.STORED


class _Paths:
    def __init__(self, array: str, code: Sequence[str]) -> None:
        self.code = code
        self.store = re.compile(rf"{array}\[\w+\] = (?!.*\b{array}\[)")
        self.place = re.compile(rf"\b{array}\[")

    def block(self, k: int, in_loop: bool) -> tuple[First, int]:
        """What the lines from k on do, and where the block that they belong to ends."""
        first = First.NOTHING
        while k < len(self.code) and not self.code[k].startswith("}"):
            does, k = self.statement(k, in_loop)
            first = does if first is First.NOTHING else first
        return first, k

    def statement(self, k: int, in_loop: bool) -> tuple[First, int]:
        """What a statement does, and the line behind it."""
        head = self.code[k]
        if not head.endswith("{"):
            return self.simple(head, in_loop), k + 1
        heads, arms = [head], []
        while heads[-1].endswith("{"):  # } else {
            arm, k = self.block(k + 1, in_loop or LOOP.match(head) is not None)
            arms.append(arm)
            heads.append(self.code[k])
        if any(map(self.place.search, heads)):
            return First.READ, k + 1
        complete = head == "{" or (head.startswith("if ") and len(arms) > 1)
        return _join_arms(arms if complete else [*arms, First.NOTHING]), k + 1

    def simple(self, line: str, in_loop: bool) -> First:
        """What a line does."""
        if self.store.match(line):
            return First.STORED
        if self.place.search(line):
            return First.READ
        leaves = "goto|return" if in_loop else "goto|return|continue|break"
        return First.LEFT if re.search(rf"\b({leaves})\b", line) else First.NOTHING


def _join_arms(arms: Sequence[First]) -> First:
    """What a statement does of which one arm is run."""
    if len({*arms}) == 1:
        return arms[0]
    return First.READ if First.READ in arms else First.LEFT
