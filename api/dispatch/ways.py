"""Dispatches calls of functions that are traced on values: one specialisation for each way through
them.

The code of a way raises for values that take another one (`frontend/trace/observation.py`). What it
has stored to arguments by then is put back, what it has printed is forgotten, and the call goes to
another specialisation, which is staged now if none is right.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.specialisation import Specialisation
from tapeless.lazy_import import lazy_module
from tapeless.transforms.core.traced_calls import NOT_STRETCHED, OTHER_WAY, STRICT
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import Signal

if TYPE_CHECKING:
    from tapeless.dispatch import generator_states
else:
    generator_states = lazy_module("tapeless.dispatch.generator_states")

WAYS = 16  # that are kept for one signature
COMPILED = 4  # of them, under `jit`: the next ones run as NumPy code
NOTHING = contextlib.nullcontext()


@dataclass(frozen=True)
class AtHand:
    """What is known of the call that is staged: its arguments are values.

    traced  a call before it was traced with all of its tests, so that this one is, too
    ways    how many are kept for its signature
    apart   elements of batches go their ways one after another
    """

    traced: bool = False
    ways: int = 0
    apart: bool = False


_at_hand: contextvars.ContextVar[AtHand | None] = contextvars.ContextVar("at_hand", default=None)


class TakesOtherWay(Signal):
    """These values take another way than those that the code was traced for."""


@contextlib.contextmanager
def values_at_hand(traced: bool = False, ways: int = 0, apart: bool = False) -> Iterator[None]:
    """Inside, what cannot be staged for all values is traced on those of the arguments."""
    token = _at_hand.set(AtHand(traced, ways, apart))
    try:
        yield
    finally:
        _at_hand.reset(token)


def at_hand() -> AtHand | None:
    """What is known of the call that is staged; None where only types are, or nothing is traced."""
    return None if STRICT[0] else _at_hand.get()


def may_serve(specialisation: Specialisation) -> bool:
    """Whether a specialisation may be right for what is at hand: a way is for values only."""
    return not specialisation.traced or _at_hand.get() is not None


def are_many() -> bool:
    """Whether there are so many ways through a function that the next one is not compiled."""
    call = _at_hand.get()
    return call is not None and call.ways >= COMPILED


def without_old_ways(specialisations: list[Specialisation]) -> list[Specialisation]:
    """Those that stay, newest first: all that are for all values, and the newest ways."""
    older = [s for s in specialisations if s.traced][WAYS:]
    return [s for s in specialisations if s not in older]


def run(
    specialisations: list[Specialisation],
    passed: tuple[tuple[Any, ...], dict[str, Any]],
    again: Callable[[], Specialisation],
) -> tuple[Specialisation, Any]:
    """The specialisation whose way a call takes, and its result.

    specialisations  those for the signature of the call, the likeliest first
    passed           the arguments of the call
    again            stages one for this call
    """
    leaves = tree.leaves(passed)
    for specialisation in specialisations:
        if specialisation.accepts(leaves):
            with contextlib.suppress(TakesOtherWay):
                return specialisation, one_way(specialisation, passed, leaves)
    specialisation = again()
    return specialisation, one_way(specialisation, passed, leaves)


def is_other(error: Exception, specialisation: Specialisation | None) -> bool:
    """Whether the code of a way raised an error because the values take another one, or may have:
    kernels test indices before the guards that stand in front of them."""
    if specialisation is None or not specialisation.traced:
        return False
    guarded = type(error) is RuntimeError and str(error).startswith(OTHER_WAY)
    return guarded or specialisation.reorders


def is_of_lengths(error: Exception, specialisation: Specialisation | None) -> bool:
    """Whether lengths differ that run-time values decide, in a call that may be made once more: by
    code in which one element is as many as there are of others, as in NumPy."""
    if specialisation is None or not isinstance(error, (ValueError, IndexError)):
        return False
    if NOT_STRETCHED not in str(error) and not specialisation.compares_lengths:
        return False  # kernels test indices before lengths
    begun = specialisation.memory.stored or specialisation.prints or specialisation.draws
    return not (begun or specialisation.stretches)


def may_begin(specialisation: Specialisation) -> bool:
    """Whether a call may try the code of a way, and leave it, without that anybody sees it."""
    if not specialisation.traced:
        return True
    return not (specialisation.memory.stored or specialisation.prints or specialisation.draws)


def one_way(
    specialisation: Specialisation, passed: tuple[tuple[Any, ...], dict[str, Any]], leaves: Any
) -> Any:
    """The result of a call; raises TakesOtherWay, and then nothing has happened."""
    specialisation.refuse_overlap(leaves)
    inputs = specialisation.inputs(leaves)
    before = {k: inputs[k].copy() for k in specialisation.memory.stored}
    put_back = None
    if specialisation.draws:
        put_back = generator_states.save_states(get() for get, _ in specialisation.captured)
    printed = io.StringIO()
    inside = contextlib.redirect_stdout(printed) if specialisation.prints else NOTHING
    try:
        with inside:
            result = specialisation(*passed)
    except Exception as e:
        if is_other(e, specialisation):
            for k, contents in before.items():
                np.copyto(inputs[k], contents)
            if put_back is not None:
                put_back()
            raise TakesOtherWay from None
        sys.stdout.write(printed.getvalue())
        raise
    sys.stdout.write(printed.getvalue())
    return result
