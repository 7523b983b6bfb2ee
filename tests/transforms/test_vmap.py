"""The batching pass: branches, loops, lists and effects that depend on the element."""

# ruff: noqa: SIM108 (branches are what is batched)

import functools
import warnings

import numpy as np
import pytest

import tapeless
from tapeless import grad, jvp, vmap

XS = np.array([0.45, 2.9, -1.2, 100.0, 7.7, 1.1])
NS = np.array([3, 0, 5, 1, 2, 4])
close = functools.partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-13)


def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


def halves(x):
    n = 0
    while x > 1:
        x = x / 2 if n % 2 == 0 else x - 1
        n += 1
    return x + 0.1 * n * x


def log_or_line(x):
    if x > 0.5:
        y = np.log(x - 0.5)
    else:
        y = x * x
    return y * 2


def both_unsafe(x):
    if x > 1:
        return np.sqrt(x - 1)
    return 1 / (2 - x)


def early_return(x):
    for k in range(1, 6):
        x = x * 0.7
        if x < k * 0.2:
            return x * k
    return -x


def newton(a):
    x = abs(a) + 1
    steps = 0
    while abs(x * x - abs(a)) > 1e-12 and steps < 60:
        x = (x + abs(a) / x) / 2
        steps += 1
    return x


def kepler(m):
    e = m
    for _ in range(50):
        d = (e - 0.3 * np.sin(e) - m) / (1 - 0.3 * np.cos(e))
        e = e - d
        if abs(d) < 1e-13:
            break
    return e


def nested_loops(x):
    total = 0.0
    while x > 0.5:
        k = 0
        while k < x and k < 4:
            total += x * k
            k += 1
        x = x / 3
    return total


def stores(x):
    v = np.zeros(4)
    k = 0
    while k < 4 and x > 0.3:
        v[k] = x * x
        x = x / 2
        k += 1
    return np.sum(v * v) + x


def solves(x):
    m = np.array([[x, 1.0], [1.0, 2.0]])
    if abs(x - 0.5) < 1e-9:
        return 0.0 * x
    if x > 0:
        return np.linalg.solve(m, np.array([1.0, 2.0]))[0]
    return x


def chain(x):
    if x < 0:
        y = -x
    elif x < 1:
        y = np.sqrt(x)
    elif x < 5:
        if x > 2:
            y = np.log(x)
        else:
            y = x**3
    else:
        y = 1 / x
    return y + x


def loops_on_both_sides(x):
    for k in range(4):
        if x > 5:
            while x > 2:
                x = np.sqrt(x) * np.sin(x) ** 2 + 0.3
        else:
            j = 0
            while j < 3 and x < 4:
                x = x * x * 0.4 + np.exp(-x) * k
                j += 1
    return x * x


CONTROL = [
    loops_on_both_sides,
    halves,
    log_or_line,
    both_unsafe,
    early_return,
    newton,
    kepler,
    nested_loops,
    stores,
    solves,
    chain,
]


@pytest.fixture(params=CONTROL, ids=lambda f: f.__name__)
def f(request):
    return request.param


@pytest.fixture
def nowarn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("nowarn")
class TestControlFlow:
    """Each element takes its own way; nothing that it does not do raises, warns or gives nan."""

    def test_values(self, f):
        close(vmap(f)(XS), [f(x) for x in XS])

    def test_derivative_of_a_batch(self, f):
        got = grad(lambda xs: np.sum(vmap(f)(xs)))(XS)
        np.testing.assert_allclose(got, [slope(f, x) for x in XS], rtol=1e-4, atol=1e-6)

    def test_batch_of_derivatives(self, f):
        got = vmap(grad(f))(XS)
        np.testing.assert_allclose(got, [slope(f, x) for x in XS], rtol=1e-4, atol=1e-6)

    def test_tangent_of_a_batch(self, f):
        got = jvp(vmap(f), (XS,), (np.ones(6),))[1]
        np.testing.assert_allclose(got, [slope(f, x) for x in XS], rtol=1e-4, atol=1e-6)

    def test_batch_of_batches(self, f):
        table = XS.reshape(2, 3)
        close(vmap(vmap(f))(table), [[f(x) for x in row] for row in table])
        close(vmap(vmap(f), 1, 1)(table), [[f(x) for x in row] for row in table])

    def test_derivatives_through_batches_of_batches(self, f):
        table = XS.reshape(3, 2)
        wanted = [[slope(f, x) for x in row] for row in table]
        for got in (
            grad(lambda t: np.sum(vmap(vmap(f))(t)))(table),
            vmap(vmap(grad(f)))(table),
            vmap(grad(lambda row: np.sum(vmap(f)(row))))(table),
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)

    def test_second_derivative(self, f):
        wanted = [slope(grad(f), x) for x in XS]
        got = vmap(grad(grad(f)))(XS)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def powers(x, n):
    total = 1.0
    for k in range(n):
        total = total * x + k
    return total


def between(x, n):
    total = 0.0
    for k in range(n, 2 * n + 1):
        total += np.sin(x * k)
    return total


def downwards(x, n):
    for k in range(n, 0, -1):
        x = x + np.cos(x) / k
    return x


def strided(x, n):
    for k in range(0, 7, n + 1):
        x = np.sin(x) + k
    return x


@pytest.mark.parametrize("f", [powers, between, downwards, strided], ids=lambda f: f.__name__)
class TestLoopsOfDifferentLengths:
    def test_values(self, f):
        close(vmap(f)(XS, NS), [f(x, int(n)) for x, n in zip(XS, NS, strict=True)])

    def test_one_value_for_all(self, f):
        close(vmap(f, (None, 0))(0.3, NS), [f(0.3, int(n)) for n in NS])

    def test_derivatives(self, f):
        wanted = [slope(lambda y, n=n: f(y, int(n)), x) for x, n in zip(XS / 9, NS, strict=True)]
        np.testing.assert_allclose(vmap(grad(f))(XS / 9, NS), wanted, rtol=1e-5, atol=1e-7)
        got = grad(lambda x: np.sum(vmap(f)(x, NS)))(XS / 9)
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", [*CONTROL, lambda x: powers(x, 3)], ids=lambda f: f.__name__)
def test_no_elements(f):
    none = np.zeros(0)
    assert vmap(f)(none).shape == (0,)
    assert vmap(grad(f))(none).shape == (0,)
    assert grad(lambda x: np.sum(vmap(f)(x)))(none).shape == (0,)


def test_loops_that_no_element_enters():
    def f(x, n):
        if x > 1000:
            for k in range(n):
                x = x * k
            while x > 1:
                x = x / 2
        return x * n

    close(vmap(f)(XS, NS), XS * NS)
    close(vmap(grad(f))(XS, NS), NS)
    close(vmap(f)(XS[:0], NS[:0]), XS[:0])
    table = XS.reshape(2, 3), NS.reshape(2, 3)
    close(vmap(vmap(f))(*table), table[0] * table[1])
    close(vmap(vmap(grad(f)))(*table), table[1])
    close(vmap(vmap(f, (0, None)))(table[0], NS[:2]), table[0] * NS[:2, None])


# -- what is not taken


def test_a_singular_matrix_on_the_side_that_is_not_taken():
    def f(m, good):
        if good:
            return np.linalg.inv(m)[0, 0]
        return 0.0

    ms = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    close(vmap(f)(ms, np.array([True, False, True])), [1.0, 0.0, 0.5])
    slopes = vmap(grad(f))(ms, np.array([True, False, True]))
    close(slopes[:, 0, 0], [-1.0, 0.0, -0.25])


def test_an_index_out_of_range_on_the_side_that_is_not_taken():
    def f(v, k):
        if k < 3:
            return v[k]
        return 0.0

    close(vmap(f, (None, 0))(np.arange(3.0), np.array([0, 7, 2])), [0.0, 0.0, 2.0])


def test_a_loop_that_would_not_end_on_the_side_that_is_not_taken():
    def f(x):
        if x > 1:
            while x > 1:
                x = x * x / (2 * x)
        return x

    close(vmap(f)(XS), [f(x) for x in XS])


def test_elements_that_are_done_stay_as_they_are():
    def f(v, k):
        while k > 0:
            v = v + 1 / v[k - 1]
            k = k - 1
        return v

    vs = np.arange(6.0).reshape(3, 2)[:, ::-1] + np.array([[1.0], [0.0], [0.0]])
    vs[0, 1] = 0.0
    ks = np.array([0, 2, 1])
    close(vmap(f)(vs, ks), [f(v, int(k)) for v, k in zip(vs, ks, strict=True)])


# -- unbatched control flow stays


def test_a_loop_over_known_passes_is_one_loop():
    def f(x, n):
        for _ in range(n):
            if n > 2:
                x = np.sin(x)
        return x

    source = vmap(f, (0, None)).source(XS, 3)
    assert "for _ in range(n):" in source
    assert "if n > 2:" in source
    assert "mask" not in source


# -- effects


def test_the_first_element_that_raises_is_named():
    def f(x):
        if x > 50:
            raise ValueError(f"{x:.0f} is too large")
        return np.sqrt(abs(x))

    with pytest.raises(ValueError, match="100 is too large"):
        vmap(f)(XS)
    close(vmap(f)(XS[:3]), np.sqrt(np.abs(XS[:3])))


def test_errors_in_loops_and_nested_batches():
    def f(x):
        for k in range(3):
            x = x - 1
            assert x > -3, f"pass {k}"
        return x

    close(vmap(f)(XS + 2), XS - 1)
    with pytest.raises(AssertionError, match="pass 1"):
        vmap(f)(XS)
    with pytest.raises(AssertionError, match="pass 1"):
        vmap(vmap(f))(XS.reshape(2, 3))
    with pytest.raises(AssertionError, match="pass 1"):
        vmap(grad(f))(XS)


def test_text_is_printed_element_by_element(capsys):
    def f(x):
        if x > 5:
            print("large:", x)  # noqa: T201
        return x

    vmap(f)(XS)
    assert capsys.readouterr().out == "large: 100.0\nlarge: 7.7\n"
    vmap(vmap(f))(XS.reshape(2, 3))
    assert capsys.readouterr().out == "large: 100.0\nlarge: 7.7\n"


# -- lists


def test_lists_of_one_length():
    def f(x, n):
        kept = []
        for k in range(n):
            x = x * np.cos(k)
            kept.append(x)
        return np.array(kept), kept[2] * kept[-1]

    rows, last = vmap(f, (0, None))(XS, 4)
    close(rows, np.stack([f(x, 4)[0] for x in XS]))
    close(last, [f(x, 4)[1] for x in XS])
    np.testing.assert_allclose(
        grad(lambda xs: np.sum(vmap(f, (0, None))(xs, 4)[1]))(XS),
        [slope(lambda y: f(y, 4)[1], x) for x in XS],
        rtol=1e-6,
    )


def test_lists_of_different_lengths():
    def f(x):
        kept = []
        while x > 1:
            kept.append(x)
            x = x / 2
        return np.sum(np.array(kept))

    def pops(x):
        kept = []
        for k in range(3):
            kept.append(x * k)  # noqa: PERF401
        while len(kept) > 1 and x > 1:
            x = x / (1 + kept.pop())
        return x

    close(vmap(f)(XS), [f(x) for x in XS])
    close(vmap(pops)(XS), [pops(x) for x in XS])


# -- recursion


def test_recursion_to_a_depth_that_data_decides():
    def f(x):
        if x < 1:
            return x * x
        return f(x / 2) * x

    close(vmap(f)(XS), [f(x) for x in XS])
    np.testing.assert_allclose(vmap(grad(f))(XS), [slope(f, x) for x in XS], rtol=1e-5)
    np.testing.assert_allclose(
        grad(lambda xs: np.sum(vmap(f)(xs)))(XS), [slope(f, x) for x in XS], rtol=1e-5
    )


# -- masks in stores


def test_stores_through_masks_that_differ():
    def f(v):
        v[v < 0] = 0.0
        v[v > 3] = v[0]
        return v * v

    v = XS.reshape(2, 3)
    close(vmap(f)(v), [f(row.copy()) for row in v])
    wanted = 2 * v * ((v > 0) & (v <= 3))
    wanted[:, 0] += 2 * v[:, 0] * np.sum(v > 3, axis=1)
    close(grad(lambda v: np.sum(vmap(f)(v)))(v), wanted)


def stored_back(v):
    v[v > 2] += 1.0
    v[v < 0] = v[v < 0] * 2 - v[0]
    return np.sum(v * v)


def selected(v):
    return np.sum(v[v > 1] ** 2 * v[1]) + np.mean(v[v < 50])


def safe_roots(v):
    scale = np.sum(v)
    v[v > 0] = np.sqrt(v[v > 0]) * scale
    return np.sum(np.sin(v))


@pytest.mark.usefixtures("nowarn")
@pytest.mark.parametrize("f", [stored_back, selected, safe_roots], ids=lambda f: f.__name__)
def test_what_masks_select_that_differ(f):
    v = XS.reshape(3, 2)[[0, 2, 1]]
    close(vmap(f)(v.copy()), [f(row.copy()) for row in v])
    wanted = [
        [(f(row + 1e-6 * unit) - f(row - 1e-6 * unit)) / 2e-6 for unit in np.eye(2)] for row in v
    ]
    np.testing.assert_allclose(vmap(grad(f))(v), wanted, rtol=1e-5, atol=1e-7)
    got = grad(lambda v: np.sum(vmap(f)(v)))(v)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)


# -- nothing is broadcast that need not be


@pytest.mark.parametrize(
    ("f", "axes", "text"),
    [
        (lambda w, x: x @ w, (None, 0), "return x @ w"),
        (lambda w, x: w.T @ x, (None, 0), "return x @ w"),
        (lambda w, x: np.tanh(w) + x, (None, 0), "return np.tanh(w) + x"),
        (lambda w, x: x @ np.linalg.inv(w @ w.T) @ w, (None, 0), "np.linalg.inv(w @ w.T)"),
        (lambda w, x: np.linalg.solve(w @ w.T, x), (None, 0), "np.linalg.solve(w @ w.T, x.T)"),
        (lambda w, x: np.sum(x, axis=0), (None, 1), "return np.sum(x, axis=0)"),
        (lambda w, x: np.sin(x), (None, 1), "return np.sin(x)"),
    ],
)
def test_source(f, axes, text):
    assert text in vmap(f, axes, 0).source(np.eye(3) + 1, np.ones((3, 3))).replace(".T\n", "\n")


def to_a_remainder(x, k):
    for i in range(k % 5):
        x = np.sin(x) + i
    return x


def to_a_difference(x, k):
    for i in range(10 - k):
        x = np.sin(x) + i
    return x


def between(x, k):
    for i in range(k // 2, 3 * k - k * k // 8):
        x = np.sin(x) + i
    return x


@pytest.mark.parametrize("f", [to_a_remainder, to_a_difference, between])
def test_what_is_kept_is_as_long_as_the_longest_loop(f):
    x, k = np.array([0.3, 0.4, 0.7]), np.array([7, 4, 5])
    expected = [slope(lambda v, n=n: f(v, n), v) for v, n in zip(x, k, strict=True)]
    for derivative in (vmap(grad(f)), tapeless.jit(vmap(grad(f)))):
        np.testing.assert_allclose(derivative(x, k), expected, atol=1e-7)


def test_tests_that_all_elements_share_around_returns_that_they_do_not():
    def f(x, y, n):
        s = x
        for _ in range(int(abs(x) * 4) % 5):
            if n > 2 or y > 0.3:  # noqa: SIM102 (one in the other is what is tested)
                if n > 2 or s > 0.3:
                    return s * 2
        return s + y

    x = np.array([-0.9, 0.4, 1.3])
    for n in (1, 3):
        expected = [slope(lambda v, y=y, n=n: f(v, y, n), 2 * y) for y in x / 2]
        for derivative in (vmap(grad(f), (0, 0, None)), tapeless.jit(vmap(grad(f), (0, 0, None)))):
            np.testing.assert_allclose(derivative(x, x / 2, n), expected, atol=1e-7)


def test_lengths_of_an_input_that_must_be_those_of_a_constant():
    def f(x, steps):
        states = np.zeros((steps.shape[0], 2))
        for t in range(steps.shape[0]):
            states[t] = x
            x = x + steps[t]
        slopes = vmap(grad(lambda x, u, t: np.cos(x[0]) * t + u @ u, (0, 1)))
        return slopes(states, steps, np.arange(4))

    x, steps = np.array([3.0, 0.5]), np.arange(8.0).reshape(4, 2) / 10
    by_x, by_u = tapeless.jit(f)(x, steps)
    before = np.cumsum(np.vstack([x, steps[:-1]]), axis=0)
    close(by_x[:, 0], -np.sin(before[:, 0]) * np.arange(4))
    close(by_u, 2 * steps)
