"""Programs that break what a rule of loop form might take for granted."""

import numpy as np
import pytest

from tapeless import grad, jit

A = np.arange(12.0).reshape(4, 3)
WIDE = np.arange(80.0).reshape(20, 4)
U = np.array([5.0, 6.0, 7.0])
LARGE = np.array([2**62, 2**63 - 1, -(2**63), 5, -3])


def row_of_a_counter(a, n):
    k, row = 0, a[0] * 1
    for _ in range(n):
        row = a[k]
        k = k + 1
    return row * 1


def row_under_a_test(a, n):
    x, y, k = a[0] * 1, a[1] * 1, 0
    for i in range(n):
        if i != 1:
            x, y = y, a[k]
            k = (k + 1) % 3
    return x, y


def row_while(a, n):
    k, row = 0, a[0] * 1
    while k < n:
        row = a[k, ::-1]
        k = k + 1
    return row * 1


def left_by_the_flag_before(a, n):
    on, c = False, 0
    for _ in range(n):
        before = on
        on = not on
        c += 1
        if before:
            break
    return on, c


def in_memory_that_is_stored_to(v):
    w = v + 0
    v[:] = 7
    w[0] = 5
    return w


def several_in_memory_that_is_stored_to(v):
    w = v * 1.0
    v[0] += 1
    w[0] += 5
    return w, w[::-1], w[1:]


def rows_and_columns(u, k, row):
    c, r = np.ones((len(u), len(u))), np.zeros(len(u))
    for i in range(len(u)):
        r[i] = c[row, i]
        c[i, k] = u[i]
    return r


def columns_and_rows(u, k, row):
    c, r = np.ones((len(u), len(u))), np.zeros(len(u))
    for i in range(len(u)):
        c[i, k] = u[i]
        r[i] = c[row, i]
    return r


def one_element(a):
    s = np.zeros(1)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[0] = 0.5 * s[0] + a[i, j]
    return s


def an_element_for_each_column(a):
    s = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] = 0.5 * s[j] + a[i, j]
    return s


def diagonals_of_a_part(u):
    e = np.eye(len(u))
    return e[:1] + e, e - e[:1], e[:, :1] - e * u, e[:1] * u + e


def tripled(x):
    return (x * 3) // 3


def successor_is_larger(x):
    return x + 1 > x


def by_signs(x):
    return np.where(x + 1 > 0, x, -x), np.abs(x - 1), -x < 0, np.maximum(x, 0) + 1 > 0


def counted_successors(x):
    c = 0
    for i in range(len(x)):
        if x[i] + 1 > x[i]:
            c += 1
    return c


def hashed(x):
    return np.arange(len(x)) * 6364136223846793005 * 1442695040888963407 + x


def no_pass(a, k):
    out = np.zeros(len(a))
    for i in range(2, len(a)):
        out[i] = a[i, k]
    return out


PROGRAMS = [
    *((f, A, n) for f in (row_of_a_counter, row_under_a_test, row_while) for n in range(4)),
    *((left_by_the_flag_before, A, n) for n in range(5)),
    *((in_memory_that_is_stored_to, U), (several_in_memory_that_is_stored_to, U)),
    *((rows_and_columns, U, 1, 0), (columns_and_rows, U, 0, 1)),
    *((one_element, A), (one_element, WIDE), (an_element_for_each_column, WIDE)),
    *((diagonals_of_a_part, np.zeros(2)), (diagonals_of_a_part, U)),
    *((f, LARGE) for f in (tripled, successor_is_larger, by_signs, counted_successors, hashed)),
    *((no_pass, np.zeros((2, 3)), 5), (no_pass, A, 1)),
]


def copied(args):
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize(("f", "args"), [(f, args) for f, *args in PROGRAMS])
def test_values_and_arguments(f, args):
    given, wanted = copied(args), copied(args)
    with np.errstate(all="ignore"):
        expected = f(*wanted)
    found = jit(f)(*given)
    pairs = [(found, expected)] if not isinstance(expected, tuple) else zip(found, expected)  # noqa: B905
    for a, b in [*pairs, *zip(given, wanted, strict=True)]:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("x", [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, np.nan, np.inf])
@pytest.mark.parametrize(
    "fp", [[0.0, np.inf, 1.0, 0.0], [0.0, np.inf, np.inf, 0.0], [np.nan, 1.0, -np.inf, 2.0]]
)
def test_interpolation_between_infinities(x, fp):
    def f(x, fp):
        total = np.zeros(2)
        for k in range(2):
            total[k] = np.interp(x, [0.0, 1.0, 2.0, 3.0], fp)
        return total

    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(jit(f)(x, np.array(fp)), f(x, np.array(fp)))


def test_a_table_of_states_is_read_by_slices():
    """The index of a loop around is one of its rows, also where the loop inside makes no pass."""

    def f(u, steps):
        u = u.copy()
        old = np.zeros(len(u))
        for _ in range(steps):
            for i in range(len(u)):
                old[i] = u[i]
            for i in range(1, len(u) - 1):
                u[i] = old[i] - 0.2 * old[i] * (old[i] - old[i - 1])
        return np.sum(u * u)

    for n in (2, 3, 9):
        u = np.linspace(1.0, 2.0, n)
        wanted = [(f(u + e, 4) - f(u - e, 4)) / 2e-6 for e in 1e-6 * np.eye(n)]
        np.testing.assert_allclose(jit(grad(f))(u, 4), wanted, rtol=1e-7)
    assert "range(1, " not in jit(grad(f)).source(u, 4)


def from_the_end(x):
    for i in range(len(x) - 5):
        x[i] = i
    return x


def windows(x):
    s = 0.0
    for i in range(len(x) - 3):
        s += np.max(x[i : i + 3])
    return s


def multiples(x, n):
    s = 0.0
    for i in range(n):
        s += x[0] * i
    return s


def from_the_third(x, n):
    for i in range(2, n):
        x[i] = i
    return x


def of_complex_numbers(x, n):
    y = np.zeros(4)
    for i in range(n):
        y[i] = 2 * x[i].real
    return y


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (from_the_end, (np.ones(3),)),
        (windows, (np.ones(2),)),
        (multiples, (np.ones(3), -1)),
        (from_the_third, (np.ones(3), 1)),
        (of_complex_numbers, (np.ones(4) + 0j, -3)),
    ],
)
@pytest.mark.parametrize("boundscheck", [True, False])
def test_ranges_that_end_before_they_begin(f, args, boundscheck):
    """Threads may share their passes, of which there are none."""
    want = f(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    compiled = jit(f, boundscheck=boundscheck)
    for _ in range(1100):  # the driver becomes machine code after a thousand
        got = compiled(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
        np.testing.assert_array_equal(got, want)


def stored_by_elements(x):
    for i in range(len(x)):
        x[i] = 300
    return x


def stored_under_a_test(x):
    for i in range(len(x)):
        if x[i] > 2:
            x[i] = -2
    return x


def stored_to_a_part(x):
    x[1:] = -1
    return x


def stored_at_places(x):
    x[np.array([0, 1])] = -1
    return x


def counted_down(x):
    for i in range(len(x)):
        x[i] -= 1
    return x


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u8", "i8", "f4"])
@pytest.mark.parametrize(
    "f",
    [stored_by_elements, stored_under_a_test, stored_to_a_part, stored_at_places, counted_down],
)
def test_constants_that_a_dtype_does_not_hold(f, dtype):
    x = np.array([2, 3], dtype)
    try:
        want = f(x.copy())
    except OverflowError:
        with pytest.raises(OverflowError, match="out of bounds"):
            jit(f)(x)
    else:
        np.testing.assert_array_equal(jit(f)(x), want)


def largest_integer(x):
    largest = 0
    for i in range(len(x)):
        largest = max(largest, int(x[i]))
    return largest


def rounded(x):
    for i in range(len(x)):
        x[i] = round(x[i])
    return x


def put_into_three(x):
    counts = np.zeros(3)
    for i in range(len(x)):
        counts[int(x[i]) % 3] += 1
    return counts


@pytest.mark.parametrize("f", [largest_integer, rounded, put_into_three])
def test_integers_of_numbers_that_are_none(f):
    """In machine integers they would be any number."""
    compiled = jit(f)
    np.testing.assert_array_equal(compiled(np.array([2.6, 7.2])), f(np.array([2.6, 7.2])))
    with pytest.raises(ValueError, match="NaN to integer"):
        compiled(np.array([1.0, np.nan]))
    for beyond in (np.inf, -np.inf, 1e300, 2.0**63):
        with pytest.raises(OverflowError, match=r"infinity|64 bits"):
            compiled(np.array([beyond, 1.0]))
    least = np.array([-(2.0**63), 1.0])
    np.testing.assert_array_equal(compiled(least.copy()), f(least.copy()))
