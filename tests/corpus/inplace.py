"""Stores into arrays: elements, slices, steps, masks, fancy indices, out=, add.at, x.T[...] =."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(4))
def store_element(x):
    y = np.zeros(4)
    y[0] = x[1] ** 2
    y[-1] = x[0] * y[0]
    return y


@program(normal(4))
def overwrite_drops_old_value(x):
    y = x * 2
    y[1] = 3.0
    y[2] = y[1] * x[0]
    y[2] = y[2] ** 2
    return y


@program(normal(6))
def store_slices(x):
    y = np.ones(6)
    y[1:3] = x[:2] ** 2
    y[::2] = y[1::2] * x[3:]
    y[-2:] += y[:2]
    return y


@program(normal(6))
def store_with_negative_steps(x):
    y = np.empty(6)
    y[::-1] = x**2
    y[4:1:-1] *= x[:3]
    y[-1:-4:-2] = y[0:2]
    return y


@program(normal(5), 2.0, wrt=(0, 1))
def store_scalar_into_slice(x, value):
    y = x.copy()
    y[1:4] = value
    y[3:] *= value
    y[...] += 1.0
    y[:] -= x[0]
    return y**2


@program(normal(3, 4))
def store_rows_and_columns(a):
    b = np.zeros_like(a)
    b[0] = a[1] * a[2]
    b[:, 1] = a[:, 0] ** 2
    b[1:, 2:] += a[:2, :2]
    b[..., -1] -= b[..., 0]
    return b


@program(normal(3, 4))
def store_broadcasts(a):
    b = np.empty((3, 4))
    b[:] = a[0]
    b[:, 1:3] = a[:, :1]
    b[2] = a[0, 0]
    b[:2, ::3] *= a[:2, 1, None]
    return b


@program(normal(4))
def fibonacci_stores(x):
    y = np.zeros(8)
    y[0], y[1] = x[0], x[1]
    for i in range(2, 8):
        y[i] = y[i - 1] * x[2] + y[i - 2] * x[3]
    return y


@program(normal(5))
def sweep_forward_and_back(x):
    u = x.copy()
    for i in range(1, 5):
        u[i] += 0.5 * u[i - 1] ** 2
    for i in range(3, -1, -1):
        u[i] -= 0.3 * u[i + 1] * x[i]
    return u


@program(normal(4, 4))
def gauss_seidel_sweeps(u):
    for _ in range(2):
        for i in range(1, 3):
            for j in range(1, 3):
                u[i, j] = (
                    0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                    + 0.1 * u[i, j] ** 2
                )
    return u


@program(normal(3, 3))
def upper_triangle_filled(a):
    s = np.zeros((3, 3))
    for i in range(3):
        for j in range(i, 3):
            s[i, j] = a[i] @ a[j]
            s[j, i] = s[i, j] * 0.5
    return s


@program(normal(5))
def store_in_while(x):
    y = np.ones(5)
    i = 0
    while i < 4 and y[i] < 50:
        y[i + 1] = y[i] * (1 + x[i] ** 2)
        i += 2
    return y


@program(normal(6))
def store_through_mask(x):
    y = x**2
    y[x < 0] = -1.0
    y[x > 0.5] *= 2.0
    return y * x


@program(normal(3, 3))
def store_mask_of_matrix(a):
    b = a.copy()
    inside = np.abs(a) < 0.8
    b[inside] = b[inside] ** 3
    b[~inside] += a[0, 0]
    return b


@program(normal(5))
def store_at_fancy_indices(x):
    y = np.zeros(7)
    y[[4, 0, 2]] = x[:3] ** 2
    y[np.array([1, 6])] -= x[3:]
    y[[5, 0]] *= x[0]
    return y


@program(normal(4, 3))
def store_at_pairs_of_indices(a):
    rows, columns = np.array([0, 3, 1]), np.array([2, 0, 1])
    b = a**2
    b[rows, columns] = a[columns, rows % 3]
    b[rows[:, None], [0, 2]] += 1.0 + a[:3, 1:] ** 2
    return b * a


@program(normal(5))
def repeated_indices_keep_last(x):
    y = np.zeros(3)
    y[[0, 1, 1, 2]] = x[:4] ** 2
    y[[0, 0]] += x[4]
    return y * x[0]


@program(normal(6), np.array([0, 2, 1, 2, 2, 0]))
def histogram_with_add_at(weights, bins):
    counts = np.zeros(3)
    np.add.at(counts, bins, weights**2)
    return counts * counts[::-1]


@program(normal(3, 2), normal(4, 2, seed=1), wrt=(0, 1))
def add_at_rows(table, gradient):
    np.add.at(table, [0, 2, 0, 1], gradient)
    np.add.at(table, (slice(None), 1), table[:, 0] ** 2)
    np.subtract.at(table, (np.array([0, 0]), np.array([0, 1])), gradient[0, 0])
    return table * gradient[:3]


@program(normal(3, 3), normal(3, seed=1), wrt=(0, 1))
def store_through_transpose(a, x):
    b = a.copy()
    b.T[0] = x**2
    b.T[1:, 2] *= x[1:]
    b.T[...] += a
    return b


@program(normal(4), normal(4, seed=1), wrt=(0, 1))
def out_argument(x, y):
    buffer = np.empty(4)
    np.multiply(x, y, out=buffer)
    np.sin(buffer, out=buffer)
    first = buffer.copy()
    np.add(buffer, x, buffer)
    return first * buffer


@program(normal(2, 3), normal(3, 2, seed=1), wrt=(0, 1))
def out_is_a_view(a, b):
    result = np.zeros((3, 3))
    np.matmul(a, b, out=result[:2, :2])
    np.exp(a[0], out=result[2])
    np.sum(a * a, axis=0, out=result[:, 2])
    return result


@program(normal(4))
def fill_and_reuse_buffer(x):
    buffer = np.empty(2)
    total = 0.0
    for i in range(3):
        buffer.fill(x[i])
        buffer[1] *= x[i + 1]
        total += np.prod(buffer)
    return total


@program(normal(5))
def index_from_data(x):
    y = np.zeros(5)
    peak = np.argmax(x)
    y[peak] = x[peak] ** 2
    for i in np.argsort(x):
        y[i] += x[i] * y[peak]
    return y


@program(uniform(5))
def ping_pong_buffers(u):
    old, new = u.copy(), np.empty_like(u)
    for _ in range(3):
        new[1:-1] = old[1:-1] + 0.2 * (old[2:] - 2 * old[1:-1] + old[:-2]) * old[1:-1]
        new[0], new[-1] = old[0], old[-1] ** 2
        old, new = new, old
    return old


@program(normal(3, 3))
def diagonal_stores(a):
    b = a @ a
    b[np.arange(3), np.arange(3)] = 1.0
    for i in range(3):
        b[i, i] += a[i, 0]
        b[i, (i + 1) % 3] *= a[i, 1]
    return b
