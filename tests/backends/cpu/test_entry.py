"""Calls of compiled code: what goes in and comes out, by dtype, layout and type of number."""

import ast
import gc
import sys
import threading
import timeit

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from tapeless.backends.cpu import compilations, load
from tapeless.backends.cpu.llvm.compile import runs_long
from tapeless.backends.cpu.runtime.signature import DTYPES, ArrayType, NumberType, plain, signature
from tests.backends.cpu.text import HEAD, module

COPY = load(
    "copy",
    module(
        """
        @njit(nogil=True)
        def copy(x, out):
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    out[i, j] = x[i, j]
        """
    ),
)
SAME = load("same", HEAD + "@njit\ndef same(v):\n    return v\n")
PAIR = load("pair", HEAD + "@njit\ndef pair(a, b):\n    return a, (b, a + b), 7, True\n")


def arranged(x, how):
    """The same values in memory that is arranged in another way."""
    n, m = x.shape
    if how == "fortran":
        return np.asfortranarray(x)
    if how == "strided":
        return np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3]
    if how == "backwards":
        return x[::-1, ::-1].copy()[::-1, ::-1]
    if how == "unaligned":
        raw = np.zeros(x.nbytes + 1, np.uint8)
        made = raw[1:].view(x.dtype).reshape(n, m)
        made[...] = x
        return made
    if how == "readonly":
        x = x.copy()
        x.flags.writeable = False
    return x


@settings(max_examples=120)
@given(
    data=st.data(),
    dtype=st.sampled_from([np.dtype("f8"), np.dtype("f4"), np.dtype("c16"), np.dtype("i4")]),
    shape=hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=5),
    how=st.sampled_from(["c", "fortran", "strided", "backwards", "unaligned", "readonly"]),
)
def test_layouts(data, dtype, shape, how):
    x = data.draw(hnp.arrays(dtype, shape, elements=st.integers(-100, 100)))
    out = np.full(shape, 99, dtype)
    COPY(arranged(x, how), out)
    np.testing.assert_array_equal(out, x)


def test_broadcast_views(rng):
    x = rng.normal(size=(1, 4))
    out = np.empty((3, 4))
    COPY(np.broadcast_to(x, (3, 4)), out)
    np.testing.assert_array_equal(out, np.repeat(x, 3, axis=0))


def test_the_result_may_be_a_view(rng):
    x, out = rng.normal(size=(3, 4)), np.zeros((6, 8))
    COPY(x, out[::2, ::2])
    np.testing.assert_array_equal(out[::2, ::2], x)
    assert not out[1::2].any()


def test_read_only_arrays_are_not_written_to():
    out = np.zeros((2, 2))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        COPY(np.ones((2, 2)), out)
    assert not out.any()
    COPY(np.ones((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        COPY(np.ones((2, 2)), out)
    assert not out.any()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_keep_value_and_type(dtype):
    low = 0 if dtype.kind in "bu" else -3
    for value in (dtype.type(low), dtype.type(1), _extreme(dtype)):
        got = SAME(value)
        assert got == value
        python = {"f8": float, "i8": int, "b1": bool, "c16": complex}
        assert type(got) is python.get(dtype.str[1:], dtype.type)


def _extreme(dtype):
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max)
    return dtype.type(True) if dtype.kind == "b" else dtype.type(np.inf)


@pytest.mark.parametrize(
    "value",
    [0.0, -0.0, 1e308, float("inf"), 0, -1, 2**63 - 1, -(2**63), True, False, 1 - 2j, 0.1],
)
def test_numbers_of_python(value):
    got = SAME(value)
    assert type(got) is type(value)
    assert repr(got) == repr(value)


@pytest.mark.parametrize("kind", [float, int, bool, complex])
def test_numbers_of_python_and_their_twins_of_numpy(kind):
    """They are one signature, whichever comes first."""
    numpy = np.dtype(kind).type
    for first, second in ((kind, numpy), (numpy, kind)):
        f = load("f", HEAD + "@njit\ndef f(v):\n    return v\n")
        for value in (0, 1, 5, -3):
            for made in (first(value), second(value), first(-value)):
                assert f(made) == made
                assert f.entry(made) == made
        assert len(compilations(f)) == 1
        if kind is int:
            for value in (np.iinfo(int).max, np.iinfo(int).min, -1):
                assert f(np.int64(value)) == f(value) == value


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError):
        SAME(2**63)
    assert SAME(5) == 5
    with pytest.raises(OverflowError):
        SAME(-(2**70))


def test_results_in_tuples():
    assert PAIR(1.5, 2) == (1.5, (2, 3.5), 7, True)
    assert type(PAIR(np.float32(1.5), 2)[0]) is np.float32


def test_no_references_are_lost():
    x, out = np.ones((2, 2)), np.ones((2, 2))
    PAIR(1e100, 2)
    COPY(x, out)
    gc.collect()
    before = [sys.getrefcount(each) for each in (x, out, None, float)]
    for _ in range(1000):
        COPY(x, out)
        PAIR(1e100, 2)
    after = [sys.getrefcount(each) for each in (x, out, None, float)]
    np.testing.assert_allclose(after, before, atol=20)


def test_subclasses_and_dtypes_with_two_names(tmp_path):
    out = np.zeros((2, 2))
    memory = np.memmap(tmp_path / "m", float, "w+", shape=(2, 2))
    memory[...] = 5.0
    COPY(memory, out)
    assert (out == 5).all()
    x = np.arange(4, dtype=np.longlong).reshape(2, 2)
    whole = np.zeros((2, 2), np.int64)
    COPY(x, whole)
    np.testing.assert_array_equal(whole, x)
    assert SAME(np.longlong(7)) == 7
    copied = np.ones((2, 2), np.dtype("f8", copy=True))
    COPY(copied, out)
    assert (out == 1).all()


def test_signatures():
    x = np.ones((2, 3))
    args = (x, x.T, x[:, ::2], x[:1].T, np.float64(1), np.float32(1))
    kinds = [*("C", "F", "A", "C"), NumberType(float), NumberType(np.float32)]
    got = [a.layout if isinstance(a, ArrayType) else a for a in signature(args)]
    assert got == kinds
    by_rows = [str(a) for a in signature((0, 3, x), split=True)]
    assert by_rows == ["row", "row", "float64[:, ::1]"]
    assert [str(a) for a in signature((x, x.T, x[::2, ::2], np.array(1.0)))] == [
        "float64[:, ::1]",
        "float64[::1, :]",
        "float64[:, :]",
        "float64[]",
    ]
    assert type(plain(np.array(1.0))) is np.float64  # a number, also in compiled code
    assert plain(x) is not x
    assert np.shares_memory(plain(x), x)


def test_other_threads_run_meanwhile():
    """A kernel over many numbers lets go of Python's lock; one over a few does not."""
    spin = load(
        "spin",
        module(
            """
            @njit(nogil=True)
            def spin(x, flag):
                n = 0
                while flag[0] == 0 and n < 4000000000:
                    n += 1
                    x[n % x.shape[0]] += 1.0
                return flag[0]
            """
        ),
    )
    x, flag = np.zeros(5000), np.ones(1, int)
    spin(x, flag)
    flag[0] = 0
    threading.Timer(0.05, flag.__setitem__, (0, 2)).start()
    assert spin(x, flag) == 2


def test_a_call_is_quick():
    """Against the cost of the cheapest call of Python itself, in the same run."""

    def nothing(v):
        return v

    f = load("f", HEAD + "@njit\ndef f(v):\n    return v\n")
    f(1.0)
    entry = f.entry
    ours = min(timeit.repeat(lambda: entry(1.0), number=20000, repeat=20))
    python = min(timeit.repeat(lambda: nothing(1.0), number=20000, repeat=20))
    assert ours < 3 * python


def test_alternating_signatures_are_found_again():
    f = load("f", HEAD + "@njit\ndef f(v):\n    return v + v\n")
    for _ in range(5):
        assert type(f(1)) is int
        assert type(f(1.0)) is float
        assert type(f(np.float32(1))) is np.float32
    assert len(compilations(f)) == 3


def test_many_threads_make_one_compilation():
    f = load("f", HEAD + "@njit\ndef f(v):\n    return v * 3 + 1\n")
    found, barrier = [], threading.Barrier(8)

    def call():
        barrier.wait(timeout=10)
        found.append(f(2))

    workers = [threading.Thread(target=call) for _ in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(timeout=30)
    assert found == [7] * 8
    assert len(compilations(f)) == 1


@example(x=np.float32(3.4e38))
@given(x=hnp.from_dtype(np.dtype("f4"), allow_nan=False))
def test_single_numbers_are_not_rounded(x):
    assert SAME(np.float32(x)) == x


ONCE = "def f(x, n):\n    x[0] = n"
SHORT = "def f(x, n):\n    for i in range(4):\n        x[i] = n"
BY_LENGTH = "def f(x, n):\n    for i in range(x.shape[0]):\n        x[i] = n"
WHILE = "def f(x, n):\n    while x[0] > n:\n        x[0] -= 1"
MANY = "def f(x, n):\n    for k in range(1000):\n        for i in range(2):\n            x[i] += n"


@pytest.mark.parametrize(
    ("text", "long"), [(ONCE, False), (SHORT, None), (BY_LENGTH, None), (WHILE, None), (MANY, True)]
)
def test_which_kernels_run_long_whatever_their_arguments(text, long):
    assert runs_long(ast.parse(text).body[0]) is long


@pytest.mark.parametrize("passes", [-5, 0, 1, 3000, 2**40])
def test_an_integer_that_may_count_passes_is_any_integer(passes):
    kernel = load(
        "kernel",
        module(
            """
            @njit(nogil=True)
            def kernel(x, n):
                for k in range(min(n, 5)):
                    for i in range(x.shape[0]):
                        x[i] += n
            """
        ),
    )
    x = np.zeros(3)
    kernel(x, passes)
    assert (x == passes * max(0, min(passes, 5))).all()
