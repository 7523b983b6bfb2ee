"""max() and min() of lists find what Python finds: NaN counts only in the first place."""

import itertools
import math

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.transforms.ops.agreement import emitted

NAN = math.nan


def filled(x):
    out = []
    for v in x:
        out.append(v * 1.5)  # noqa: PERF401 (a list that a loop fills)
    return max(out), min(out)


def by_keys(x):
    out = []
    for v in x:
        out.append(v * 1.5)  # noqa: PERF401 (a list that a loop fills)
    return max(out, key=lambda v: -v), min(out, key=lambda v: v * 2.0)


PROGRAMS = {
    "numbers": lambda x: (max(x[0], x[1], x[2]), min(x[0], x[1], x[2])),
    "a list": lambda x: (max([x[0], x[1], x[2]]), min([x[2], x[1], x[0]])),
    "a tuple of keys": lambda x: max((x[0], x[1], x[2]), key=abs),
    "a comprehension": lambda x: max([v * 2.0 for v in x]),
    "a generator": lambda x: min(v * 2.0 for v in x),
    "a filled list": filled,
    "a filled list by keys": by_keys,
}
PLACES = [np.array(p) for p in itertools.product([1.0, -2.0, NAN, math.inf], repeat=3)]


def flat(value):
    return [float(v) for v in (value if isinstance(value, tuple) else (value,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_python_finds(name):
    f = PROGRAMS[name]
    for run in (emitted(f), jit(f)):
        for x in PLACES:
            np.testing.assert_array_equal(flat(run(x)), flat(f(x)), str(x))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_python_finds_in_a_batch(name):
    f = PROGRAMS[name]
    wanted = np.array([flat(f(x)) for x in PLACES])
    for run in (vmap(f), jit(vmap(f))):
        made = run(np.stack(PLACES))
        made = np.stack(made if isinstance(made, tuple) else (made,), axis=-1)
        np.testing.assert_array_equal(made, wanted)


def test_lists_of_nothing():
    def f(x):
        out = []
        for v in x:
            if v > 9.0:
                out.append(v)  # noqa: PERF401 (a list that a loop fills)
        return max(out)

    for run in (emitted(f), jit(f)):
        with pytest.raises(ValueError, match=r"."):
            run(np.array([1.0, 2.0]))


def test_slopes_past_nan():
    x = np.array([1.0, NAN, 2.0, 0.5])
    for run in (grad(lambda x: filled(x)[0]), jit(grad(lambda x: filled(x)[0]))):
        np.testing.assert_array_equal(run(x), [0.0, 0.0, 1.5, 0.0])
