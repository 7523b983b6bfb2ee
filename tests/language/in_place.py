"""Writing into arrays: every kind of index, views, aliases, and the caller's arrays."""

import numpy as np

from tests.language import row


@row("`x[i] = v`")
def stores(x):
    y = np.zeros(5)
    y[0] = x[0]
    for i in range(1, 5):
        y[i] = np.sin(y[i - 1]) + x[1] * x[2]
    y[2] = y[4] * y[1]
    return np.sum(y**2)


@row("`x[i, j] += v`")
def adds(x):
    grid = np.outer(x, x)
    for i in range(3):
        for j in range(i):
            grid[i, j] += grid[j, i] * x[i]
    return np.sum(grid**2)


@row("slices and steps")
def slices(x):
    y = np.concatenate([x, x**2, x**3])
    y[1:-1] += 0.1 * (y[:-2] - 2 * y[1:-1] + y[2:])
    y[::2] = y[::-2] * x[0]
    y[6:3:-1] *= y[1:4]
    return np.sum(y * y)


@row("negative indices")
def negative(x):
    y = x * x
    y[-1] = y[-2] * y[-3]
    y[-3:] += x[-1]
    return np.sum(y**2)


@row("boolean indices")
def masks(x):
    y = x**2
    y[x < 0] = x[1] ** 3
    y[x > 1] *= 2.0
    return np.sum(y[y > 0.1] * x[0])


@row("fancy indices")
def fancy(x):
    y = np.sin(x)
    y[[2, 0]] = y[[0, 1]] * x[2]
    y[np.array([1, 1, 2])] += 1.0
    return np.sum(y[np.array([[0, 1], [1, 2]])] ** 2)


@row("`np.add.at`")
def adds_at(x):
    y = np.zeros(2)
    np.add.at(y, [0, 1, 0], x**2)
    return y[0] ** 2 * y[1]


@row("writing through `x.T`, `reshape`, `ravel`")
def through_views(x):
    y = np.outer(x, x)
    y.T[0, 1:] = x[:2] ** 3
    y.reshape(9)[4] *= x[2]
    y.ravel()[::4] += x[0]
    return np.sum(y * y)


@row("views of views")
def views(x):
    y = np.concatenate([x, x * 2])
    middle = y[1:5]
    inner = middle[::2]
    inner *= x[0]
    middle[1] = inner[0] ** 2
    return np.sum(y**2) * inner[1]


@row("views of views")
def columns(x):
    a = np.outer(x, x + 1)
    for column in a.T[::-1]:
        column /= np.sqrt(np.sum(column * column) + 1)
    return np.sum(np.sin(a[0]))


@row("`u, new = new, u` in a loop")
def two_buffers(x):
    u, new = x.copy(), np.zeros(x.size)
    for k in range(5):
        new[1:] = u[:-1] * u[0] + k
        new[0] = np.sin(u[-1])
        u, new = new, u
    return np.sum(u * new)


@row("`out=`")
def outputs(x):
    y = np.empty(3)
    np.multiply(x, x, out=y)
    np.sin(y, out=y)
    np.add(y[:2], x[1:], out=y[1:])
    return np.sum(y * x)


@row("aliases by assignment")
def aliases(x):
    y = x * 2
    z = y
    z[0] = x[1] ** 2
    z += x
    return np.sum(y**2)


@row("aliases through containers")
def contained(x):
    y = x * 2
    parts = {"y": y, "rows": [y[:2], y]}
    parts["y"][0] *= x[2]
    parts["rows"][0][:] = x[1:] ** 2
    parts["rows"][1][2] += y[0]
    return np.sum(y**2)


@row("arguments that the function overwrites")
def overwrites(x):
    x *= x
    for i in range(1, 3):
        x[i] += np.sin(x[i - 1])
    return np.sum(x**2)


def smooth(u, k):
    for i in range(1, len(u) - 1):
        u[i] += k * (u[i - 1] - 2 * u[i] + u[i + 1])


@row("functions that write into what they are given")
def writes_for_others(x):
    y = np.concatenate([x, x])
    smooth(y, 0.1)
    smooth(y[1:5], x[0])
    return np.sum(y**3)


@row("`swap` of array elements")
def exchanges(x):
    y = x.copy()
    y[0], y[2] = y[2], y[0] * x[1]
    for i in range(2):
        if y[i] > y[i + 1]:
            y[i], y[i + 1] = y[i + 1], y[i]
    return y[0] + 2 * y[1] ** 2 + 3 * y[2] ** 3
