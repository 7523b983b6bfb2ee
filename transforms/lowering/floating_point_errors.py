"""Finds settings of `np.errstate` that ask for more than warnings: machine code gives no errors.

np.errstate(divide="raise")      1 / 0 is an error in NumPy, and infinity in compiled code
"""

from __future__ import annotations

from tapeless.transforms.core.language import (
    Block,
    Effect,
    Statement,
    statements,
    with_blocks,
)
from tapeless.transforms.emit.effects import LOUD


def watched_for_errors(block: Block) -> str:
    """The first `np.errstate` of a program that asks for errors, messages or calls; "" if none
    does.

    >>> watched_for_errors(Block((), (Effect("errstate", (), {"divide": "raise"}),), ()))
    "np.errstate(divide='raise')"
    """
    for s in statements(block):
        if (
            isinstance(s, Effect)
            and s.kind == "errstate"
            and not LOUD.isdisjoint(s.params.values())
        ):
            return f"np.errstate({', '.join(f'{k}={v!r}' for k, v in s.params.items())})"
    return ""


def without_warnings(block: Block) -> Block:
    """The program without settings of `np.errstate`: nothing warns on a GPU."""

    def kept(s: Statement) -> bool:
        return not (isinstance(s, Effect) and s.kind == "errstate")

    def inner(b: Block) -> Block:
        return Block(b.params, tuple(with_blocks(s, inner) for s in b.body if kept(s)), b.results)

    return inner(block)
