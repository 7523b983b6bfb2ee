"""Finds the line of the user's code that a statement, or an error, comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextvars import ContextVar
from types import FrameType

from tapeless.transforms.core.language import Origin
from tapeless.transforms.frontend.source.rewrite import known_codes

ENTERED = ("numpy.", "scipy.")  # libraries of which some plain code is entered
#: The names of the scopes that are open, the outermost first.
open_scopes: ContextVar[tuple[str, ...]] = ContextVar("open_scopes", default=())


def _is_users(frame: FrameType) -> bool:
    """Whether rewritten code runs in it that is not of our own libraries, NumPy or SciPy."""
    if frame.f_code not in known_codes or frame.f_globals.get("__staged__", False):
        return False
    return not str(frame.f_globals.get("__name__")).startswith(ENTERED)


def find_origin() -> Origin | None:
    return next(find_origins(), None)


def find_origins() -> Iterator[Origin]:
    """The lines of the user that are being run, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame):
            code, scope = frame.f_code, "/".join(open_scopes.get())
            yield Origin(code.co_filename, frame.f_lineno, code.co_qualname, scope)
        frame = frame.f_back


def where_of(error: BaseException) -> tuple[str, int, int, int] | None:
    """The innermost line of rewritten code in the traceback, with its columns."""
    position = None
    tb = error.__traceback__
    while tb is not None:
        if _is_users(tb.tb_frame):
            places = list(tb.tb_frame.f_code.co_positions())
            at = places[tb.tb_lasti // 2] if tb.tb_lasti >= 0 else (tb.tb_lineno, None, 0, 0)
            position = (
                tb.tb_frame.f_code.co_filename,
                tb.tb_lineno,
                at[2] or 0,
                (at[3] or 0) if at[1] == tb.tb_lineno else 10_000,
            )
        tb = tb.tb_next
    return position
