"""What threads may share: nests whose rows are apart, and nothing else."""

import re

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.lowering.schedule import parallel_nests
from tests.row_by_row import by_rows

X = np.linspace(0.1, 1.0, 12).reshape(4, 3)


def source(function, *args, **options):
    return tapeless.jit(function, **options).source(*args)


def rows_of(text):
    """For each kernel, whether it is for some of the rows."""
    return [
        "first, last" in line for line in text.splitlines() if re.match(r"def \w+_kernel", line)
    ]


@pytest.fixture
def heavy(monkeypatch):
    monkeypatch.setattr(parallel_nests, "HEAVY", 1)


def scan(u):
    for i in range(1, len(u)):
        u[i] = u[i] + u[i - 1]
    return u


def scattered(x, k):
    made = np.zeros(5)
    made[k] = x
    return made


def added_up_by_bins(x, k):
    made = np.zeros(5)
    np.add.at(made, k, x)
    return made


def shifted_in_place(u):
    u[1:] = u[1:] * u[:-1]


def averaged(x):
    return x - np.mean(x, axis=0)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (scan, (X[0].copy(),)),
        (scattered, (X[0], np.array([1, 1, 3]))),
        (added_up_by_bins, (X[0], np.array([1, 1, 3]))),
    ],
)
def test_rows_that_touch_are_not_shared(heavy, function, args):
    assert "in_parallel" not in source(function, *args)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sin(x),
        lambda x: np.exp(x - np.max(x, axis=1, keepdims=True)),
        lambda x: np.sum(x, axis=0),
        lambda x: (np.sum(x), np.max(x), np.any(x > 1)),
        lambda x: x[1:] - x[:-1],
    ],
)
def test_rows_that_are_apart_are_shared(function):
    assert rows_of(source(function, X)) == [True]


def test_what_reads_all_rows_comes_after_them(monkeypatch):
    monkeypatch.setattr(parallel_nests, "HEAVY", 20)
    text = source(averaged, X)
    assert rows_of(text) == [True, False, True]
    assert 'sums=(total,), join="sum' in text


def test_parts_of_little_work_are_of_one_kernel_however_many(monkeypatch):
    monkeypatch.setattr(parallel_nests, "HEAVY", 200)
    assert rows_of(source(lambda x: averaged(averaged(averaged(averaged(x)))), X)) == [False]
    assert rows_of(source(averaged, np.ones((90, 3)))) == [True, False, True]


def test_stores_to_rows_that_others_read_come_after_them(heavy):
    u = X.copy()
    assert len(rows_of(source(shifted_in_place, u))) == 2


def test_there_is_one_kernel_for_calls_of_little_work_and_others_for_much():
    def centred(x):
        return x - np.mean(x, axis=0)

    f = tapeless.jit(centred)
    small, large, larger = X, np.ones((4000, 900)), np.ones((4500, 900))
    assert rows_of(f.source(small)) == [False]
    assert rows_of(f.source(np.ones((20, 30)))) == [False]
    assert rows_of(f.source(large)) == [True, False, True]
    assert rows_of(f.source(larger)) == [True, False, True]
    for x in (small, large, larger, small):
        np.testing.assert_allclose(f(x), centred(x), atol=1e-12)


def test_numbers_of_the_same_value_are_taken_from_one_part(heavy):
    def f(x, y):
        scale = y * y + 1
        return scale, x * scale

    text = source(f, X, 2.0)
    assert 'join="first"' in text


def test_rows_that_a_kernel_holds_are_each_threads_own():
    def f(x):
        for _ in range(10):
            x = 0.5 * x + np.sin(x)
        return x

    assert re.search(r"own=\(x_2,\)", source(f, X))


def test_sums_are_made_anew_by_each_thread():
    assert re.search(r'sums=\(out,\), join="sum"\)', source(lambda x: np.sum(x, axis=0), X))


def test_switched_off():
    assert "in_parallel" not in source(lambda x: np.sin(x), X, parallel=False)
    assert "in_parallel" not in source(averaged, np.ones((4000, 900)), parallel=False)


def test_the_work_of_a_row_counts_loops():
    def f(x):
        for _ in range(100):
            x = x * 0.5 + 1
        return x

    (work,) = re.findall(
        r"in_parallel\(\s*\w+,\s*x.shape\[0\],\s*(\d+) \* x.shape\[1\]", source(f, X)
    )
    assert 200 <= int(work) <= 1000


def filled(x):
    return np.exp(x * np.ones(12))


def test_lengths_that_are_known_are_shared_where_that_pays(heavy):
    assert rows_of(source(filled, 2.0)) == [True]
    np.testing.assert_allclose(tapeless.jit(filled)(2.0), filled(2.0))


def test_short_lengths_that_are_known_are_not_shared():
    assert rows_of(source(lambda x: filled(x), 2.0)) == [False]


def passes_with_a_number(w, b, n):
    v = 0.5 * w
    for _ in range(n):
        w = 0.9 * w + np.cos(w) * b
        b = 0.99 * b
    return np.sin(w), v, b


def exchanged_with_a_number(w, v, b, n):
    for _ in range(n):
        w, v = v * b + w, w
        b = 0.99 * b
    return w, v, b


@pytest.mark.parametrize(
    ("f", "args"),
    [(passes_with_a_number, (X, 0.3, 3)), (exchanged_with_a_number, (X, 2 * X, 0.3, 3))],
)
def test_threads_copy_their_own_rows_ahead_of_a_loop(f, args, heavy, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_rows)
    assert rows_of(source(f, *args)) == [True]
    for a, b in zip(tapeless.jit(f)(*args), f(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def columns_then_rows(b, d):
    t = b[[0, 1, 2, 2]]
    for k in range(1, t.shape[0]):
        t[k] -= k
    return np.where(d > 0, t, 2 * t)


def test_rows_of_a_square_are_shared_along_one_axis(heavy, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_rows)
    square = np.linspace(-1.0, 1.0, 16).reshape(4, 4)
    found = tapeless.jit(columns_then_rows)(square, square)
    np.testing.assert_allclose(found, columns_then_rows(square, square), rtol=1e-12)


def waves(x, n):
    for t in range(n):
        x = np.sin(x * 1.1 + t) + 0.5 * np.cos(x)
    return x


def damped(x, n):
    for _ in range(n):
        x = np.sin(x) * np.exp(-x)
    return x


def moved(x, n):
    for _ in range(n):
        x[1:-1] = x[2:] + x[:-2]
    return x


def settled(x, n):
    while np.max(x) > 0.5 and n > 0:
        x = np.sin(np.tanh(x))
        n -= 1
    return x


def now_and_then(x, n):
    for t in range(n):
        if t % 2:
            x = np.exp(-x) / (1 + np.sin(x) ** 2)
        for _ in range(2):
            x = x - 0.1 * np.sin(np.cos(x))
    return x


@pytest.mark.parametrize("function", [waves, settled, now_and_then])
def test_passes_that_compute_are_shared(heavy, function):
    text = source(function, X.ravel(), 4)
    loop = text[text.rindex("\ndef ") :]
    assert "in_parallel(" in loop[re.search(r"\n    (for|while) ", loop).start() :]
    np.testing.assert_allclose(
        tapeless.jit(function)(X.ravel(), 4), function(X.ravel(), 4), rtol=1e-13
    )
    assert "in_parallel" not in source(function, X.ravel(), 4, parallel=False)


def test_passes_that_move_numbers_are_of_one_kernel(heavy):
    assert "in_parallel" not in source(moved, X, 4)


def test_passes_of_little_work_are_of_one_kernel(monkeypatch):
    monkeypatch.setattr(parallel_nests, "HEAVY", 1000)
    compiled = tapeless.jit(damped)
    assert "in_parallel" not in compiled.source(X.ravel(), 4)
    large = np.linspace(0, 1, 500)
    np.testing.assert_allclose(compiled(large, 4), damped(large, 4), rtol=1e-13)
    assert "in_parallel" in compiled.source(large, 4)
    np.testing.assert_allclose(compiled(X.ravel(), 4), damped(X.ravel(), 4), rtol=1e-13)
    assert "in_parallel" not in compiled.source(X.ravel(), 4)


def test_explanation_of_shared_passes(heavy):
    assert "each pass by all threads" in str(tapeless.jit(waves).explain(X.ravel(), 4))
