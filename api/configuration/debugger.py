"""Opens pdb at the user's line while a transformed function runs.

The user's function does not run then: what emitted code passes are the values of its variables.
For each of the user's frames, code is run that has its file, line, name and variables, and the
debugger is opened in the innermost.
"""

from __future__ import annotations

import bdb
import pdb
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapeless import tree
from tapeless.staging.subprogram import is_value, leaf_atom
from tapeless.transforms.errors import TapelessError
from tapeless.transforms.frontend.heap.frames import Frame
from tapeless.transforms.frontend.source.rewrite import known_codes
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.staging.original_functions import plain_function

STEP = "__tapeless_step__"


@dataclass(frozen=True)
class UserLine:
    """A line of a function of the user."""

    file: str
    line: int
    function: str
    globals: dict[str, Any]

    __hash__ = object.__hash__


# -- while staging


def variables(num_frames: int | None) -> tuple[list[UserLine], list[dict[str, Any]]]:
    """The user's frames of a staged run, the outermost first, and the variables of each.

    The parts of a rewritten function (sides of branches, bodies of loops) are functions that share
    one `Frame`; the innermost is at the line that runs.
    """
    frames: list[tuple[Frame, UserLine]] = []
    at: types.FrameType | None = sys._getframe(1)
    while at is not None:
        code, names = at.f_code, at.f_globals
        own = _own(at) if code in known_codes and not names.get("__staged__", False) else None
        if own is not None:
            line = at.f_lineno
            if frames and frames[-1][0] is own:
                line = frames.pop()[1].line
            frames.append((own, UserLine(code.co_filename, line, code.co_name, names)))
        at = at.f_back
    frames = frames[::-1][-num_frames if num_frames else 0 :]
    return [place for _, place in frames], [_variables(own) for own, _ in frames]


def _own(frame: types.FrameType) -> Frame | None:
    """What holds the variables of the innermost function that a frame belongs to."""
    held = {name: v for name, v in frame.f_locals.items() if isinstance(v, Frame)}
    return held[max(held, key=lambda name: (len(name), name))] if held else None


def _variables(frame: Frame) -> dict[str, Any]:
    """The variables that are set."""
    own = vars(frame).items()
    return {k: v for k, v in own if k.isidentifier() and k != RESULT and _can_be_shown(v)}


def _can_be_shown(value: Any) -> bool:
    try:
        leaves = tree.leaves(value)
        for x in leaves:
            leaf_atom(x) if is_value(x) else plain_function(x)
    except TapelessError:
        return False
    return True


# -- while the program runs


class Debugger:
    """What the program calls, with the variables of each place."""

    __name__ = "debugger"

    def __init__(self, places: list[UserLine], kwargs: dict[str, Any]) -> None:
        self.places, self.kwargs = places, kwargs
        self.key = tuple((p.file, p.line, p.function) for p in places)

    def __call__(self, scopes: list[dict[str, Any]]) -> None:
        step: Callable[[], None] = lambda: _interact(sys._getframe(1), self.kwargs)  # noqa: E731
        for place, scope in zip(reversed(self.places), reversed(scopes), strict=True):
            step = _call_in_frame(place, scope, step)
        step()


def _call_in_frame(
    place: UserLine, scope: dict[str, Any], step: Callable[[], None]
) -> Callable[[], None]:
    """A call of `step` from a frame that looks like the user's."""
    text = "\n" * (place.line - 1) + f"{STEP}()"
    code = compile(text, place.file, "exec", dont_inherit=True).replace(co_name=place.function)
    names = {**place.globals, STEP: step}
    return lambda: exec(code, names, scope)


class Shell(pdb.Pdb):
    """pdb that shows the user's frames."""

    def get_stack(self, f: Any, t: Any) -> Any:
        stack, _ = super().get_stack(f, t)
        kept = [entry for entry in stack if not _is_ours(entry[0])]
        return kept, len(kept) - 1


def _is_ours(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "tapeless"


def _interact(frame: Any, kwargs: dict[str, Any]) -> None:
    """Opens the debugger in a frame."""
    shell = Shell(**kwargs)
    shell.use_rawinput = "stdin" not in kwargs
    shell.reset()
    shell.interaction(frame, None)
    if shell.quitting:
        raise bdb.BdbQuit


def stop_here(kwargs: dict[str, Any]) -> None:
    """Opens the debugger in the user's function, where that runs itself."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    _interact(frame, kwargs)
