"""Long lines, broken where a person would: at the outermost operators or commas.

>>> print(*wrap("x_bar = first_term * factor + second_term", width=30), sep="\\n")
x_bar = (
    first_term * factor
    + second_term
)
"""

from __future__ import annotations

import re

WIDTH = 99
OPERATORS = (r" if (?=.* else )| else ", " or ", " and ", r" [+-] ", r" (?:[*/@%]|//) ")
HEADS = re.compile(r"(?:return|if|elif|while|raise) |[\w, ]+(?:\[[^=]*\])? [-+*/]?= ")


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """The lines of a statement (or of its first line), none longer than `width` if it can be."""
    if len(line) <= width:
        return [line]
    pad = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    tail = ":" if text.endswith(":") else ""
    text = text[: len(text) - len(tail)]
    found = HEADS.match(text)
    head = found.group() if found else ""
    rest = text[len(head) :]
    if head and head != "raise " and (head == "return " or "," not in head) and _pieces(rest):
        return [f"{pad}{head}(", *_inside(rest, pad + "    ", "", width), f"{pad}){tail}"]
    return _group(head, rest, tail, pad, width)


def _inside(text: str, pad: str, tail: str, width: int) -> list[str]:
    """Text within brackets, cut at its outermost operators or commas."""
    if len(pad) + len(text) + len(tail) <= width and not tail == ",":
        return [pad + text + tail]
    pieces = _pieces(text)
    if not pieces:
        if len(pad) + len(text) + len(tail) <= width:
            return [pad + text + tail]
        return _group("", text, tail, pad, width)
    commas = pieces[0].endswith(",")
    out = []
    for k, piece in enumerate(pieces):
        last = k == len(pieces) - 1
        end = tail if last else ""
        if commas and last and not piece.endswith(",") and not tail:
            end = ","
        out += _piece(piece, pad, end, width)
    return out


def _piece(text: str, pad: str, tail: str, width: int) -> list[str]:
    if len(pad) + len(text) + len(tail) <= width:
        return [pad + text + tail]
    if text.endswith(","):
        text, tail = text[:-1], ","
    found = re.match(r"(?:[-+*/@%]|//|or|and|if|else) |[^\s()\[\]{}]+: |\w+=", text)
    head = found.group() if found else ""
    return _group(head, text[len(head) :], tail, pad, width)


def _group(head: str, text: str, tail: str, pad: str, width: int) -> list[str]:
    """head text tail, opened at the brackets around most of the text."""
    spans = [(b - a, a, b) for a, b in _brackets(text) if b - a > 1]
    if not spans:
        return [pad + head + text + tail]
    _, a, b = max(spans)
    inner = text[a + 1 : b]
    open_, close = pad + head + text[: a + 1], pad + text[b:] + tail
    one_tuple = text[a] == "(" and inner.endswith(",") and len(_pieces(inner)) < 2
    subscript = text[a] == "[" and a > 0
    lines = _inside(inner, pad + "    ", "", width)
    bare = " for " in inner or one_tuple or subscript
    if len(lines) > 1 and bare and lines[-1].endswith(",") and not inner.endswith(","):
        lines[-1] = lines[-1][:-1]
    return [open_, *lines, close]


def _pieces(text: str) -> list[str]:
    """The text cut at its outermost commas, else before its outermost operators of lowest rank."""
    level = _levels(text)
    commas = [k for k, c in enumerate(text) if c == "," and level[k] == 0]
    if commas:
        cuts = [k + 1 for k in commas]
        parts = [text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return [p for p in parts if p]
    for operator in OPERATORS:
        cuts = [m.start() for m in re.finditer(operator, text) if level[m.start()] == 0]
        cuts = [k for k in cuts if k]
        if cuts:
            return [
                text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)
            ]
    return []


def _levels(text: str) -> list[int]:
    """How deep each character lies in brackets; 99 inside strings."""
    depth, quote, out = 0, "", []
    for k, c in enumerate(text):
        if quote:
            out.append(99)
            if c == quote and not _escaped(text, k):
                quote = ""
            continue
        if c in "'\"":
            quote = c
        depth -= c in ")]}"
        out.append(depth if not quote else 99)
        depth += c in "([{"
    return out


def _escaped(text: str, k: int) -> bool:
    return (len(text[:k]) - len(text[:k].rstrip("\\"))) % 2 == 1


def _brackets(text: str) -> list[tuple[int, int]]:
    """Where the outermost brackets open and close."""
    level = _levels(text)
    opening = [k for k, c in enumerate(text) if c in "([{" and level[k] == 0]
    closing = [k for k, c in enumerate(text) if c in ")]}" and level[k] == 0]
    return list(zip(opening, closing, strict=True))
