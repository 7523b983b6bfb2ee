"""Kernels over some of the rows of arrays touch no other row: the first ones, or those after."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit


def all_but_last(a):
    y = np.zeros(a.shape)
    y[:-1] = np.cos(a[:-1])
    return y


def all_but_first(a):
    y = np.zeros(a.shape)
    y[1:] = np.cos(a[1:])
    return y


def two(a):
    y = a.copy()
    y[:2] = np.cos(a[:2])
    return y


def in_place(a):
    a[:-1] = np.sin(a[:-1])
    return a


def loop_from_one(a):
    y = np.zeros(a.shape)
    for i in range(1, a.shape[0]):
        y[i] = np.cos(a[i])
    return y


def loop_to_the_one_before_the_last(a):
    y = np.zeros(a.shape)
    for i in range(a.shape[0] - 1):
        y[i] = np.cos(a[i]) - a[i].sum(axis=-1, keepdims=True)
    return y


def rows_of_data(a):
    n = int(a.ravel()[0])
    y = np.zeros(a.shape)
    y[:n] = np.cos(a[:n])
    return y


def maxima(a):
    return a[:-1] - a[:-1].max(axis=-1, keepdims=True), a[1:].sum(axis=-1)


def longer(a):
    y = np.zeros((a.shape[0] + 1, *a.shape[1:]))
    y[:-1] = np.cos(a)
    y[1:] += np.sin(a)
    return y


def columns(a):
    y = np.zeros(a.shape)
    y[:, 1:] = np.cos(a[:, :-1])
    return y


def total(a):
    return np.sum(np.cos(a[:-1])) + np.sum(np.sin(a[1:])) + np.sum(a[:2].sum(axis=-1) ** 2)


PROGRAMS = [all_but_last, all_but_first, two, in_place, loop_from_one]
PROGRAMS += [loop_to_the_one_before_the_last, rows_of_data, maxima, longer, columns]
PROGRAMS += [total, grad(total)]
SHAPES = [(4, 5), (8, 257), (3, 4, 5), (4, 2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: getattr(f, "__name__", "gradient"))
def test_no_other_row_is_touched(f, shape, gpu):
    a = np.random.default_rng(0).normal(size=shape)
    a.flat[0] = 2.5
    found = tapeless.device_get(jit(f, backend="gpu")(a.copy()))
    for x, y in zip(tapeless.tree.leaves(found), tapeless.tree.leaves(f(a.copy())), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def rows_then_all(a):
    y = a[[0, 1, 1]]
    for k in range(1, y.shape[0]):
        y[k] -= k
    return np.where(a > 0, y, y)


def test_columns_and_rows_of_a_square_matrix_are_not_one_thread_s(gpu):
    a = np.random.default_rng(0).normal(size=(3, 3))
    found = tapeless.device_get(jit(rows_then_all, backend="gpu")(a))
    np.testing.assert_array_equal(found, rows_then_all(a))
