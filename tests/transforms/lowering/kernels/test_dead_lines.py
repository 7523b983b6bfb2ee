"""Lines that set what nothing reads."""

import textwrap

import pytest

from tapeless.transforms.lowering.kernels.dead_lines import without_unread

CASES = {
    "chains go": (
        """
        n = x.shape[0]  # line 3
        m = n - 1
        for i in range(2):
            out[i] = 0.0
        """,
        """
        for i in range(2):  # line 3
            out[i] = 0.0
        """,
    ),
    "a note stays if the next line has its own": (
        """
        t = 1  # line 3
        return 2  # line 4
        """,
        "return 2  # line 4",
    ),
    "what a loop sets and reads stays": (
        """
        total = 0.0
        for i in range(3):
            total = plus(total, x[i])
        """,
        None,
    ),
    "an array that is only stored to": (
        """
        saved = scratch((2,), np.float64)  # line 3
        saved[0] = x[0]
        saved[1] = x[1]
        out[0] = x[0]
        """,
        "out[0] = x[0]  # line 3",
    ),
    "a suite of stores keeps them": (
        """
        saved = scratch((2,), np.float64)
        for i in range(2):
            saved[i] = x[i]
        """,
        None,
    ),
    "what is stored to and read": (
        """
        saved = scratch((2,), np.float64)
        saved[0] = x[0]
        out[0] = saved[0]
        """,
        None,
    ),
    "a suite keeps a line": (
        """
        for i in range(3):
            t = x[i]
            u = x[i]
        """,
        """
        for i in range(3):
            u = x[i]
        """,
    ),
    "long lines": (
        """
        t = (
            1
            + 2
        )
        x[0] = 1
        """,
        "x[0] = 1",
    ),
    "counts stay": (
        """
        count = 0
        for i in range(3):
            count += 1
        """,
        None,
    ),
    "elements and several at once stay": (
        """
        x[0] = 1
        a, b = b, a
        """,
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_lines(name):
    before, after = (None if t is None else _lines(t) for t in CASES[name])
    assert without_unread("def f(x, out):", before) == (before if after is None else after)


def _lines(text):
    return textwrap.indent(textwrap.dedent(text).strip("\n"), "    ").splitlines()
