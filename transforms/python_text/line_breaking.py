"""Breaks long lines where a person would: at the outermost operators or commas.

>>> print(*wrap("x_bar = first_term * factor + second_term", width=30), sep="\\n")
x_bar = (
    first_term * factor
    + second_term
)
"""

from __future__ import annotations

import itertools
import re

WIDTH = 99
OPERATORS = (r" if (?=.* else )| else ", " or ", " and ", r" [+-] ", r" (?:[*/@%]|//) ")
KEY = r"""(?:"[^"]*"|'[^']*'|[^\s()\[\]{}'"]+)"""
PIECES = re.compile(rf"(?:[-+*/@%]|//|or|and|if|else) |{KEY}: |\w+=")
KEYWORDS = re.compile(r"(?:return|if|elif|while) ")
STRING = re.compile(r"""([rf]*)(["'])((?:\\.|(?!\2)[^\\])*)\2""")
ASSIGNMENT = re.compile(r" (?:[-+*/@%|&^]|//|\*\*|<<|>>)?= ")


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """The lines of a statement (or of its first line), none longer than `width` if it can be."""
    if len(line) <= width:
        return [line]
    pad = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    tail = ":" if text.endswith(":") else ""
    text = text[: len(text) - len(tail)]
    head = _head(text)
    rest = text[len(head) :]
    if head and len(pad + head) < width - 8 and _pieces(rest):
        return [
            f"{pad}{head}(",
            *_break_inside(rest, pad + "    ", width, _is_tuple(head, rest)),
            f"{pad}){tail}",
        ]
    if _brackets(rest) and len(pad + head) < width - 8:
        return _group(head, rest, tail, pad, width)
    return _group("", text, tail, pad, width)


def _is_tuple(head: str, text: str) -> bool:
    """Whether several results are returned: one a line."""
    return head == "return " and _pieces(text)[0].endswith(",")


def _head(text: str) -> str:
    """What comes before the value of a statement."""
    keyword = KEYWORDS.match(text)
    if keyword:
        return keyword.group()
    level = _levels(text)
    ends = (m.end() for m in ASSIGNMENT.finditer(text) if level[m.start()] == 0)
    return text[: next(ends, 0)]


def _break_inside(text: str, pad: str, width: int, apart: bool = False) -> list[str]:
    """Text within brackets, cut at its outermost operators or commas if too long (or `apart`)."""
    if len(pad) + len(text) <= width and not apart:
        return [pad + text]
    pieces = _pieces(text)
    if len(pieces) < 2:
        return _strings(text, pad, width) or _group("", text, "", pad, width)
    if pieces[0].endswith(",") and not pieces[-1].endswith(","):
        pieces[-1] += ","
    return [line for piece in pieces for line in _piece(piece, pad, width)]


def _piece(text: str, pad: str, width: int) -> list[str]:
    if len(pad) + len(text) <= width:
        return [pad + text]
    tail = "," if text.endswith(",") else ""
    piece = PIECES.match(text)
    head = piece.group() if piece else ""
    rest = text[len(head) : len(text) - len(tail)]
    more = _pieces(rest)
    if len(more) < 2 or _brackets(rest):
        return _group(head, rest, tail, pad, width)
    return [
        pad + head + more[0],
        *(f"{pad}    {each}" for each in more[1:-1]),
        f"{pad}    {more[-1]}{tail}",
    ]


def _strings(text: str, pad: str, width: int) -> list[str]:
    """The lines of a string within brackets: several strings that follow each other are one."""
    literal = STRING.fullmatch(text)
    if not literal:
        return []
    prefix, quote, inner = literal.groups()
    room = width - len(pad + prefix) - 2 * len(quote)
    lines = [""]
    for word in _words(inner, "f" in prefix):
        if lines[-1] and len(lines[-1] + word) > room:
            lines.append("")
        lines[-1] += word
    return [f"{pad}{prefix}{quote}{line}{quote}" for line in lines]


def _words(text: str, formatted: bool) -> list[str]:
    """The text cut after its spaces, but not inside what an f-string computes."""
    depth, cuts = 0, [0]
    for k, c in enumerate(text):
        depth += ((c == "{") - (c == "}")) * formatted
        if c == " " and not depth:
            cuts.append(k + 1)
    return [text[a:b] for a, b in itertools.pairwise([*cuts, len(text)])]


def _group(head: str, text: str, tail: str, pad: str, width: int) -> list[str]:
    """head text tail, opened at the brackets around most of the text."""
    spans = [(b - a, a, b) for a, b in _brackets(text) if b - a > 1]
    if not spans:
        return [pad + head + text + tail]
    _, a, b = max(spans)
    inner = text[a + 1 : b]
    lines = _break_inside(inner, pad + "    ", width, apart=text[a] == "{")
    return [pad + head + text[: a + 1], *lines, pad + text[b:] + tail]


def _pieces(text: str) -> list[str]:
    """The text cut at its outermost commas, else before its outermost operators of lowest rank."""
    level = _levels(text)
    loops = [m.start() for m in re.finditer(" for ", text) if level[m.start()] == 0]
    if loops:  # of a comprehension, whose commas do not separate
        cuts = [0, *loops, len(text)]
        return [text[a:b].strip() for a, b in itertools.pairwise(cuts)]
    if text.startswith("for "):
        return []
    commas = [k for k, c in enumerate(text) if c == "," and level[k] == 0]
    if commas:
        cuts = [k + 1 for k in commas]
        parts = [text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return [p for p in parts if p]
    for operator in OPERATORS:
        cuts = [m.start() for m in re.finditer(operator, text) if level[m.start()] == 0]
        cuts = [k for k in cuts if k]
        if cuts:
            return [text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return []


def _levels(text: str) -> list[int]:
    """How deep each character lies in brackets; 99 inside strings."""
    depth, quote, out = 0, "", []
    for k, c in enumerate(text):
        if quote:
            out.append(99)
            if c == quote and not _is_escaped(text, k):
                quote = ""
            continue
        if c in "'\"":
            quote = c
        depth -= c in ")]}"
        out.append(depth if not quote else 99)
        depth += c in "([{"
    return out


def _is_escaped(text: str, k: int) -> bool:
    return (len(text[:k]) - len(text[:k].rstrip("\\"))) % 2 == 1


def _brackets(text: str) -> list[tuple[int, int]]:
    """Where the outermost brackets open and close."""
    level = _levels(text)
    opening = [k for k, c in enumerate(text) if c in "([{" and level[k] == 0]
    closing = [k for k, c in enumerate(text) if c in ")]}" and level[k] == 0]
    return list(zip(opening, closing, strict=True))


def without_brackets(text: str) -> str:
    """`a, b` for `(a, b)`: a tuple of at least two needs none."""
    if text[:1] == "(" and _brackets(text) == [(0, len(text) - 1)]:
        pieces = _pieces(text[1:-1])
        if len(pieces) > 1 and pieces[0].endswith(","):
            return text[1:-1]
    return text


def bare(text: str) -> str:
    """An expression without parentheses around the whole."""
    return text[1:-1] if text[:1] == "(" and _brackets(text) == [(0, len(text) - 1)] else text


#: The comment that names a line of the user, at the end of a line.
NOTE = re.compile(r"# line (\d+)(, .*)?$")


def statement_lines(text: str, depth: int, note: str) -> list[str]:
    """A statement as lines of some depth, with a comment after the first, or before if it is long.

    >>> statement_lines("y = np.sin(x)", 1, "# line 3")
    ['    y = np.sin(x)  # line 3']
    """
    pad = "    " * depth
    lines = wrap(pad + text)
    if note and len(lines[0]) + len(note) + 2 > WIDTH:
        return [pad + note, *lines]
    return [f"{lines[0]}  {note}", *lines[1:]] if note else lines


def else_lines(lines: list[str], depth: int) -> list[str]:
    """The lines of the other side of a branch at this depth under else, or under elif.

    >>> else_lines(["    if x > 0:", "        y = x", "    else:", "        y = 0"], 0)
    ['elif x > 0:', '    y = x', 'else:', '    y = 0']
    >>> else_lines(["    y = 1"], 0)
    ['else:', '    y = 1']
    """
    pad = "    " * depth
    if not lines or not _is_one_if(lines, depth + 1):
        return [f"{pad}else:", *lines] if lines else []
    return [f"{pad}el{lines[0].strip()}", *(line[4:] for line in lines[1:])]


def _is_one_if(lines: list[str], depth: int) -> bool:
    """Whether the lines are a single if statement at this depth."""
    pad = "    " * depth
    heads = [line for line in lines if line.startswith(pad) and not line.startswith(pad + " ")]
    return (
        heads[:1] == lines[:1]
        and heads[0].strip().startswith("if ")
        and all(h.strip().startswith(("elif ", "else:", ")")) for h in heads[1:])
    )
