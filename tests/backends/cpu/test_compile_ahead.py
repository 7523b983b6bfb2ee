"""What is compiled before a function is called: what its text tells."""

import numpy as np

from tapeless.backends.cpu import compilations, load, prepare

TEXT = """
from numba import njit
import numpy as np


def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    return kernel(0, rows, *args, *own, *sums)


def empty(shape, dtype):
    return np.empty(shape, dtype)


@njit
def rows_kernel(first, last, x, out):
    for i in range(first, last):
        for j in range(x.shape[1]):
            out[i, j] = 2 * x[i, j]


@njit
def turned_kernel(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i, 0]


@njit
def solved_kernel(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i, 0]


def f(params, n):
    w, k = params[0]["w"], 1
    if w.shape[0] != w.shape[1]:
        raise ValueError("the lengths differ")
    out = empty(w.shape, np.float32)
    in_parallel(rows_kernel, w.shape[0], 3 * w.shape[1] - 1, w, out)
    last = empty((w.shape[0] - k,), np.float64)
    turned_kernel(w.T[1:], last)
    turned_kernel(out @ w.T, last)
    solved = np.linalg.solve(w, out)
    solved_kernel(solved, last)
    return out, last
"""


def test_what_is_known_is_compiled_and_nothing_is_run():
    f = load("f", TEXT)
    prepare(f, TEXT, ([{"w": np.zeros((4, 4), np.float32)}], 3))
    ahead = [c.signature for c in compilations(f)]
    assert ahead == [
        "rows_kernel(row, row, float32[:, ::1], float32[:, ::1])",
        "turned_kernel(float32[:, :], float64[::1])",
        "turned_kernel(float32[:, ::1], float64[::1])",
    ]
    out, last = f([{"w": np.diag(np.arange(1, 5, dtype=np.float32))}], 3)
    np.testing.assert_array_equal(out, 2 * np.diag(np.arange(1, 5)))
    np.testing.assert_array_equal(last, [2, 0, 0])
    later = [c.signature for c in compilations(f)][3:]
    assert [text.partition("(")[0] for text in later] == ["solved_kernel"]


def test_variables_that_loops_change_are_not_known():
    text = TEXT.replace(
        "    solved = np.linalg.solve(w, out)\n",
        "    solved = w\n    for _ in range(n):\n        solved = np.linalg.inv(solved)\n",
    )
    f = load("f", text)
    prepare(f, text, ([{"w": np.zeros((4, 4), np.float32)}], 3))
    assert len(compilations(f)) == 3
