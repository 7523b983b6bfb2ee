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


def test_moments_in_double_precision():
    """NumPy's dtype of float64 equals None, which is not what a user means."""
    x = np.array([[1.0, 2.5, 4.0], [3.0, 5.0, 0.1]], np.float32)
    for f in (np.var, np.std, np.nanvar, np.nanstd, np.mean):
        for kind in (np.dtype(np.float64), np.dtype(np.float32), float):
            check_values(lambda x, f=f, kind=kind: f(x, dtype=kind), x, rtol=1e-6)
    for f in (np.var, np.std):
        check_values(lambda x, f=f: f(x, dtype=np.int32), np.array([1, 5, 9]))


def test_products_of_small_integers():
    """Sums of products wrap as NumPy's do; so do traces in a dtype that is asked for."""
    for kind in (np.int8, np.uint16, bool):
        x = np.array([[100, 90], [3, 1]]).astype(kind)
        check_values(lambda x: np.linalg.vecdot(x, x), x)
        check_values(np.vecdot, x, x)
    check_values(lambda x: np.trace(x, dtype=np.int8), np.array([[100, 1], [1, 100]]))
    check_values(lambda x: np.bitwise_and.reduce(x, where=x > 4), np.array([7, 3, 6], np.uint8))


def test_nan_is_left_out_by_a_mask_and_as_an_initial_value():
    x = np.array([[1.0, np.nan, 4.0], [3.0, 5.0, 0.1]])
    mask = np.array([True, True, False])
    for f in (np.nanmean, np.nanvar, np.nanstd):
        check_values(lambda x, f=f: f(x, axis=1, where=mask), x)
        check_values(f, np.arange(4))
    for f in (np.nanmax, np.nanmin):
        check_values(lambda x, f=f: f(x, initial=np.nan), x)


def test_edges_of_bins():
    """Of equal elements they are one wide, in the dtype of the elements."""
    for x in (np.full(3, 2.0), np.array([1.0, 3.0], np.float32), np.array([1, 4]), np.zeros(0)):
        check_values(lambda x: np.histogram_bin_edges(x, 4), x, rtol=1e-6)
        check_values(lambda x: np.histogram_bin_edges(x, 2, (0, 3)), x, rtol=1e-6)


def test_small_differences():
    """Cases of single functions that differed from NumPy's values, dtypes or shapes."""
    a = np.array([[1.0, np.nan], [2.0, 3.0]])
    check_values(lambda a: np.linalg.matrix_power(a, 0), a)
    check_values(lambda p: np.geomspace(p[0], p[1], 4, dtype=int), np.array([-1.0, -8.0]))
    check_values(lambda p: np.geomspace(p[0], p[1], 4), np.array([1.0, 100.0], np.float16))
    check_values(lambda x: np.partition(x, (0, 2)), np.array([3.0, 1.0, 2.0, 0.5]))
    check_values(lambda p: np.sort(np.roots(p).real), np.array([1, 200, 3], np.uint8))
    check_values(lambda a, b: np.setxor1d(a, b, True), np.array([1, 2, 5]), np.array([2, 7]))
    check_values(lambda a, b: np.intersect1d(a, b, True), np.array([1, 2, 5]), np.array([2, 7]))
    check_values(lambda x: np.take(x, []), a)
    check_values(lambda x: np.quantile(x, []), a)
    for f in (np.diag_indices_from, np.asfortranarray, np.ascontiguousarray):
        check_values(f, np.zeros((2, 3)))
        check_values(f, np.float64(2.0))
