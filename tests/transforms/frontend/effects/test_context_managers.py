"""Managers that suppress errors which data decides: each call goes Python's way."""

import contextlib

import numpy as np
import pytest

import tapeless


class Quiet:
    """Suppresses some errors, and counts all."""

    def __init__(self, *kinds):
        self.kinds, self.count = kinds, 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            return False
        self.count += 1
        return issubclass(kind, self.kinds)


@contextlib.contextmanager
def noted(log):
    log.append(1.0)
    try:
        yield
    except (ValueError, ZeroDivisionError):
        log.append(10.0)
    else:
        log.append(100.0)
    finally:
        log.append(1000.0)


@contextlib.contextmanager
def translated():
    try:
        yield 3.0
    except KeyError as error:
        raise ValueError("no such key") from error


def of_a_class(x):
    with Quiet(ValueError) as quiet:
        if x[0] > 1:
            raise ValueError("large")
        x = x * 2
    return x.sum() + quiet.count


def of_a_generator(x):
    log = []
    with noted(log):
        if x[0] > 1:
            raise ValueError("large")
        x = x * 2
    return x.sum() + sum(log)


def two_at_once(x):
    try:
        with Quiet(ValueError), Quiet(KeyError) as quiet:
            if x[0] > 1:
                raise KeyError("large")
            if x[1] > 1:
                raise TypeError("large")
            x = x * 3
    except TypeError:
        x = x * 7
    return x.sum() + quiet.count


def around_another(x):
    with contextlib.suppress(ValueError):
        with translated() as factor:
            if x[0] > 1:
                raise KeyError("large")
            x = x * factor
        x = x * 2
    return x.sum()


def of_a_stack(x):
    with contextlib.ExitStack() as stack:
        quiet = stack.enter_context(Quiet(ValueError))
        if x[0] > 1:
            raise ValueError("large")
        x = x * 2
    return x.sum() + quiet.count


def in_a_loop(x):
    total = 0.0
    for v in x:
        with Quiet(ValueError):
            if v > 1:
                raise ValueError("large")
            total += v * v
        total += v
    return total


def with_a_return(x):
    quiet = Quiet(ValueError)

    def squared(v):
        with quiet:
            if v > 1:
                raise ValueError("large")
            return v * v
        return -v

    return squared(x[0]) + 3 * squared(x[1]) + quiet.count


def of_a_factorisation(x):
    with Quiet(np.linalg.LinAlgError) as quiet:
        x = x + np.linalg.cholesky(np.array([[x[0], 0.5], [0.5, x[1]]]))[0]
    return 2 * x.sum() + quiet.count


PROGRAMS = [
    of_a_class,
    of_a_generator,
    two_at_once,
    around_another,
    of_a_stack,
    in_a_loop,
    with_a_return,
    of_a_factorisation,
]
POINTS = np.array([[0.5, 2.0], [3.0, 0.05], [0.6, 0.7]])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_error_ends_in_the_manager(f):
    expected = [f(x) for x in POINTS]
    compiled, slope = tapeless.jit(f), tapeless.grad(f)
    np.testing.assert_allclose([compiled(x) for x in POINTS], expected)
    np.testing.assert_allclose(tapeless.vmap(f)(POINTS), expected)
    for x in POINTS:
        step = 1e-6 * np.eye(2)
        differences = [(f(x + s) - f(x - s)) / 2e-6 for s in step]
        np.testing.assert_allclose(slope(x), differences, atol=1e-6)


def test_an_error_of_another_kind_leaves_it():
    def f(x):
        with Quiet(ZeroDivisionError):
            if x > 1:
                raise ValueError("large")
        return x

    compiled = tapeless.jit(f)
    assert compiled(0.5) == 0.5
    with pytest.raises(ValueError, match="large"):
        compiled(2.0)


class Charge:
    """Suppresses nothing."""

    def __init__(self):
        self.total = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.total += 1.0


def test_managers_that_suppress_nothing_keep_loops_rolled():
    def f(x):
        charge = Charge()
        for v in x:
            with charge:
                if v > 100:
                    raise ValueError("large")
                charge.total += v
        return charge.total

    compiled = tapeless.jit(f)
    assert compiled(np.arange(4.0)) == 10.0
    assert " for " in compiled.stages(np.arange(4.0))["core"]


def managed_by_own_class(x):
    class Keeper:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            self.said = str(error)
            return True

    keeper, y = Keeper(), x
    with keeper:
        if x > 1:
            raise ValueError("above one")
        y = 2 * x
    return y * len(keeper.said)


def managed_by_own_generator(x):
    @contextlib.contextmanager
    def caught():
        try:
            yield
        except ValueError:
            log.append(1.0)

    log, y = [x], x
    with caught():
        if x > 1:
            raise ValueError("above one")
        y = 2 * x
    return y * len(log)


def managed_by_a_generator_that_suppresses(x):
    @contextlib.contextmanager
    def caught():
        with contextlib.suppress(ValueError):
            yield

    y = x
    with caught():
        if x > 1:
            raise ValueError("above one")
        y = 2 * x
    return y * x


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(
    "f",
    [
        managed_by_own_class,
        managed_by_own_generator,
        managed_by_a_generator_that_suppresses,
    ],
)
@pytest.mark.parametrize("x", [0.5, 1.5])
def test_managers_that_are_made_in_the_function(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for form in (tapeless.value_and_grad(f), tapeless.jit(tapeless.value_and_grad(f))):
        np.testing.assert_allclose(form(x), (f(x), slope))
