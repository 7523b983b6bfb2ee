"""Implements the functions of `cmath`, of one number each, by those of NumPy."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _function(of_numpy: Any) -> Callable[[Any], Any]:
    return lambda z, /: complex(of_numpy(complex(z)))


def _predicate(of_numpy: Any) -> Callable[[Any], Any]:
    return lambda z, /: bool(of_numpy(complex(z)))


def _log(z: Any, base: Any = None, /) -> Any:
    natural = np.log(complex(z))
    return complex(natural if base is None else natural / np.log(complex(base)))


def _phase(z: Any, /) -> Any:
    z = complex(z)
    return math.atan2(z.imag, z.real)


def _polar(z: Any, /) -> Any:
    return abs(complex(z)), _phase(z)


def _rect(r: Any, phi: Any, /) -> Any:
    r, phi = float(r), float(phi)
    return complex(r * math.cos(phi), r * math.sin(phi))


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    a, b = complex(a), complex(b)
    if a == b:  # infinite ones too
        return True
    if not (np.isfinite(a) and np.isfinite(b)):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


CIRCULAR = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
NAMES = {
    **{name: name for name in ("exp", "log10", "sqrt", *CIRCULAR)},
    **{f"a{name}": f"arc{name}" for name in CIRCULAR},
}
NUMPY: dict[Any, Any] = {
    **{getattr(cmath, name): _function(getattr(np, found)) for name, found in NAMES.items()},
    **{getattr(cmath, name): _predicate(getattr(np, name)) for name in ("isnan", "isinf")},
    cmath.isfinite: _predicate(np.isfinite),
    cmath.log: _log,
    cmath.phase: _phase,
    cmath.polar: _polar,
    cmath.rect: _rect,
    cmath.isclose: _isclose,
}
