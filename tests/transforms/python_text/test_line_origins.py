"""Emitted lines belong to the user's lines that their comments name, and those that they call."""

from tapeless.transforms.python_text.line_origins import line_origins, noted_lines

LOOPS = '''\
from math import sin


def empty(shape, dtype):
    """An array to be filled."""
    return np.empty(shape, dtype)


@njit(nogil=True)
def f_kernel(first, last, x, out):
    t = 2.0  # line 3
    for i in range(first, last):
        out[i] = t * x[i]  # line 4
        out[i] += 1


def f(x):
    """f.  From m.py:2."""
    if len(x) != 3:  # line 5
        raise ValueError("lengths differ")
    out = empty(x.shape, np.float64)
    in_parallel(f_kernel, x.shape[0], 1, x, out)
    return out
'''
CUDA = """\
typedef long long i64;

extern "C" __global__ void f_kernel(
    i64 rows, const double* __restrict__ x, double* __restrict__ out) {
  for (i64 i = 0; i < rows; i++) {
    out[i] = sin(x[i]);  // line 7
  }
}
"""


def _by_text(text):
    lines = text.splitlines()
    return {
        line.strip(): numbers
        for line, numbers in zip(lines, line_origins(text), strict=True)
        if line.strip()
    }


def test_a_comment_holds_until_the_next_of_the_function():
    origins = _by_text(LOOPS)
    assert origins["t = 2.0  # line 3"] == (3,)
    assert origins["out[i] += 1"] == (4,)
    assert origins['raise ValueError("lengths differ")'] == (5,)


def test_nothing_holds_where_a_function_begins():
    current = {line.text.strip(): line.current for line in noted_lines(LOOPS)}
    assert current['"""f.  From m.py:2."""'] == 0
    assert current["def f(x):"] == 0


def test_loops_heads_and_calls_belong_to_what_they_run():
    origins = _by_text(LOOPS)
    assert origins["for i in range(first, last):"] == (4,)
    assert origins["def f_kernel(first, last, x, out):"] == (3, 4)
    assert origins["in_parallel(f_kernel, x.shape[0], 1, x, out)"] == (3, 4)
    assert origins["def f(x):"] == (3, 4, 5)


def test_allocations_and_results_belong_to_no_line():
    origins = _by_text(LOOPS)
    assert origins["out = empty(x.shape, np.float64)"] == ()
    assert origins["return out"] == ()


def test_a_name_that_is_not_called_is_no_call():
    text = 'def k(x):\n    x[0] = 1  # line 3\n\n\ndef f(x):\n    y = x["k"] + x.k(2)\n'
    assert line_origins(text)[-1] == ()


def test_cuda_c():
    origins = _by_text(CUDA)
    assert origins["typedef long long i64;"] == ()
    assert origins['extern "C" __global__ void f_kernel('] == (7,)
    assert origins["for (i64 i = 0; i < rows; i++) {"] == (7,)
    assert origins["}"] == ()
