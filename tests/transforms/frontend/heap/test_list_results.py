"""Lists that a function gives to a transformation stay lists, however they were made."""

# ruff: noqa: PERF401 (loops that fill lists are what is tested)

import numpy as np
import pytest

from tapeless import jit, jvp, vjp, vmap
from tapeless.transforms.errors import UnsupportedError

X = np.arange(6.0).reshape(3, 2)


def rebuilt_by_copies(x):
    xs = [0.0] * 12
    for _ in range(3):
        ys = xs[:]
        for i in range(12):
            ys[i] = ys[i] + x[0] * i
        xs = ys
    return xs


def copied_in_the_loop_that_fills_it(x):
    out = []
    for k in range(4):
        out.append(x[0] * k)
        ys = list(out)
    return ys


def rebuilt_by_comprehensions(x):
    xs = list(x)
    for _ in range(3):
        xs = [v * 2 for v in xs]
    return {"xs": xs, "pair": (xs, x[1])}


PROGRAMS = [rebuilt_by_copies, copied_in_the_loop_that_fills_it, rebuilt_by_comprehensions]


def structure(value):
    if isinstance(value, dict):
        return {k: structure(v) for k, v in value.items()}
    return [structure(v) for v in value] if isinstance(value, (list, tuple)) else np.ndim(value)


def flat(value):
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [w for v in value for w in flat(v)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("f", PROGRAMS)
def test_leaves_are_the_elements(f):
    wanted = f(X[0])
    value, tangent = jvp(f, (X[1],), (X[2],))
    cotangents, _ = vjp(f, X[0])
    assert structure(wanted) == structure(value) == structure(tangent) == structure(cotangents)
    np.testing.assert_array_equal(flat(value), flat(f(X[1])))
    np.testing.assert_array_equal(flat(tangent), flat(f(X[2])))  # they are linear


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("compiled", [False, True])
def test_batches_are_lists_of_arrays(f, compiled):
    g = vmap(f)
    found = (jit(g) if compiled else g)(X)
    assert type(found) is type(f(X[0]))
    for k, part in enumerate(X):
        np.testing.assert_array_equal([leaf[k] for leaf in flat(found)], flat(f(part)))


def test_lengths_by_data_are_refused():
    def large(x):
        xs = []
        for v in x:
            if v > 2:
                xs.append(v)
        return list(xs)

    with pytest.raises(UnsupportedError, match="whose length depends on the contents"):
        vmap(large)(X)
