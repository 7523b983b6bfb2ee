"""Runs passes over a block one after another, and verifies the program after each in tests.

A pass is a function from block to block. A pipeline is a list of passes:

    run(block, zero_tests, simplify, sink_selections)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection
from typing import Any

from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import Block, Var

Pass = Callable[[Block], Block]


def run(block: Block, *passes: Pass) -> Block:
    """The block after all passes, in this order.

    With TAPELESS_CHECK in the environment each result is verified; InternalError names the pass
    after which a program is not well formed.
    """
    for p in passes:
        after = p(block)
        if after is not block:
            verified(after, name_of(p))
        block = after
    return block


def verified(block: Block, stage: str, around: Callable[[], Collection[Var]] = tuple) -> Block:
    """The block as it is, verified where TAPELESS_CHECK is in the environment; `around` tells the
    variables of a program around it that it may read."""
    if checks():
        verify(block, stage, around())
    return block


def checks() -> bool:
    """Whether programs are verified."""
    return bool(os.environ.get("TAPELESS_CHECK"))


def name_of(p: Any) -> str:
    """The name of a pass, as it is written in a pipeline."""
    while isinstance(p, functools.partial):
        p = p.func
    return getattr(p, "__name__", type(p).__name__)
