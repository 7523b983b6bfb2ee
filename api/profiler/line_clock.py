"""Adds up the time between the lines of one file, and between those that call one another."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from types import FrameType
from typing import Any

DEEPEST = 50  # calls in one another that are told apart


class Clock:
    """Adds up the time of lines, by `sys.settrace`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.seconds: defaultdict[int, float] = defaultdict(float)
        self.hits: defaultdict[int, int] = defaultdict(int)
        self.stacks: defaultdict[tuple[int, ...], float] = defaultdict(float)
        self.open: list[int] = []  # the lines that run, the outermost first

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def watch(self, call: Callable[[], Any]) -> None:
        before = sys.gettrace()
        sys.settrace(self.enter)
        try:
            call()
        finally:
            sys.settrace(before)

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """A function begins: of the file, it gets a clock of its own."""
        if frame.f_code.co_filename != self.file:
            return None
        now, since = time.perf_counter, 0.0
        line, callers = 0, tuple(self.open[:DEEPEST])

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal since, line
            if line:
                spent = now() - since
                self.seconds[line] += spent
                self.stacks[*callers, line] += spent
            if event == "line":
                line = frame.f_lineno
                self.hits[line] += 1
                self.open[len(callers) :] = [line]
            elif event == "return":
                line = 0
                del self.open[len(callers) :]
            since = now()
            return step

        return step
