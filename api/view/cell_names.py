"""Names files as a user knows them: cells of a notebook have names of their own."""

from __future__ import annotations

import re
import sys

CELL_OF_MARIMO = re.compile(r"__marimo__cell_(\w+?)_\.py")


def file_title(file: str) -> str:
    """What a user calls the file of a function: a cell by its number, a file by its name.

    >>> file_title("/home/me/models.py"), file_title("/tmp/marimo_1/__marimo__cell_Hbol_.py")
    ('models.py', 'cell Hbol')
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cell = shell.compile.format_code_name(file) if shell else None
    if cell:
        return " ".join(cell)
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    of_marimo = CELL_OF_MARIMO.fullmatch(name)
    return f"cell {of_marimo[1]}" if of_marimo else name
