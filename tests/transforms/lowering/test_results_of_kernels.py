"""Numbers that kernels give: truth values of NumPy add up to truth values, rows stay in bounds."""

import numpy as np
import pytest

from tapeless import disable_jit, jit


@pytest.mark.parametrize(
    "f",
    [
        lambda a: (a.sum() + 1, (a[0] + a[1]) * 1.5),
        lambda a: (max(a), a[0] + a[1]),
        lambda a: (np.sum(a), a[0] + a[1], a[0] * a[2]),
    ],
)
def test_truth_values(f):
    a = np.array([True, True, False])
    assert repr(jit(f)(a)) == repr(f(a))


@pytest.mark.parametrize("args", [(0.0, -1.0), (0.0, -1), (0, -1), (2.0, -1.0), (0.0, 0), (2, -1)])
def test_zero_has_no_negative_powers(args):
    def power(a, b):
        return a**b

    if args[0] == 0 and args[1] < 0:
        with pytest.raises(ZeroDivisionError):
            jit(power)(*args)
    else:
        assert jit(power)(*args) == power(*args)


def copied_along(m, j, rows):
    v = m[:, None, 0].transpose(1, 0, 2).T
    v[:] = np.sin(v[:]) + j
    for _ in range(j + 1):
        v[rows] *= 0.5
    return m, v


def test_rows_that_threads_share_are_those_that_were_cut():
    m = np.random.default_rng(5).normal(size=(40, 5, 3))
    args = 1, np.array([1, 0])
    found, wanted = jit(copied_along)(m.copy(), *args), copied_along(m.copy(), *args)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def returned_with_a_number(x):
    for i in range(len(x)):
        if x[i] > 0.5:
            x[i] = 0.0
            if x[0] > 4:
                return x, 1.0
    return x, 0.0


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_what_a_branch_leaves_unset_is_not_copied(shift):
    x = np.array([0.3, -1.2, 1.5, 0.7]) + shift
    wanted = returned_with_a_number(x.copy())
    for found in (jit(returned_with_a_number)(x.copy()), _plain(x.copy())):
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1]


def _plain(x):
    with disable_jit():
        return jit(returned_with_a_number)(x)


def two_lists(x):
    w, a, b = np.zeros(4), [], []
    for n in range(4, len(x)):
        u = x[n - 4 : n]
        e = x[n] - w @ u
        w = w + 0.1 * e * u
        a.append(e)
        b.append(2 * e)
    return np.mean(np.array(a)) + np.mean(np.array(b))


def grown(x):
    m = []
    for k in range(len(x)):
        if k % 10 == 0:
            m.append(x[k])  # noqa: PERF401 (such a loop is what is tested)
    m = np.array(m)
    return np.sum(np.cos(np.arange(m.size)) * m)


def ratios(a, b):
    for _ in range(3):
        r = np.full(len(a), np.inf)
        pos = b > 0
        r[pos] = a[pos] / b[pos]
        a = a / (1 + np.min(r))
    return np.sum(a)


@pytest.mark.parametrize("f", [two_lists, grown])
def test_loops_that_fill_lists_are_kernels(f, rng):
    x = rng.random(50)
    fast = jit(f)
    np.testing.assert_allclose(fast(x), f(x))
    assert "append" not in fast.source()


def test_two_counts_of_one_mask_are_equal(rng):
    a, b = rng.random(5), rng.random(5) - 0.3
    fast = jit(ratios)
    np.testing.assert_allclose(fast(a, b), ratios(a, b))
    assert "r[places]" not in fast.source()


def test_ranges_are_arrays_to_numpy():
    def f(r):
        x, y = np.meshgrid(range(r.shape[1]), range(r.shape[0]))
        return np.sum(r * x) + np.sum(r * y * np.asarray(range(len(r)))[:, None])

    r = np.arange(12.0).reshape(3, 4)
    assert jit(f)(r) == f(r)


def test_partition_in_place(rng):
    def f(x):
        x.partition(2)
        return x[2]

    x = rng.random(7)
    assert jit(f)(x.copy()) == f(x.copy())
