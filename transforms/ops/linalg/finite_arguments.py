"""Refuses infinities and NaN in arguments where functions of scipy.linalg do.

scipy.linalg.det(a)      becomes      if not np.all(np.isfinite(a)): raise ValueError(...)
                                      np.linalg.det(a)
"""

from __future__ import annotations

import inspect
from typing import Any

from tapeless.transforms.ops.numpy.run_time_errors import require
from tapeless.transforms.ops.primitives.comparisons_and_rounding import isfinite
from tapeless.transforms.ops.primitives.joining import as_array

#: What SciPy calls arguments that it checks.
CHECKED = ("a", "b")


def with_checked_arguments(function: Any, rule: Any) -> Any:
    """The rule of a function of SciPy's, behind tests of its arguments unless `check_finite` is
    false."""
    parameters = inspect.signature(function).parameters
    places = [(k, name) for k, name in enumerate(parameters) if name in CHECKED]
    option = list(parameters).index("check_finite")

    def run(*args: Any, **options: Any) -> Any:
        if options.get("check_finite", args[option] if option < len(args) else True):
            for k, name in places:
                _require_finite(args[k] if k < len(args) else options.get(name))
        return rule(*args, **options)

    return run


def _require_finite(x: Any) -> None:
    if x is None:
        return
    array = as_array(x)
    if array.type.dtype.kind in "fc":
        require(isfinite(array), ValueError, "array must not contain infs or NaNs")
