"""Pickles transformed functions by name, or with the text of their functions where a pickler copies
what is in `__main__`, as those of cloudpickle and joblib do.
"""

from __future__ import annotations

import linecache
import sys
from types import FunctionType
from typing import Any

COPYING = ("cloudpickle", "joblib.")  # modules of picklers that copy functions of `__main__`
TEXT = "text of the function"


def copies(obj: Any, frame: Any) -> bool:
    """Whether the pickler that runs in a frame copies an object, and does not name it."""
    caller = str(frame.f_globals.get("__name__", ""))
    return caller.startswith(COPYING) and getattr(obj, "__module__", "") == "__main__"


def with_text(reduced: Any, root: FunctionType) -> Any:
    """What `__reduce_ex__` gives, with the text of the file that has the function: another process
    may not see the file, and copied functions do not name it."""
    make, args, state, *rest = reduced
    lines = linecache.getlines(root.__code__.co_filename)
    return (make, args, {**state, TEXT: lines} if lines else state, *rest)


def take_text(state: dict[str, Any], root: FunctionType) -> None:
    """Lets the source of a function be found that another process has copied."""
    lines, file = state.pop(TEXT, None), root.__code__.co_filename
    if lines and not linecache.getlines(file):
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)


def caller() -> Any:
    """The frame that called the function which calls this."""
    return sys._getframe(2)
