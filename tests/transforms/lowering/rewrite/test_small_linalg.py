"""Library calls inside loops as loops: edges, errors, and where they stay calls."""

import numpy as np
import pytest
import scipy.linalg

from tapeless import jit

rng = np.random.default_rng(1)
MATRIX = np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
SINGULAR = np.array([[1.0, 2], [2, 4]])


def repeated(step):
    def f(*args):
        total = 0.0
        for i in range(3):
            total = total + step(i, *args)
        return total

    return f


def driver(text):
    return text[text.rindex("\ndef ") :]


def check(step, *args, rtol=1e-9):
    compiled, want = jit(repeated(step)), repeated(step)(*args)
    got = compiled(*args)
    assert "for " not in driver(compiled.source(*args))
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=rtol)


def sorted_in_all_ways(i, x):
    y = x + i
    return (
        np.sum(np.sort(y) * np.arange(len(x)))
        + np.argsort(y, kind="stable")
        + np.sort(np.stack([y, -x]), axis=0)[1]
        + np.sort(np.stack([y, -x]), axis=1)[0]
        + 0.1 * np.median(np.stack([y, x, x]), axis=0)
    )


def test_sorting():
    check(sorted_in_all_ways, np.array([3, 1, np.nan, 2, 1, np.nan, -1.0, np.inf]))


@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_sorting_of_dtypes(dtype):
    check(lambda i, x: np.sort(x) * i + np.argsort(x)[0], np.array([3, 1, 2, 1], dtype))


def test_layouts():
    x, mask = rng.normal(size=(5, 6)), rng.normal(size=(5, 6)) > 0
    compiled = jit(repeated(lambda i, x, m: np.sort(x * (i + 1), axis=0)[1] + np.sum(x[m])))
    read_only = x[:, ::-1]
    read_only.flags.writeable = False
    memory = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = np.ndarray(x.shape, x.dtype, memory, 1)
    unaligned[...] = x
    for y, m in (
        (x.T, mask.T),
        (x[::-2, ::2], mask[::2, ::-2]),
        (read_only, mask),
        (unaligned, mask),
    ):
        want = sum(np.sort(y * (i + 1), axis=0)[1] + np.sum(y[m]) for i in range(3))
        np.testing.assert_allclose(compiled(y, m), want, rtol=1e-12)


def test_sorting_of_many():
    x = rng.normal(size=1000)
    check(lambda i, x: np.sort(x + i) + x[np.argsort(x * (i + 1))], x)


def levels(i, x):
    return np.percentile(x + i, 30) + np.quantile(x, [0.0, 0.77, 1.0]) + np.median(x)


@pytest.mark.parametrize("x", [rng.normal(size=6), np.array([3, 1, 2, 7, 9])], ids=["f8", "i8"])
def test_quantiles(x):
    check(levels, x)
    assert np.isnan(jit(repeated(levels))(np.array([1.0, np.nan, 2.0]))).all()


def places(i, x, v):
    return (
        np.searchsorted(x, v + i)
        + np.searchsorted(x, v, side="right")
        + np.interp(v + 0.5 * i, x[:4], x[1:5] ** 2)
        + np.interp(v, x[:4], x[1:5], left=-1.0, right=7.0)
    )


def test_searching():
    x = np.array([1.0, 2.0, 2.0, 3.0, 5.0, np.nan])
    x[2] = 2.5
    check(places, x, np.array([-1.0, 1.0, 2.0, 2.2, 3.0, 4.0, 9.0, np.nan]))


def picked(i, x, m):
    y = x.copy()
    y[m] = 2 * y[m] + i
    y[y > 3] = 0
    y[~m] += 1
    y[y < 0] -= y[y < 0] * 0.5
    rows = m[:, 0] if m.ndim > 1 else m
    last = np.sum(np.nonzero(y)[-1]) + np.sum(np.flatnonzero(rows)) + np.sum(np.where(m)[0])
    return y + np.sum(x[m]) + np.sum(x[rows] * i) + np.mean(x[x < 9]) + last


def test_masks():
    x = rng.normal(size=(4, 5))
    check(picked, x, x > 0)
    compiled = jit(repeated(picked))
    for mask in (x > 9, x < 9):
        np.testing.assert_allclose(compiled(x, mask), repeated(picked)(x, mask))


def test_what_a_mask_gets_is_as_long_as_it_is():
    def f(x, v):
        y = x.copy()
        for i in range(2):
            y[x > 0] = v + i
        return y

    compiled, x = jit(f), np.array([1.0, -1, 2, -2, 3])
    np.testing.assert_array_equal(compiled(x, -np.ones(3)), f(x, -np.ones(3)))
    with pytest.raises(ValueError, match="lengths differ"):
        compiled(x, -np.ones(2))


def systems(i, a, b):
    a = a + i
    return np.linalg.solve(a, b) + (np.linalg.det(a) + np.linalg.slogdet(a)[1])[:, None, None]


def test_stacks_of_systems():
    check(systems, np.stack([MATRIX, MATRIX + 2 * np.eye(3)]), np.ones((2, 3, 1)))


def test_single_precision():
    a = MATRIX.astype("f4")
    check(lambda i, a: np.linalg.cholesky(a) + np.linalg.inv(a) * i, a, rtol=1e-5)


def test_one_equation():
    check(lambda i, a, b: np.linalg.solve(a + i, b) + np.linalg.det(a), MATRIX[:1, :1], np.ones(1))


def triangles(i, a, b):
    solve = scipy.linalg.solve_triangular
    plain = solve(a + i, b) + solve(a + i, b, lower=True) + solve(a, b, unit_diagonal=True)
    turned = solve(a, b, trans=1) + solve(a, b, trans=1, lower=True)
    return plain + turned + scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)


def test_triangles():
    check(triangles, MATRIX, np.array([1.0, 2, 3]))


FAILURES = {
    "solve": lambda i, a: np.linalg.solve(a * (i + 1), a[0]),
    "inv": lambda i, a: np.linalg.inv(a * (i + 1)),
    "cholesky": lambda i, a: np.linalg.cholesky(a - 2 * i),
}


@pytest.mark.parametrize("name", FAILURES)
def test_errors_are_numpys(name):
    f = repeated(FAILURES[name])
    with pytest.raises(np.linalg.LinAlgError) as expected:
        f(SINGULAR)
    with pytest.raises(np.linalg.LinAlgError) as found:
        jit(f)(SINGULAR)
    assert str(found.value) == str(expected.value)


def test_large_ones_stay_calls():
    compiled = jit(repeated(lambda i, a: np.sum(np.linalg.inv(a + i * np.eye(len(a))))))
    for n in (3, 100, 4, 200):
        a = rng.normal(size=(n, n)) + 3 * n * np.eye(n)
        want = sum(np.sum(np.linalg.inv(a + i * np.eye(n))) for i in range(3))
        np.testing.assert_allclose(compiled(a), want, rtol=1e-9)
    assert "eliminate_in_place" in compiled.source(np.eye(3))
    assert "np.linalg.inv" in driver(compiled.source(np.eye(100)))


def test_complex_matrices_stay_calls():
    compiled = jit(repeated(lambda i, a: np.linalg.solve(a + 1j * i, a)))
    np.testing.assert_allclose(
        compiled(MATRIX), repeated(lambda i, a: np.linalg.solve(a + 1j * i, a))(MATRIX)
    )
    assert "np.linalg.solve" in driver(compiled.source(MATRIX))


def test_what_a_mask_selects_can_leave_the_loop():
    def f(x):
        kept = x
        for i in range(3):
            kept = x[x > 0.1 * i]
        return kept

    x = rng.normal(size=9)
    np.testing.assert_array_equal(jit(f)(x), f(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_normal_distribution_is_part_of_a_loop(dtype):
    special = pytest.importorskip("scipy.special")
    x = np.array([-30.0, -3.0, -0.1, 0.0, 2.0, 9.0, np.inf, -np.inf, np.nan], dtype)
    compiled = jit(lambda x: x + special.ndtr(x))
    assert "scipy" not in compiled.source(x)
    np.testing.assert_allclose(jit(special.ndtr)(x), special.ndtr(x), rtol=1e-12)
    assert compiled(x).dtype == dtype
