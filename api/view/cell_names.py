"""Name files as a user knows them: cells of a notebook have names of their own."""

from __future__ import annotations

import sys


def file_title(file: str) -> str:
    """What a user calls the file of a function: a cell by its number, a file by its name.

    >>> file_title("/home/me/models.py")
    'models.py'
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cell = shell.compile.format_code_name(file) if shell else None
    return " ".join(cell) if cell else file.replace("\\", "/").rsplit("/", 1)[-1]
