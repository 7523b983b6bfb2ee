"""What iterators cannot do in a program is refused: to be advanced an unknown number of times."""

import itertools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError

OUTSIDE = iter([1.0, 2.0, 3.0])


def in_a_branch(x):
    values = iter([x, 2 * x, 3 * x])
    first = next(values) if x > 1 else 0.0
    return first + 10 * next(values)


def after_a_break_by_data(x):
    values = iter([x, 2 * x, 3 * x])
    for v in values:
        if v > 1:
            break
    return next(values)


def after_any(x):
    values = (v * x for v in (1.0, 2.0, 3.0))
    return x if any(v > 1 for v in values) else next(values)


def from_outside(x):
    return x * next(OUTSIDE)


def over_one_from_outside(x):
    return sum(x * v for v in OUTSIDE)


@pytest.mark.parametrize(
    "f", [in_a_branch, after_a_break_by_data, from_outside, over_one_from_outside]
)
def test_refused(f):
    with pytest.raises(UnsupportedError, match="iterator"):
        tapeless.grad(f)(0.7)
    assert next(OUTSIDE, None) is not None or f is not from_outside


def test_without_end():
    def f(x):
        for sign in itertools.cycle([1.0, -1.0]):
            x = x * 0.5 * sign
            if abs(x) < 0.1:
                break
        return x

    with pytest.raises(UnsupportedError, match="without end"):
        tapeless.grad(f)(0.7)


@pytest.mark.parametrize("n", [2, 4])
def test_strict_zip(n):
    def f(x, y):
        total = 0.0
        for a, b in zip(x, y, strict=True):
            total += a * b
        return total

    with pytest.raises(ValueError, match="argument 2"):
        f(np.ones(3), np.ones(n))
    with pytest.raises(ValueError, match="argument 2"):
        tapeless.grad(f)(np.ones(3), np.ones(n))
    assert tapeless.value_and_grad(f)(np.ones(3), np.arange(3.0))[0] == 3.0


def yielding(x):
    yield x


@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.vmap])
@pytest.mark.parametrize(
    "function",
    [
        yielding,
        lambda x: (v for v in (x, x)),
        lambda x: map(abs, [x]),
        lambda x: {"a": iter([x, x])},
    ],
)
def test_iterators_as_results_are_refused(transform, function):
    with pytest.raises(UnsupportedError, match="iterator is returned or stored outside") as e:
        transform(function)(np.ones(2))
    assert "list(...)" in e.value.hint


def test_iterators_that_an_error_has_left_are_not_gone_on_with():
    def f(x):
        items, s = enumerate(x), 0.0
        try:
            for i, v in items:
                if i == 1:
                    raise ValueError
                s = s + v
        except ValueError:
            s = s * 2
        return s + next(items)[1]

    with pytest.raises(UnsupportedError, match="may have left it half-way"):
        tapeless.jit(f)(np.arange(1.0, 6.0))
