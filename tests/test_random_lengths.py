"""Random loops that make arrays and lists longer and shorter: loop form, run by Python, gives what
NumPy gives, or says what it does not do; its derivatives are those of the array form."""

import importlib.util
import itertools

import numpy as np
import pytest

import tapeless
from tapeless.backends import cpu
from tapeless.transforms.errors import InternalError, TapelessError
from tapeless.transforms.lowering.kernels import element_access, stacks
from tests import interpreted
from tests.random_lengths import ARRAYS, LISTS, Writer

X = np.array([0.37, 0.91, -0.42, 0.65, 0.13])
PASSES = (5, 0, 1, 2, 3, 7)
numbers = itertools.count()


@pytest.fixture(autouse=True)
def kernels_in_python(monkeypatch):
    """Python runs the kernels, and so checks each index; their memory has room for one number at
    first, so that all of it must grow where it is used."""
    monkeypatch.setattr(cpu, "load", interpreted.load)
    for module in (element_access, stacks):
        monkeypatch.setattr(module, "FIRST", 1)


@pytest.fixture
def function_of(tmp_path):
    """Turns a seed into a function in a file of its own."""

    def load(seed, templates):
        name = f"lengths_{next(numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(Writer(seed, templates).program())
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
@pytest.mark.parametrize("templates", [ARRAYS, LISTS], ids=["arrays", "lists"])
@pytest.mark.filterwarnings("ignore")
def test_values(function_of, seed, templates):
    f = function_of(seed, templates)
    compiled = tapeless.jit(f)
    for n in PASSES:
        wanted, got = outcome(f, n), outcome(compiled, n)
        if isinstance(got, ZeroDivisionError):
            continue  # Python's floats raise; machine code gives nan, as NumPy does
        if isinstance(got, Exception):
            is_refused = "stretched" in str(got) or isinstance(got, TapelessError)
            assert isinstance(wanted, Exception) or is_refused
        elif not isinstance(wanted, Exception):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
        else:
            pytest.fail(f"{wanted!r} is not raised")
        if isinstance(wanted, Exception) and n == PASSES[0]:
            break


@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("templates", [ARRAYS, LISTS], ids=["arrays", "lists"])
@pytest.mark.filterwarnings("ignore")
def test_derivatives(function_of, seed, templates):
    f = function_of(seed, templates)
    slopes = tapeless.grad(f, argnums=(0, 1))
    wanted, got = outcome(slopes, 5), outcome(tapeless.jit(slopes), 5)
    if isinstance(wanted, Exception):
        assert isinstance(got, Exception)
    else:
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


def largest_of_pairs(x, most):
    while len(x) > most:
        pairs = x[: len(x) // 2 * 2].reshape(-1, 2)
        top = np.maximum(pairs[:, 0], pairs[:, 1])
        x = np.append(top, np.mean(top)) if len(x) % 2 else top
    return np.sum(x * np.arange(len(x)))


def filled_by_a_side(x, passes):
    total, length = 0.0, 2
    for i in range(passes):
        length = length + int(x[i % 5] > 0)
        y = np.empty(length)
        if x[i % 5] > 0.5:
            y[:] = 1.0
        else:
            y[:] = 2.0
        total += np.sum(y)
    return total


@pytest.mark.parametrize("f", [largest_of_pairs, filled_by_a_side])
def test_both_sides_of_a_branch_have_memory(f):
    """The side that runs first is not the one that stands first."""
    compiled = tapeless.jit(f)
    for x in (np.cos(np.arange(40.0)), np.cos(np.arange(37.0)), X):
        np.testing.assert_allclose(compiled(x, 6), f(x, 6))
