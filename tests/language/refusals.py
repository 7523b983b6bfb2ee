"""What is declined, and with which words."""

import json
import time

import numpy as np

from tests.language import refused

KEPT = []


@refused("an index of a list, or an axis, from array contents", "depends on the contents of arrays")
def index_from_data(x):
    return [1.0, 2.0, 3.0][int(x[0])] * np.sum(x)


@refused("an index of a list, or an axis, from array contents", "depends on the contents of arrays")
def axis_from_data(x):
    return np.sum(np.cumsum(np.outer(x, x), axis=int(x[0])))


@refused("functions without a rule (C code, other libraries)", "json.dumps has no rule")
def foreign(x):
    return np.sum(x) * len(json.dumps(x[0]))


@refused("branches that end with different structure", "are built differently")
def uneven(x):
    y = (x[0], x[1]) if x[0] > 0 else x[2]
    return np.sum(np.array(y))


@refused("clocks and random numbers from outside", "gives other values at each call")
def clock(x):
    return np.sum(x) * time.time()


async def waits(x):
    return np.sum(x)


@refused("`async`, `await`", "async")
def awaits(x):
    async def inner():
        return np.sum(x)

    return inner()


@refused("`except` around an error that is raised on data", "an except clause catches it")
def catches(x):
    try:
        if x[0] > 0:
            raise ValueError("positive")
        return np.sum(x)
    except ValueError:
        return np.sum(x**2)
