"""Refuses to overwrite files of the user: only what tapeless has written is written anew."""

from __future__ import annotations

import re
from pathlib import Path

from tapeless.tools.errors import UsageError

#: What stands in each file that is written, and in few others: modules and C, test programs, lines
#: for CMake, wrappers.
WRITTEN = (
    r"\bFrom [^\s:]+:\d+\.",
    r'"\w+: right\\n"|: right\\n',
    r"add_library\((\w+) SHARED \1\.c\)",
    r"compiled to lib\w+\.so beside this",
    r"\A<!doctype html>",  # pages are for a browser: another is no loss
)


def check_not_of_the_user(file: Path) -> None:
    """Raises UsageError where a file is there that tapeless has not written."""
    if not file.is_file():
        return
    text = file.read_text(encoding="utf-8", errors="replace")
    if not re.search("|".join(WRITTEN), text):
        raise UsageError(
            f"{file} is there, and tapeless has not written it", "name another place with -o"
        )
