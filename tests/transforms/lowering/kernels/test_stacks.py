"""Lists that grow as data says are arrays in kernels, which give back what they hold."""
# ruff: noqa: PERF401

import warnings
from pathlib import Path

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([0.4, -1.2, 3.0, 0.7, -0.1, 2.5, 1.5])


def driver(text):
    """The function that calls the kernels."""
    return text[text.rindex("\ndef ") :]


def is_one_kernel(text):
    statements = driver(text).split('"""')[-1]
    return not any(word in statements for word in ("for ", "while ", "[]"))


def alike(a, b):
    """Whether values and types are the same, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool(np.all(a == b))
    return bool(a == b)


def primes(n):
    out = []
    for k in range(2, n):
        prime = True
        for p in out:
            if p * p > k:
                break
            if k % p == 0:
                prime = False
                break
        if prime:
            out.append(k)
    return out


def collatz(n):
    out = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        out.append(n)
    return out


def longest(n):
    best = 0
    for k in range(1, n):
        out = [k]
        while out[-1] != 1:
            out.append(out[-1] // 2 if out[-1] % 2 == 0 else 3 * out[-1] + 1)
        best = max(best, len(out))
    return best


def fibonacci(n):
    out = [0, 1]
    while len(out) < n:
        out.append(out[-1] + out[-2])
    return out


def recaman(n):
    out = [0]
    for k in range(1, n):
        a = out[-1] - k
        out.append(a if a > 0 and a not in out else out[-1] + k)
    return out


def runs(n):
    values, counts = [], []
    for k in range(n):
        digit = k * k % 10 // 3
        if len(values) > 0 and values[-1] == digit:
            counts[-1] += 1
        else:
            values.append(digit)
            counts.append(1)
    return values, counts


def taken_back(n):
    out, stack = [], []
    for k in range(n):
        while len(stack) > 0 and stack[-1] % 3 == 0:
            out.append(stack.pop())
        stack.append(k * 7 % 10)
    return out, stack


def pairs(n):
    out = []
    k = 0
    while k < n:
        if k % 4 == 1:
            out.append((k, k * 0.5))
        k += 1
    return out


def flags(n):
    out = []
    for k in range(n):
        if k % 3:
            out.append(k % 2 == 0)
    return out


def copies(n):
    out, total = [5], 0
    for k in range(n):
        other = list(out)
        other.append(k)
        if k % 3 == 0:
            out.append(k)
        out[0] = k
        total += other[0] + other[-1] + len(other)
    return out, total


def sums_before_stores(n):
    out, total = [1.0], 0.0
    for k in range(n):
        if k % 3 == 0:
            out.append(k * 0.5)
        held = np.array(out)
        out[0] = out[0] + 1.0
        total += np.sum(held)
    return out, total


def none_at_all(n):
    ints, floats = [], []
    for k in range(n):
        if k < 0:
            ints.append(k)
            floats.append(k * 0.5)
    return ints, np.array(floats)


def queue(n):
    waiting, order = [1], []
    while waiting:
        v = waiting.pop(0)
        order.append(v)
        for w in (2 * v, 2 * v + 1):
            if w < n:
                waiting.append(w)
    return order, waiting


def rests(n):
    out, seen = [], []
    for k in range(n):
        if k % 3:
            out.append(k)
        rest = out[1:]
        seen.append(len(rest) + (rest[0] if rest else 0))
        if k % 5 == 0:
            out = out[2:]
    return out, seen


def given_another_list(n):
    row, out = [k + 2 for k in range(n)], []
    while row:
        out.append(row[0])
        rest = []
        for r in row:
            if r % row[0]:
                rest.append(r)
        row = rest
    return out


COUNTED = [primes, collatz, longest, fibonacci, recaman, runs, taken_back, pairs, flags, copies]
COUNTED += [sums_before_stores, none_at_all]


@pytest.mark.parametrize("f", COUNTED)
def test_lists_that_grow_by_data_are_one_kernel(f):
    compiled = jit(f)
    for n in (40, 7, 2):
        assert alike(compiled(n), f(n))
    assert is_one_kernel(compiled.source(40))
    assert len(compiled.compilations) == 1


@pytest.mark.parametrize("f", [queue, rests, given_another_list])
def test_lists_that_lose_items_or_are_replaced(f):
    for n in (40, 7, 2):
        assert alike(jit(f)(n), f(n))


def test_a_queue_is_one_kernel():
    assert is_one_kernel(jit(queue).source(40))


def test_derivative_of_a_window():
    def f(x):
        window, total = [], 0.0
        for k in range(len(x)):
            window.append(x[k])
            if len(window) > 3:
                total += k * window.pop(0) * window[-1]
        return total

    wanted = np.zeros(len(X))
    for k in range(3, len(X)):
        wanted[k - 3] += k * X[k]
        wanted[k] += k * X[k - 3]
    np.testing.assert_allclose(jit(grad(f))(X), wanted, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "u2", "?"])
def test_numbers_of_numpy_stay_ones_of_numpy(dtype):
    def f(x):
        out = []
        for v in x:
            if v > 0:
                out.append(v)
        return out, np.array(out)

    x = X.astype(dtype)
    assert alike(jit(f)(x), f(x))
    assert is_one_kernel(jit(f).source(x))


def test_complex_numbers():
    def f(n):
        out, z = [], 0.5 + 0.5j
        for k in range(n):
            z = z * z + 0.25j
            if k % 2 == 0:
                out.append(z)
        return out

    compiled = jit(f)
    np.testing.assert_allclose(compiled(9), f(9), rtol=1e-14)
    assert all(type(z) is complex for z in compiled(9))
    before = pages()
    for _ in range(3000):  # Numba's own code gives back what it has made
        compiled(9)
    assert pages() - before < 300


def pages():
    """How many pages of memory the process has, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0


def test_an_array_of_a_list_is_worked_on_afterwards():
    def f(x):
        out = []
        for v in x:
            if v > 0:
                out.append(np.sqrt(v))
        a = np.array(out)
        return a * 2 - np.mean(a), len(out)

    found, wanted = jit(f)(X), f(X)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-14)
    assert found[1] == wanted[1]


def test_errors_are_those_of_lists():
    def read(n, k):
        out = []
        for i in range(n):
            if i % 2:
                out.append(i)
            else:
                out.append(out[k] if i > 4 else 7)
        return out

    def store(n, k):
        out = [0]
        for i in range(n):
            if i % 2:
                out.append(i)
            out[k] = i
        return out

    def take(n, k):
        out, total = [1, 2, 3], 0
        for i in range(n):
            total += out.pop()
            if i > k:
                out.append(1)
        return total

    for f in (read, store, take):
        compiled = jit(f)
        for n in (2, 5, 9):
            for k in (-6, -2, -1, 0, 1, 3, 30):
                assert outcome(compiled, n, k) == outcome(f, n, k)
        assert is_one_kernel(compiled.source(9, 0))


def outcome(f, *args):
    try:
        return f(*args)
    except IndexError as e:
        return str(e)


def test_long_lists():
    def f(n):
        out = []
        for k in range(n):
            if k % 5 != 2:
                out.append(k * 0.25)
        return out

    compiled = jit(f)
    assert compiled(100_000) == f(100_000)
    assert compiled(3) == f(3)


def test_a_list_that_something_else_is_done_with_stays_one():
    def f(n):
        out, other = [], []
        for k in range(n):
            if k % 3 == 1:
                out.append(k)
                warnings.warn(f"{out}", stacklevel=1)
            if k % 2 == 1:
                other.append(k)
        return out, other

    with pytest.warns(UserWarning, match="1"):
        assert jit(f)(8) == f(8)


def test_derivatives():
    def f(x):
        out = []
        for k in range(len(x)):
            if x[k] > 0:
                out.append(x[k] * x[k])
        a = np.array(out)
        return np.sum(np.sin(a)) * len(out)

    wanted = np.where(X > 0, 5 * 2 * X * np.cos(X * X), 0)
    np.testing.assert_allclose(jit(grad(f))(X), wanted, rtol=1e-13)
