"""Of the loops of a nest, threads share the one that moves along the last axis of arrays."""

import ast

import pytest

from tapeless.transforms.cuda.rows_of_nests import loops_as_rows


def is_shared(s):
    return isinstance(s, ast.For) and ast.unparse(s.iter).startswith(("each", "apart"))


def rows(*heads, body):
    text = "for i in range(first, last):\n"
    for depth, head in enumerate(heads, 1):
        text += f"{'    ' * depth}for {head}:\n"
    text += f"{'    ' * (len(heads) + 1)}{body}\n"
    (loop,) = ast.parse(text).body
    return [ast.unparse(s.target) for s in loops_as_rows(loop, is_shared, {"x", "y", "m", "n"})]


TWO = ("j in each(m)", "k in each(n)")


@pytest.mark.parametrize(
    ("heads", "body", "found"),
    [
        (TWO, "y[i, j, k] = x[i, j, k]", ["j"]),
        (TWO, "y[i, j, k] = x[i + 1, j, k - 1]", ["j"]),
        (TWO, "y[i, k, j] = x[i, k, j]", []),
        (TWO, "y[i, j] = y[i, j] + a[i, k] * b[k, j]", []),
        (TWO, "y[i, j] = y[i, j] + a[i, k] * b[j, k]", ["j"]),
        (TWO[:1], "y[i, j] = x[j, i]", []),
        (("j in apart(1, m)", "k in apart(n)"), "y[i, j, k] = x[i, j - 1, k]", ["j"]),
        (("j in each(i)", "k in each(n)"), "y[i, j, k] = x[i, j, k]", []),
        (("j in range(m)", "k in each(n)"), "y[i, j, k] = x[i, j, k]", []),
        (("j in each(m)", "k in each(n)", "l in each(n)"), "y[i, j, k, l] = 0.0", ["j", "k"]),
    ],
)
def test_loops_as_rows(heads, body, found):
    assert rows(*heads, body=body) == found
