"""Emitted source as a callable, run by Python and NumPy."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tapeless.backends import cache


def load(name: str, text: str) -> Callable[..., Any]:
    """The function `name` of an emitted module; the module is a real file that debuggers can show."""
    path = str(cache.store(name, text))
    values: dict[str, Any] = {"__name__": f"tapeless_emitted.{Path(path).stem}", "__file__": path}
    exec(compile(text, path, "exec", dont_inherit=True), values)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return values[name]  # type: ignore[no-any-return]


def explain(error: BaseException, user_file: str) -> None:
    """Adds to an error raised inside emitted code the user's line that the code comes from."""
    tb = error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_globals.get("__name__", "").startswith("tapeless_emitted."):
            for line in range(tb.tb_lineno, 0, -1):
                found = re.search(
                    r"# line (\d+)$",
                    linecache.getline(tb.tb_frame.f_code.co_filename, line).rstrip(),
                )
                if found:
                    text = linecache.getline(user_file, int(found[1])).strip()
                    note = f'  in the code made from\n  File "{user_file}", line {found[1]}\n    {text}'
                    if note not in getattr(error, "__notes__", ()):
                        error.add_note(note)
                    return
        tb = tb.tb_next
