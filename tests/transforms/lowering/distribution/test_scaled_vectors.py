"""Loops that add up scaled vectors are products of matrices and vectors."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.test_util import check_grads

RNG = np.random.default_rng(7)


def columns(y, b, s):
    for j in range(b.shape[1]):
        y += s[j] * b[:, j]
    return y


def rows(y, b, s):
    for j in range(b.shape[0]):
        y += b[j] * s[j]
    return y


def parts_of_columns(y, b, s):
    for i in range(b.shape[0] - 1):
        for j in range(b.shape[1] - 1):
            y[i + 1 :] += s[j + 1] * b[i + 1 :, j]
    return y


def by_its_own_row(y, b, s):
    for j in range(b.shape[1]):
        y[:-1] += b[0, j] * b[1:, j]
    return y


def rank_one(y, b, s):
    for j in range(b.shape[1]):
        b[:, j] += s[j] * y
    return b


def rank_one_by_rows(y, b, s):
    for j in range(b.shape[0]):
        b[j, 1:] += y[1:] * s[j]
    return b


def scaled_twice(y, b, s):
    for j in range(b.shape[1]):
        y += s[j] * 2.0 * b[0, j] * b[:, j]
    return y


def backwards(y, b, s):
    for j in range(b.shape[1] - 1, -1, -1):
        y += s[j] * b[:, j]
    return y


def reads_what_it_adds_to(y, b, s):
    for j in range(b.shape[1]):
        y += y[j] * b[:, j]
    return y


def reads_a_part_beside(y, b, s):
    for j in range(4):
        y[4:] += y[j] * b[4:, j]
    return y


def reads_a_part_that_changes(y, b, s):
    for j in range(5):
        y[4:] += y[j] * b[4:, j]
    return y


def substitution(y, b, s):
    for j in range(b.shape[1]):
        y[j] /= 2 + b[j, j]
        y[j + 1 :] -= y[j] * b[j + 1 :, j]
    return y


def sums_that_are_read(y, b, s):
    total = 0.0
    for j in range(b.shape[1]):
        y += s[j] * b[:, j]
        total += y[0]
    return y, np.array(total)


def multiplied_in_place(y, b, s):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(b[i + 1 :, i], b[i + 1 :, j]) + np.dot(s[i + 1 :], b[i + 1 :, j])
    return b


PROGRAMS = [
    columns,
    rows,
    parts_of_columns,
    by_its_own_row,
    rank_one,
    rank_one_by_rows,
    scaled_twice,
    backwards,
    reads_what_it_adds_to,
    reads_a_part_beside,
    reads_a_part_that_changes,
    substitution,
    sums_that_are_read,
    multiplied_in_place,
]


def same(got, wanted, rtol):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * (1 + np.abs(b).max(initial=0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values(program, dtype):
    compiled = jit(program)
    for n in (41, 8, 9):
        y, b, s = (0.1 * RNG.normal(size=k).astype(dtype) for k in (n, (n, n), n))
        mine, numpys = ([x.copy() for x in (y, b, s)] for _ in range(2))
        same(compiled(*mine), program(*numpys), 1e-4 if dtype == np.float32 else 1e-11)
        for a, c in zip(mine, numpys, strict=True):
            same(a, c, 1e-4 if dtype == np.float32 else 1e-11)


@pytest.mark.parametrize("program", [columns, rows, rank_one, rank_one_by_rows])
def test_sizes_of_zero_and_one_and_other_layouts(program):
    compiled = jit(program)
    for n in (0, 1, 2):
        y, b, s = np.ones(n), np.ones((n, n)), np.ones(n)
        same(compiled(y.copy(), b.copy(), s), program(y.copy(), b.copy(), s), 1e-12)
    y, s = RNG.normal(size=(2, 30))[:, ::-2]
    b = np.asfortranarray(RNG.normal(size=(15, 15)))
    same(compiled(y.copy(), b.copy(order="F"), s), program(y.copy(), b.copy(order="F"), s), 1e-12)


def test_an_index_that_is_not_there_raises():
    for f in (columns, jit(columns)):
        with pytest.raises(IndexError):
            f(np.ones(5), np.ones((5, 5)), np.ones(3))


def test_the_loop_is_turned():
    y, b, s = RNG.normal(size=40), RNG.normal(size=(40, 40)), RNG.normal(size=40)
    assert "matmul(b[1:], b[0])" in jit(by_its_own_row).source(y, b, s)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program):
    def total(y, b, s):
        result = program(y * 1, b * 1, s * 1)
        results = result if isinstance(result, tuple) else (result,)
        t = 0.0
        for r in results:
            t = t + np.sum(r**2)
        return t

    args = tuple(0.3 * RNG.normal(size=k) for k in (6, (6, 6), 6))
    check_grads(total, args, order=1, rtol=1e-3)
    args = tuple(0.05 * RNG.normal(size=k) for k in (50, (50, 50), 50))
    for argnum in range(3):
        wanted = grad(total, argnums=argnum)(*args)
        got = jit(grad(total, argnums=argnum))(*args)
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)
