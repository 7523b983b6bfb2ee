"""Elements that passes of a loop add to are added up in registers, if nothing else reads them."""

import ast
import itertools

import numpy as np
import pytest

from tapeless.transforms.cuda.sums_in_registers import sums_in_registers

ARRAYS = {"y": np.dtype("f8"), "x": np.dtype("f8"), "k": np.dtype("f4")}


def changed(body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    (node,) = ast.parse(f"def f(y, x, k, i, n):\n    for j in range(n):\n{lines}").body
    numbers = itertools.count()
    made = sums_in_registers(node, ARRAYS, lambda stem: f"{stem}{next(numbers) or ''}")
    return "\n".join(map(ast.unparse, ast.fix_missing_locations(made).body))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "y[i] += x[j]",
            "y_sum = 0.0\nfor j in range(n):\n    y_sum += x[j]\n"
            "if y_sum != 0.0:\n    y[i] += y_sum",
        ),
        (
            "k[i] -= x[j]",
            "k_sum = np.float32(0)\nfor j in range(n):\n    k_sum -= x[j]\n"
            "if k_sum != np.float32(0):\n    k[i] += k_sum",
        ),
        (
            "y[i, 0] += x[j]\ny[i, 1] += x[j]",
            "y_sum = 0.0\ny_sum1 = 0.0\nfor j in range(n):\n    y_sum += x[j]\n"
            "    y_sum1 += x[j]\nif y_sum != 0.0:\n    y[i, 0] += y_sum\n"
            "if y_sum1 != 0.0:\n    y[i, 1] += y_sum1",
        ),
        (
            "for m in each(3):\n    y[i, m] += x[j, m]",
            "y_sum = scratch((3,), np.float64)\nfor m in each(3):\n    y_sum[m] = 0.0\n"
            "for j in range(n):\n    for m in each(3):\n        y_sum[m] += x[j, m]\n"
            "for m in each(3):\n    if y_sum[m] != 0.0:\n        y[i, m] += y_sum[m]",
        ),
    ],
)
def test_sums(body, text):
    assert changed(body) == text


@pytest.mark.parametrize(
    "body",
    [
        "y[j] += x[j]",  # another one in each pass
        "y[i] += y[j]",  # read, too
        "y[i] += x[j]\ny[n] += x[j]",  # which may be one
        "y[i] *= x[j]",
        "t = x[j]\ny[t] += x[j]",  # a place by data
        "for m in each(3):\n    y[j, m] += x[j, m]",
        "for m in each(100):\n    y[i, m] += x[j, m]",
        "z[i] += x[j]",  # not of the caller
    ],
)
def test_what_stays_in_memory(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    assert changed(body) == ast.unparse(ast.parse(f"for j in range(n):\n{lines}"))
