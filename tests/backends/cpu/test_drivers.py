"""Drivers in machine code: values, types and references are those of the driver in Python."""

import gc
import sys
import weakref

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.driver.argument_forms import ArrayForm, DictForm, LeafForm, SequenceForm
from tapeless.backends.cpu.driver.native_driver import compile_driver
from tapeless.backends.cpu.runtime import buffer_pool
from tests.backends.cpu.text import module

MISSED = object()


def given(x, numbers):
    """How an argument is described."""
    if x is None:
        return None
    if isinstance(x, dict):
        return DictForm(tuple(x), tuple(given(y, numbers) for y in x.values()))
    if isinstance(x, (list, tuple)):
        return SequenceForm(type(x), tuple(given(y, numbers) for y in x))
    k = next(numbers)
    if isinstance(x, np.ndarray):
        return ArrayForm(k, x.dtype, tuple(None if n > 1 else n for n in x.shape))
    return LeafForm(k, None, x) if isinstance(x, bool) else LeafForm(k, type(x))


def made(body, *args, kernel="", tests=(), guards=()):
    """The driver `f` with these statements, in Python and in machine code."""
    names = ", ".join("abcdefgh"[: len(args)])
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = module(kernel) + f"\n\ndef f({names}):\n{lines}"
    function = load("f", text)
    numbers = iter(range(100))
    parts = [given(x, numbers) for x in args]
    return function, compile_driver(function, text, parts, tests, guards, MISSED)


DOUBLED = """
@njit(nogil=True, error_model="numpy")
def doubled(first, last, x, out):
    for i in range(first, last):
        out[i] = 2 * x[i]


@njit(nogil=True, error_model="numpy")
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] < 0:
            raise ValueError("negative")
        s = s + x[i]
    return s, x.shape[0]


@njit(nogil=True, error_model="numpy")
def running(first, last, x, out, own):
    for i in range(first, last):
        own[0] = x[i]
        out[i] = own[0]
"""
MATMUL = (
    DOUBLED
    + """

def matmul(a, b):
    return a @ b
"""
)
NEW_ARRAYS = (
    DOUBLED
    + """

def zeros(shape, dtype):
    return np.zeros(shape, dtype)


def full(shape, value, dtype):
    return np.full(shape, value, dtype)


def copy_of(x):
    return x.copy()
"""
)
X, Y, NEGATIVE = np.arange(5.0), np.ones((2, 3), np.float32), -np.arange(5.0)


@pytest.mark.parametrize(
    ("body", "args"),
    [
        ("return a", (2.0,)),
        ("return (a, [a, b], {'x': (b, None), 'y': 1.5, 3: True})", (X, 2)),
        ("return a['p'][0][1]", ({"p": [(1.0, X), None]},)),
        ("return (a, b)", ([], ())),
        ("return (len(a), a.shape[1], a.size, a.shape[0] * 7 - 20, -len(a))", (Y,)),
        ("return (max(b, 3), min(b, 3), (b + 2) // 3, b % 4, int(b))", (X, 9)),
        ("return a[1]", (X,)),
        ("return a[1, 2]", (Y,)),
        ("out = np.zeros((len(a), 2))\nreturn (out, out.shape[1])", (X,)),
        ("return np.full(a.shape, 2.5)", (Y,)),
        ("b = a.T\nreturn (b, b.shape[0])", (Y,)),
        ("c = a @ b.T\nreturn (c, c.shape[1], b @ a[1])", (Y, Y[:1])),
        ("return a @ a", (X,)),
        ("return np.float32(a)", (2.0,)),
        ("return np.float32(a)", (np.float32(2),)),
        ("out = empty((0, len(a)), np.int16)\nreturn out", (X,)),
        ("out = empty(a.shape, bool)\nout_2 = out.shape\nreturn out_2", (Y,)),
        ("s, n = total(a)\nreturn np.float64(s), n, -s", (X,)),
        ("s, n = total(a)\nreturn np.zeros(n)", (X,)),
        ("out = empty(a.shape, np.float64)\ndoubled(1, 3, a, out)\nreturn out[2]", (X,)),
        ("out = empty(a.shape, np.float64)\nin_parallel(doubled, 5, 3, a, out)\nreturn out", (X,)),
    ],
)
def test_what_drivers_do(body, args):
    function, quick = made(body, *args, kernel=DOUBLED)
    want, got = function(*args), quick(*args)
    assert type(got) is type(want)
    np.testing.assert_equal(got, want)
    if isinstance(want, tuple):
        assert [type(x) for x in got] == [type(x) for x in want]
    if isinstance(want, np.ndarray):
        assert (got.dtype, got.shape, got.flags.owndata) == (want.dtype, want.shape, True)


@pytest.mark.parametrize("n", [3, 40_000])
def test_new_arrays(n):
    a = np.arange(2.0 * n).reshape(n, 2)
    body = "b = zeros(len(a), np.int64)\nc = full((len(a), 3), 1.5, np.float32)\nd = copy_of(a)"
    function, quick = made(f"{body}\nreturn b, c, d, d.shape[0], c.shape[1]", a, kernel=NEW_ARRAYS)
    for _ in range(3):  # also in memory that was used
        for x, y in zip(quick(a), function(a), strict=True):
            np.testing.assert_array_equal(x, y)
            assert np.asarray(x).dtype == np.asarray(y).dtype
    assert not np.shares_memory(quick(a)[2], a)


@pytest.mark.parametrize("shape", [(2, 3), (300, 200), (0, 4)])
def test_products_of_matrices(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    function, quick = made("c = matmul(a, b)\nreturn c, c.shape[1]", x, x.T, kernel=MATMUL)
    for f in (function, quick):
        product, rows = f(x, x.T)
        np.testing.assert_allclose(product, x @ x.T, rtol=0, atol=1e-12)
        assert rows == shape[0]
    if len(x):
        with pytest.raises(ValueError, match="matmul"):
            quick(x, x)


@pytest.mark.parametrize(
    ("args", "others"),
    [
        ((2.0,), [(2,), (np.float64(2),), (X,), (), (1.0, 2.0)]),
        ((True,), [(False,), (1,)]),
        ((X,), [(X.astype(np.float32),), (X[:1],), (X[:0],), (X[None],), (X.view(np.matrix),)]),
        ((X[:1],), [(X,), (X[:0],)]),
        (([X],), [((X,),), ([X, X],), ([2.0],), (None,)]),
        (({"p": X, "q": X},), [({"q": X, "p": X},), ({"p": X},), ({"p": X, "r": X},), ([X],)]),
        ((None,), [(0,), (X,)]),
        ((X.astype(">f8").astype("=f8"),), [(X.astype(">f8"),)]),
    ],
)
def test_arguments_that_are_others(args, others):
    _, quick = made("return a", *args)
    assert quick(*args) is args[0]
    for other in others:
        assert quick(*other) is MISSED


def test_tests_and_guards():
    allowed = [True]
    tests = ["s0[0] == s1[1]", "int(a2) >= s0[0] - 1 and s1[0] < 10"]
    _, quick = made("return c", X[:3], Y, 2, tests=tests, guards=[lambda: allowed[0]])
    assert quick(X[:3], Y, 2) == 2
    assert quick(X[:4], Y, 2) is MISSED
    assert quick(X[:3], Y, 1) is MISSED
    assert quick(X[:3], Y, 2**70) is MISSED
    allowed[0] = False
    assert quick(X[:3], Y, 2) is MISSED


def test_sizes_that_do_not_fit_are_left_to_python():
    body = "if len(a) != len(b):\n    raise ValueError('lengths')\nreturn a"
    function, quick = made(body, X, X)
    assert quick(X, X) is X
    assert quick(X, X[:3]) is MISSED
    with pytest.raises(ValueError, match="lengths"):
        function(X, X[:3])
    _, quick = made("out = empty((a - 3,), np.float64)\nreturn out", 5)
    assert quick(5).shape == (2,)
    assert quick(1) is MISSED  # NumPy's error


def test_products_beyond_64_bits_are_left_to_python():
    _, quick = made("return a * a * 4", 5)
    assert quick(5) == 100
    assert quick(1 << 40) is MISSED


@pytest.mark.parametrize(
    "body",
    [
        "return np.sin(a)",
        "return a + a",
        "for i in range(3):\n    a = a\nreturn a",
        "return undefined(a)",
        "x = a",
        "return a.real",
    ],
)
def test_drivers_that_take_python(body):
    assert made(body, X)[1] is None


def test_errors_of_kernels():
    _, quick = made("s, n = total(a)\nreturn s", X, kernel=DOUBLED)
    assert quick(X) == 10
    with pytest.raises(ValueError, match="negative"):
        quick(-X)


def test_kernels_are_compiled_for_other_layouts():
    function, quick = made("s, n = total(a)\nreturn s", X, kernel=DOUBLED)
    function(X)
    assert quick(np.arange(10.0)[::2]) == 20


def test_much_work_is_shared(monkeypatch):
    body = "out = empty(a.shape, np.float64)\nown = empty((1,), np.float64)\n"
    body += "in_parallel(running, len(a), {}, a, out, own=(own,))\nreturn out"
    calls = []
    for work in (3, 1 << 30):
        function, quick = made(body.format(work), X, kernel=DOUBLED)
        before = function.__globals__["in_parallel"]

        def noted(*args, before=before, **kwargs):
            calls.append((len(args), sorted(kwargs)))
            return before(*args, **kwargs)

        monkeypatch.setitem(function.__globals__, "in_parallel", noted)
        np.testing.assert_array_equal(quick(X), X)
    assert calls == [(5, ["own"])]


def test_large_arrays_are_in_memory_that_is_used_again():
    _, quick = made("out = empty((len(a), 32768), np.float64)\nreturn out", X)
    first = quick(X)
    assert first.base is not None
    assert first.flags.carray
    place = first.ctypes.data
    first[:] = 1
    second = quick(X)
    assert second.ctypes.data != place
    del first, second
    assert quick(X).ctypes.data in {b.ctypes.data for b in buffer_pool._pool.buffers}
    with buffer_pool._pool.lock:  # another thread is at it
        assert quick(X).shape == (5, 32768)


@pytest.mark.usefixtures("only_new_objects")
def test_no_references_are_lost_or_kept():
    body = "out = empty(a.shape, np.float64)\nin_parallel(doubled, len(a), 3, a, out)\n"
    body += "s, n = total(b['p'][0])\nreturn ({'x': [out, a]}, np.float32(s), b)"
    kept = {"p": [X]}
    _, quick = made(body, X, kept, kernel=DOUBLED)
    quick(X, kept)
    with pytest.raises(ValueError, match="negative"):  # the first one reads the lines of kernels
        quick(X, {"p": [NEGATIVE]})
    gc.collect()
    held = [X, kept, kept["p"], None, MISSED, np.float32, np.ndarray, np.dtype("f8")]
    before = [*map(sys.getrefcount, held), len(gc.get_objects())]
    for _ in range(300):
        quick(X, kept)
        quick(X, 2.0)
        with pytest.raises(ValueError, match="negative"):
            quick(X, {"p": [NEGATIVE]})
    gc.collect()
    after = [*map(sys.getrefcount, held), len(gc.get_objects())]
    *counts, objects = (b - a for a, b in zip(before, after, strict=True))
    assert max(map(abs, counts)) < 50
    assert objects < 50  # fewer, where what was kept from before is given back
    result = weakref.ref(quick(X, kept)[0]["x"][0])
    assert result() is None
