"""Lets a debugger's `step` pass from the user's call into the emitted function.

`pdb` stops in each function that Python enters. Those of ours are skipped, as by `pdb`'s own
argument `skip`, unless tracebacks show them, too; breakpoints in them hold all the same. What is
staged at a first call is run like the command `next`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from tapeless.staging.bug_reports import FILTERING

OURS = ("tapeless", "tapeless.*")
#: Ends tracing in this thread; no debugger steps into it, as it is no function of Python.
untraced: Callable[[], Any] = functools.partial(sys.settrace, None)


def debugger(trace: Any) -> Any:
    """The debugger of Python's own kind that a trace function is of; None if there is none."""
    bdb = sys.modules.get("bdb")
    owner = getattr(trace, "__self__", None)
    return owner if bdb is not None and isinstance(owner, bdb.Bdb) else None


def skip_ours() -> None:
    """Tells a debugger that follows this thread to skip functions of ours."""
    if (trace := sys.gettrace()) is not None:
        sys.settrace(skipping(trace, untraced()))


def skipping(trace: Any, off: Any) -> Any:
    """The trace function, whose debugger skips functions of ours from now on.

    Called as `settrace(skipping(gettrace(), untraced()))`, it is not stepped through itself.
    """
    stepper = debugger(trace)
    if stepper is not None and FILTERING[0] != "off":
        stepper.skip = {*(stepper.skip or ()), *OURS}
        frame = sys._getframe(1)
        while frame is not None and f"{frame.f_globals.get('__name__')}.".startswith("tapeless."):
            frame.f_trace = None
            frame = frame.f_back  # type: ignore[assignment]
    return trace


class PassedOver:
    """What is run inside is not stepped through; breakpoints hold."""

    stepping: Any = None

    def __enter__(self) -> None:
        if (trace := sys.gettrace()) is not None:
            sys.settrace(None)  # the debugger does not step through itself
            stepper = debugger(trace)
            if stepper is not None and FILTERING[0] != "off" and stepper.stopframe is None:
                self.stepping = stepper
                stepper.set_next(_dead_frame())
            sys.settrace(trace)

    def __exit__(self, *raised: object) -> None:
        if self.stepping is not None and not self.stepping.quitting:
            trace = sys.gettrace()
            sys.settrace(None)
            self.stepping.set_step()
            sys.settrace(trace)


def _dead_frame() -> Any:
    """A frame that never goes on: the debugger waits for its next line."""
    return sys._getframe()
