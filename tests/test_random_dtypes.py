"""Random functions over arrays of all dtypes: jit and vmap give what NumPy gives, or raises."""

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

    def uniform(*shape):
        return rng.uniform(-1, 1, shape).round(2)

    arrays = [uniform(n), uniform(n).astype("f4"), uniform(n).astype("f2")]
    arrays += [uniform(n) + 1j * uniform(n), (uniform(n) + 1j * uniform(n)).astype("c8")]
    arrays += [
        rng.integers(0, n, n),
        *(rng.integers(-5, 6, n).astype(t) for t in ("i4", "i2", "i1")),
    ]
    arrays += [rng.integers(0, 9, n).astype(t) for t in ("u1", "u2", "u4", "u8")]
    arrays += [rng.random(n) > 0.4, uniform(n, 3), rng.integers(-5, 6, (n, 3)).astype("i2")]
    return arrays, (0.37, np.float32(0.7), 2, np.int32(3), 0.5 - 0.25j)


def loaded(text, folder):
    path = folder / f"dtypes_{next(numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def outcome(run):
    """What a program gives, or the error: of ours, or one that it has in NumPy."""
    try:
        with np.errstate(all="ignore"):
            return run()
    except InternalError:
        raise
    except (TapelessError, ArithmeticError, IndexError, TypeError, ValueError) as e:
        return e


def check(text, folder):
    """Whether all forms agree with NumPy; None where there is nothing to compare."""
    f = loaded(text, folder)
    expected = outcome(lambda: f(*map(np.copy, arguments()[0]), *arguments()[1]))
    arrays, others = arguments()
    if isinstance(expected, Exception):
        if isinstance(expected, TypeError):  # also of what no result needs
            assert isinstance(outcome(lambda: jit(f).plain(*arrays, *others)), Exception), text
        return None
    axes = (0,) * len(arrays) + (None,) * len(others)
    batch = [np.stack([x, x]) for x in arrays]
    results = [
        outcome(lambda: jit(f)(*arrays, *others)),
        outcome(lambda: [x[0] for x in vmap(f, in_axes=axes)(*batch, *others)]),
    ]
    for actual in results:
        for x, y in zip(() if isinstance(actual, Exception) else actual, expected, strict=False):
            assert x.dtype == y.dtype, text
            short = np.finfo(y.dtype).bits <= 32 if y.dtype.kind in "fc" else False
            tolerance = 1e-4 if short else 1e-7  # of numbers that were float32
            tolerance = 1e-2 if y.dtype == np.float16 else tolerance
            scale = 1 + np.abs(y[np.isfinite(y)]).max(initial=0)
            np.testing.assert_allclose(x, y, tolerance, tolerance * scale, err_msg=text)
    return not any(isinstance(actual, Exception) for actual in results)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 60, GROUP))
def test_dtypes(first, tmp_path):
    outcomes = [check(program(seed), tmp_path) for seed in range(first, first + GROUP)]
    assert outcomes.count(True) >= GROUP // 3
