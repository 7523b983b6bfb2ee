"""Loads emitted source as a callable that Python and NumPy run."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tapeless.backends import cache
from tapeless.transforms.core.language import Block, Let, Var, statements
from tapeless.transforms.ops.primitives.function_calls import calls, functions_called
from tapeless.transforms.python_text.line_breaking import NOTE


def load(name: str, text: str) -> Callable[..., Any]:
    """The function `name` of an emitted module. The module is a real file that debuggers can show;
    where none can be written, its lines are known to tracebacks and debuggers all the same."""
    stored = cache.store(name, text)
    path = f"<emitted {name}>" if stored is None else str(stored)
    values: dict[str, Any] = {"__name__": f"{cache.PACKAGE}{name}", "__file__": path}
    exec(compile(text, path, "exec", dont_inherit=True), values)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return values[name]  # type: ignore[no-any-return]


def explain(error: BaseException, what: str, block: Block) -> None:
    """Adds to an error raised inside emitted code the user's lines that the code comes from."""
    origins = {s.origin for b in _all_blocks(block) for s in statements(b) if s.origin}
    for tb in innermost_emitted_frame(error.__traceback__):
        line = (
            line_of_failed_operation(tb, block)
            or line_of_return_statement(tb, block)
            or _comment(tb)
        )
        files = sorted({origin.file for origin in origins if origin.line == line})
        note = f"while running the {what}"
        for file in files:
            text = linecache.getline(file, line).strip()
            note += f', from\n  File "{file}", line {line}\n    {text}'
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _all_blocks(block: Block) -> list[Block]:
    """A block, and those of the functions that it calls."""
    return [block, *(function.block for function in functions_called(block))]


def innermost_emitted_frame(tb: TracebackType | None) -> list[TracebackType]:
    """The innermost call of an emitted function, if there is one."""
    innermost = []
    while tb is not None:
        if tb.tb_frame.f_globals.get("__name__", "").startswith(cache.PACKAGE):
            innermost = [tb]
        tb = tb.tb_next
    return innermost


def line_of_failed_operation(tb: TracebackType, block: Block) -> int:
    """The user's line of the operation that has failed in a function of NumPy's, which may stand
    inside of a statement from another line; 0 if it is not the only one of its name."""
    lines: dict[str, set[int]] = {}
    for s in statements(block):
        if isinstance(s, Let) and s.origin is not None:
            lines.setdefault(s.op.name, set()).add(s.origin.line)
    inner = tb.tb_next
    while inner is not None and inner.tb_frame.f_code.co_name not in lines:
        inner = inner.tb_next  # a function of ours that calls NumPy's
    candidates = lines[inner.tb_frame.f_code.co_name] if inner is not None else set()
    return candidates.pop() if len(candidates) == 1 else 0


def line_of_return_statement(tb: TracebackType, block: Block) -> int:
    """The user's line of what a return statement computes: it has no comment; 0 elsewhere."""
    code = tb.tb_frame.f_code
    text = linecache.getline(code.co_filename, tb.tb_lineno).strip()
    inner = {function.name for function in calls(block)}
    if not text.startswith("return ") or "# line" in text or code.co_name in inner:
        return 0
    origins = {v: s.origin for s in block.body for v in s.outs if s.origin is not None}
    return max(
        (origins[a].line for a in block.results if isinstance(a, Var) and a in origins), default=0
    )


def _comment(tb: TracebackType) -> int:
    """The user's line that the last comment above the failing line names; 0 if there is none."""
    code = tb.tb_frame.f_code
    lines = linecache.getlines(code.co_filename)
    return last_line_in_comments(lines[code.co_firstlineno : tb.tb_lineno])


def last_line_in_comments(lines: list[str]) -> int:
    """The user's line in the last comment of some lines, 0 if there is none."""
    matches = (NOTE.search(text.rstrip()) for text in reversed(lines))
    return next((int(line[1]) for line in matches if line), 0)
