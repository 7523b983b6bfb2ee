"""Cheap values of which parts are read are computed again where they are read."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(5)


def second_differences(x):
    d = x[1:] - x[:-1]
    return d[1:] - d[:-1]


def limited_fluxes(x):
    lap = 4 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    across = lap[1:, :] - lap[:-1, :]
    across = np.where(across * (x[2:-1, 1:-1] - x[1:-2, 1:-1]) > 0, 0, across)
    along = lap[:, 1:] - lap[:, :-1]
    along = np.where(along * (x[1:-1, 2:-1] - x[1:-1, 1:-2]) > 0, 0, along)
    return across[1:, 1:-1] - across[:-1, 1:-1] + along[1:-1, 1:] - along[1:-1, :-1]


def gradient_magnitude(x):
    blurred = (x[:-2] + 2 * x[1:-1] + x[2:]) * 0.25
    across = blurred[:, 2:] - blurred[:, :-2]
    return np.abs(across[1:] - across[:-1])


def scaled_by_rows(x):
    weights = x[:, :1] * 0.5
    scaled = x * weights + x[0]
    return scaled[:, 1:] * scaled[:, :-1]


def waves_in_time(x):
    u, before = x * 1.0, x * 0.5
    for _ in range(5):
        flux = u[1:] * u[:-1] * 0.1
        new = u.copy()
        new[1:-1] = 2 * u[1:-1] - before[1:-1] + flux[1:] - flux[:-1]
        before, u = u, new
    return u


def overwritten_between(x):
    y = x * 1.0
    d = y[1:] - y[:-1]
    y[:-1] = d
    y[1:] += 2 * d
    return y[:-2] + d[1:] * d[:-1]


def overwritten_in_a_loop(x):
    y = x * 1.0
    for _ in range(4):
        d = y[1:] - y[:-1]
        y[1:-1] += 0.1 * (d[1:] - d[:-1])
    return y


def read_whole_too(x):
    d = x[1:] - x[:-1]
    return d[1:] - d[:-1], d


def places_by_arguments(x, k=3):
    d = x * 2 + 1
    return d[k:-1] - d[1:-k] + d[-k - 2 : -2].sum()


ONE_AXIS = [second_differences, waves_in_time, overwritten_between, overwritten_in_a_loop]
ONE_AXIS += [read_whole_too, places_by_arguments]
TWO_AXES = [limited_fluxes, gradient_magnitude, scaled_by_rows]


def same(got, wanted, rtol):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", ONE_AXIS + TWO_AXES, ids=lambda f: f.__name__)
def test_values_are_those_of_numpy_for_all_sizes(program, dtype):
    compiled = jit(program)
    for n in (3000, 17, 9):
        shape = (n,) if program in ONE_AXIS else (n // 3 + 5, 51)
        x = RNG.normal(size=shape).astype(dtype)
        kept = x.copy()
        same(compiled(x), program(x), 1e-5 if dtype == np.float32 else 1e-12)
        np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("program", TWO_AXES, ids=lambda f: f.__name__)
def test_parts_of_other_arrays(program):
    x = RNG.normal(size=(160, 90))[::2, ::-1]
    same(jit(program)(x), program(x), 1e-12)
    x = np.asfortranarray(RNG.normal(size=(60, 90)))
    same(jit(program)(x), program(x), 1e-12)


@pytest.mark.parametrize(
    "program", [second_differences, limited_fluxes, gradient_magnitude], ids=lambda f: f.__name__
)
def test_nothing_is_kept_between_the_steps(program):
    x = RNG.normal(size=(3000,) if program in ONE_AXIS else (80, 90))
    source = jit(program).source(x)
    assert source.count(" = empty(") == 1  # the result
    assert "scratch(" not in source


def test_what_takes_long_is_kept():
    def f(x):
        y = np.exp(x)
        return y[2:] - y[1:-1] + y[:-2]

    x = RNG.normal(size=3000)
    same(jit(f)(x), f(x), 1e-12)
    assert jit(f).source(x).count("exp(") == 1


def test_what_is_read_at_many_places_is_kept():
    def f(x):
        y = x[4:] * x[:-4] + x[1:-3] * x[3:-1] + x[2:-2]
        return sum(y[k : len(y) - 9 + k] * (k + 1) for k in range(9))

    x = RNG.normal(size=3000)
    same(jit(f)(x), f(x), 1e-12)


def test_no_array_is_copied_for_it():
    x = RNG.normal(size=3000)
    assert ".copy()" not in jit(overwritten_in_a_loop).source(x)


@pytest.mark.parametrize("program", ONE_AXIS[:4] + TWO_AXES, ids=lambda f: f.__name__)
def test_derivatives(program):
    def total(x):
        return np.sum(program(x) ** 2)

    x = RNG.normal(size=(12,) if program in ONE_AXIS else (9, 8))
    check_grads(total, (x,), order=1, rtol=1e-3)
    x = RNG.normal(size=(2000,) if program in ONE_AXIS else (60, 50))
    np.testing.assert_allclose(jit(grad(total))(x), grad(total)(x), rtol=1e-9, atol=1e-9)
