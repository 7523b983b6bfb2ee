"""Functions that overwrite what they are given; the caller's arrays stay as they were."""

import numpy as np

from tests.corpus import definite, normal, program


@program(normal(4))
def element_overwritten(x):
    x[0] = x[1] * x[2]
    return x**2


@program(normal(4), 0.5, wrt=(0, 1))
def scaled_in_place(x, factor):
    x *= factor
    x[1:] += x[:-1] ** 2
    return x


@program(normal(4), normal(4, seed=1), wrt=(0, 1))
def one_argument_written_into_other(x, y):
    y[:] = x * y
    x[::2] = y[1::2]
    return x @ y


@program({"position": normal(3), "momentum": normal(3, seed=1)}, 3)
def dict_argument_stepped(state, n):
    for _ in range(n):
        state["momentum"] -= 0.1 * np.sin(state["position"])
        state["position"] += 0.1 * state["momentum"]
    state["energy"] = np.sum(state["momentum"] ** 2)
    return state["energy"] + state["position"][0]


@program({"position": normal(3), "momentum": normal(3, seed=1)})
def dict_argument_returned(state):
    state["momentum"] = state["momentum"] * 2
    state["position"][0] = state["momentum"][1] ** 2
    return state


@program([normal(2), normal(2, seed=1)])
def list_argument_changed(arrays):
    arrays[0] *= arrays[1]
    arrays[1] = arrays[0] ** 2
    arrays.append(arrays[1] + 1)
    return arrays


@program(normal(5))
def bubble_pass(x):
    for i in range(4):
        if x[i] > x[i + 1]:
            x[i], x[i + 1] = x[i + 1], x[i]
    return x * np.arange(1.0, 6.0)


@program(normal(5))
def insertion_sort(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x**2 * np.arange(5)


@program(definite(3), normal(3, seed=1), wrt=(0, 1))
def gaussian_elimination(a, b):
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k]
    return b


@program(normal(4))
def prefix_sum_in_place(x):
    for i in range(1, x.size):
        x[i] += x[i - 1]
    x /= 1 + x[-1] ** 2
    return x


@program(normal(3), normal(3, seed=1), wrt=(0, 1))
def helper_overwrites(x, y):
    def axpy(a, u, v):
        v += a * u

    axpy(x[0], x, y)
    axpy(2.0, y, x)
    return x * y


@program(normal(3))
def rebound_name_leaves_argument(x):
    original = x
    x = x * 2
    x[0] = 0.5
    return original * x


@program(normal(2, 3), 2)
def same_argument_overwritten_twice(a, n):
    for _ in range(n):
        for i in range(2):
            a[i] = a[i] * a[1 - i] + 0.1
        a[:, 0] = a[:, 2] ** 2
    return a


@program(normal(4))
def zeroed_argument(x):
    total = np.sum(x**2)
    x[:] = 0
    x[1] = total
    return x * total
