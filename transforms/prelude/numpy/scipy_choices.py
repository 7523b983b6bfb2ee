"""Implements the functions by which formulas in SciPy choose between others, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def apply_where(
    cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None
) -> Any:
    """f1(*args) where a condition holds, and f2(*args), or a value, elsewhere. Both are computed
    for all elements; a derivative is that of the one chosen."""
    args = args if isinstance(args, (list, tuple)) else (args,)
    with np.errstate(all="ignore"):
        return np.where(cond, f1(*args), fill_value if f2 is None else f2(*args))


def _lazyselect(condlist: Any, choicelist: Any, arrays: Any, default: Any = 0) -> Any:
    """The function in `choicelist` of the first condition that holds."""
    chosen = default
    with np.errstate(all="ignore"):
        for cond, f in zip(reversed(condlist), reversed(choicelist), strict=True):
            chosen = np.where(cond, f(*arrays), chosen)
    return chosen


def xp_promote(*args: Any, broadcast: Any = False, force_floating: Any = False, xp: Any) -> Any:
    """The arguments as they are: they are arrays of NumPy, which broadcasts and promotes."""
    return args if len(args) > 1 else args[0]


def array_namespace(*args: Any) -> Any:
    """NumPy."""
    return np


FUNCTIONS = {f.__name__: f for f in (apply_where, _lazyselect, xp_promote, array_namespace)}


def standing_for(f: Any) -> Any:
    """Our function for one of SciPy's internal ones; None if there is none."""
    return FUNCTIONS.get(getattr(f, "__name__", ""))
