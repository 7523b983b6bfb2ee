"""Reads by basic and advanced indices, masks, take, sort, and indices that the data decides."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(5))
def elements(x):
    return x[0] * x[-1] + x[2] ** 2 - x[-2]


@program(normal(6))
def slices(x):
    return x[1:4] * x[-3:] + x[:3] ** 2 - x[::2] * x[5::-2]


@program(normal(3, 4))
def matrix_slices(a):
    return a[1:, ::2] * a[:2, 1::2] + a[-1, 0] * a[0, :2]


@program(normal(3, 4))
def negative_steps(a):
    return a[::-1, ::-1] * a + a[-1:0:-1, 3:1:-1][0, 1]


@program(normal(2, 3, 4))
def ellipsis_and_newaxis(a):
    return a[..., 0] * a[0, ..., 1] + a[:, 1, np.newaxis, 2] ** 2 + a[1, None, :, 3]


@program(normal(3))
def outer_by_newaxis(x):
    return np.exp(-((x[:, None] - x[None, :]) ** 2))


@program(normal(5))
def index_lists(x):
    return x[[3, 0, 0]] * x[[1, 2, 4]] ** 2


@program(normal(5), np.array([4, 4, 1]))
def index_array_argument(x, rows):
    return np.sin(x[rows]) * x[rows - 1]


@program(normal(4, 3), np.array([[0, 2], [1, 1]]))
def index_matrix(table, tokens):
    embedded = table[tokens]
    return embedded[0] * embedded[1]


@program(normal(3, 4))
def pairs_of_indices(a):
    return a[[0, 1, 2], [3, 1, 0]] * a[np.arange(3), 2]


@program(normal(3, 4))
def mixed_basic_and_advanced(a):
    return a[1:, [0, 3]] * a[[0, 2]][:, :2] + a[[0, 1]][:, [2]]


@program(normal(3, 4))
def grid_of_indices(a):
    rows, columns = np.array([0, 2]), np.array([1, 3])
    return a[rows[:, None], columns] * a[np.ix_([1, 0], [0, 1])]


@program(normal(6))
def boolean_mask(x):
    return np.sum(x[x > 0] ** 2) * np.mean(x[x < 0])


@program(normal(3, 4))
def mask_of_rows(a):
    keep = a[:, 0] > 0
    return np.sum(a[keep] ** 2) + np.sum(a[~keep, 1:])


@program(normal(6))
def nonzero_indices(x):
    (positive,) = np.nonzero(x > 0)
    return np.sum(x[positive] * positive)


@program(normal(6))
def where_against_mask(x):
    return np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), x**2)


@program(normal(3, 4))
def taken(a):
    return np.take(a, [2, 0], axis=0) * a.take([1, 1, 3, 0], axis=1)[:2] + np.take(a, 7)


@program(normal(5))
def data_dependent_position(x):
    i = np.argmax(x)
    j = np.argmin(np.abs(x))
    return x[i] * x[j] ** 2


@program(normal(3, 4))
def largest_in_each_row(a):
    best = np.argmax(a, axis=1)
    return a[np.arange(3), best] ** 2


@program(normal(5))
def sorted_values(x):
    return np.sort(x) * np.arange(5) + np.sort(x)[::-1] ** 2


@program(normal(3, 3))
def argsorted_rows(a):
    order = np.argsort(a[:, 1])
    return a[order] * a.sum(axis=0) + np.sort(a, axis=0)


@program(normal(5), 1)
@program(normal(5), 3)
def integer_argument_as_index(x, k):
    return x[k] * x[:k].sum() + x[k:][0] ** 2


@program(uniform(4), 1.7, wrt=(0, 1))
def linear_interpolation(table, position):
    i = int(np.floor(position))
    fraction = position - i
    return (1 - fraction) * table[i] ** 2 + fraction * table[i + 1]


@program(uniform(5))
def search_by_loop(x):
    grid = np.cumsum(x)
    i = 0
    while grid[i] < 2.0:
        i += 1
    return (2.0 - grid[i - 1]) / (grid[i] - grid[i - 1])


@program(normal(2, 3, 4))
def slices_held_in_variables(a):
    window = slice(1, 3)
    key = (0, window, slice(None, None, -1))
    return a[key] * a[1, window]


@program(normal(4, 4))
def sliding_windows(a):
    pooled = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            pooled[i, j] = np.mean(a[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] ** 2)
    return pooled
