"""Runs passes over a block one after another, and verifies the program after each in tests.

A pass is a function from block to block. A pipeline is a list of passes:

    run(block, zero_tests, simplify, sink_selections)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import Block

Pass = Callable[[Block], Block]


def run(block: Block, *passes: Pass) -> Block:
    """The block after all passes, in this order.

    With TAPELESS_CHECK in the environment each result is verified; InternalError names the pass
    after which a program is not well formed.
    """
    verifies = bool(os.environ.get("TAPELESS_CHECK"))
    for p in passes:
        after = p(block)
        if verifies and after is not block:
            verify(after, name_of(p))
        block = after
    return block


def name_of(p: Any) -> str:
    """The name of a pass, as it is written in a pipeline."""
    while isinstance(p, functools.partial):
        p = p.func
    return getattr(p, "__name__", type(p).__name__)
