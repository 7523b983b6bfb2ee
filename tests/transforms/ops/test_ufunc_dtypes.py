"""`dtype=` of ufuncs and their methods picks a loop as NumPy does, and is refused as by NumPy."""

import numpy as np
import pytest

from tests.transforms.ops.agreement import check_values, emitted

Z = np.array([3 + 4j, -1 + 0j, 0 - 2j])
X = np.array([[1.5, -2.0, 0.0], [0.25, 3.0, -1.0]])
UFUNCS = {
    "a size": lambda z, x, d: np.absolute(z, dtype=d),
    "a sum": lambda z, x, d: np.add(x, x, dtype=d),
    "a complex sum": lambda z, x, d: np.add(z, x, dtype=d),
    "a quotient": lambda z, x, d: np.divide(x, 2, dtype=d),
    "an exponential": lambda z, x, d: np.exp(x, dtype=d),
    "a comparison": lambda z, x, d: np.less(x, 1.0, dtype=d),
    "bits": lambda z, x, d: np.bitwise_count(np.array([3, -8]), dtype=d),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "c16", "?"])
@pytest.mark.parametrize("name", UFUNCS)
def test_loops(name, dtype):
    check_values(lambda z, x: UFUNCS[name](z, x, np.dtype(dtype)), Z, X, rtol=1e-6)


AXES = (0, -1, None, (0,), (0, 1), (), 2, (0, 0))
METHODS = {
    "a running sum": np.add.accumulate,
    "a running maximum": np.fmax.accumulate,
    "running sums": lambda x, axis: np.cumulative_sum(x, axis=axis),
    "a reduction": np.subtract.reduce,
    "parts": lambda x, axis: np.add.reduceat(x, [0, 1], axis=axis),
}


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_axes_of_methods(name, axis):
    check_values(lambda x: METHODS[name](x, axis=axis), X)


def test_methods_of_numbers_and_of_nothing():
    for f in (np.add.accumulate, np.fmax.accumulate, np.fmax.reduce, np.cumulative_sum):
        check_values(f, np.array(2.0))
    check_values(np.fmax.reduce, np.zeros((2, 0, 3)))


def test_parts_are_added_in_the_order_of_numpy():
    """The first element, and then the sum of the others: 19, where one by one gives 18."""
    x = np.array([1e16, 1.0, -1e16, 3.0, 1e-3, 2.0, 1e16, 5.0, 7.0])
    for places in ([0, 3, 1, 1], [5, 2, 7], [8, 0]):
        made = emitted(lambda x, places=places: np.add.reduceat(x, places))(x)
        np.testing.assert_array_equal(made, np.add.reduceat(x, places))
