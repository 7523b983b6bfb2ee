"""Solves ordinary differential equations on trees of arrays, as jax.experimental.ode does
(`odeint`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import array

import tapeless
from tapeless import tree
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transformations.ravel import ravel_pytree
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

# J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, 1980.
TIMES = array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
STAGES = array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
OTHER = array([1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60])
ERROR = np.append(STAGES[6], 0) - OTHER
# L. F. Shampine, Some practical Runge-Kutta formulas, 1986: the solution in the middle of a step.
MIDDLE = (
    array(
        [
            *(6025192743 / 30085553152, 0, 51252292925 / 65400821598),
            *(-2691868925 / 45128329728, 187940372067 / 1594534317056),
            *(-1776094331 / 19743644256, 11237099 / 235043384),
        ]
    )
    / 2
)
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # of the factors by which steps change


class State(NamedTuple):
    """What is known at a time t: the solution y there and its slope, how long the next step is,
    where the last step began, and the polynomial that gives the solution within it."""

    y: Any
    slope: Any
    t: Any
    h: Any
    last: Any
    within: Any


class Solver:
    """An equation on vectors, and how well it is solved. Lengths of steps have no derivative, which
    the solution does not depend on."""

    def __init__(self, f: Any, kind: Any, rtol: Any, atol: Any, hmax: Any) -> None:
        self.f, self.kind, self.rtol, self.atol, self.hmax = f, kind, rtol, atol, hmax
        self.table, self.wrong, self.middle = map(self.real, (STAGES, ERROR, MIDDLE))

    def start(self, t: Any, y: Any) -> State:
        slope = self.f(y, t)
        h = np.minimum(self.first_step(t, y, slope), self.hmax).astype(t.dtype)
        within = np.zeros((5, len(y)), self.kind)
        within[4] = y
        return State(y, slope, t, h, t, within)

    def first_step(self, t: Any, y: Any, slope: Any) -> Any:
        """E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4."""
        t, y, slope = map(tapeless.stop_gradient, (t, y, slope))
        scale = self.atol + np.abs(y) * self.rtol
        d0, d1 = np.linalg.norm(y / scale), np.linalg.norm(slope / scale)
        small = (d0 < 1e-5) | (d1 < 1e-5)
        h = np.where(small, 1e-6, 0.01 * d0 / np.where(small, 1.0, d1))
        ahead = tapeless.stop_gradient(self.f(y + self.real(h) * slope, t + h.astype(t.dtype)))
        d2 = np.linalg.norm((ahead - slope) / scale) / h
        flat = (d1 <= 1e-15) & (d2 <= 1e-15)
        steep = np.where(flat, 1.0, np.maximum(d1, d2))
        longer = np.where(flat, np.maximum(1e-6, h * 1e-3), (0.01 / steep) ** 0.2)
        return np.minimum(100 * h, longer)

    def attempt(self, s: State) -> State:
        """The next step; where it is not exact enough, the same state with a shorter one ahead."""
        new, slopes = self.stages(s)
        error = self.error(s, new, slopes)
        at_least = np.where(error < 1, 1.0, LEAST)
        factor = SAFETY * np.where(error == 0, 1.0, error) ** -0.2
        factor = np.where(error == 0, MOST, np.minimum(MOST, np.maximum(factor, at_least)))
        h = np.clip(s.h * factor, 0.0, self.hmax).astype(s.t.dtype)
        if error <= 1:
            return State(new, slopes[6], s.t + s.h, h, s.t, self.dense_coefficients(s, new, slopes))
        return s._replace(h=h)

    def stages(self, s: State) -> Any:
        """The solution after a step, and the slopes at the points that it is made of."""
        h, table = self.real(s.h), self.table
        slopes = np.zeros((7, len(s.y)), self.kind)
        slopes[0] = s.slope
        for k in range(1, 7):
            y = s.y + h * (table[k, :k] @ slopes[:k])
            slopes[k] = self.f(y, s.t + s.h * TIMES[k].astype(s.t.dtype))
        return s.y + h * (table[6] @ slopes[:6]), slopes

    def error(self, s: State, new: Any, slopes: Any) -> Any:
        y, new, slopes = map(tapeless.stop_gradient, (s.y, new, slopes))
        allowed = self.atol + self.rtol * np.maximum(np.abs(y), np.abs(new))
        return np.sqrt(np.mean(np.abs(self.real(s.h) * (self.wrong @ slopes) / allowed) ** 2))

    def dense_coefficients(self, s: State, new: Any, slopes: Any) -> Any:
        """A polynomial of degree four: values at the ends and in the middle, slopes at the ends."""
        h, y = self.real(s.h), s.y
        middle = y + h * (self.middle @ slopes)
        first, last = h * slopes[0], h * slopes[6]
        return np.stack(
            [
                2 * (last - first) - 8 * (new + y) + 16 * middle,
                5 * first - 3 * last + 18 * y + 14 * new - 32 * middle,
                last - 4 * first - 11 * y - 5 * new + 16 * middle,
                first,
                y,
            ]
        )

    def solution_at(self, s: State, t: Any) -> Any:
        """The solution at a time within the last step; nan at a later one."""
        length = tapeless.stop_gradient(s.t - s.last)
        part = self.real((t - s.last) / np.where(length == 0, 1, length))
        a, b, c, d, e = s.within
        return np.where(s.t < t, np.nan, (((a * part + b) * part + c) * part + d) * part + e)

    def real(self, x: Any) -> Any:
        """A number in the precision of y."""
        return x.astype(np.zeros(0, self.kind).real.dtype)


@follow_arguments
def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: Any = 1.4e-8,
    atol: Any = 1.4e-8,
    mxstep: Any = np.inf,
    hmax: Any = np.inf,
) -> Any:
    """The solution of dy/dt = func(y, t, *args) at times, from y0 at t[0].

    func        gives a tree like y0
    y0          a tree of numbers and arrays, real or complex
    t           an array of floats (n,) that does not fall
    args        further arguments of func
    rtol, atol  the error that a step may have, as a part of y and beside that
    mxstep      the most steps from one time to the next
    hmax        the longest step

    Returns a tree like y0, with an axis of length n first: the values are those of JAX, which takes
    the same steps. Values that could not be reached are nan: steps got too short or too many.
    Differentiable in y0, t, args and what func reads, in both modes and any order: the steps are
    differentiated, where JAX solves the adjoint equation. Steps are chosen for y: where it is at
    rest they are long, and derivatives less exact than values; hmax bounds them.

    Raises TypeError for times that are no floats, ValueError where they fall, and where func does
    not give as many numbers as y0 has.

    >>> odeint(lambda y, t, k: {"x": -k * y["x"]}, {"x": 1.0}, np.array([0.0, 1.0]), 2.0)
    {'x': array([1.        , 0.13533528])}
    """
    times = np.asarray(t)
    if times.dtype.kind != "f" or times.ndim != 1:
        raise ArgumentTypeError("odeint: t must be an array of floats with one axis")
    y = ravel_pytree(y0)[0]
    y = y.astype(np.result_type(y.dtype, np.float16))

    def slope(y: Any, t: Any) -> Any:
        rate = ravel_pytree(func(_trees_like(y0, y[None], ()), t, *args))[0]
        if rate.shape != y.shape:
            raise ArgumentError(f"odeint: func gives {len(rate)} numbers, and y0 has {len(y)}")
        return rate.astype(y.dtype)

    solver = Solver(slope, y.dtype, rtol, atol, hmax)
    return _trees_like(y0, _at_times(solver, y, times, mxstep), times.shape)


def _at_times(solver: Solver, y: Any, times: Any, mxstep: Any) -> Any:
    values = np.zeros((len(times), len(y)), y.dtype)
    values[0] = y
    s = solver.start(times[0], y)
    if np.any(times[1:] < times[:-1]):
        raise ArgumentError("odeint: t must rise", "solve dy/dt = -func(y, -t) from -t[0] on")
    for k in range(1, len(times)):
        steps = 0
        while s.t < times[k] and steps < mxstep and s.h > 0:
            s = solver.attempt(s)
            steps += 1
        values[k] = solver.solution_at(s, times[k])
    return values


def _trees_like(y0: Any, rows: Any, lead: Any) -> Any:
    """Trees like y0, of rows that have their numbers."""
    leaves, structure = tree.flatten(y0)
    parts, start = [], 0
    for leaf in leaves:
        stop = start + np.size(leaf)
        part = rows[:, start:stop].reshape((*lead, *np.shape(leaf)))
        kind = np.asarray(leaf).dtype
        parts.append(part.astype(kind) if kind.kind in "fc" else part)
        start = stop
    return tree.unflatten(structure, parts)


__all__ = ["odeint"]
