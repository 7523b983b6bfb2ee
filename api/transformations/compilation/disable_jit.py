"""Turns compilation off: compiled functions run as emitted NumPy code inside of disable_jit."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator

# Read once: looking at the environment takes longer than the rest of a call.
ALWAYS_DISABLED = os.environ.get("TAPELESS_DISABLE_JIT", "") not in ("", "0")
_disabled: contextvars.ContextVar[bool] = contextvars.ContextVar("disabled", default=False)
disabled_contexts: set[int] = set()  # where it is set, in any context: quicker to look at


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """Inside, functions under `jit` run as emitted NumPy code, which a debugger can step through.

    TAPELESS_DISABLE_JIT=1 in the environment does the same for a whole process.

    >>> from tapeless import jit
    >>> with disable_jit():
    ...     jit(lambda x: x * x + 1)(3.0)
    10.0
    """
    token = _disabled.set(disable)
    disabled_contexts.add(id(token))
    try:
        yield
    finally:
        disabled_contexts.discard(id(token))
        _disabled.reset(token)


def is_disabled() -> bool:
    return _disabled.get() or ALWAYS_DISABLED
