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
from tapeless.transforms.errors import UnsupportedError


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


def without_errstate(block: Block, where: str, advice: str) -> Block:
    """The program without settings of `np.errstate`, for what has neither warnings nor errors of
    floating-point numbers: `where` says what that is, as "on a GPU". Raises UnsupportedError where
    errors are asked for."""
    watched = watched_for_errors(block)
    if watched:
        raise UnsupportedError(
            f"{watched} has no form {where}, where nothing raises floating-point errors", advice
        )
    return _without_settings(block)


def _without_settings(block: Block) -> Block:

    def is_computation(s: Statement) -> bool:
        return not (isinstance(s, Effect) and s.kind == "errstate")

    def inner(b: Block) -> Block:
        return Block(
            b.params, tuple(with_blocks(s, inner) for s in b.body if is_computation(s)), b.results
        )

    return inner(block)
