"""Random programs: grad, jvp and second derivatives against finite differences."""

import importlib.util
import itertools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import tapeless
from tapeless.transforms.errors import AliasError, InternalError, NeedStaticError
from tests.corpus.differences import gradient, ravel, unravel
from tests.random_programs import Writer

PASSES = 3
STEPS = (1e-6, 4e-6, 2.3e-5)
numbers = itertools.count()


def sources(statements):
    """Texts of modules with a random function f(x, v, m, n); short ones are the simple ones."""

    def written(seed, size):
        generator = random.Random(seed)
        return Writer(lambda choices: generator.choice(list(choices)), size).program()

    return st.builds(written, st.integers(0, 2**32), st.integers(1, statements))


@pytest.fixture(scope="module")
def function_of(tmp_path_factory):
    """Turns text into its function f, in a file of its own so that its source is found."""
    folder = tmp_path_factory.mktemp("programs")

    def load(text):
        name = f"program_{next(numbers)}"
        path = folder / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return load


def arguments(seed, columns):
    """A float, a vector and a matrix with rows like it."""
    generator = np.random.default_rng(seed)
    shapes = ((), (columns,), (columns - 1, columns))
    x, v, m = (generator.uniform(-1, 1, shape).round(3) for shape in shapes)
    return float(x), v, m


def slopes_at(function, args):
    """The derivative by finite differences; None where there are signs of a kink or of overflow."""
    point = ravel(args)

    def objective(vector):
        return float(function(*unravel(args, vector), PASSES))

    try:
        with np.errstate(all="ignore"):
            estimates = [gradient(objective, point, step) for step in STEPS]
    except (IndexError, UnboundLocalError, ValueError):  # not a program that Python runs
        return None
    size = 1 + np.abs(estimates[0]).max()
    steady = size < 1e3 and all(
        np.allclose(each, estimates[0], rtol=0, atol=atol * size)
        for each, atol in zip(estimates[1:], (2e-7, 1e-5), strict=True)
    )
    return estimates[0] if steady else None


def assert_close(actual, expected):
    size = 1 + np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=2e-6 * size)


def refusable(run):
    """What `run` gives; the example does not count where aliases are refused."""
    try:
        return run()
    except InternalError:
        raise
    except (AliasError, NeedStaticError):
        assume(False)


def checked(function, check):
    """Run a check at two points and two sizes, where finite differences can be trusted."""
    points = [arguments(seed, columns) for seed, columns in ((11, 3), (13, 4))]
    pairs = [(args, slopes_at(function, args)) for args in points]
    assume(any(expected is not None for _, expected in pairs))
    for args, expected in pairs:
        if expected is not None:
            check(args, expected)


few = settings(
    max_examples=12,
    phases=[Phase.generate],  # a seed does not shrink
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@few
@given(text=sources(4))
def test_reverse_mode(function_of, text):
    function = function_of(text)
    slopes = tapeless.value_and_grad(function, argnums=(0, 1, 2))

    def check(args, expected):
        originals = unravel(args, ravel(args))
        value, actual = refusable(lambda: slopes(*args, PASSES))
        assert_close(ravel(actual), expected)
        np.testing.assert_array_equal(ravel(args), ravel(originals))
        np.testing.assert_allclose(value, function(*originals, PASSES), rtol=1e-9)

    checked(function, check)


@few
@given(text=sources(4))
def test_forward_mode(function_of, text):
    function = function_of(text)

    def check(args, expected):
        direction = np.random.default_rng(5).normal(size=expected.size)
        tangents = unravel(args, direction)
        value, slope = refusable(
            lambda: tapeless.jvp(lambda *args: function(*args, PASSES), args, tangents)
        )
        assert_close(slope, expected @ direction)
        np.testing.assert_allclose(value, function(*args, PASSES), rtol=1e-9)

    checked(function, check)


@settings(few, max_examples=6)
@given(text=sources(3))
def test_forward_over_reverse(function_of, text):
    function = function_of(text)
    slopes = tapeless.grad(function, argnums=(0, 1, 2))

    def check(args, expected):
        direction = np.random.default_rng(6).normal(size=expected.size)

        def along(step):
            moved = unravel(args, ravel(args) + step * direction)
            return ravel(refusable(lambda: slopes(*moved, PASSES)))

        bends = [(along(step) - along(-step)) / (2 * step) for step in (1e-6, 1e-5)]
        size = 1 + np.abs(bends[0]).max()
        assume(np.abs(bends[0] - bends[1]).max() < 1e-6 * size)
        _, actual = refusable(
            lambda: tapeless.jvp(
                lambda *args: slopes(*args, PASSES), args, unravel(args, direction)
            )
        )
        np.testing.assert_allclose(ravel(actual), bends[0], rtol=1e-4, atol=1e-5 * size)

    checked(function, check)
