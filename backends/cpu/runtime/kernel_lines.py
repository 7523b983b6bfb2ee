"""Raises errors of kernels from the lines of the emitted module that say so.

Machine code has no frames that a traceback could show. What raises the error again stands, for
tracebacks and debuggers, at the line of the file where the kernel raises it.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Mapping
from typing import NamedTuple, NoReturn

from tapeless.backends.cpu.runtime.kernel_errors import RaisedAt


class FileLine(NamedTuple):
    """A line of a function that begins at the line `first` of the file."""

    function: str
    first: int
    line: int


class KernelLines:
    """Lines of the kernels of a module.

    file, module  the file of the module, and its name
    definitions   the kernels, by name, with the line numbers of the text that was compiled: what
                  is cached was maybe compiled for a module with other comments
    """

    def __init__(self, file: str, module: str, definitions: Mapping[str, ast.FunctionDef]) -> None:
        self.file, self.module, self.definitions = file, module, definitions

    def raise_at(self, place: RaisedAt, error: BaseException) -> NoReturn:
        """Raises an error, in a frame of the kernel that did so if that is known."""
        lines = self.of_text if not place.file else self.of_file
        at = lines.get(place.line) if place.file in ("", self.file) else None
        if at is None:
            raise error
        text = "\n" * (at.line - at.first) + "raise error"
        code = compile(text, self.file, "exec").replace(
            co_name=at.function, co_qualname=at.function, co_firstlineno=at.first
        )
        exec(code, {"__name__": self.module, "__file__": self.file, "error": error})
        raise error

    @functools.cached_property
    def of_text(self) -> dict[int, FileLine]:
        """For lines of the text that was compiled, those of the file."""
        return dict(self.pairs())

    @functools.cached_property
    def of_file(self) -> dict[int, FileLine]:
        """For lines of the file, the functions that they are in."""
        return {at.line: at for _, at in self.pairs()}

    def pairs(self) -> Iterator[tuple[int, FileLine]]:
        """The statements of kernels: lines of the text, and of the file."""
        tree = ast.parse("".join(linecache.getlines(self.file)))
        for function in tree.body:
            if isinstance(function, ast.FunctionDef) and function.name in self.definitions:
                compiled = _statements(self.definitions[function.name])
                for was, now in zip(compiled, _statements(function), strict=True):
                    yield was.lineno, FileLine(function.name, function.lineno, now.lineno)


def _statements(function: ast.FunctionDef) -> list[ast.stmt]:
    return [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
