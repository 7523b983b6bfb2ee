"""Sets and byte arrays as arguments: what they hold is part of the program."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError

X = np.arange(5.0)


def free(x, fixed):
    return sum(x[i] ** 2 for i in range(len(x)) if i not in fixed)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_equal_ones_are_one_program(kind):
    f = jit(lambda x, fixed: free(x, fixed))
    assert f(X, kind([1, 3])) == free(X, {1, 3})
    count = len(f.compilations)
    for _ in range(3):
        assert f(X, kind([1, 3])) == free(X, {1, 3})
    assert len(f.compilations) == count
    assert f(X, kind([1, 4])) == free(X, {1, 4})
    assert len(f.compilations) == count + 1


@pytest.mark.parametrize("transform", [jit, grad, lambda f: vmap(f, (0, None))])
def test_one_that_the_caller_changes(transform):
    """The program went on with what it held at first."""
    f, fixed = transform(free), {1, 3}
    x = np.stack([X, X + 1]) if transform not in (jit, grad) else X
    before = f(x, fixed)
    fixed.add(4)
    after = f(x, fixed)
    np.testing.assert_array_equal(after, transform(free)(x, {1, 3, 4}))
    assert np.any(before != after)


def test_numbers_of_other_types_are_told_apart():
    f = jit(lambda x, values: x[0] + sum(values))
    assert type(f(X, {1})) is type(X[0] + 1)
    assert f(X, {True}) == 1
    assert f(X, {1.5}) == 1.5


def test_bytes():
    f, data = jit(lambda x, data: x[1] + data[0]), bytearray(b"ab")
    assert f(X, data) == 98
    data[0] = 100
    assert f(X, data) == 101


def test_one_that_the_function_changes_is_refused():
    def f(x, seen):
        seen.add(7)
        return x[0] + len(seen)

    mine = {1}
    with pytest.raises(UnsupportedError, match="'seen', an argument, is changed"):
        jit(f)(X, mine)
    assert mine == {1}
    assert jit(lambda x, seen: x[0] + len(seen | {7}))(X, mine) == 2
