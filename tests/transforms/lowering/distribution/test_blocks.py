"""Products of parts leave loops for products of blocks of passes; values are those of NumPy."""

import re

import numpy as np
import pytest

import tapeless
from tapeless.transforms.lowering.distribution import distribute

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Small loops are distributed, too, in blocks of four passes."""
    for name in ("FEWEST", "LEAST_WORK", "WORTH"):
        monkeypatch.setattr(distribute, name, 0)
    monkeypatch.setattr(distribute, "BLOCKS", (4,))


def in_blocks(source):
    """How many loops go over blocks of passes."""
    return len(re.findall(r"^ +for first\w* in ", source, re.MULTILINE))


def numbers(*shape, dtype=np.float64):
    values = RANDOM.normal(size=shape) / 3
    return (values + 1j * RANDOM.normal(size=shape) if dtype is np.complex128 else values).astype(
        dtype
    )


def from_column_on(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        out[i:, i] = out[i, i:] = x[:, i] @ x[:, i:] / 3
    return out


def after_column(x):
    n = x.shape[1]
    out = np.eye(n, dtype=x.dtype)
    for i in range(n - 1):
        out[i, i + 1 :] = np.dot(x[:, i], x[:, i + 1 :])
    return out


def before_column(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        out[i, :i] = x[:, i] @ x[:, :i]
    return out


def rows(x):
    n = len(x)
    out = np.zeros((n, n), x.dtype)
    for i in range(n - 1, -1, -1):
        out[i, : i + 1] = x[: i + 1] @ x[i]
    return out


def two_products(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        out[i, i:] = x[:, i] @ x[:, i:]
        out[i, :i] = -(x[:, :i].T @ x[:, i])
    return out


def some_passes(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(2, n):
        product = x[:, i - 2] @ x[:, i:]
        if i % 2 == 0:
            out[i, i:] = product
    return out


def sums_of_rows(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        out[i, i:] = np.sum(x[:, i, None] * x[:, i:], axis=0)
    return out


def sums_of_elements(x):
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        for j in range(i, n):
            out[i, j] = out[j, i] = np.sum(x[:, i] * x[:, j])
    return out


def weighted(x):
    """The vectors are computed ahead of a block."""
    n = x.shape[1]
    out = np.zeros((n, n), x.dtype)
    for i in range(n):
        out[i, i:] = (np.sin(x[:, i]) * (i + 1)) @ x[:, i:]
    return out


def carried_vector(x):
    """An earlier pass decides what is multiplied."""
    n = x.shape[1]
    out, v = np.zeros((n, n), x.dtype), x[:, 0]
    for i in range(n):
        out[i, i:] = v @ x[:, i:]
        v = v / 2 + x[:, i]
    return out


def left_part(x):
    """What each pass sums over is another part."""
    out = np.zeros(x.shape, x.dtype)
    for i in range(len(x)):
        out[i] = x[i:, i] @ x[i:]
    return out


def right_part(x):
    out = np.zeros(x.shape, x.dtype)
    for i in range(len(x)):
        out[i] = x[:i, i] @ x[:i]
    return out


def triangular(x):
    """Each row is made of those after it, which are not stored yet."""
    a, b = np.cos(x[:, : len(x)]), x.copy()
    for i in range(len(b)):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return b


def triangular_upwards(x):
    """Each row is made of those after it, which are stored: blocks ahead of it are done."""
    a, b = np.cos(x[:, : len(x)]), x.copy()
    for i in range(len(b) - 1, -1, -1):
        b[i] += a[i + 1 :, i] @ b[i + 1 :]
    return b


def substitution(x):
    a, b = np.cos(x[:, : len(x)]), x.copy()
    for i in range(len(b)):
        b[i] = (b[i] - a[i, :i] @ b[:i]) / (3 + a[i, i])
    return b


def cholesky(x):
    a = x @ x.T + 3 * np.eye(len(x), dtype=x.dtype)
    for j in range(len(a)):
        a[j:, j] -= a[j:, :j] @ a[j, :j]
        a[j:, j] /= np.sqrt(a[j, j])
    return a


def elimination(x):
    a = x @ x.T + 3 * np.eye(len(x), dtype=x.dtype)
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def of_itself(x):
    """The vector and the matrix are parts of the array that is stored."""
    y = x.copy()
    for i in range(len(y)):
        y[i] += y[i + 1 :, i] @ y[i + 1 :]
    return y


def overwritten(x):
    """A product of what earlier passes of a block have stored stays where it is."""
    y = x.copy()
    for i in range(len(y) - 1):
        y[i, i + 1 :] = y[:, i] @ y[:, i + 1 :]
    return y


def overwritten_columns(x):
    y = x[:, : len(x)].copy()
    for i in range(y.shape[1]):
        y[:, i] = y[:, i:] @ y[i, i:]
    return y


PROGRAMS = [
    (from_column_on, 1),
    (after_column, 1),
    (before_column, 1),
    (rows, 1),
    (two_products, 1),
    (some_passes, 1),
    (sums_of_rows, 1),
    (sums_of_elements, 1),
    (weighted, 1),
    (carried_vector, 0),
    (left_part, 1),
    (right_part, 1),
    (triangular, 1),
    (triangular_upwards, 1),
    (substitution, 1),
    (cholesky, 1),
    (elimination, 1),
    (of_itself, 1),
    (overwritten, 0),
    (overwritten_columns, 0),
]
SIZES = [(9, 9), (8, 11), (5, 8), (1, 1), (2, 3), (0, 1)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize(("program", "count"), PROGRAMS)
def test_values(program, count, dtype):
    compiled = tapeless.jit(program)
    assert in_blocks(compiled.source(numbers(9, 11, dtype=dtype))) == count
    for shape in SIZES:
        x = numbers(*shape, dtype=dtype)
        expected = program(x)
        value = compiled(x)
        assert value.dtype == expected.dtype
        precision = 1e-3 if dtype is np.float32 else 1e-11
        np.testing.assert_allclose(value, expected, rtol=precision, atol=precision)


@pytest.mark.parametrize(("program", "count"), PROGRAMS)
def test_slopes(program, count):
    def loss(x):
        return np.sum(np.sin(program(x)))

    slope = tapeless.jit(tapeless.grad(loss))
    for shape in SIZES[:-1]:
        x, along = numbers(*shape), numbers(*shape)
        by = 1e-6 * along
        expected = (loss(x + by) - loss(x - by)) / 2e-6
        assert np.sum(slope(x) * along) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_sums_wait():
    """What passes add to parts is added by a product of all passes of a block."""

    def loss(x):
        return np.sum(np.sin(after_column(x)))

    x = numbers(9, 11)
    source = tapeless.jit(tapeless.grad(loss)).source(x)
    kernel = source[source.index("for first in") :]
    # one ahead of the forward loop, which stands before it; two of what some passes add
    assert kernel.count("product(") == 6

    def total_that_is_read(x):
        total = np.zeros_like(x)
        s = 0.0
        for i in range(x.shape[1]):
            total[:, i:] += np.outer(x[:, i], np.cos(x[0, i:]))
            s += np.sum(np.sin(total[1]))
        return s

    compiled = tapeless.jit(total_that_is_read)
    assert compiled(x) == pytest.approx(total_that_is_read(x), rel=1e-12)
    assert in_blocks(compiled.source(x)) == 0


def test_zeros_stay_zero_beside_infinity():
    """Outer products with cotangents that a choice made zero are zero, whatever they meet."""

    def loss(y, shift, chosen, without=None):
        x = y + shift
        n = x.shape[1]
        out = np.zeros((n, n))
        for i in range(n):
            if i != without:
                out[i, i:] = (1 / x[:, i]) @ y[:, i:]
        return np.sum(np.where(chosen, out, 1.0) ** 2)

    slope = tapeless.jit(tapeless.grad(lambda y, shift, chosen: loss(y, shift, chosen)))
    y, shift, chosen = numbers(6, 9), 3 + numbers(6, 9), RANDOM.random((9, 9)) < 0.8
    source = slope.source(y, shift, chosen)
    assert "isfinite" in source
    assert in_blocks(source) == 2
    shift[3, 4] = -y[3, 4]
    chosen[4] = False  # where 1 / x is infinite
    with np.errstate(all="ignore"):
        value = slope(y, shift, chosen)
    along = numbers(6, 9)
    ends = [loss(y + by * along, shift, chosen, without=4) for by in (1e-6, -1e-6)]
    assert np.sum(value * along) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
    chosen[4, 6] = True
    with np.errstate(all="ignore"):
        value = slope(y, shift, chosen)
    assert not np.isfinite(value[3, 6])
    assert np.isfinite(np.delete(value, [4, 6], 1)).all()


def test_written_order_of_sums():
    """Without fastmath sums are not taken apart."""
    x = numbers(9, 11)
    compiled = tapeless.jit(from_column_on, fastmath=False)
    assert in_blocks(compiled.source(x)) == 0
    np.testing.assert_allclose(compiled(x), from_column_on(x), rtol=1e-12)


def test_errors_are_numpys():
    def columns(x, y, n):
        out = np.zeros((n, n))
        for i in range(n):
            out[i, i:] = x[:, i] @ y[:, i:n]
        return out

    compiled = tapeless.jit(columns)
    x, y = numbers(6, 9), numbers(6, 9)
    for n in (0, 3, 9):
        np.testing.assert_allclose(compiled(x, y, n), columns(x, y, n), rtol=1e-12)
    with pytest.raises(IndexError):
        compiled(x[:, :5], y, 9)
    with pytest.raises(ValueError, match="differ"):
        compiled(x[:4], y, 9)


@pytest.mark.parametrize(
    ("shape", "count"), [((4, 7), 0), ((4000, 7), 0), ((9, 9), 0), ((100, 100), 1)]
)
def test_few_passes_stay(shape, count, monkeypatch):
    number = shape[0]  # a program for each shape

    def gram(x):
        out = np.zeros((x.shape[1], x.shape[1]))
        for i in range(x.shape[1]):
            out[i, i:] = number * (x[:, i] @ x[:, i:])
        return out

    monkeypatch.setattr(distribute, "FEWEST", 8)
    monkeypatch.setattr(distribute, "LEAST_WORK", 1 << 15)
    x = numbers(*shape)
    compiled = tapeless.jit(gram)
    assert in_blocks(compiled.source(x)) == count
    np.testing.assert_allclose(compiled(x), gram(x), rtol=1e-11, atol=1e-12)


def gram(x):
    y = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        y[i, i:] = x[:, i] @ x[:, i:]
    return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))


def gram_before(x):
    y = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        y[i, :i] = x[:, i] @ x[:, :i]
    return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))


def gram_of_both_sides(x):
    y = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        y[i, i:] = y[i:, i] = x[:, i] @ x[:, i:]
    return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))


@pytest.mark.parametrize("special", [None, np.inf, np.nan])
@pytest.mark.parametrize("f", [gram, gram_before, gram_of_both_sides])
def test_what_some_passes_add_is_a_product_where_numbers_are_finite(f, special):
    """A zero that stands for what a pass does not name is not multiplied by infinity."""
    x = numbers(6, 21)
    slope = tapeless.jit(tapeless.grad(f))
    assert "if hold" in slope.source(x)
    if special is not None:
        x[2, 10] = special
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(slope(x), tapeless.grad(f)(x), rtol=1e-10, atol=1e-12)
