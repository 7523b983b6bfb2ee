"""Integrates samples, as jax.scipy.integrate does, and collects what stands for scipy.integrate."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.nquad import dblquad, nquad, tplquad
from tapeless.scipy.ode import odeint, solve_ivp
from tapeless.scipy.quadrature import fixed_quad, quad, romb, simpson

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples, with straight lines between them.

    y     an array
    x     where the samples are, of the shape of y or of one axis; evenly spaced by default
    dx    their distance, where x is not given
    axis  along which is integrated

    Differentiable in y, x and dx.

    >>> float(trapezoid(np.array([0.0, 1.0, 4.0]), dx=2.0))
    6.0
    """
    return np.trapezoid(y, x, dx, axis)


__all__ = [
    "dblquad",
    "fixed_quad",
    "nquad",
    "odeint",
    "quad",
    "romb",
    "simpson",
    "solve_ivp",
    "tplquad",
    "trapezoid",
]
