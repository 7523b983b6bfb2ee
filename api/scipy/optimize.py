"""Minimises functions: jax.scipy.optimize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transformations.public_functions import value_and_grad
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

OPTIONS = {"gtol": 1e-5, "norm": np.inf, "maxiter": None, "line_search_maxiter": 30}
ENOUGH, FLAT = 1e-4, 0.9  # how far a step must go down, and how much less steep it must get there


class OptimizeResults(NamedTuple):
    """What was found.

    x         the place
    success   whether the gradient is small there
    status    0 if it is; 1: maxiter was reached; 5: no step goes down
    fun, jac  the value and the gradient there
    hess_inv  an approximation of the inverse of the second derivative
    nfev, njev, nit  how many values, gradients and steps were computed
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


@follow_arguments
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    method: str,
    tol: Any = None,
    options: Any = None,
) -> OptimizeResults:
    """A place where a function is least, near a start.

    fun      a function of a vector, and of args, that gives a number
    x0       the start: an array of shape (n,)
    args     further arguments of fun, a tuple
    method   'BFGS'
    tol      how small the gradient must get: gtol among the options
    options  gtol (1e-5), norm (by which the gradient is measured, inf), maxiter (200 n),
             line_search_maxiter (30)

    fun is differentiated by `value_and_grad`. Raises ValueError for another method, option or
    start, TypeError for args that are no tuple. Source: Nocedal, Wright, "Numerical optimization",
    algorithm 6.1, with the line search of Lewis, Overton, Math. Programming 141 (2013).

    >>> found = minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), method="BFGS")
    >>> found.x.round(6), bool(found.success)
    (array([3., 3.]), True)
    """
    chosen = _check_options(method, args, options)
    x = np.asarray(x0) * 1.0
    if x.ndim != 1:
        raise ArgumentError(f"minimize: x0 must have one axis, not shape {x.shape}", "ravel it")
    slope = value_and_grad(fun)
    gtol = chosen["gtol"] if tol is None else tol
    most = 200 * len(x) if chosen["maxiter"] is None else chosen["maxiter"]
    unit = np.eye(len(x), dtype=x.dtype)
    inverse = unit
    f, g = slope(x, *args)
    nit, calls, failed = 0, 1, False
    while nit < most and not failed and np.linalg.norm(g, chosen["norm"]) > gtol:
        direction = -(inverse @ g)
        down = direction @ g
        if down >= 0:  # by rounding: start again
            inverse, direction, down = unit, -g, -(g @ g)
        low, high, step, tries, is_found = 0.0, np.inf, 1.0, 0, False
        new_f, new_g = f, g
        while tries < chosen["line_search_maxiter"] and not is_found:
            new_f, new_g = slope(x + step * direction, *args)
            tries = tries + 1
            if not new_f <= f + ENOUGH * step * down:  # also where it is nan
                high = step
            elif new_g @ direction < FLAT * down:
                low = step
            else:
                is_found = True
            if not is_found:
                step = (low + high) / 2 if high < np.inf else 2 * low
        calls = calls + tries
        failed = not is_found
        if is_found:
            s, y = step * direction, new_g - g
            x, f, g = x + s, new_f, new_g
            inverse = _update_inverse(inverse, s, y, unit, nit == 0)
            nit = nit + 1
    success = np.linalg.norm(g, chosen["norm"]) <= gtol
    status = np.where(success, 0, np.where(failed, 5, 1))
    return OptimizeResults(x, success, status, f, g, inverse, calls, calls, nit)


def _update_inverse(inverse: Any, s: Any, y: Any, unit: Any, first: Any) -> Any:
    """The inverse second derivative that maps y to s; the first one is scaled by their lengths."""
    sy = s @ y
    scale = 1.0 / np.where(sy > 0, sy, 1.0)
    if first:
        inverse = unit * np.where(sy > 0, sy / (y @ y), 1.0)
    projection = unit - scale * np.outer(s, y)
    return np.where(sy > 0, projection @ inverse @ projection.T + scale * np.outer(s, s), inverse)


def _check_options(method: str, args: Any, options: Any) -> dict[str, Any]:
    if str(method).lower() != "bfgs":
        raise ArgumentError(f"minimize: method must be 'BFGS', not {method!r}")
    if not isinstance(args, tuple):
        raise ArgumentTypeError("minimize: args must be a tuple", "write (a,) for one argument")
    wrong = [name for name in options or {} if name not in OPTIONS]
    if wrong:
        raise ArgumentError(f"minimize: no option {wrong[0]!r}; there are {', '.join(OPTIONS)}")
    return OPTIONS | (options or {})
