"""What once gave a wrong number without a word: each is right now, or refused."""

import contextlib
import math

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import AliasError

pytestmark = pytest.mark.every_case


def weighted(p):
    return sum((i + 1) * p[k] ** 2 for i, k in enumerate(p))


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: (p, 1.0)[0]])
def test_the_order_of_keys_is_seen(wrap):
    f = tapeless.value_and_grad(lambda p: weighted(wrap(p)))
    assert f({"a": 1.0, "b": 2.0}) == (9.0, {"a": 2.0, "b": 8.0})
    assert f({"b": 2.0, "a": 1.0}) == (6.0, {"a": 4.0, "b": 4.0})
    assert f({"a": 1.0, "b": 2.0})[0] == 9.0


def ravelled(a):
    b = a.T.ravel()
    b[0] = 7.0
    return np.sum(a * a)


def shared(x):
    y = x.astype(float, copy=False)
    y[2] *= 3
    return np.sum(x)


def parts(x):
    pieces = np.split(x, 3)
    pieces[1][0] = 9 * x[0]
    return np.sum(x)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (ravelled, [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]),
        (shared, [1.0, 1.0, 3.0]),
        (parts, [10.0, 0.0, 1.0]),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_store_is_seen_where_numpy_gives_a_view_and_not_where_it_copies(f, slope):
    np.testing.assert_array_equal(tapeless.grad(f)(np.ones(np.shape(slope))), slope)


def test_an_error_on_the_side_not_taken_is_raised_only_there():
    def f(x):
        y = 0.0
        if x < 0:
            y = 1 / 0
        return x * x + y

    assert tapeless.grad(f)(2.0) == 4.0
    with pytest.raises(ZeroDivisionError):
        tapeless.grad(f)(-1.0)


def test_forward_mode_keeps_the_zero_of_where():
    def f(x):
        return np.sqrt(np.where(x > 0, x, 0.0))

    with np.errstate(all="ignore"):
        assert tapeless.jvp(f, (-1.0,), (1.0,)) == (0.0, 0.0)
        assert tapeless.jvp(f, (4.0,), (1.0,)) == (2.0, 0.25)


def fallback_index(x, i):
    try:
        return x[i] ** 2
    except IndexError:
        return 0.0 * x[0]


def fallback_solve(a):
    y = np.zeros(2)
    with contextlib.suppress(np.linalg.LinAlgError):
        y = np.linalg.solve(a, np.ones(2))
    return np.sum(y)


def fallback_power(x, y=2.0):
    try:
        return x**y
    except ArithmeticError:
        return x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (fallback_index, (np.ones(3), np.array(1))),
        (fallback_power, (3.0, 2.0)),
    ],
)
def test_what_catches_an_error_of_the_run_is_refused(f, args):
    with pytest.raises(tapeless.TapelessError, match="an except clause catches it"):
        tapeless.grad(f)(*args)


@pytest.mark.parametrize("matrix", [np.eye(2), np.ones((2, 2))])
def test_a_manager_that_suppresses_an_error_of_the_run_does_so(matrix):
    assert tapeless.jit(fallback_solve)(matrix) == fallback_solve(matrix)
    assert np.any(tapeless.grad(fallback_solve)(matrix)) == (fallback_solve(matrix) != 0)


def test_a_try_that_catches_none_of_these_is_kept():
    def f(x):
        named = {"a": x}
        try:
            y = named["b"]
        except KeyError:
            y = np.sin(named["a"])
        finally:
            y = y * 2.0
        return y

    assert tapeless.grad(f)(0.3) == 2 * np.cos(0.3)


def rows_summed(a):
    return [np.sin(row).sum() for row in a]


def counted_appends(x):
    out = []
    for k in range(3):
        out.append(x * k)  # noqa: PERF401 (the loop is what is tested)
    return {"out": out, "x": x}


def test_a_list_that_is_returned_stays_a_list():
    value, pull = tapeless.vjp(rows_summed, np.arange(6.0).reshape(3, 2))
    assert isinstance(value, list)
    assert len(value) == 3
    (bar,) = pull([1.0, 0.0, 2.0])
    np.testing.assert_allclose(bar, np.cos(np.arange(6.0).reshape(3, 2)) * [[1], [0], [2]])
    value, tangent = tapeless.jvp(counted_appends, (2.0,), (1.0,))
    assert value == {"out": [0.0, 2.0, 4.0], "x": 2.0}
    assert tangent == {"out": [0.0, 1.0, 2.0], "x": 1.0}


def halvings(x):
    out = []
    while x > 1:
        out.append(x)
        x = x / 2
    return out


def kept(a):
    out = []
    for v in a:
        if v > 0:
            out.append(v * v)  # noqa: PERF401 (the loop is what is tested)
    return out


@pytest.mark.parametrize(("f", "at"), [(halvings, 9.0), (kept, np.array([1.0, -1.0, 2.0]))])
def test_a_returned_list_of_unknown_length_is_refused(f, at):
    with pytest.raises(tapeless.TapelessError, match=r"list .*returned"):
        tapeless.vjp(f, at)


def set_in_branches(x):
    if x[0] > 0:
        t = 3 * x
    if x[0] > 0:
        s = np.sum(t * t)
    if x[0] > 0:
        t = 5 * x
    if x[0] > 0:
        return s + np.sum(t)
    return np.sum(x)


def test_a_variable_that_only_branches_set_is_differentiated_where_it_is_set():
    x = np.array([0.5, -1.0])
    slope = tapeless.grad(set_in_branches)
    np.testing.assert_allclose(slope(x), 18 * x + 5)
    np.testing.assert_array_equal(slope(-x), [1.0, 1.0])


def element_of_a_list(x):
    v, rows = x * 2, []
    for _ in range(30):
        rows.append(v)  # noqa: PERF401
    r = rows[0]
    r[0] = 5.0 * x[1]
    return np.sum(v * v)


def two_names_of_the_last_pass(x):
    p = x * 1
    for i in range(30):
        t = x * i
        p = t
    p[0] = 7 * x[1]
    return np.sum(t * t)


def test_a_store_to_an_element_of_a_list_is_seen():
    x = np.array([0.5, -1.0])
    np.testing.assert_allclose(tapeless.grad(element_of_a_list)(x), [0.0, 58 * x[1]])


def test_what_a_store_may_change_is_refused_by_its_names():
    with pytest.raises(AliasError) as met:
        tapeless.grad(two_names_of_the_last_pass)(np.ones(2))
    assert met.value.problem.startswith("'t' may share memory with 'p', which line ")
    assert met.value.hint == "copy the array where it gets its second name: t.copy()"


def split(x):
    """Veltkamp's splitting, and a sum with its error."""
    s = x * 257.0
    high = s - (s - x)
    total = high + 1.0
    rest = (high - (total - (total - high))) + (1.0 - (total - high))
    return high, x - high, total, rest


def compensated(v):
    """Kahan's sum."""
    total, lost = 0.0, 0.0
    for i in range(len(v)):
        y = v[i] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


@pytest.mark.parametrize(
    "transform", [tapeless.jit, lambda f: lambda x: tapeless.jvp(f, (x,), (x,))[0]]
)
def test_what_is_written_to_round_rounds(transform):
    for x in (3.14159, 1e-3, -7.7):
        assert transform(split)(x) == split(x)
    v = np.random.default_rng(0).standard_normal(100) * 10.0 ** np.arange(-50, 50)
    assert transform(compensated)(v) == compensated(v) == math.fsum(v)


@pytest.mark.parametrize("shape", [(2, 2), (-1, 4)])
def test_a_reshape_that_does_not_fit_is_refused_where_nothing_is_read_of_it(shape):
    slope = tapeless.grad(lambda x: np.sum(x.reshape(shape)))
    np.testing.assert_array_equal(slope(np.arange(4.0)), np.ones(4))
    for n in (3, 5):
        with pytest.raises(ValueError, match="cannot reshape"):
            slope(np.arange(float(n)))


def returned_early_or_in_a_loop_or_none(x, n):
    if x > 5:
        return x
    for _ in range(n):
        x = x * 1.5
        if x > 2:
            return x
    return None


def returned_in_an_endless_loop_or_none(x, n):
    if x > n:
        return x
    while True:
        x = x * 1.5
        if x == 0:
            break
        if x > 2:
            return x
    return None


@pytest.mark.parametrize(
    "f", [returned_early_or_in_a_loop_or_none, returned_in_an_endless_loop_or_none]
)
def test_none_by_data_is_no_number(f):
    compiled = tapeless.jit(f)
    for x in (30.0, 0.0, 0.3, 1.5):
        assert compiled(x, 3) == (pytest.approx(f(x, 3)) if f(x, 3) else None)
    assert tapeless.grad(f)(30.0, 3) == 1.0
    with pytest.raises(TypeError, match="is None"):
        tapeless.grad(f)(0.0, 3)


def test_what_is_printed_is_what_a_container_holds_then(capsys):
    def f(x):
        held, named = [], {}
        for k in range(3):
            held.append(k)
            print(held, named, (held, 1))  # noqa: T201
            named[k] = [k]
            if len(held) > 1:
                held.pop(0)
        assert x > 0, held
        held.clear()
        return 2 * x

    f(1.0)
    expected = capsys.readouterr().out
    compiled = tapeless.jit(f)
    compiled(1.0)
    assert capsys.readouterr().out == expected
    with pytest.raises(AssertionError, match="2"):
        compiled(-1.0)


def test_names_of_functions_do_not_hide_what_emitted_code_calls():
    def abs(x):  # noqa: A001
        return np.abs(x) + len(x)

    def max(x):  # noqa: A001
        return np.maximum(x, 0.0) * abs(x)

    x = np.array([1.0, -2.0])
    np.testing.assert_array_equal(tapeless.jit(abs)(x), abs(x))
    np.testing.assert_array_equal(tapeless.jit(max)(x), max(x))


class Shown:
    def __init__(self, v):
        self.v = v

    def __str__(self):
        return f"v = {self.v}"


def test_objects_are_printed_by_their_own_methods(capsys):
    outer = Shown(1.0)

    def f(x):
        print(outer, Shown(3), Shown(2 * x), Shown)  # noqa: T201
        return x

    compiled = tapeless.jit(f)
    for v in (1.0, 5.0):
        outer.v = v
        f(v)
        expected = capsys.readouterr().out
        compiled(v)
        assert capsys.readouterr().out == expected


def hit_of_any(u, k):
    if any((hit := v) > k for v in u):
        return hit * k
    return k


def seen_by_all(u, k):
    seen = 0.0

    def small(v):
        nonlocal seen
        seen = seen + v * v
        return v < k

    good = all(small(v) for v in u if v > 0)
    return seen * (2.0 if good else 3.0)


@pytest.mark.parametrize("f", [hit_of_any, seen_by_all])
@pytest.mark.parametrize("k", [0.2, 5.0])
def test_any_and_all_look_no_further_than_python(f, k):
    u = np.array([-1.0, 0.1, 0.9, 0.5, 0.7])
    for wrap in (lambda f: f, tapeless.jit):
        value, (by_u, _) = wrap(tapeless.value_and_grad(f, argnums=(0, 1)))(u, k)
        assert value == pytest.approx(f(u, k))
        steps = [1e-6 * row for row in np.eye(5)]
        expected = [(f(u + h, k) - f(u - h, k)) / 2e-6 for h in steps]
        np.testing.assert_allclose(by_u, expected, atol=1e-8)


def two_errors(x):
    if x > 0:
        raise TypeError("positive")
    raise ValueError("not positive")


def said_before(x):
    print("x is", x)  # noqa: T201 (what is tested)
    raise ValueError("always")


@pytest.mark.parametrize("f", [two_errors, said_before])
@pytest.mark.parametrize("transform", [tapeless.jit, tapeless.grad])
def test_an_error_in_all_cases_hides_nothing_before_it(f, transform):
    with pytest.raises(tapeless.TapelessError, match=r"raises ValueError\(.*in all cases, after"):
        transform(f)(1.0)


def too_short(x):
    if len(x) < 2:
        raise TypeError("too short")
    raise ValueError("long enough")


@pytest.mark.parametrize(("size", "error"), [(1, TypeError), (3, ValueError), (4, ValueError)])
def test_lengths_decide_which_error_is_raised(size, error):
    for transform in (tapeless.jit, tapeless.grad):
        with pytest.raises(error):
            transform(too_short)(np.ones(size))


def bits_and_back(x):
    return np.sum(x.view(np.int64).view(np.float64))


def absolute_by_bits(x):
    return np.sum((x.view(np.int64) & 0x7FFFFFFFFFFFFFFF).view(np.float64))


def logarithm_of_bits(x):
    return np.sum(x.view(np.int64) * 2.0**-52)


def sorted_bits(x):
    return np.sum(np.sort(x.view(np.int64))[:2].view(np.float64))


def bits_in_a_loop(x):
    i = x.view(np.int64)
    for k in range(3):
        i = i + k if x[0] > 0 else i
    return np.sum(i.view(np.float64))


@pytest.mark.parametrize(
    "f", [bits_and_back, absolute_by_bits, logarithm_of_bits, sorted_bits, bits_in_a_loop]
)
def test_bits_that_become_floats_have_no_derivative(f):
    x = np.array([0.7, 1.4, 3.1])
    assert tapeless.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
    for derivative in (
        tapeless.grad(f),
        tapeless.hessian(f),
        lambda x: tapeless.jvp(f, (x,), (x,)),
    ):
        with pytest.raises(tapeless.TapelessError, match="bits have no derivative"):
            derivative(x)


def times_exponent(x):
    return np.sum((x.view(np.int64) >> 52).astype(float) * x * x)


def by_sign_bit(x):
    return np.sum(np.where(x.view(np.int64) < 0, -x, x) * x)


def bits_of_a_constant(x):
    return np.sum(tapeless.lax.stop_gradient(x).view(np.int64).view(np.float64) * x)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (times_exponent, lambda x: 2 * x * (x.view(np.int64) >> 52)),
        (by_sign_bit, lambda x: 2 * np.abs(x)),
        (bits_of_a_constant, lambda x: x),
    ],
)
def test_bits_that_choose_are_piecewise_constant(f, slope):
    x = np.array([0.7, 1.4, 3.1])
    np.testing.assert_allclose(tapeless.grad(f)(x), slope(x))
    np.testing.assert_allclose(tapeless.jvp(f, (x,), (x,))[1], slope(x) @ x)


def hashed(x):
    return hash(x) * 1.0 + x


def hash_of_a_pair(x):
    return hash((x, 1)) * 1e-10 + x


def popped(x):
    return {x * 3}.pop()


def first_of_a_set(x):
    return list({x * 3})[0]  # noqa: RUF015 (what is tested)


def run_over(x):
    total = 0.0
    for member in {x * 3}:
        total = total + member
    return total


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("f", [hashed, hash_of_a_pair, popped, first_of_a_set, run_over])
def test_what_python_hashes_has_no_derivative(f):
    assert tapeless.jit(f)(1.5) == f(1.5)
    with pytest.raises(tapeless.TapelessError, match="has no derivative"):
        tapeless.grad(f)(1.5)


def largest_member(x):
    return max({x, 2 * x}) * min({x, 3 * x, 0.5})


def test_the_largest_of_a_set_has_a_derivative():
    assert tapeless.value_and_grad(largest_member)(1.5) == (1.5, 1.0)
