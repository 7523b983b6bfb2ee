"""Checks calls and logs compilations while a setting asks for it: `debug_nans`, `debug_infs`,
`log_compiles`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.transformation import Transformed
from tapeless.staging.emitted_names import base_name
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.core.builder import active
from tapeless.transforms.errors import TapelessError

LOGGER = logging.getLogger("tapeless.compile")


class BadNumberError(TapelessError, FloatingPointError):
    """A result has a NaN or an infinity, and `debug_nans` or `debug_infs` is on."""


def refuse_nans(this: Transformed, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A call whose result must have no NaN."""
    return _refuse(this, call, args, kwargs, np.isnan, "a NaN", {"invalid": "raise"})


def refuse_infs(this: Transformed, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A call whose result must have no infinity."""
    state = {"divide": "raise", "over": "raise"}
    return _refuse(this, call, args, kwargs, np.isinf, "an infinity", state)


def _refuse(
    this: Transformed,
    call: Callable[..., Any],
    args: Any,
    kwargs: Any,
    bad: Callable[[Any], Any],
    what: str,
    state: dict[str, Any],
) -> Any:
    value = call(*args, **kwargs)
    if active():
        return value
    where = [path for path, x in tree.leaves_with_path(value) if _has(bad, x)]
    if not where:
        return value
    again = this.plain if isinstance(this, Jit) else call
    with np.errstate(**state):  # NumPy names the line that makes one
        again(*args, **kwargs)
    at = "".join(map(str, where[0]))
    raise BadNumberError(
        f"the result of the {this.suffix} of {base_name(this.fun)} has {what}"
        + (f" at {at}" if at else ""),
        "no operation made it: look at what the function is given, and at constants",
    )


def _has(bad: Callable[[Any], Any], x: Any) -> bool:
    numbers = isinstance(x, (float, complex, np.inexact)) or (
        isinstance(x, np.ndarray) and x.dtype.kind in "fc"
    )
    return numbers and bool(np.any(bad(x)))


def log_compilation(this: Transformed, compile: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A compilation that is said, with its time."""
    start = time.perf_counter()
    compiled = compile(*args, **kwargs)
    kinds = ", ".join(_describe(x) for x in tree.leaves(args))
    seconds = time.perf_counter() - start
    LOGGER.warning(
        "staged the %s of %s for (%s) in %.3f s", this.suffix, base_name(this.fun), kinds, seconds
    )
    return compiled


def _describe(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype.name}[{', '.join(map(str, x.shape))}]"
    return type(x).__name__
