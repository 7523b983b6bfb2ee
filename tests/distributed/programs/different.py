"""Each process calls another function, or one makes a call that fails and goes on, brings arrays of
another shape, or ends before the others."""

import contextlib
import sys

import numpy as np

import tapeless
from tapeless import pmap
from tapeless.lax import pmax, psum

on_a_mesh = {"rows": 2, "i": 2} if sys.argv[1] == "leaves a mesh" else None
tapeless.distributed.initialize(mesh=on_a_mesh)
rank = tapeless.process_index()


def first(x):
    return psum(x, "i")


def second(x):
    return pmax(x, "i")


if sys.argv[1] == "functions":
    pmap((first, second)[rank], axis_name="i")(np.ones(2))
elif sys.argv[1] == "lambdas":
    to_sum = pmap(lambda x: psum(x, "i"), axis_name="i")
    of_twice = pmap(lambda x: psum(2 * x, "i"), axis_name="i")
    (to_sum, of_twice)[rank](np.ones(2))
elif sys.argv[1] == "shapes":
    pmap(first, axis_name="i")(np.ones((2, 3 + rank)))
elif sys.argv[1].startswith("leaves"):
    f = pmap(first, axis_name="i")
    f(np.ones(2))
    if rank == 1:
        sys.exit(3)
    f(np.ones(2))
else:
    f = pmap(first, axis_name="i")
    if rank == 1:
        with contextlib.suppress(ValueError):
            f(1.0)
    f(np.ones(2))
