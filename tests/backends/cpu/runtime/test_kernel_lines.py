"""Errors that kernels raise name the user's line, also where several lines raise the same."""

import traceback
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.backends import cache

X, GOOD, BAD = np.array([1.0, 3.0, 2.5]), np.array([0, 1, 2]), np.array([0, 7, 1])


def two_indices(x, first, second):
    total = 0.0
    for k in range(len(first)):
        total += x[first[k]] * 2.0  # first
        total += np.sin(total)
        total += x[second[k]] * total  # second
    return total


def stored(x, first, second):
    out = np.zeros(len(first))
    for k in range(len(first)):
        a = x[first[k]]  # first
        b = x[second[k]]  # second
        out[k] = a * b
    return np.sum(out)


def item(x, k):
    return x[k] * 2.0  # first


def through_a_function(x, first, second):
    total = x[0]
    for k in range(len(first)):
        total += item(x, first[k])
        total *= x[second[k]]  # second
    return total


def asserted(x, first, second):
    assert first[1] < 5  # first
    total = 0.0
    for k in range(len(x)):
        assert second[k] < 5  # second
        total += x[k] ** 2
    return total


def raised(x, first, second):
    total = 0.0
    for k in range(len(x)):
        if first[k] > 5:
            raise ValueError("far")  # first
        if second[k] > 5:
            raise ValueError("far")  # second
        total += x[k] ** 2
    return total


def divided(x, first, second):
    total = 0.0
    for k in range(3):
        total += 12 // (7 - int(first[k])) * x[k]  # first
        total += 12 // (7 - int(second[k])) * x[k]  # second
    return total


FUNCTIONS = [two_indices, stored, through_a_function, asserted, raised, divided]
FORMS = {
    "jit": jit,
    "grad": lambda f: jit(grad(f)),
    "vmap": lambda f: jit(vmap(f, (0, None, None))),
}


def line_of(f, mark):
    code = f.__code__ if f is not through_a_function or mark == "second" else item.__code__
    lines = Path(__file__).read_text().splitlines()
    marked = (k for k, text in enumerate(lines, 1) if text.endswith(f"# {mark}"))
    return next(k for k in marked if k > code.co_firstlineno)


@pytest.mark.parametrize("mark", ["first", "second"])
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_the_line_that_raises(form, f, mark):
    compiled = FORMS[form](f)
    x = np.stack([X, X]) if form == "vmap" else X
    indices = (BAD, GOOD) if mark == "first" else (GOOD, BAD)
    compiled(x, GOOD, GOOD)
    with pytest.raises((IndexError, AssertionError, ValueError, ZeroDivisionError)) as e:
        compiled(x, *indices)
    assert f'File "{__file__}", line {line_of(f, mark)}\n' in e.value.__notes__[0]


def test_the_frame_of_the_kernel():
    """A traceback shows the line of the kernel, under its name."""
    compiled = jit(two_indices)
    with pytest.raises(IndexError) as e:
        compiled(X, GOOD, BAD)
    frame = traceback.extract_tb(e.value.__traceback__)[-1]
    assert frame.name == "two_indices_kernel"
    assert frame.line.startswith('raise IndexError(f"index {')
    assert cache.PACKAGE.split(".")[0] not in frame.filename.split("/")


def test_numbers_of_lines_are_those_of_this_module():
    """Kernels that differ in comments only share machine code."""

    def above(x, k):
        return x[k] * 2.0

    def below(x, k):
        # Here the same stands elsewhere.

        return x[k] * 2.0

    below.__name__ = "above"
    for f, further in ((above, 1), (below, 3)):
        compiled = jit(f)
        with pytest.raises(IndexError) as e:
            compiled(X, 7)
        line = f.__code__.co_firstlineno + further
        assert f"line {line}\n    return x[k] * 2.0" in e.value.__notes__[0]
