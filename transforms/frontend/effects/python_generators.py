"""Draws from generators of Python's `random` that are made outside when the program runs.

While staging they draw the numbers that the program will draw, and are put back afterwards.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

from tapeless.transforms.frontend.trace.trace import Trace, trace


def generator_of(f: Any, args: tuple[Any, ...] = ()) -> Any:
    """The generator from which a call draws, or which another method changes; None for others."""
    owners = (getattr(f, "__self__", None), *args[:1])
    return next((x for x in owners if isinstance(x, random.Random)), None)


def note_state(generator: Any) -> None:
    """Notes where a generator is before its first draw of this run."""
    states = trace().call.states
    if generator is not None and id(generator) not in states:
        with contextlib.suppress(NotImplementedError):  # of the operating system
            states[id(generator)] = generator, generator.getstate()


def put_back(run: Trace) -> None:
    """Puts the generators from which a staged run drew back to where they were before."""
    for generator, state in run.call.states.values():
        generator.setstate(state)
