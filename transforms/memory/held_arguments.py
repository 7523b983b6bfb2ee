"""Finds which arguments of a call its tapes may hold: others may be overwritten later.

def f_fwd(x, i):                        holds x, and not i
    return x[i], (x.T, len(x))
"""

from __future__ import annotations

from tapeless.transforms.core.language import (
    TAPE,
    Block,
    Function,
    Type,
    Var,
    free_variables,
    outputs,
)


def held_arguments(function: Function) -> frozenset[int]:
    """The places of the parameters of which something may be in a tape among the results."""
    if "held" not in function.derived:
        block = function.block
        function.derived["held"] = frozenset(
            k for k, p in enumerate(block.params) if _reaches_tapes(block, p)
        )
    return function.derived["held"]  # type: ignore[no-any-return]


def _reaches_tapes(block: Block, parameter: Var) -> bool:
    """Whether a tape is made of the parameter, by way of values that may share its memory."""
    made_of_it = {parameter}
    for s in block.body:
        if not made_of_it.isdisjoint(free_variables(Block((), (s,), ()))):
            made_of_it.update(filter(_may_share, outputs(s)))
    return any(a in made_of_it for a in block.results if a.type == TAPE)


def _may_share(v: Var) -> bool:
    """Whether a value is no number."""
    return not isinstance(v.type, Type) or v.type == TAPE or bool(v.type.shape)
