"""Random functions that call helpers, objects, closures and generators: values and slopes are those
of Python, in each way that a call takes."""

import importlib.util
import itertools

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import InternalError, TapelessError
from tests.random_calls import program

PROGRAMS, GROUP = 18, 6
POINTS = [
    (0.37, -0.61, np.array([0.31, -0.42, 0.93]), 0.52, 3),
    (-0.83, 1.21, np.array([-0.6, 0.77, 0.25]), -0.34, 3),
    (1.7, 0.45, np.array([0.1, 0.2, -1.3]), 0.9, 3),
]
numbers = itertools.count()


def loaded(seed, folder):
    path = folder / f"calls_{next(numbers)}.py"
    path.write_text(program(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(function, x, y, v, s, n):
    """What a function returns, or the error that it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(x, y, v.copy(), s, n)
    except InternalError:
        raise
    except Exception as e:  # noqa: BLE001 (every error is looked at)
        return e


def slope_along(f, point, direction):
    """The slope by differences; None where the function is not smooth, or may not be."""
    *where, n = point

    def at(step):
        moved = (a + step * b for a, b in zip(where, direction, strict=True))
        return outcome(f, *moved, n)

    values = [at(k * 1e-6) for k in (-1, -0.25, 0, 0.25, 1)]
    if any(isinstance(v, Exception) or not np.isfinite(v) for v in values):
        return None
    first, near, middle, after, last = values
    wide, narrow, ahead = (last - first) / 2e-6, (after - near) / 5e-7, (last - middle) / 1e-6
    smooth = abs(wide - narrow) < 1e-4 * (1 + abs(wide)) > abs(wide - ahead) / 10
    return wide if smooth else None


def check(seed, folder):
    """Whether there was something to compare."""
    f = loaded(seed, folder)
    compiled, slopes = jit(f).plain, grad(f, argnums=(0, 1, 2, 3))
    direction = (0.7, -0.4, np.array([0.5, 0.3, -0.8]), 0.6)
    compared = False
    for point in (*POINTS, POINTS[0]):
        expected, result = outcome(f, *point), outcome(compiled, *point)
        if isinstance(expected, Exception) or isinstance(result, TapelessError):
            assert isinstance(result, Exception), seed
            continue
        assert result == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True), seed
        along, gradient = slope_along(f, point, direction), outcome(slopes, *point)
        if along is None or isinstance(gradient, TapelessError):
            continue
        total = sum(np.sum(g * d) for g, d in zip(gradient, direction, strict=True))
        assert total == pytest.approx(along, rel=1e-4, abs=1e-5 * (1 + abs(along))), seed
        compared = True
    return compared and check_batch(f, seed)


def check_batch(f, seed):
    """A batch gives what its elements give, which are numbers of NumPy's."""
    xs, ys, vs, ss, (n, *_) = (np.array(each) for each in zip(*POINTS, strict=True))
    rows = zip(xs, ys, vs, ss, strict=True)
    expected = [outcome(f, *row, int(n)) for row in rows]
    if any(isinstance(e, Exception) for e in expected):
        return True
    batch = outcome(vmap(f, in_axes=(0, 0, 0, 0, None)), xs, ys, vs, ss, int(n))
    if not isinstance(batch, TapelessError):
        np.testing.assert_allclose(batch, expected, 1e-9, 1e-11, err_msg=str(seed))
    return True


@pytest.mark.usefixtures("traced")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, PROGRAMS, GROUP))
def test_calls(first, tmp_path):
    outcomes = [check(seed, tmp_path) for seed in range(first, first + GROUP)]
    assert outcomes.count(True) >= GROUP // 2
