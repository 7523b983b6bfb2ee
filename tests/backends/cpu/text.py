"""Modules of loop form for the tests."""

import textwrap

HEAD = """\
import numpy as np
from math import cos, erf, exp, exp2, hypot, log, pow, sin, tanh
from numba import njit


def empty(shape, dtype):
    return np.empty(shape, dtype)


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    return kernel(0, rows, *args, *own, *sums)


"""


def module(text):
    """A module with what emitted modules begin with."""
    return HEAD + textwrap.dedent(text)


def apart(body, more=""):
    """A module with `f(x)`, whose kernel writes `body` of `v` (an element of x) to an array."""
    return module(
        f"""
        @njit(nogil=True)
        def f_kernel(first, last, x, out):
            for i in range(first, last):
                v = x[i]
                out[i] = {body}


        def f(x):
            out = empty(x.shape, x.dtype)
            in_parallel(f_kernel, len(x), 24, x, out)
            return out
        {more}
        """
    )
