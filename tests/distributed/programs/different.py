"""Each process calls another function, or one makes a call that fails and goes on, or brings arrays
of another shape."""

import contextlib
import sys

import numpy as np

import tapeless
from tapeless import pmap
from tapeless.lax import pmax, psum

tapeless.distributed.initialize()
rank = tapeless.process_index()


def first(x):
    return psum(x, "i")


def second(x):
    return pmax(x, "i")


if sys.argv[1] == "functions":
    pmap((first, second)[rank], axis_name="i")(np.ones(2))
elif sys.argv[1] == "shapes":
    pmap(first, axis_name="i")(np.ones((2, 3 + rank)))
else:
    f = pmap(first, axis_name="i")
    if rank == 1:
        with contextlib.suppress(ValueError):
            f(1.0)
    f(np.ones(2))
