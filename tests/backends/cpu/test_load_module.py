"""Loop form as callables: what a module may hold, and what is compiled of it."""

import linecache
import math
import subprocess
import sys

import numpy as np
import pytest

from tapeless.backends.cpu import compilations, load
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError
from tests.backends.cpu.text import HEAD, apart, module


def test_a_module_runs(rng):
    f = load("f", apart("exp(v) * 2 + sin(v)"))
    x = rng.normal(size=1000)
    np.testing.assert_allclose(f(x), np.exp(x) * 2 + np.sin(x), rtol=1e-14, atol=1e-14)


def test_the_text_runs_without_tapeless(rng, tmp_path):
    """What load replaces, the text defines itself; the results are the same."""
    text = apart("exp(v) * 2 + sin(v)")
    path = tmp_path / "vendored.py"
    x = np.linspace(0, 3, 50)
    path.write_text(text + "\nprint(*map(float.hex, map(float, f(np.linspace(0, 3, 50)))))\n")
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    theirs = [float.fromhex(word) for word in run.stdout.split()]
    np.testing.assert_allclose(theirs, load("f", text)(x), rtol=1e-15)


def test_kernels_call_kernels_and_read_constants():
    f = load(
        "f",
        module(
            """
            LIMIT = 5


            @njit
            def clipped(v, low=-1.0):
                return max(min(v, LIMIT), low)


            @njit(nogil=True)
            def f(v):
                return clipped(clipped(v) + 2.0)
            """
        ),
    )
    assert [f(-7.0), f(1.0), f(100.0)] == [1.0, 3.0, 5.0]


def test_bare_and_called_decorators():
    for mark in ("@njit", "@njit()", "@njit(nogil=True, boundscheck=True)"):
        f = load("f", HEAD + f"{mark}\ndef f(v):\n    return v + 1\n")
        assert f(1) == 2


def test_other_names_of_numba():
    text = (
        "from numba import int32, njit\n@njit\ndef g(v):\n    return int32(v)\n\n\n"
        "def f(v):\n    return g(v), int32.name\n"
    )
    value, name = load("f", text)(7.9)
    assert (type(value), value, name) == (np.int32, 7, "int32")


def test_functions_that_call_themselves():
    text = module(
        """
        @njit
        def factorial(n):
            if n < 2:
                return 1
            return n * factorial(n - 1)


        @njit
        def f(n):
            return factorial(n) + factorial(n - 1)
        """
    )
    for _ in range(2):
        assert load("f", text)(10) == 3628800 + 362880
        g = load("factorial", text)
        assert [g(10), g(5), g(1.0)] == [3628800, 120, 1]
        assert len(compilations(g)) == 2


def test_results_that_only_numba_can_return():
    f = load("f", HEAD + "@njit\ndef f(x):\n    return x + 1, np.zeros(2)\n")
    for x in (np.arange(3.0), np.arange(4.0), np.arange(3)):
        first, second = f(x)
        np.testing.assert_array_equal(first, x + 1)
        np.testing.assert_array_equal(second, [0, 0])
    assert len(compilations(f)) == 2


def test_compilations_say_what_was_new():
    f = load("f", apart("v + 1"))
    x = np.ones(10)
    for arg in (x, x[::2], x.astype("f4"), x, x[:3]):
        f(arg)
    frozen = x.copy()
    frozen.flags.writeable = False
    f(frozen)
    made = compilations(f)
    assert [c.reason for c in made] == [
        "first call",
        "new layout of x: A",
        "new dtype of x: float32; new dtype of out: float32",
        "x is read-only",
    ]
    assert made[0].kernel == "f_kernel"
    assert made[0].signature == "f_kernel(row, row, float64[::1], float64[::1])"
    assert made[3].signature == "f_kernel(row, row, readonly float64[::1], float64[::1])"
    assert all(c.seconds > 0 for c in made)


def test_numbers_of_another_type_or_rank():
    f = load("f", HEAD + "@njit\ndef f(v):\n    return v * 2\n")
    assert f(1.5) == 3.0
    assert f(2) == 4
    assert compilations(f)[1].reason == "v is int, not float"
    g = load("g", HEAD + "@njit\ndef g(x):\n    return x.ndim\n")
    assert [g(np.ones((2,) * n)) for n in (1, 2, 3)] == [1, 2, 3]
    assert compilations(g)[1].reason == "x has 2 axes, not 1"


def test_a_thousand_sizes_are_compiled_once():
    f = load(
        "f",
        module(
            """
            @njit(nogil=True)
            def f_kernel(first, last, x, x_t, out):
                for i in range(first, last):
                    for j in range(x.shape[1]):
                        out[i, j] = x[i, j] - x_t[i, j]


            def f(x):
                out = empty(x.shape, x.dtype)
                in_parallel(f_kernel, x.shape[0], 4 * x.shape[1], x, x.T, out)
                return out
            """
        ),
    )
    for n in (*range(2, 600), *range(600, 1000, 7)):
        x = np.full((n, n), 2.0)
        x[0] = 1.0
        got = f(x)
        assert got[0, -1] == -1.0
        assert got[-1, 0] == 1.0
        assert got[-1, -1] == 0.0
    assert len(compilations(f)) == 1


def test_options_of_load_go_over_those_of_the_text():
    text = module(
        """
        @njit(nogil=True, boundscheck=True)
        def f(x):
            return x[7]
        """
    )
    x = np.zeros(3)
    with pytest.raises(IndexError):
        load("f", text)(x)
    load("f", text, boundscheck=False)(np.zeros(8)[:3])


def test_errors_of_kernels():
    f = load(
        "f",
        module(
            """
            @njit
            def f(x, k):
                if k == 1:
                    raise ValueError("too small")
                if k == 2:
                    raise ValueError("bad", k)
                if k == 3:
                    raise IndexError
                return 1 // x[0]
            """
        ),
    )
    with pytest.raises(ValueError, match=r"^too small$"):
        f(np.ones(1, int), 1)
    with pytest.raises(ValueError, match="bad") as e:
        f(np.ones(1, int), 2)
    assert e.value.args == ("bad", 2)
    with pytest.raises(IndexError):
        f(np.ones(1, int), 3)
    with pytest.raises(ZeroDivisionError):
        f(np.zeros(1, int), 4)
    assert f(np.ones(1, int), 4) == 1


def test_what_numba_cannot_compile_is_our_error():
    f = load("f", HEAD + "@njit\ndef f(x):\n    return x.nonsense()\n")
    with pytest.raises(UnsupportedError, match=r"f\(float64\[::1\]\) cannot be compiled"):
        f(np.ones(3))


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        None,
        [1.0],
        np.ones(3, "f2"),
        np.ones(3, "g"),
        np.ones(3, ">f8"),
        np.array(["a"]),
        np.array([None]),
        np.ma.masked_array([1.0]),
        np.datetime64("2020-01-01"),
    ],
)
def test_arguments_that_compiled_code_does_not_take(bad):
    f = load("f", HEAD + "@njit\ndef f(x):\n    return 1\n")
    with pytest.raises(ArgumentTypeError, match="compiled code takes numbers and arrays"):
        f(bad)
    assert f(np.ones(3)) == 1
    with pytest.raises(ArgumentTypeError):
        f(bad)


def test_another_number_of_arguments():
    f = load("f", HEAD + "@njit\ndef f(x, y):\n    return x + y\n")
    assert f(1.0, 2.0) == 3.0
    for args in ((), (1.0,), (1.0, 2.0, 3.0)):
        with pytest.raises(TypeError):
            f(*args)
    assert f(1.0, 2.0) == 3.0


def test_the_module_is_a_file_that_debuggers_show():
    f = load("f", apart("v + 1"))
    path = f.__code__.co_filename
    assert linecache.getline(path, f.__code__.co_firstlineno) == "def f(x):\n"
    assert f.__globals__["__name__"] == "tapeless_emitted.f"
    assert f.__globals__["exp"] is math.exp


def test_kernels_show_themselves():
    f = load("f", HEAD + '@njit\ndef f(v):\n    "Doubles."\n    return v * 2\n')
    assert (f.__name__, f.__doc__, repr(f)) == ("f", "Doubles.", "<kernel f>")
