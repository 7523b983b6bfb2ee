"""What is declined, and with which words."""

import contextlib
import json

import numpy as np

from tapeless import lax, vjp
from tests.language import refused, traced

KEPT = []


@traced("an axis from data", "contents of arrays")
def axis_from_data(x):
    return np.sum(np.cumsum(np.outer(x, x), axis=int(x[0])))


@traced("functions without a rule (C code, other libraries)", "json.dumps has no rule")
def foreign(x):
    return np.sum(x) * len(json.dumps(x[0]))


@traced("branches on data that end with different structure", "are built differently")
def uneven(x):
    y = (x[0], x[1]) if x[0] > 0 else x[2]
    return np.sum(np.array(y))


async def waits(x):
    return np.sum(x)


@refused("`async`, `await`", "async")
def awaits(x):
    async def inner():
        return np.sum(x)

    return inner()


@traced(
    "`except` around an index, a function of `math` or a power of data that is none of the above; "
    "in loops whose length data decides",
    "an except clause catches it",
)
def catches(x):
    with contextlib.suppress(IndexError):
        return np.sum(x) * x[int(10 * x[0])]
    return np.sum(x**2)


@refused("`except` around an array of indices from data", "an except clause catches it")
def catches_indices(x):
    places = np.round(10 * x).astype(int)
    try:
        return np.sum(x[places])
    except IndexError:
        return np.sum(x**2)


@traced("what a text by data says (`len`, `float`, a key of a dict)", "float() needs a text")
def reads_text(x):
    return float(f"{lax.stop_gradient(x[0]):.2f}") * np.sum(x)


@traced("what a text by data says (`len`, `float`, a key of a dict)", "len() needs a text")
def measures_text(x):
    return len(f"{x[0]}") * np.sum(x)


@traced("a text that shows data, returned or stored outside", "is returned or stored outside")
def keeps_text(x):
    KEPT.append(f"{x[0]}")
    return np.sum(x)


@traced("stores to slices, and `del` of slices, of a list filled in a loop", "del of a slice")
def deletes(x):
    filled = []
    for v in x:
        filled.append(v)
    del filled[:2]
    return filled[0]


@refused("`eval`, `exec`, `locals`, `globals`", "eval() in a function that is staged")
def evaluates(x):
    return eval("np.sum(x)")


@refused("`eval`, `exec`, `locals`, `globals`", "locals() in a function that is staged")
def looks_around(x):
    return np.sum(locals()["x"])


@refused("`input`, writing files", "open() in a function that is staged")
def writes_a_file(x):
    with open("log.txt", "w") as log:
        log.write("called")
    return np.sum(x)


@refused("`input`, writing files", "input() in a function that is staged")
def asks(x):
    return float(input("factor: ")) * np.sum(x)


@traced(
    "a list whose length depends on data, returned to `grad`, `jvp`, `vjp` or `vmap`",
    "a list is returned whose length",
)
def list_of_unknown_length(x):
    def positive(v):
        return [t * t for t in v if t > 0]

    value, pull = vjp(positive, x)
    return sum(pull(value)[0])


@traced(
    "exceptions whose class is made in the function, raised on data",
    "NegativeError, which is raised",
)
def own_exception(x):
    class NegativeError(ValueError):
        pass

    if x[0] < -1e9:
        raise NegativeError("negative")
    return np.sum(x)
