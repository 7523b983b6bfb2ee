"""Makes schedules: step sizes that depend on the number of the step.

Schedules give Python floats, so that parameters of float32 stay float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

Schedule = Callable[[Any], Any]


def constant(step_size: Any) -> Schedule:
    """The same step size at each step.

    >>> constant(0.1)(7)
    0.1
    """

    def schedule(i: Any) -> Any:
        return step_size

    return schedule


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """step_size * decay_rate ** (step / decay_steps).

    >>> exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """

    def schedule(i: Any) -> Any:
        return step_size * decay_rate ** (i / decay_steps)

    return schedule


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """step_size / (1 + decay_rate * step / decay_steps).

    staircase  whether step / decay_steps is rounded down

    >>> inverse_time_decay(1.0, 10, 1.0)(30), inverse_time_decay(1.0, 10, 1.0, True)(29)
    (0.25, 0.3333333333333333)
    """

    def schedule(i: Any) -> Any:
        passed = i // decay_steps if staircase else i / decay_steps
        return step_size / (1 + decay_rate * passed)

    return schedule


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0
) -> Schedule:
    """From step_size to final_step_size within decay_steps, by a power of the part that is left.

    >>> decay = polynomial_decay(1.0, 10, 0.5)
    >>> decay(0), decay(5), decay(10), decay(1000)
    (1.0, 0.75, 0.5, 0.5)
    """

    def schedule(i: Any) -> Any:
        remaining = (1 - min(i, decay_steps) / decay_steps) ** power
        return remaining * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """One value up to each boundary, and one behind the last.

    boundaries  increasing numbers of steps
    values      one more than boundaries

    Raises ValueError for other lengths.

    >>> schedule = piecewise_constant([10, 20], [1.0, 0.1, 0.01])
    >>> schedule(0), schedule(10), schedule(11), schedule(500)
    (1.0, 1.0, 0.1, 0.01)
    """
    boundaries, values = np.asarray(boundaries), np.asarray(values)
    if boundaries.ndim != 1 or values.ndim != 1:
        raise ArgumentError("piecewise_constant: boundaries and values must be sequences")
    if len(values) != len(boundaries) + 1:
        raise ArgumentError(
            f"piecewise_constant: {len(boundaries)} boundaries and {len(values)} values",
            "give one value more than boundaries",
        )

    first, *later = values.tolist()
    pieces = list(zip(boundaries.tolist(), later, strict=True))

    def schedule(i: Any) -> Any:
        value = first
        for boundary, behind in pieces:
            value = behind if i > boundary else value
        return value

    return schedule


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule as it is, and a constant one from a number.

    Raises TypeError for anything else.

    >>> make_schedule(0.1)(3)
    0.1
    """
    if callable(scalar_or_schedule):
        schedule: Schedule = scalar_or_schedule
        return schedule
    number = np.asarray(scalar_or_schedule)
    if number.ndim == 0 and number.dtype.kind in "biufc":
        return constant(scalar_or_schedule)
    what = "an array" if number.ndim else repr(scalar_or_schedule)
    raise ArgumentTypeError(
        f"a step size must be a number or a function, not {what}",
        "optimizers.piecewise_constant makes a schedule of several values",
    )
