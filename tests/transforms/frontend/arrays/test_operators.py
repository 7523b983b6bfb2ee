"""Python's operators of symbols, beside NumPy's of arrays."""

import operator

import numpy as np
import pytest

import tapeless
from tests.transforms.staging import block_of, compiled

V = np.array([1.0, 2.0, 3.0, 4.0])

OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
OPERATORS += ["lt", "le", "gt", "ge", "eq", "ne"]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("other", [2, 2.5, np.float32(2.5), V + 1])
def test_operators_with_both_sides(name, other):
    apply = getattr(operator, name)

    def both(v):
        return apply(v, other), apply(other, v)

    block = block_of(both, V)
    results = compiled(block)(V, *[other] * (len(block.params) - 1))
    for got, expected in zip(results, both(V), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert np.asarray(got).dtype == expected.dtype


def test_inplace_operators_keep_the_dtype():
    def f(v):
        v += 1.5
        return v

    with pytest.raises(TypeError, match="same_kind"):
        block_of(f, np.array([1, 2]))
    assert tapeless.jvp_fn(f)(V.astype("f4"), V.astype("f4"))[0].dtype == np.float32


def test_comparisons_of_lengths_that_are_certain():
    """The axes of an argument have length 0, 1 or more, and the program is made for one of them."""

    def certain(v):
        n = len(v)
        found = [n == 1, n != 0, n > 1, n >= 2, n < 2, n <= 1, n + 1 > n, n + 1 == n, n == len(v)]
        return v * found.count(True)

    def uncertain(v):
        return v if len(v) == 3 else 2 * v

    assert "equal" not in str(block_of(certain, V).body)
    assert "equal" in str(block_of(uncertain, V).body)
    square = tapeless.grad(lambda v: np.sum(v[None] if len(v) == 1 else v.reshape(2, 2)))
    assert square(V).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda x: np.sum(x, axes=0), "sum"), (lambda x: np.linalg.norm(x, orde=2), "norm")],
)
def test_errors_of_calls_name_numpy(call, name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword"):
        tapeless.jit(call)(np.ones(3))


def test_too_few_arguments():
    with pytest.raises(TypeError, match=r"^maximum\(\) takes 2 arguments but 1 were given"):
        tapeless.jit(lambda x: np.maximum(x))(np.ones(3))


def test_ranges_with_arrays_on_both_sides():
    def both(v):
        n = len(v)
        return range(n) * v, v - range(n), (np.ones(n) + range(1, n + 1)) / n, v > range(n)

    for got, expected in zip(tapeless.jit(both)(V), both(V), strict=True):
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype
    np.testing.assert_allclose(
        tapeless.grad(lambda v: np.sum(range(len(v)) * v**2))(V), [0, 4, 12, 24]
    )
    with pytest.raises(TypeError):
        tapeless.jit(lambda x: x * range(3))(2.0)
