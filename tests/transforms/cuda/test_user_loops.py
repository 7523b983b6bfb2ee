"""Loops that threads may share are told from others by their text."""

import ast

import pytest

from tapeless.transforms.cuda.user_loops import apart_loops, summing_loops

HEAD = "def kernel(first, last, x, y, out, n):\n    s = scratch((3,), np.float64)\n"
ADDS_UP = {
    "a sum": "t = 0.0\nfor j in range(n):\n    t = plus(t, x[j])\nout[0] = t",
    "a sum under a test": (
        "t = 0.0\nfor j in range(n):\n    if x[j] > 0:\n        t = t + x[j]\nout[0] = t"
    ),
    "an extremum": "t = 0.0\nfor j in range(n):\n    t = x[j] if x[j] > t else t\nout[0] = t",
    "an array of sums": (
        "for j in range(n):\n    for k in each(3):\n        s[k] = plus(s[k], x[j, k])\n"
        "out[0] = s[0]"
    ),
    "an array that each pass fills": (
        "t = 0.0\nfor j in range(n):\n    for k in each(3):\n        s[k] = x[j, k]\n"
        "    t = plus(t, s[0] * s[1])\nout[0] = t"
    ),
}
HANDS_ON = {
    "what it has so far": "t = 0.0\nfor j in range(n):\n    t = t + x[j]\n    out[j] = t",
    "a factor": "t = 1.0\nfor j in range(n):\n    t = 0.5 * t + x[j]\nout[0] = t",
    "a second variable": (
        "t = 0.0\nk = 0\nfor j in range(n):\n    if x[j] > t:\n        t = x[j]\n        k = j\n"
        "out[0] = k"
    ),
    "the last value": (
        "t = 0.0\nfor j in range(n):\n    u = x[j]\n    t = plus(t, u)\nout[0] = t + u"
    ),
    "a part of an array": (
        "t = 0.0\nfor j in range(n):\n    s[0] = x[j]\n    t = plus(t, s[1])\nout[0] = t"
    ),
    "an array that it reads first": (
        "t = 0.0\nfor j in range(n):\n    for k in each(3):\n        s[k] = s[k] * x[j, k]\n"
        "    t = plus(t, s[0])\nout[0] = t"
    ),
    "an array that is read later": (
        "t = 0.0\nfor j in range(n):\n    for k in each(3):\n        s[k] = x[j, k]\n"
        "    t = plus(t, s[0])\nout[0] = t + s[1]"
    ),
    "an end": (
        "t = 0.0\nfor j in range(n):\n    t = plus(t, x[j])\n"
        "    if t > 1:\n        break\nout[0] = t"
    ),
    "no more than a few passes": "t = 0.0\nfor j in range(3):\n    t = plus(t, x[j])\nout[0] = t",
}


def kernel(text):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    (node,) = ast.parse(HEAD + lines).body
    return node


@pytest.mark.parametrize("what", ADDS_UP)
def test_loops_that_only_add_up(what):
    assert len(summing_loops(kernel(ADDS_UP[what]))) == 1


@pytest.mark.parametrize("what", HANDS_ON)
def test_loops_that_hand_something_on(what):
    assert not summing_loops(kernel(HANDS_ON[what]))


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("out[j] = x[j]", 1),
        ('if x[j] > 1:\n        raise ValueError("large")\n    out[j] = x[j]', 1),
        ('if x[j] > 1:\n        raise ValueError(f"large: {j}")\n    out[j] = x[j]', 0),
        (
            'if x[j] > 1:\n        raise ValueError("large")\n'
            '    if x[j] < 0:\n        raise ValueError("small")\n    out[j] = x[j]',
            0,
        ),
    ],
)
def test_passes_that_are_apart_raise_one_error_at_most(body, count):
    assert len(apart_loops(kernel(f"for j in apart(n):\n    {body}"))) == count
