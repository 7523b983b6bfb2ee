"""Loops that add to the same numbers in each pass are run four passes at a time, where they may."""

import ast
import re

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.llvm.unroll_and_jam import unroll_and_jam
from tests.backends.cpu.text import module

ADDS = """
@njit(nogil=True)
def f(x, w, out):
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out[j] = out[j] + x[i] * w[i, j]
"""


def loops(text, apart=True):
    """The loops of the function, as they are compiled."""
    made = unroll_and_jam(ast.parse(text.replace("@njit(nogil=True)", "")).body[0], apart)
    return [ast.unparse(s.iter) for s in ast.walk(made) if isinstance(s, ast.For)]


def test_four_passes_at_a_time():
    assert loops(ADDS)[:2] == [
        "range(0, w.shape[0] - 3, 4)",
        "range(max(0, w.shape[0] - w.shape[0] % 4), w.shape[0])",
    ]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("n", range(10))
def test_values(n, dtype, rng):
    """The order of additions stays, so no bit is another one."""
    x, w = (rng.normal(size=s) * 9 for s in (n, (n, 37)))
    x, w, out = x.astype(dtype), w.astype(dtype), np.ones(37, dtype)
    want = out.copy()
    for i in range(n):
        want = want + x[i] * w[i]
    load("f", module(ADDS), apart=True)(x, w, out)
    np.testing.assert_array_equal(out, want)


def test_a_count_below_zero():
    text = ADDS.replace("f(x, w, out)", "f(x, w, out, n)").replace("range(w.shape[0])", "range(n)")
    f = load("f", module(text), apart=True)
    assert "range(0, n - 3, 4)" in loops(text)
    for n, want in ((-3, 0), (0, 0), (3, 3), (4, 4), (5, 5)):
        out = np.zeros(4)
        f(np.ones(5), np.ones((5, 4)), out, n)
        np.testing.assert_array_equal(out, want)


def test_memory_that_is_shared(rng):
    """Without a promise that there is none, each pass sees what the one before has stored."""
    assert len(loops(ADDS, apart=False)) == 2
    f = load("f", module(ADDS))
    w = rng.normal(size=(9, 9))
    x, want = rng.normal(size=9), w.copy()
    for i in range(9):
        want[8] = want[8] + x[i] * want[i]
    f(x, w, w[8])
    np.testing.assert_allclose(w, want, rtol=1e-14)


OTHERS = {
    "another place in each pass": ("out[j]", "out[i]"),
    "another number is read": ("= out[j]", "= out[j - 1]"),
    "it is read twice": ("x[i] *", "out[0] *"),
    "nothing of the pass is read": ("x[i] * w[i, j]", "x[0]"),
    "a function that may fail": ("x[i] *", "other(x[i]) *"),
    "a short row": ("range(w.shape[1])", "range(4)"),
    "a number of passes that is read": ("range(w.shape[0])", "range(counts[0])"),
    "a part of an array": ("x[i] *", "part[i] *"),
}


@pytest.mark.parametrize("why", OTHERS)
def test_others_stay(why):
    text = ADDS.replace(*OTHERS[why])
    assert text != ADDS
    assert len(loops(text)) == 2


def test_what_a_kernel_makes_for_itself():
    made = ADDS.replace("f(x, w, out):", "f(x, w):\n    out = scratch((w.shape[1],), np.float64)")
    assert len(loops(made, apart=False)) == 4
    again = made.replace("    for i", "    out = x\n    for i", 1)
    assert len(loops(again, apart=False)) == 2


def test_the_text_that_is_shown_stays(rng):
    from tapeless import jit  # noqa: PLC0415  # the rest needs the backend alone

    f = jit(recurrent)
    a, h = rng.normal(size=(2, 6, 6)), rng.normal(size=(1, 6))
    want = recurrent(a[0], h, 3)
    np.testing.assert_allclose(f(a[0], h, 3), want, rtol=1e-13)
    assert not re.search(r"- 3, 4\)", f.source(a[0], h, 3))


def recurrent(a, h, steps):
    for _ in range(steps):
        h = np.tanh(h @ a)
    return h


NAMED = """
@njit(nogil=True)
def f(x, w, out):
    for i in range(w.shape[0]):
        k = w.shape[0] - 1 - i
        weight = x[k]
        for j in range(w.shape[1]):
            out[j] = out[j] + weight * w[i, j]
"""


def test_weights_with_names(rng):
    assert "range(0, w.shape[0] - 3, 4)" in loops(NAMED)
    for n in range(9):
        x, w, out = rng.normal(size=n), rng.normal(size=(n, 7)), np.ones(7)
        want = out.copy()
        for i in range(n):
            want = want + x[n - 1 - i] * w[i]
        load("f", module(NAMED), apart=True)(x, w, out)
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    "text",
    [
        NAMED + "    out[0] = weight\n",  # read after the loop
        NAMED.replace("weight = x[k]", "weight = out[k]"),  # another value in each pass
    ],
)
def test_names_that_others_read(text):
    assert len(loops(text)) == 2
