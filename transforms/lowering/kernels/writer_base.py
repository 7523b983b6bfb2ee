"""Collects the lines of a kernel, and the names in it."""

from __future__ import annotations

import itertools
import keyword
from dataclasses import field
from typing import Any

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import Signal
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.python_text.line_breaking import statement_lines

INDICES = "ijklmn"


class NotCompiled(Signal):
    """A run of statements has no loop form; the driver runs them.

    reason   what the writer of kernels could not do, as the user is told
    way_out  what the user can do about it; "" if the lengths of arrays are to blame
    """

    def __init__(self, reason: str = "its loops do not fit together", way_out: str = "") -> None:
        super().__init__(reason)
        self.reason, self.way_out = reason, way_out


@dataclass
class Names:
    """Names that are not taken yet; `nameless` is the stem for what the user gave no name.

    of_suites  the names made in each open suite, the outermost first
    """

    taken: set[str] = field(default_factory=set)
    nameless: str = "t"
    of_suites: list[set[str]] = field(default_factory=lambda: [set()])

    def new(self, stem: str) -> str:
        stem = stem if stem.isidentifier() else self.nameless
        for k in itertools.count(1):
            name = stem if k == 1 else f"{stem}_{k}"
            if name not in self.taken and not keyword.iskeyword(name):
                self.taken.add(name)
                self.of_suites[-1].add(name)
                return name
        raise AssertionError


class Lines:
    """What is written so far, and at which depth."""

    def __init__(self, memory: Dependences, analysis: Any, names: Names) -> None:
        self.memory, self.analysis, self.names = memory, analysis, names
        self.equal, self.canon, self.stage = analysis.equal, analysis.canon, analysis.stage
        self.lines: list[str] = []
        self.depth, self.line, self.loops = 1, "", 0
        self.indices: list[str] = []  # names of loop variables that are free again

    def put(self, text: str, origin: Any = None) -> None:
        note = ""
        if origin is not None and origin.note != self.line:
            note = self.line = origin.note
        self.lines += statement_lines(text, self.depth, note)

    def suite(self, head: str, origin: Any = None) -> Indent:
        self.put(head, origin)
        return Indent(self)

    def end_suite(self) -> None:
        """A suite has ended."""

    def index_name(self) -> str:
        """The name of a loop variable, again that of a loop which has ended."""
        stem = INDICES[self.loops % len(INDICES)]
        for name in self.indices:
            if name.partition("_")[0] == stem:
                self.indices.remove(name)
                return name
        return self.names.new(stem)


class Indent:
    """A suite of lines, one level deeper; `pass` if nothing is written."""

    def __init__(self, writer: Lines, filled: bool = True) -> None:
        self.writer, self.filled = writer, filled
        self.start = len(writer.lines)

    def __enter__(self) -> None:
        self.start = len(self.writer.lines)
        self.writer.depth += 1
        self.writer.names.of_suites.append(set())

    def __exit__(self, *_: Any) -> None:
        w = self.writer
        if self.filled and len(w.lines) == self.start:
            w.put("pass")
        w.depth -= 1
        w.names.of_suites.pop()
        w.end_suite()
