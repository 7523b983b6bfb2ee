"""Breaks long lines of C where a person would: behind the head of a loop, or outermost operators.

f(first, second);  // line 3      becomes        f(first,  // line 3
                                                     second);
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WIDTH = 100
HEAD = re.compile(r"\s*(?:for|if|while) \(")
CUT = re.compile(r"(?:[,;]|(?<= )(?:&&|\|\||[-+*/%&|?:]|[-+*/%]?=)) (?=\S)")
STRING, MASK = re.compile(r'"(?:[^"\\\n]|\\.)*"'), "\ue000"
MASKED = re.compile(f"{MASK}+")
#: How weakly operators bind; after an assignment lines are broken last.
LEVELS = {
    ";": 0,
    ",": 0,
    "?": 1,
    ":": 1,
    "||": 2,
    "&&": 3,
    "|": 4,
    "&": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
}
LAST = 8  # of an assignment


def declaration(first: str, parameters: Sequence[str], last: str) -> list[str]:
    """The head of a function, on several lines where one does not hold all parameters.

    >>> declaration("void f(", ["i64 n", "double* x"], ") {")
    ['void f(i64 n, double* x) {']
    """
    whole = f"{first}{', '.join(parameters)}{last}"
    if len(whole) <= WIDTH:
        return [whole]
    lines, current = [first], "    "
    for k, text in enumerate(parameters):
        piece = text + (", " if k + 1 < len(parameters) else last)
        if len(current) + len(piece.rstrip()) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = "    "
        current += piece
    return [*lines, current.rstrip()]


def in_width(lines: Iterable[str]) -> str:
    """Lines of C as one text, the long ones broken."""
    return "\n".join(part for line in lines for part in break_line(line))


def break_line(line: str, width: int = WIDTH) -> list[str]:
    """A line of C on several, none longer than `width` if it can be.

    >>> print(*break_line("  t = f(a, b) + g(c, d);  // line 3", width=26), sep="\\n")
      t = f(a, b) +  // line 3
          g(c, d);
    >>> print(*break_line("for (i64 i = 0; i < n; i++) f(i);", width=30), sep="\\n")
    for (i64 i = 0; i < n; i++)
      f(i);
    """
    if len(line) <= width:
        return [line]
    strings = iter(STRING.findall(line))
    masked = STRING.sub(lambda m: MASK * len(m[0]), line)
    return [MASKED.sub(lambda _: next(strings), each) for each in _broken(masked, width)]


def _broken(line: str, width: int) -> list[str]:
    """The lines of one in which strings, which are not broken, are masked."""
    if len(line) <= width:
        return [line]
    code, mark, note = line.partition("  //")
    pad = code[: len(code) - len(code.lstrip())]
    end = _end_of_head(code)
    if end:
        lines = [code[:end], *_broken(f"{pad}  {code[end:].lstrip()}", width)]
    else:
        lines = _cut(code, f"{pad}    ", width, width - len(mark + note))
    return [lines[0] + mark + note, *lines[1:]]


def _end_of_head(code: str) -> int:
    """Where the head of a loop or a test ends that has its statement on the same line; else 0."""
    depths = _depths(code)
    if not HEAD.match(code) or code.endswith("{"):
        return 0
    end = next(k for k, c in enumerate(code) if c == ")" and depths[k] == 1)
    return end + 1 if code[end + 1 :].strip() else 0


def _cut(code: str, pad: str, width: int, first: int) -> list[str]:
    """Lines that end at operators, of which the outermost come first. `first` is the width of the
    first line."""
    lines = []
    while len(code) > first:
        depths, start = _depths(code), len(code) - len(code.lstrip())
        order = {
            m.end(): (depths[m.start()], LEVELS.get(m[0].strip(), LAST), -m.end())
            for m in CUT.finditer(code, start + 1, first + 2)
        }
        if not order:
            break
        late = [k for k in order if k >= first // 3]  # an early one leaves more lines
        cut = min(late or order, key=lambda k: order[k])
        lines.append(code[:cut].rstrip())
        code, first = pad + code[cut:], width
    return [*lines, code]


def _depths(code: str) -> list[int]:
    """The brackets around each character."""
    depth, depths = 0, []
    for c in code:
        depth += c in "([{"
        depths.append(depth)
        depth -= c in ")]}"
    return depths
