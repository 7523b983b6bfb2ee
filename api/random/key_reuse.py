"""Reports keys that are used twice: outside of staged runs as they are used, inside by notes."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import active, current
from tapeless.transforms.core.language import Var
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.source.positions import find_origins
from tapeless.transforms.frontend.trace.trace import Trace, trace
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.random_keys.key_events import KeyMade, KeyUse

FOLDERS = tuple(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + end for end in "/\\")
OURS = (*FOLDERS, "<entry>")


class KeyReuseWarning(UserWarning):
    """A key was used a second time, and gives numbers that are not independent of the first."""


class _Setting:
    on = os.environ.get("TAPELESS_REPORT_REUSE", "1") not in ("", "0")


class report_reuse:  # noqa: N801 (used like np.errstate)
    """Whether keys that are used twice are reported: a switch, and a context manager.

    Drawing from a key or splitting it uses it; `fold_in` does not. The same array is meant, not an
    equal one: `key(0)` may be made again. `clone` gives a key that may be used again. What is
    staged (inside `grad`, `jit`, `vmap`) is looked at once, when it is staged.

    The environment variable TAPELESS_REPORT_REUSE=0 switches the reports off, too.

    >>> from tapeless import random
    >>> key = random.key(0)
    >>> with report_reuse(False):
    ...     bool(random.normal(key) == random.normal(key))
    True
    """

    def __init__(self, on: bool) -> None:
        self.before = _Setting.on
        _Setting.on = bool(on)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _Setting.on = self.before


#: For each array that owns keys: the values of those that were used, and by which line.
_used: dict[int, tuple[Any, dict[int, tuple[str, int]]]] = {}


def use(key: Any) -> None:
    """Remembers that a key is used, and warns if it has been already."""
    if not _Setting.on:
        return
    owner = key
    while isinstance(base := owner.base, np.ndarray):
        owner = base
    frame, level = _user()
    here = frame.f_code.co_filename, frame.f_lineno
    words, uses = hash(key.tobytes()), _uses(owner)
    if words in uses:
        file, line = uses[words]
        shown = f"the key {key.tolist()} is" if key.ndim == 1 else "keys are"
        warnings.warn(
            f"{shown} used a second time; the first was in {file}, line {line}. The numbers are "
            "the same: split the key first, or clone it if that is meant",
            KeyReuseWarning,
            stacklevel=level,
        )
    else:
        uses[words] = here


def use_all(keys: Iterable[Any]) -> None:
    """Arguments of a compiled function that draws from them in each call."""
    if _Setting.on:
        for key in keys:
            if isinstance(key, np.ndarray):
                use(key)


def note_use(key: Any) -> None:
    """Notes in a staged run that a key is used."""
    run = current()
    if isinstance(run, Trace):
        atom = key.value() if isinstance(key, Symbol) else key
        run.keys.add(KeyUse(atom, tuple(find_origins())), run.blocks[-1])


def noted_new(key: Any) -> Any:
    """A key that is made now; a staged run notes that."""
    if not active() or not isinstance(current(), Trace):
        return key
    run = trace()
    if not isinstance(key, Symbol):
        run.keys.add(KeyMade(key), run.blocks[-1])
        return key
    new_key = Var(key.type)
    run.namesake(new_key, key.value())
    run.let((new_key,), identity, (key.value(),), {})
    run.keys.add(KeyMade(new_key), run.blocks[-1])
    return Symbol(new_key, is_array=True)


_shown: dict[Any, Any] = {}  # what the filters of warnings remember


def report(reuses: Iterable[tuple[str, str, int]]) -> None:
    """Warns of keys that a program uses twice: messages, files and lines."""
    for message, file, line in reuses if _Setting.on else ():
        warnings.warn_explicit(message, KeyReuseWarning, file, line, registry=_shown)


def _uses(owner: Any) -> dict[int, tuple[str, int]]:
    number = id(owner)
    if number not in _used:
        reference = weakref.ref(owner, lambda _: _used.pop(number, None))
        _used[number] = (reference, {})
    return _used[number][1]


def _user() -> tuple[FrameType, int]:
    """The frame that called this package, and its level for `warnings.warn` in `use`."""
    frame, level = sys._getframe(2), 2
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return frame, level
