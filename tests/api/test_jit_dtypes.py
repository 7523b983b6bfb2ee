"""Numbers that kernels do not have stay with NumPy; those of other kinds are compiled."""

import numpy as np
import pytest

from tapeless import jit


def parts(x, rows, s):
    both = np.stack([x, x])
    rows.T[0] = s
    for i in range(len(both)):
        rows[i] //= both[i].sum()
    return both, rows, s, x.reshape(2, 2).T, x[1:][:2]


def smallest(s, f, x, n):
    if n > 7:
        x = x / 255
    return min(s, f), x


@pytest.mark.parametrize("char", "efdg")
def test_arrays_and_numbers_of_all_floats(char):
    dtype = np.dtype(char)
    x, rows, s = np.ones(4, dtype), np.ones((2, 3)), dtype.type(3)
    for first, second in ((x, rows), (np.ones(4), rows.astype(dtype))):
        got, want = jit(parts)(first, second.copy(), s), parts(first, second.copy(), s)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
    assert jit(smallest)(s, 0.25, np.ones(3), 2)[0] == 0.25


def test_heaviside_beside_complex_numbers():
    def f(z, n):
        return z * np.heaviside(np.float64(n), 0.5)

    for n in (-1, 0, 1):
        np.testing.assert_array_equal(jit(f)(np.ones(2) * 1j, n), f(np.ones(2) * 1j, n))


def test_the_largest_of_complex_numbers_along_an_axis():
    def f(z):
        return np.where(z == z, z, complex(np.inf, np.nan)) * 2

    z = np.array([1 + 1j, 3])
    np.testing.assert_array_equal(jit(f)(z), f(z))


def test_complex_numbers_by_zero_are_those_of_numpy():
    z, n = np.array([1 + 1j, 2, 0]), np.array([0, 1j, 0])

    def elements(z, n):
        for i in range(len(z)):
            z[i] = z[i] / n[i]
        return z

    for dtype in (np.complex64, np.complex128):
        for f in (lambda z, n: z / n, elements):
            with np.errstate(all="ignore"):
                want = f(z.astype(dtype), n.astype(dtype))
            np.testing.assert_array_equal(jit(f)(z.astype(dtype), n.astype(dtype)), want)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_real_parts_as_other_numbers():
    z = np.array([1.5 + 1j, 3])
    for dtype in (np.float32, np.uint64, np.int8):
        got = jit(lambda z, dtype=dtype: (2 * z).astype(dtype))(z)
        np.testing.assert_array_equal(got, (2 * z).astype(dtype))


def test_arrays_of_what_is_no_number():
    with pytest.raises(TypeError, match="x is an array of Python objects"):
        jit(lambda x: x)(np.array([1, "a"], object))
    dates = np.array(["2020"], "M8[D]")
    np.testing.assert_array_equal(jit(lambda x: x - x)(dates), dates - dates)
