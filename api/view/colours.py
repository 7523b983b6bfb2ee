"""Colours source as HTML, line by line, with classes that a page's style sheet names."""

from __future__ import annotations

from html import escape

from pygments import lex
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

CLASSES = (
    (Comment, "comment"),
    (String, "string"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Number, "number"),
    (Name.Function, "definition"),
    (Name.Class, "definition"),
    (Name.Decorator, "decorator"),
)


def colour(text: str, language: str) -> list[str]:
    """The lines of a text as HTML. Indentation is a part of what follows: nbconvert writes white
    space between elements as one blank.

    >>> colour("x = 1 < y", "python")
    ['x = <span class="number">1</span> &lt; y']
    >>> colour("    return", "python")
    ['<span class="keyword">    return</span>']
    """
    lines = [""]
    for kind, value in lex(text, get_lexer_by_name(language, stripnl=False, ensurenl=False)):
        for k, part in enumerate(value.split("\n")):
            if k:
                lines.append("")
            before = "" if lines[-1].isspace() else lines[-1]
            lines[-1] = before + _span(lines[-1][len(before) :] + part, kind)
    return lines


def _span(text: str, kind: _TokenType) -> str:
    name = next((name for family, name in CLASSES if kind in family), "")
    return f'<span class="{name}">{escape(text)}</span>' if name and text else escape(text)
