"""Puts generators of random numbers back to where they were before a call that is left again."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Block, Let, statements
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.ops.primitives.callbacks import outside
from tapeless.transforms.ops.primitives.random_draws import draw


def draws(block: Block) -> bool:
    """Whether a program draws numbers, or calls what may."""
    return any(isinstance(s, Let) and s.op in (draw, outside) for s in statements(block))


def save_states(captured: Iterable[Any]) -> Callable[[], None]:
    """What puts NumPy's and Python's own generators, and those among `captured`, back to where
    they are now."""
    python, numpy = random.getstate(), np.random.get_state() if _is_imported() else None
    generators = [c for c in captured if is_generator(c)]
    states = [(g, _state(g)) for g in generators]

    def put_back() -> None:
        random.setstate(python)
        if numpy is not None:
            np.random.set_state(numpy)
        for generator, state in states:
            _set_state(generator, state)

    return put_back


def _is_imported() -> bool:
    """Whether NumPy's generators are there: it imports them at first use."""
    return "numpy.random" in sys.modules


def _state(generator: Any) -> Any:
    own = isinstance(generator, np.random.RandomState)
    return generator.get_state() if own else generator.bit_generator.state


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state
