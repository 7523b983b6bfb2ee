"""Interleaves long dependence chains of words, as ciphers compute them: a loop runs several chains
at a time.

    br label %head      becomes      br label %head, !llvm.loop !{width 16, 2 vectors}

LLVM sizes vectors by what a loop loads and stores: words that end up in doubles fill half of them.
And of long bodies it takes one vector at a time, though each step waits for the one before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

SHIFTS = 16  # to the right, from which a chain is long
CHAINS = 4  # vectors at a time; registers last for no more
WIDTH = 16  # words that two AVX2 vectors hold
LABEL = re.compile(r"^([\w.$-]+):")
BACK = re.compile(r"^  br label %([\w.$-]+)(, !llvm\.loop !\d+)?$")
CALL = re.compile(
    r"call (float|double|\{[^}]*\}) @(?!llvm\.)"
)  # its vectors have a width of their own
END = re.compile(r"= icmp slt i64 [^,]+, (\d+)$")  # of a loop of so many passes
BEGIN = re.compile(r"^define .*?@([\w.$-]+)\(")
INLINED = re.compile(r"call \w+ @([\w.$-]+)\(.*\) #(\d+)$")
FORCED = re.compile(r"^attributes #(\d+) = \{ alwaysinline \}$", re.MULTILINE)


def add_interleave_hints(text: str) -> str:
    """The text of a module, with what LLVM is to do with such loops."""
    if " lshr " not in text:
        return text
    width = 0 if CALL.search(text) else WIDTH
    hints = {"vectorize.width": width, "interleave.count": CHAINS // 2 if width else CHAINS}
    lines = text.split("\n")
    loops = list(_loops(lines, _shifts(lines, set(FORCED.findall(text)))))
    if not loops:
        return text
    number = len(lines)  # of a node of metadata, larger than all there are
    for _, last in loops:
        lines[last] = f"{lines[last].partition(',')[0]}, !llvm.loop !{number}"
        nodes = [f'!{{!"llvm.loop.{k}", i32 {n}}}' for k, n in hints.items() if n]
        lines.append(f"!{number} = distinct !{{!{number}, {', '.join(nodes)}}}")
        number += 1
    return "\n".join(lines)


def _shifts(lines: list[str], forced: set[str]) -> list[int]:
    """How many shifts a line amounts to, with those of a function that is inlined there."""
    bodies: dict[str, range] = {}
    name, start = "", 0
    for k, line in enumerate(lines):
        if begin := BEGIN.match(line):
            name, start = begin[1], k
        elif line == "}":
            bodies[name] = range(start, k)

    @functools.cache
    def weight(k: int) -> int:
        call = INLINED.search(lines[k])
        if call and call[2] in forced and call[1] in bodies:
            return sum(map(weight, bodies[call[1]]))
        return int(" lshr " in lines[k])

    return list(map(weight, range(len(lines))))


def _loops(lines: list[str], shifts: list[int]) -> Iterator[tuple[int, int]]:
    """First and last line of each innermost loop that has a long chain."""
    labels: dict[str, int] = {}
    latest = -1
    for k, line in enumerate(tuple(lines)):
        if label := LABEL.match(line):
            labels[label[1]] = k
        elif line == "}":
            labels, latest = {}, k
        elif (back := BACK.match(line)) and labels.get(back[1], -1) > latest:
            first, latest = labels[back[1]], k
            if sum(shifts[first:k]) >= SHIFTS and not _is_short(lines[first:k]):
                yield first, k


def _is_short(body: list[str]) -> bool:
    """Whether a loop makes fewer passes than a vector has words: LLVM would say that it cannot."""
    test = next((end for line in body if (end := END.search(line))), None)
    return test is not None and int(test[1]) < WIDTH
