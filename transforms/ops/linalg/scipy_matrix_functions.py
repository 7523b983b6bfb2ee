"""Holds the rules of SciPy for functions of square matrices: `expm`, `logm` and the like."""

from __future__ import annotations

from typing import Any

import scipy.linalg as sl

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.linalg.matrix_functions import REAL_EVERYWHERE, matrix_function
from tapeless.transforms.ops.primitives.identities import known_number
from tapeless.transforms.ops.primitives.joining import as_array


def _rule(name: str) -> Any:
    def run(A: Any, disp: bool = True, blocksize: Any = None) -> Any:  # noqa: N803 (SciPy's)
        if not disp:
            raise UnsupportedError(f"scipy.linalg.{name} with disp=False", "leave it out")
        return matrix_function(as_array(A), name=name, power=None)

    return run


def _power(A: Any, t: Any) -> Any:  # noqa: N803 (SciPy's)
    t = known_number(
        t, "the power of a matrix must be known; use expm(t * logm(a)) where it is not"
    )
    return matrix_function(as_array(A), name="fractional_matrix_power", power=float(t))


NAMES = (*REAL_EVERYWHERE, "logm", "sqrtm")
RULES = {
    **{getattr(sl, name): _rule(name) for name in NAMES},
    sl.fractional_matrix_power: _power,
}
