"""Random functions over arrays of all dtypes: jit and vmap give NumPy's values and dtypes."""

import importlib.util
import itertools

import numpy as np
import pytest

from tapeless import jit, vmap
from tapeless.transforms.errors import InternalError, TapelessError
from tests.random_dtypes import program

GROUP = 10
numbers = itertools.count()


def arguments(n=4):
    rng = np.random.default_rng(7)
    a, b, parts = rng.uniform(-1, 1, (3, n)).round(2)
    arrays = [a, b.astype(np.float32), rng.integers(0, n, n), rng.integers(-5, 6, n, np.int32)]
    arrays += [a + 1j * parts, rng.random(n) > 0.4, rng.uniform(-1, 1, (n, 3)).round(2)]
    return arrays, (0.37, np.float32(0.7), 2)


def loaded(text, folder):
    path = folder / f"dtypes_{next(numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(run):
    """What a program gives; None where it is refused, or has no value in NumPy."""
    try:
        with np.errstate(all="ignore"):
            return run()
    except InternalError:
        raise
    except (TapelessError, ArithmeticError, IndexError, TypeError, ValueError):
        return None


def check(text, folder):
    """Whether both forms agree with NumPy; None where there is nothing to compare."""
    f = loaded(text, folder)
    expected = outcome(lambda: f(*map(np.copy, arguments()[0]), *arguments()[1]))
    if expected is None:
        return None
    arrays, others = arguments()
    axes = (0,) * len(arrays) + (None,) * len(others)
    batch = [np.stack([x, x]) for x in arrays]
    results = (
        outcome(lambda: jit(f)(*arrays, *others)),
        outcome(lambda: [x[0] for x in vmap(f, in_axes=axes)(*batch, *others)]),
    )
    for actual in results:
        for x, y in zip(actual or (), expected, strict=False):
            assert x.dtype == y.dtype, text
            single = x.dtype in (np.float32, np.complex64)
            tolerance = 1e-4 if single else 1e-7  # of numbers that were float32
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=text)
    return all(actual is not None for actual in results)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 60, GROUP))
def test_dtypes(first, tmp_path):
    outcomes = [check(program(seed), tmp_path) for seed in range(first, first + GROUP)]
    assert outcomes.count(True) >= GROUP // 3
