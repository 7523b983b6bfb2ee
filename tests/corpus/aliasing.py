"""Names, containers and views that share memory: a store through one is seen by all."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(4))
def alias_by_assignment(x):
    y = x * 1.0
    z = y
    z[0] = x[1] ** 2
    return y * 2


@program(normal(4))
def copy_is_no_alias(x):
    y = x * 1.0
    z = y.copy()
    z[0] = x[1] ** 2
    w = np.array(y)
    w[1] = 7 * x[0]
    return y * z + w


@program(normal(4))
def asarray_is_alias(x):
    y = x * 2
    z = np.asarray(y)
    z[1:3] *= x[0]
    return y


@program(normal(3, 3))
def row_is_view(a):
    b = a.copy()
    row = b[1]
    row[0] = a[0, 0] ** 2
    row += 1.0
    return b * a


@program(normal(3, 3))
def column_is_view(a):
    b = 2 * a
    column = b[:, 2]
    column[:] = a[:, 0] * column
    b[0, 2] = a[1, 1] ** 2
    return column


@program(normal(6))
def view_of_view(x):
    y = x**2
    middle = y[1:5]
    every_second = middle[::2]
    every_second[1] = x[0] * 3
    middle[0] *= x[5]
    return y + np.sum(every_second)


@program(normal(8))
def view_of_view_of_reversed(x):
    y = x.copy()
    back = y[::-1]
    part = back[1:7:2]
    part[-1] = x[7] ** 2
    part *= 1.5
    y[0] = part[0]
    return y * back


@program(normal(2, 3))
def reshape_is_view(a):
    b = a * a
    flat = b.reshape(6)
    flat[4] = a[0, 0]
    flat.reshape(3, 2)[0, 1] = a[1, 1] * a[0, 2]
    b[1, 2] = flat[0] ** 2
    return flat


@program(normal(2, 3))
def ravel_is_view_flatten_is_copy(a):
    b = a * a
    view, copied = b.ravel(), b.flatten()
    view[0] = a[1, 0] * 4
    copied[1] = 100.0
    return b + copied[2]


@program(normal(2, 3))
def transpose_is_view(a):
    b = a + 0.5
    t = b.T
    t[0] = a[:, 2] ** 2
    b[1] *= a[0]
    return t @ a


@program(normal(2, 3, 2))
def views_by_axis_functions(a):
    b = a * 2
    moved = np.moveaxis(b, 2, 0)
    moved[1] *= a[:, :, 0]
    np.swapaxes(b, 0, 1)[2] = a[:, 1] ** 2
    np.squeeze(b[:1], axis=0)[0] += 1.0 + a[1, 0, 0]
    np.expand_dims(b, 0)[0, 1, 1] = a[0, 0, 0] ** 3
    return b


@program(normal(4))
def alias_through_list(x):
    y = x.copy()
    both = [y, y]
    both[0][1] = x[0] ** 2
    both[1] *= x[3]
    return y + both[0]


@program(normal(4))
def alias_through_dict_and_tuple(x):
    store = {"a": x * 2, "b": None}
    store["b"] = (store["a"], store["a"][1:])
    store["b"][1][0] = x[0] * x[3]
    store["a"][3] **= 2
    return store["b"][0] * np.sum(store["b"][1])


@program([normal(3), normal(3, seed=1)])
def views_in_list_of_argument(arrays):
    halves = [array[:2] for array in arrays]
    for half in halves:
        half *= half[1]
    return arrays[0] @ arrays[1]


@program(normal(3), normal(3, seed=1), 3, wrt=(0, 1))
def names_swap_in_loop(a, b, n):
    a, b = a.copy(), b.copy()
    for i in range(n):
        a[i] = b[i] ** 2
        a, b = b, a
    return a + 2 * b


@program(normal(4, 2))
def rows_as_loop_targets(a):
    b = a.copy()
    previous = b[0]
    for row in b[1:]:
        row += 0.5 * previous
        row[0] = row[1] ** 2
        previous = row
    return b


@program(normal(3, 3))
def view_kept_across_loop(a):
    b = a.copy()
    diagonal_block = b[:2, :2]
    for i in range(3):
        b[i] *= 1.0 + a[0, i] ** 2
        diagonal_block[0, 0] += b[2, 2]
    return diagonal_block


@program(normal(5))
def overlapping_shift(x):
    y = x**2
    y[1:] = y[:-1]
    y[:-1] += y[1:] * x[1:]
    y[::-1] -= y
    return y


@program(normal(4))
def function_fills_buffer(x):
    def cumulative(values, out):
        total = 0.0
        for i in range(len(values)):
            total += values[i] ** 2
            out[i] = total

    table = np.zeros((2, 4))
    cumulative(x, table[0])
    cumulative(table[0], out=table[1])
    return table


@program(normal(4))
def function_returns_its_argument(x):
    def scaled(values, factor):
        values *= factor
        return values

    y = x + 1
    z = scaled(y, x[0])
    z[0] = x[1] ** 2
    return y


class Body:
    def __init__(self, position):
        self.position = position


@program(normal(3))
def attributes_share_array(x):
    y = x * 1.5
    a, b = Body(y), Body(y[1:])
    a.position[2] = x[0] ** 2
    b.position[0] += x[2]
    a.position = a.position * 2
    a.position[0] = 9 * x[1]
    return y + a.position


@program(normal(3, 2))
def broadcast_is_view(a):
    b = a.copy()
    wide = np.broadcast_to(b[0], (3, 2))
    b[0, 1] = a[2, 0] ** 2
    return wide * a


@program(normal(3))
def default_buffer_of_inner_function(x):
    buffer = np.zeros(3)

    def push(value, store=buffer):
        store[1:] = store[:-1].copy()
        store[0] = value
        return np.sum(store**2)

    return push(x[0]) + push(x[1] * x[0]) + push(x[2])


@program(uniform(4))
def scalar_read_is_copy(x):
    y = x.copy()
    first = y[0]
    y[0] = 5 * x[1]
    slice_of_one = y[:1]
    y[0] *= 2
    return first * slice_of_one + y[1]
