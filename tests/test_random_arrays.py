"""Random array functions: loop form, run by Python, gives what NumPy gives, and leaves what it
leaves in the arguments; its derivatives are those of the array form."""

import importlib.util
import itertools
import random

import numpy as np
import pytest

import tapeless
from tapeless.backends import cpu
from tapeless.transforms.errors import InternalError, TapelessError
from tests import interpreted
from tests.random_arrays import Writer

SIZES = ((4, 3), (1, 2), (3, 5))
FLOATS = (0, 2, 3, 4, 5, 6, 7)
numbers = itertools.count()


@pytest.fixture
def function_of(tmp_path, monkeypatch):
    """Turns a seed into functions f and g in a file of their own, whose kernels Python runs."""
    monkeypatch.setattr(cpu, "load", interpreted.load)

    def load(seed, size):
        name = f"arrays_{next(numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(Writer(random.Random(seed), size).program())
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    with np.errstate(all="ignore"):
        yield load


def arguments(n, m):
    rng = np.random.default_rng(10 * n + m)
    shapes = (n,), (n,), (m,), (n, m), (n, m), (n, n)
    arrays = [rng.uniform(-1, 1, shape).round(3) for shape in shapes]
    flags = rng.random(n) > 0.4
    if n > 2:  # other layouts
        arrays[0], arrays[3] = np.repeat(arrays[0], 2)[::2], np.asfortranarray(arrays[3])
    return 0.37, 3, *arrays, rng.integers(0, max(n, 1), n), flags


def tried(function, args):
    """What a function returns and leaves in its arguments, or the error that it raises."""
    args = [x.copy(order="K") if isinstance(x, np.ndarray) else x for x in args]
    try:
        return function(*args), args
    except InternalError:
        raise
    except TapelessError:
        return None
    except Exception as e:  # noqa: BLE001  # a program that Python does not run
        return e


def assert_same(found, wanted, tolerance):
    """Numbers in tuples and lists, and of which type they are."""
    if isinstance(wanted, (tuple, list)):
        for a, b in zip(found, wanted, strict=True):
            assert_same(a, b, tolerance)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    scale = 1 + np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if wanted.size else 1
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * scale)


def check(plain, compiled, tolerance):
    """Compares at all sizes; how many could be."""
    count = 0
    for size in SIZES:
        args = arguments(*size)
        wanted, found = tried(plain, args), tried(compiled, args)
        if isinstance(wanted, tuple) and found is not None:
            if isinstance(found, Exception):
                raise found
            assert_same(found, wanted, tolerance)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(24))
def test_values_and_what_is_left_in_arguments(function_of, seed):
    f = function_of(seed, 3).f
    check(f, tapeless.jit(f), 1e-9)


@pytest.mark.parametrize("seed", range(100, 106))
def test_derivatives(function_of, seed):
    g = function_of(seed, 2).g
    slopes = tapeless.value_and_grad(g, argnums=FLOATS)
    check(slopes, tapeless.jit(tapeless.value_and_grad(g, argnums=FLOATS)), 1e-7)
