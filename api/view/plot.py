"""Draws a function of one number and its derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.staging.emitted_names import argument_names, base_name
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transformations.compilation.jit import jit
from tapeless.transformations.grad import grad
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, MissingPackageError

INSTALL = "pip install matplotlib"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def plot(function: Any, start: Any, stop: float | None, order: int, points: int, ax: Any) -> Any:
    """Draws the curves into `ax`, or into a new figure; returns the axes."""
    if stop is None:
        xs = _numbers(start)
    else:
        xs = _interval(start, stop, _checked_integer(points, "points", 2))
    variable = argument_names(function, (xs[0].item(),), {})[0]
    order = _checked_integer(order, "order", 0)
    labels = [_label(function, variable, k) for k in range(order + 1)]
    curves = [_values(each, xs) for each in _derivatives(function, order)]
    axes = _new_axes() if ax is None else ax
    for label, ys in zip(labels, curves, strict=True):
        axes.plot(xs, ys, label=label)
    axes.set_xlabel(variable)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return axes


def _label(function: Any, variable: str, order: int) -> str:
    """What a derivative is called: d² f / d x²."""
    power = str(order).translate(SUPERSCRIPTS) if order > 1 else ""
    return f"d{power} {base_name(function)} / d {variable}{power}" if order else function.describe()


def _checked_integer(number: Any, name: str, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
        raise ArgumentError(f"plot: {name} is {number!r}", f"pass a whole number from {least} on")
    return int(number)


def _interval(start: float, stop: float, points: int) -> Any:
    """Numbers from start to stop, both included."""
    if not (np.isfinite(start) and np.isfinite(stop)) or start == stop:
        raise ArgumentError(
            f"plot: there is no interval from {start} to {stop}", "pass two numbers: .plot(0, 1)"
        )
    return np.linspace(start, stop, points)


def _numbers(values: Any) -> Any:
    """The numbers at which a function is drawn."""
    xs = np.asarray(values)
    if xs.ndim != 1 or xs.size < 2 or xs.dtype.kind not in "iuf" or not np.isfinite(xs).all():
        raise ArgumentError(
            f"plot: there is no interval in {np.asarray(values)!r}", "pass two numbers: .plot(0, 1)"
        )
    return xs.astype(float)


def _derivatives(function: Any, order: int) -> Iterator[Any]:
    """The function and its derivatives, one after another, each compiled if the function is."""
    compiled = isinstance(getattr(function, "func", function), Jit)
    yield function
    derivative = function
    for _ in range(order):
        derivative = grad(derivative)
        yield jit(derivative) if compiled else derivative


def _values(function: Any, xs: Any) -> list[float]:
    """What the function returns for each of the numbers."""
    ys = [function(x) for x in xs.tolist()]
    for y in ys:
        if (
            np.shape(y) != ()
            or not np.isrealobj(y)
            or not np.issubdtype(np.asarray(y).dtype, np.number)
        ):
            raise ArgumentTypeError(
                f"plot draws functions that return one real number; {function.describe()} "
                f"returns {_kind(y)}",
                "plot a function that returns one number of it",
            )
    return [float(y) for y in ys]


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return f"a {type(value).__name__}"


def _new_axes() -> Any:
    """The axes of a new figure, which the notebook shows."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415 (optional)
    except ImportError as e:
        raise MissingPackageError("plot needs matplotlib, which is not installed", INSTALL) from e
    return pyplot.subplots()[1]
