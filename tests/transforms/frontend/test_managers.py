"""Context managers of contextlib enter what they are given, and stacks end as they began."""

import contextlib

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError
from tests.corpus.differences import leaves

STACK = []


@contextlib.contextmanager
def pushed(value):
    STACK.append(value)
    try:
        yield STACK[-1]
    finally:
        STACK.pop()


class Handler:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        STACK.append(self)
        return self

    def __exit__(self, *error):
        assert STACK[-1] is self
        STACK.pop()

    def close(self):
        self.value = self.value**2


class Pushes(contextlib.ContextDecorator):
    def __enter__(self):
        STACK.append(2.0)

    def __exit__(self, *error):
        STACK.pop()


def one_after_the_other(x):
    found = []
    for k in range(2):
        with pushed([k, x]) as top:
            found += [len(STACK), STACK[-1][0], top[0], top[1] ** 2]
    return [*found, len(STACK)]


def a_stack_of_managers(x):
    with contextlib.ExitStack() as managers:
        for k in range(3):
            managers.enter_context(Handler(x * k))
        managers.callback(STACK.__len__)
        total = sum(handler.value**2 for handler in STACK)
    return [total, len(STACK)]


def closed_at_the_end(x):
    handler = Handler(x)
    with contextlib.closing(handler) as same:
        before = same.value * 3.0
    return [before, handler.value]


@Pushes()
def decorated(x):
    return x * STACK[-1] + len(STACK)


def an_error_inside(x):
    try:
        with pushed(x):
            raise ValueError(len(STACK))
    except ValueError as error:
        return [error.args[0] + x, len(STACK)]


PROGRAMS = [
    one_after_the_other,
    a_stack_of_managers,
    closed_at_the_end,
    decorated,
    an_error_inside,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.vmap])
def test_managers_of_contextlib(f, transform):
    xs = np.array([0.5, 1.5])
    made = transform(f)(xs[0] if transform is tapeless.jit else xs)
    expected = [leaves(f(x)) for x in xs]
    for k, value in enumerate(leaves(made)):
        np.testing.assert_allclose(
            value, np.broadcast_to([e[k] for e in expected], 2)[: np.size(value)]
        )
    assert STACK == []


def test_their_derivative():
    slope = tapeless.grad(lambda x: a_stack_of_managers(x)[0] + decorated(x))
    assert slope(1.5) == pytest.approx(2 * 1.5 * 5 + 2)


def test_outputs_cannot_be_redirected():
    def f(x):
        with contextlib.redirect_stdout(None):
            print(x)  # noqa: T201 (it is the point)
        return x

    with pytest.raises(UnsupportedError, match="'stdout' of an object"):
        tapeless.jit(f)(1.5)


def test_tests_of_loops_may_use_a_stack():
    @tapeless.grad
    def slope(x):
        while decorated(x) < 30.0:
            x = x * x
        return x

    assert slope(2.0) == pytest.approx(4 * 2.0**3)


def test_rules_of_users_may_use_a_stack():
    @tapeless.custom_jvp
    def f(x):
        return decorated(x)

    f.defjvp(lambda primals, tangents: (f(*primals), 7.0 * tangents[0]))
    assert tapeless.grad(f)(2.0) == 7.0


class RejectedError(Exception):
    def __init__(self, value):
        super().__init__("rejected", value)
        self.value = value


def test_exceptions_of_users_have_what_they_are_given():
    def f(x):
        try:
            raise RejectedError(x * 2)
        except RejectedError as error:
            error.value = error.value * 3
            return error.value * error.args[1]

    assert tapeless.jit(f)(1.5) == f(1.5)
    assert tapeless.grad(f)(1.5) == pytest.approx(24 * 1.5)


def test_functions_that_are_made_inside_have_attributes():
    def f(x):
        def times(y):
            return y * times.factor

        times.factor = x
        return times(2.0)

    np.testing.assert_array_equal(tapeless.vmap(f)(np.ones(2)), [2.0, 2.0])
