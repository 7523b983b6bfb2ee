"""Finds the code that the user wrote, for a function that a staged run has rewritten."""

from __future__ import annotations

import types
from collections.abc import Iterator

from tapeless.transforms.frontend.source.rewrite import known_codes


def original_code(code: types.CodeType) -> types.CodeType | None:
    """The code that was rewritten; None where it cannot be told from others."""
    codes = [c for c in _inner(known_codes[code]) if _same_place(c, code)]
    lowest = max((c.co_firstlineno for c in codes), default=0)
    codes = [c for c in codes if c.co_firstlineno == lowest]
    if len(codes) > 1:  # several on a line
        codes = [c for c in codes if _end(c) == _end(code)]
    return codes[0] if len(codes) == 1 else None


def original_function(function: types.FunctionType) -> types.FunctionType:
    """A function whose source can be read, though it cannot be called."""
    code = function.__code__
    own = original_code(code) if code in known_codes else None
    if own is None:
        return function
    cells = tuple(types.CellType() for _ in own.co_freevars)
    return types.FunctionType(own, function.__globals__, function.__name__, None, cells)


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    """The functions in a function, itself first."""
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _inner(c)


def _same_place(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether code and rewritten code, which begins below decorators, are of one definition."""
    count = a.co_argcount + a.co_kwonlyargcount
    within = a.co_firstlineno <= b.co_firstlineno <= max(a.co_firstlineno, _end(a)[0])
    return within and a.co_name == b.co_name and a.co_varnames[:count] == b.co_varnames[:count]


def _end(code: types.CodeType) -> tuple[int, int]:
    """Where the text of a function ends."""
    places = (p for p in code.co_positions() if p[1] is not None and p[2] != p[3])
    return max(((p[1] or 0, p[3] or 0) for p in places), default=(0, 0))
