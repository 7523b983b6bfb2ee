"""Enters functions of libraries that are plain NumPy code, where symbols are passed to them.

np.polynomial.polynomial.polyval(x, c)      runs its own lines on symbols, as a user's function does
"""

from __future__ import annotations

import functools
import types
from typing import Any

#: Modules all of whose functions are.
MODULES = frozenset(
    [
        *("numpy.polynomial.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.legendre"),
        *("numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.polynomial.laguerre"),
        *("numpy.polynomial.polyutils", "scipy.signal._waveforms"),
    ]
)
#: Others, by module.
FUNCTIONS = {
    "scipy.optimize._optimize": frozenset({"rosen", "rosen_der"}),
    "scipy._lib._sparse": frozenset({"issparse"}),
    "scipy.sparse._base": frozenset({"isspmatrix"}),
    "scipy.stats._stats_py": frozenset({"obrientransform", "trimboth"}),
}
#: How functions end that look for the rank of a matrix, or for eigenvalues.
OTHERS = ("roots", "gauss", "companion")


def standing_for(f: Any) -> Any:
    """A function of plain NumPy code as one that is entered; None for others."""
    module, name = getattr(f, "__module__", None), getattr(f, "__name__", "")
    if not isinstance(f, types.FunctionType) or "is_plain_code" in f.__dict__:
        return None
    if name.endswith(OTHERS) and not name.endswith("fromroots"):
        return None
    return mark_plain(f) if module in MODULES or name in FUNCTIONS.get(module or "", ()) else None


@functools.cache
def mark_plain(f: types.FunctionType) -> types.FunctionType:
    """The same function, marked as plain code."""
    same = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    same.__kwdefaults__ = f.__kwdefaults__
    same.__dict__["is_plain_code"] = True
    return same
