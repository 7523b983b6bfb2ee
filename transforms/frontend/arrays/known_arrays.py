"""Makes arrays of the program of those that libraries make of known arguments, where it stores to
one: np.mgrid[0:8, 0:8], the nodes of a quadrature.

Else they stay as they are, so that lengths and indices can be read from them while staging. The
first store begins the staged run again: from then on all of them belong to the program.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, constant
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import WRITERS
from tapeless.transforms.ops.primitives.shapes import copy

NUMBERS, FLOATS = "biufc", "fc"
CHANGING = frozenset({"fill", "sort", "put", "partition", "resize", "setflags", "setfield"})


def made_by_library(value: Any) -> Any:
    """What a function of a library gave: arrays of floats belong to the program in any case."""
    stored = trace().decisions.stored
    if type(value) is tuple and stored:
        return tuple(map(made_by_library, value))
    if not isinstance(value, np.ndarray) or value.dtype.kind not in (NUMBERS if stored else FLOATS):
        return value
    symbol = Symbol(copy(constant(value)) if stored else constant(value))
    symbol.read_only = not value.flags.writeable
    return symbol


def item_of_library(owner: Any, value: Any) -> Any:
    """What an object of a library that is no array has at an index."""
    is_grid = type(owner).__module__.startswith("numpy.") and not isinstance(owner, np.ndarray)
    return made_by_library(value) if is_grid and trace().decisions.stored else value


def require_own(array: Any, static: bool = True) -> None:
    """The program stores to an array: one that is known while staging must belong to it. That of an
    object of a library does not: staging itself stores to it, a value that is `static`, where every
    call does so and the program has not read it."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in NUMBERS:
        return
    run = trace()
    if not run.decisions.stored:
        run.decisions.store()
    straight = len(run.journals) == len(run.blocks) == 1
    if not (straight and static) or _is_captured(array):
        refuse_overwriting()


def refuse_overwriting() -> NoReturn:
    raise UnsupportedError(
        "an array that was made outside of the program is overwritten", "copy it first"
    )


def _is_captured(array: np.ndarray[Any, Any]) -> bool:
    """Whether the program reads the memory of an array."""
    arrays = (x for x in trace().inputs.values() if isinstance(x, np.ndarray))
    return any(np.may_share_memory(array, x) for x in arrays)


def overwritten(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that a function of NumPy stores to."""
    out = kwargs.get("out")
    arrays = list(out) if isinstance(out, tuple) else [out]
    if isinstance(f, np.ufunc):
        arrays += args[f.nin :]
    elif f.__hash__ and f in WRITERS:
        arrays += args[:1]
    elif getattr(f, "__name__", "") in CHANGING:
        arrays.append(getattr(f, "__self__", None))
    return arrays
