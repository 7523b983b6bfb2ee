"""Random loops that make arrays longer and shorter: loop form, run by Python, gives what NumPy
gives, or says that it does not stretch an axis; its derivatives are those of the array form."""

import importlib.util
import itertools

import numpy as np
import pytest

import tapeless
from tapeless.backends import cpu
from tapeless.transforms.errors import InternalError
from tests import interpreted
from tests.random_lengths import Writer

X = np.array([0.37, 0.91, -0.42, 0.65, 0.13])
PASSES = (5, 0, 1, 2, 3, 7)
numbers = itertools.count()


@pytest.fixture
def function_of(tmp_path, monkeypatch):
    """Turns a seed into a function in a file of its own, whose kernels Python runs."""
    monkeypatch.setattr(cpu, "load", interpreted.load)

    def load(seed):
        name = f"lengths_{next(numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(Writer(seed).program())
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    with np.errstate(all="ignore"):
        yield load


def outcome(f, n):
    """What a function gives for so many passes, or the error that it raises."""
    try:
        return f(X.copy(), 0.7, n)
    except InternalError:
        raise
    except Exception as e:  # noqa: BLE001  # any, as Python's
        return e


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.filterwarnings("ignore")
def test_values(function_of, seed):
    f = function_of(seed)
    compiled = tapeless.jit(f)
    for n in PASSES:
        wanted, got = outcome(f, n), outcome(compiled, n)
        if isinstance(got, ZeroDivisionError):
            continue  # Python's floats raise; machine code gives nan, as NumPy does
        if isinstance(got, Exception):
            assert isinstance(wanted, Exception) or "stretched" in str(got)
        elif not isinstance(wanted, Exception):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
        else:
            pytest.fail(f"{wanted!r} is not raised")
        if isinstance(wanted, Exception) and n == PASSES[0]:
            break


@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.filterwarnings("ignore")
def test_derivatives(function_of, seed):
    f = function_of(seed)
    slopes = tapeless.grad(f, argnums=(0, 1))
    wanted, got = outcome(slopes, 5), outcome(tapeless.jit(slopes), 5)
    if isinstance(wanted, Exception):
        assert isinstance(got, Exception)
    else:
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)
