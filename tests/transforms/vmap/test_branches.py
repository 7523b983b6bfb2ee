"""Branches of a batch: what its sides save, and how long what they give is."""

import numpy as np
import pytest

from tapeless import grad, jacfwd, jacrev, jit, value_and_grad, vjp, vmap

X = np.array([0.4, -0.7, 1.3])
U = np.random.default_rng(0).uniform(0.5, 1.5, (3, 4))
Q = np.array([True, False, True, True])
FORMS = [lambda f: f, jit]


def slopes(f, *args):
    """The derivative in the second argument by differences, element by element."""

    def of_row(x, u):
        steps = 1e-6 * np.eye(len(u))
        return [(f(x, u + d, *args) - f(x, u - d, *args)) / 2e-6 for d in steps]

    return [of_row(x, u) for x, u in zip(X, U, strict=True)]


def selected(x, u, q):
    if x > 0:
        return np.sum(np.sin(u[q]))
    return x


def selected_or_all(x, u, q):
    v = u
    if x > 0:
        v = u[q]
    return np.sum(np.sin(v))


def shorter(x, u, q):
    v = u[:3] if x > 0 else np.log(u[1:3])
    return np.sum(v * v)


def selected_in_the_first_pass(x, u, q):
    for _ in range(int(x > 0)):
        return np.sum(np.sin(u[q]))
    return np.sum(u)


def returned(x, u, q):
    for _ in range(int(x > 0)):
        return u[q]
    return u


def sum_of_returned(x, u, q):
    return np.sum(np.sin(returned(x, u, q)))


@pytest.mark.parametrize(
    "f", [selected, selected_or_all, shorter, selected_in_the_first_pass, sum_of_returned]
)
@pytest.mark.parametrize("form", FORMS)
def test_sides_of_different_lengths(f, form):
    values = [f(x, u, Q) for x, u in zip(X, U, strict=True)]
    np.testing.assert_allclose(form(vmap(f, (0, 0, None)))(X, U, Q), values)
    found = form(vmap(grad(f, argnums=1), (0, 0, None)))(X, U, Q)
    np.testing.assert_allclose(found, slopes(f, Q), atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_sides_with_arguments_of_one_length(form):
    def chosen(x, u, v):
        return np.log(u) if x > 0 else v

    v = np.arange(4.0)
    expected = [chosen(x, u, v) for x, u in zip(X, U, strict=True)]
    np.testing.assert_allclose(form(vmap(chosen, (0, 0, None)))(X, U, v), expected)


def test_what_a_side_saves_of_values_that_are_the_same_for_all_is_saved_once():
    def f(x, u, w):
        if x > 0:
            v = np.exp(w @ w)
            return np.sum(np.sin(v * u))
        return x

    w = np.linspace(-0.3, 0.2, 16).reshape(4, 4)

    slope = vmap(grad(f, argnums=2), (0, 0, None))
    expected = [grad(f, argnums=2)(x, u, w) for x, u in zip(X, U, strict=True)]
    np.testing.assert_allclose(slope(X, U, w), expected, rtol=1e-12)
    saved = [line for line in slope.source().splitlines() if "np.exp(" in line]
    assert saved == ["    v = np.exp(w @ w)  # line 82"]


def test_what_no_element_saves_is_not_looked_at():
    def f(x, u, q):
        if x > 5:
            return np.sum(np.sin(u[q]) * np.linalg.solve(np.eye(3) + u[q], u[q]))
        return np.sum(u * u)

    found = vmap(vmap(grad(f, argnums=1), (0, 0, None)), (0, 0, None))(X[None], U[None], Q)
    np.testing.assert_allclose(found, 2 * U[None])


def test_a_side_that_computes_the_same_for_all_in_two_batches():
    def f(x, v, q):
        if q:
            s = x
        else:
            s = np.linalg.norm(v)
            x = x * s
        return x + s

    v, x, q = np.ones(4), np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3) % 2 > 0
    for form in FORMS:
        twice = form(vmap(vmap(f, (0, None, 0)), (0, None, 0)))
        np.testing.assert_allclose(twice(x, v, q), np.where(q, 2 * x, 2 * x + 2))


def test_what_a_loop_of_an_element_leaves_unset():
    def f(x, n, v):
        for _ in range(n):
            kept = [x, x + 1]
            last = kept.pop()
            if last > 1.5:
                kept.append(last)
            return x, v * len(kept)
        return 2 * x, v

    n, v = np.array([0, 1, 2]), np.ones(2)
    expected = [f(x, k, v) for x, k in zip(X, n, strict=True)]
    for form in FORMS:
        results = form(vmap(f, (0, 0, None)))(X, n, v)
        for found, wanted in zip(results, zip(*expected, strict=True), strict=True):
            np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("q", [True, False])
def test_what_is_set_under_a_test_that_all_share(q):
    def f(x, v, q):
        if q:
            t = np.sum(v * v)
        if x > 0 and q:
            return x * t
        return x

    v = np.ones(4)
    expected = [f(x, v, q) for x in X]
    for form in FORMS:
        np.testing.assert_allclose(form(vmap(f, (0, None, None)))(X, v, np.bool_(q)), expected)


def stored_in_some_rows(x, v, m):
    """A branch in a branch whose parts of the batch are overwritten in a loop."""
    m = m.copy()
    if x < x + 0.3:
        for _ in range(m.shape[0]):
            m[1:] = np.sin(m[:-1])
        if v[0] < 0.7:
            while x < 0.8:
                x = x + 0.3
                v = v * np.sin(x + v[0])
    return x + np.sum(np.sin(m)) + v[-1]


def test_lengths_of_parts_in_the_second_derivative():
    m = np.array([[0.19, 0.76, 0.85], [0.9, 0.09, -0.83], [-0.4, 0.3, 0.2]])

    def slopes(x):
        out, back = vjp(lambda x, m: vmap(lambda e: stored_in_some_rows(x, e, m))(m), x, m)
        x_bar, m_bar = back(np.cos(out))
        return np.sin(x_bar) + np.sum(m_bar**2)

    quotient = (slopes(0.36 + 1e-5) - slopes(0.36 - 1e-5)) / 2e-5
    assert grad(slopes)(0.36) == pytest.approx(quotient, rel=1e-7)


def selected_on_some_sides(x, v):
    """What only one side of a branch selects is read on sides of later ones."""
    total = 0.0
    if x > 0:
        t = v[v > 0] * 3 * x
    if x > 1:
        total = total + np.sum(t * t)
    if x > 2:
        total = total * np.sum(t)
    return total + x


def slopes_of_selected(x, v):
    """d/dx and d/dv of `selected_on_some_sides`, and their derivatives by x, worked out by hand."""
    p = v[v > 0]
    a, b, mask = 9 * np.sum(p * p), 3 * np.sum(p), v > 0
    if x <= 1:
        return [1.0, 0 * v], [0.0, 0 * v]
    if x <= 2:
        return [2 * a * x + 1, 18 * x**2 * v * mask], [2 * a, 36 * x * v * mask]
    by_v = (18 * v * b + 3 * a) * mask
    return [3 * a * b * x**2 + 1, x**3 * by_v], [6 * a * b * x, 3 * x**2 * by_v]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("x", [-1.0, 0.5, 1.5, 2.5])
def test_selected_on_some_sides(form, x):
    """Derivatives of values, and of lengths, that the program does not come to."""
    f, v = selected_on_some_sides, np.array([0.7, -0.4, 1.2, 0.3])
    (by_x, by_v), (by_x_x, by_v_x) = slopes_of_selected(x, v)
    first = form(value_and_grad(f, argnums=(0, 1)))
    second = [form(t(grad(f, argnums=(0, 1)))) for t in (jacfwd, jacrev)]
    value, slopes = first(x, v)
    assert value == pytest.approx(f(x, v))
    np.testing.assert_allclose(slopes[0], by_x)
    np.testing.assert_allclose(slopes[1], by_v)
    for derivative in second:
        np.testing.assert_allclose(derivative(x, v)[0], by_x_x)
        np.testing.assert_allclose(derivative(x, v)[1], by_v_x)
    by_v_twice = [form(t(grad(f, argnums=1), argnums=1)) for t in (jacfwd, jacrev)]
    steps = 1e-6 * np.eye(4)
    columns = [(grad(f, argnums=1)(x, v + d) - grad(f, argnums=1)(x, v - d)) / 2e-6 for d in steps]
    for derivative in by_v_twice:
        np.testing.assert_allclose(derivative(x, v), columns, rtol=1e-6, atol=1e-7)


def read_beyond(x, v):
    return x if x < 1 else x + v[np.argmax(v) + 7]


def divided_by_a_count(x, v):
    return x if x < 1 else x + 1 / int(v[0])


def inverted(x, v):
    return x if x < 1 else x + np.linalg.inv(np.outer(v, v))[0, 0]


def largest_of_none(x, v):
    return x if x < 1 else x + np.max(v[v > 9])


def selected_lengths_differ(x, v):
    return x if x < 1 else x + np.sum(v[v > -1] + v[v > 0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "f", [read_beyond, divided_by_a_count, inverted, largest_of_none, selected_lengths_differ]
)
def test_a_side_that_fails_for_all_fails_where_an_element_takes_it(f, form):
    x, v = np.array([0.5, 0.3]), np.array([0.0, 1.0, 2.0])
    batched = form(vmap(value_and_grad(f), (0, None)))
    np.testing.assert_array_equal(batched(x, v), [x, np.ones(2)])
    if f is not divided_by_a_count:  # numbers of a batch are an array's: they divide by zero
        with pytest.raises((LookupError, ValueError)):
            batched(x + 1, v)
