"""Random functions over all that Python has: values, errors and slopes are those of Python."""

import importlib.util
import itertools
import signal

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import InternalError, TapelessError
from tests.random_language import Writer
from tests.test_random_mistakes import TooLong, limited

PROGRAMS, GROUP = 24, 6
POINTS = [  # none is a number of a program
    (0.37, 0.71, np.array([0.31, -1.23, 2.03]), 2),
    (-0.45, 0.23, np.array([0.63, 0.13, -0.41]), 2),
    (0.91, -0.63, np.array([-0.23, 0.57, 0.93]), 2),
    (0.05, 0.57, np.array([1.53, 0.21, 0.67]), 2),
    (0.37, 0.71, np.array([0.31, -1.23, 2.03]), 3),
]
numbers = itertools.count()


def loaded(seed, folder):
    path = folder / f"language_{next(numbers)}.py"
    path.write_text(Writer(seed).program())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(function, x, s, v, n):
    """What a function returns, or the error that it raises."""
    try:
        with limited():
            return function(x, s, v.copy(), n)
    except InternalError:
        raise
    except Exception as e:  # noqa: BLE001 (every error is looked at)
        return e


def assert_same(actual, expected, seed):
    if isinstance(actual, TapelessError):
        assert actual.hint
        assert "  File " in str(actual)
    elif isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (seed, actual)
    else:
        np.testing.assert_allclose(actual, expected, 1e-7, 1e-9, err_msg=f"program {seed}")


def difference(f, x, s, v, n, step):
    """The derivative by finite differences."""
    moves = [(step, 0, 0 * v), (0, step, 0 * v), *((0, 0, step * e) for e in np.eye(3))]
    return np.array(
        [f(x + dx, s + ds, v + dv, n) - f(x - dx, s - ds, v - dv, n) for dx, ds, dv in moves],
        dtype=float,
    ) / (2 * step)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("first", range(0, PROGRAMS, GROUP))
def test_values_and_errors(first, tmp_path):
    for seed in range(first, first + GROUP):
        f = loaded(seed, tmp_path)
        try:
            expected = [outcome(f, *point) for point in POINTS]
            for form, points in ((jit(f).plain, POINTS), (jit(f), POINTS[:1])):
                for point, value in zip(points, expected, strict=False):
                    assert_same(outcome(form, *point), value, seed)
            rows = [k for k in range(4) if not isinstance(expected[k], Exception)]
            if rows:
                batch = [np.array([POINTS[k][j] for k in rows]) for j in range(3)]
                values = outcome(vmap(f, in_axes=(0, 0, 0, None)), *batch, 2)
                assert_same(values, [expected[k] for k in rows], seed)
        except TooLong:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("first", range(100, 100 + PROGRAMS // 2, GROUP))
def test_slopes(first, tmp_path):
    for seed in range(first, first + GROUP):
        f = loaded(seed, tmp_path)
        for point in POINTS[:2]:
            if isinstance(outcome(f, *point), Exception):
                continue
            try:
                estimates = [difference(f, *point, step) for step in (1e-5, 1e-6)]
            except (ArithmeticError, LookupError, TypeError, ValueError):
                continue
            if not np.allclose(*estimates, rtol=1e-5, atol=1e-5) or np.abs(estimates).max() > 1e4:
                continue
            slopes = outcome(grad(f, argnums=(0, 1, 2)), *point)
            if not isinstance(slopes, TapelessError):
                actual = [slopes[0], slopes[1], *slopes[2]]
                np.testing.assert_allclose(actual, estimates[0], 1e-4, 1e-4, err_msg=str(seed))
