"""Solves ordinary differential equations from an initial value: solve_ivp and odeint of
scipy.integrate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import RK23, RK45

import tapeless
from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

METHODS = {"RK45": RK45, "RK23": RK23}
TOLERANCE = 1.49012e-8  # of odeint
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # of the factors by which steps change


class Tableau(NamedTuple):
    """A pair of Runge-Kutta methods; `between` gives the values within a step."""

    a: Any
    b: Any
    c: Any
    error: Any
    between: Any
    order: int


class Step(NamedTuple):
    """A step from t to `until`: how y goes in between, what it and its slope are at the end, how
    long the next one may be, and whether one that was longer failed."""

    t: Any
    h: Any
    y: Any
    slopes: Any
    until: Any
    end: Any
    slope: Any
    next: Any
    shorter: Any


class Solution(NamedTuple):
    """What `solve_ivp` finds: times, and an array (n, times)."""

    t: Any
    y: Any
    status: int = 0
    success: bool = True
    message: str = "The solver successfully reached the end of the integration interval."
    sol: None = None
    t_events: None = None
    y_events: None = None


def _tableau(method: Any) -> Tableau:
    method_class = METHODS.get(method) if isinstance(method, str) else method
    if method_class not in (RK45, RK23):
        raise ArgumentError(
            f"solve_ivp: there is no derivative for method {method!r}", "use 'RK45' or 'RK23'"
        )
    return Tableau(
        method_class.A,
        method_class.B,
        method_class.C,
        method_class.E,
        method_class.P,
        method_class.error_estimator_order,
    )


class Solver:
    """An equation, and how well it is solved. Steps are chosen as SciPy chooses them; they have no
    derivative, which the solution does not depend on."""

    def __init__(self, f: Any, table: Tableau, rtol: Any, atol: Any, max_step: Any) -> None:
        self.f, self.table, self.rtol, self.atol = f, table, rtol, atol
        self.max_step = max_step

    def start(self, t: Any, y: Any, end: Any, first_step: Any) -> Step:
        slope = self.f(t, y)
        h = self.first_step(t, y, slope, end) if first_step is None else first_step
        none = np.zeros((len(self.table.b) + 1, len(y)))
        return Step(t, t * 0.0 + 1.0, y, none, t, y, slope, tapeless.stop_gradient(h), np.False_)

    def first_step(self, t: Any, y: Any, slope: Any, end: Any) -> Any:
        """E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, II.4."""
        t, y, slope, end = map(tapeless.stop_gradient, (t, y, slope, end))
        span = np.abs(end - t)
        scale = self.atol + np.abs(y) * self.rtol
        d0, d1 = size(y / scale), size(slope / scale)
        small = (d0 < 1e-5) | (d1 < 1e-5)
        h = np.minimum(np.where(small, 1e-6, 0.01 * d0 / np.where(small, 1.0, d1)), span)
        h = np.where(span == 0, 1.0, h)
        ahead = self.f(t + h * np.sign(end - t), y + h * np.sign(end - t) * slope)
        d2 = size((ahead - slope) / scale) / h
        flat = (d1 <= 1e-15) & (d2 <= 1e-15)
        steep = np.where(flat, 1.0, np.maximum(d1, d2))
        power = (0.01 / steep) ** (1 / (self.table.order + 1))
        longer = np.where(flat, np.maximum(1e-6, h * 1e-3), power)
        return np.minimum(np.minimum(100 * h, longer), np.minimum(span, self.max_step))

    def attempt(self, before: Step, end: Any) -> Step:
        """The next step; where it is not exact enough, the state with a shorter one before it."""
        t = before.until
        direction = np.sign(tapeless.stop_gradient(end - t))
        least = tapeless.stop_gradient(10 * np.abs(np.nextafter(t, direction * np.inf) - t))
        if before.shorter and before.next < least:
            raise RuntimeError("Required step size is less than spacing between numbers.")
        h = direction * np.clip(before.next, least, self.max_step)
        h = np.where(direction * (t + h - end) > 0, end - t, h)
        new, slopes = self.stages(t, before.end, before.slope, h)
        error = self.error(before.end, new, slopes, h)
        factor = SAFETY * np.where(error == 0, 1.0, error) ** (-1 / (self.table.order + 1))
        length = np.abs(tapeless.stop_gradient(h))
        if error < 1:
            grown = np.where(error == 0, MOST, np.minimum(MOST, factor))
            longer = length * np.where(before.shorter, np.minimum(grown, 1.0), grown)
            return Step(t, h, before.end, slopes, t + h, new, slopes[-1], longer, np.False_)
        shrunk = length * np.where(factor > LEAST, factor, LEAST)
        return before._replace(next=shrunk, shorter=np.True_)

    def stages(self, t: Any, y: Any, slope: Any, h: Any) -> Any:
        table, n = self.table, len(self.table.b)
        slopes = np.zeros((n + 1, len(y)))
        slopes[0] = slope
        for k in range(1, n):
            slopes[k] = self.f(t + table.c[k] * h, y + h * (table.a[k, :k] @ slopes[:k]))
        new = y + h * (table.b @ slopes[:-1])
        slopes[-1] = self.f(t + h, new)
        return new, slopes

    def error(self, y: Any, new: Any, slopes: Any, h: Any) -> Any:
        y, new, slopes, h = map(tapeless.stop_gradient, (y, new, slopes, h))
        scale = self.atol + np.maximum(np.abs(y), np.abs(new)) * self.rtol
        return size(h * (self.table.error @ slopes) / scale)

    def solution_at(self, step: Step, t: Any) -> Any:
        """The solution within a step."""
        part = (t - step.t) / step.h
        powers = part ** np.arange(1, self.table.between.shape[1] + 1)
        return step.y + step.h * (step.slopes.T @ (self.table.between @ powers))


def size(x: Any) -> Any:
    return np.linalg.norm(x) / np.sqrt(x.size)


def _equation(fun: Any, args: Any, vectorized: bool) -> Any:
    if vectorized:
        return lambda t, y: np.asarray(fun(t, y[:, None], *args), float).ravel()
    return lambda t, y: np.atleast_1d(np.asarray(fun(t, y, *args), float))


@follow_arguments
def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> Solution:
    """The solution of dy/dt = fun(t, y) from an initial value.

    fun         takes a time, an array of shape (n,) and args, and gives an array or list of n
                numbers; where it is vectorized, arrays of shape (n, 1)
    t_span      from when to when, forward or back
    y0          n real numbers
    method      'RK45' or 'RK23'
    t_eval      times; by default those that the solver stops at
    args        further arguments, a tuple
    options     rtol (1e-3), atol (1e-6), max_step, first_step

    Steps are those of SciPy. Differentiable in y0, times, args and what fun reads. Raises
    ValueError for another method, events and dense_output, RuntimeError where steps get too short.

    >>> found = solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.5, 1.0], rtol=1e-8)
    >>> found.y.round(4)
    array([[0.6065, 0.3679]])
    """
    chosen: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-6, "max_step": np.inf, "first_step": None}
    if dense_output or events is not None or set(options) - set(chosen):
        raise ArgumentError(
            "solve_ivp: events, dense_output and options of implicit methods are not supported"
        )
    if np.iscomplexobj(y0):
        raise ArgumentError("solve_ivp: y0 is complex", "use its real and imaginary parts")
    chosen |= options
    solver = Solver(
        _equation(fun, () if args is None else args, vectorized),
        _tableau(method),
        np.maximum(chosen["rtol"], 100 * np.finfo(float).eps),
        chosen["atol"],
        chosen["max_step"],
    )
    start, end = (np.asarray(t, float) * np.ones(()) for t in t_span)
    y0 = np.asarray(y0) * 1.0
    at = solver.start(start, y0, end, chosen["first_step"])
    direction = np.sign(tapeless.stop_gradient(end - start))
    if t_eval is None:
        times, states = [start], [y0]
        while direction * (end - at.until) > 0:
            at = solver.attempt(at, end)
            if not at.shorter:
                times.append(at.until)
                states.append(at.end)
        return Solution(np.array(times), np.array(states).T)
    return Solution(np.asarray(t_eval), _at_times(solver, at, t_eval, end, direction).T)


def _at_times(solver: Solver, at: Step, times: Any, end: Any, direction: Any) -> Any:
    times = np.asarray(times) * 1.0
    states = np.zeros((times.shape[0], len(at.y)))
    for k in range(times.shape[0]):
        while direction * (times[k] - at.until) > 0:
            at = solver.attempt(at, end)
        states[k] = solver.solution_at(at, times[k])
    return states


@follow_arguments
def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,  # noqa: N803 (SciPy's)
    col_deriv: int = 0,
    full_output: int = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    hmin: float = 0.0,
    ixpr: int = 0,
    mxstep: int = 0,
    mxhnil: int = 0,
    mxordn: int = 12,
    mxords: int = 5,
    printmessg: int = 0,
    tfirst: bool = False,
) -> Any:
    """The solution of dy/dt = func(y, t) at times, by the steps of `solve_ivp`, method 'RK45'.

    func        takes an array of shape (n,), a time and args; the time first with `tfirst`
    y0          n real numbers: the solution at t[0]
    t           times, rising or falling
    args        further arguments, a tuple
    rtol, atol  1.49e-8 by default, as SciPy has them
    h0, hmax    the first and the longest step; 0: not given

    The other arguments are those of SciPy's solver, which is another one: results agree as far as
    rtol and atol say, and stiff equations take many steps here. Differentiable in y0, t, args and
    what func reads. Raises ValueError for full_output, and
    for args that are no tuple.

    >>> odeint(lambda y, t: -y, [1.0], np.array([0.0, 1.0])).round(6)
    array([[1.      ],
           [0.367879]])
    """
    if full_output:
        raise ArgumentError("odeint: full_output is not supported", "leave it out")
    if not isinstance(args, tuple):
        raise ArgumentError("odeint: args must be a tuple", "write (args,)")
    times = np.asarray(t) * 1.0
    solution = solve_ivp(
        (lambda s, y: func(s, y, *args)) if tfirst else (lambda s, y: func(y, s, *args)),
        (times[0], times[-1]),
        np.atleast_1d(y0),
        t_eval=times,
        rtol=TOLERANCE if rtol is None else rtol,
        atol=TOLERANCE if atol is None else atol,
        max_step=hmax if hmax else np.inf,
        first_step=h0 if h0 else None,
    )
    return solution.y.T
