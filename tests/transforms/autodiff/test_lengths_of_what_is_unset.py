"""Lengths that derivatives of derivatives read where a branch has set nothing that shows them."""

import numpy as np
import pytest

from tapeless import (
    checkpoint,
    custom_jvp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    tree,
    value_and_grad,
    vjp,
    vmap,
)

X, V = 0.49891, np.array([-0.87132722, -0.77186497, -0.40584172])
M = np.array([[-0.38871923, -0.2344643, -0.57898798], [-0.94351199, 0.65408187, -0.18550232]])


def early(x, v, m):
    m = m.copy()
    if x < 0.2 or (x + x) > 0.35:
        return 1.0 * np.tanh(m.sum())
    m[1:] += np.sin(m[:-1])
    return 1.0 * x + 1.14 * np.sum(v * v) + 1.29 * np.sum(np.sin(m))


def product(x, v, m):
    return early(x, v.copy(), m * x) * early(0.5 * x, 0.9 * v, 0.8 * m)


def counted(e):
    total = 0.0
    for k in range(len(e)):
        if total > 0.8:
            break
        total = total + np.sin(e[k]) * e[k - 1]
    return total


def in_passes(x, v, m):
    for _ in range(m.shape[0]):
        x = np.sin(np.where(np.sin(counted(v)) > 0.1, counted(v), np.where(x > 0.1, x, -x)))
    return 1.0 * x + 1.29 * np.sum(np.sin(m))


def with_matrix(x, v, m):
    parts = in_passes(x, v.copy(), m * x) * in_passes(0.5 * x, 0.9 * v, 0.8 * m)
    return {"a": parts, "b": [m]}


def ruled(g):
    rule = custom_jvp(lambda x, v, m: g(x, v, m))
    rule.defjvp(lambda primals, tangents: jvp(g, primals, tangents))
    return rule


@pytest.mark.parametrize("x", [X, 0.1, 0.21])
def test_a_side_without_arrays(x):
    def pulled(x, v, m):
        _, back = vjp(lambda y: ruled(product)(y, v, m), x)
        return np.sum(np.sin(back(1.0)[0]))

    def pushed(x, v, m):
        return np.sum(np.sin(jvp(lambda y: product(y, v, m), (x,), (1.0,))[1]))

    got = jacrev(grad(pulled, argnums=(0, 1)))(x, V, M)
    for a, b in zip(got, jacfwd(grad(pushed, argnums=(0, 1)))(x, V, M), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_a_function_that_is_called_for_each_element():
    got = jacrev(ruled(with_matrix), argnums=1)(-0.46, V, M)
    want = jacfwd(with_matrix, argnums=1)(-0.46, V, M)
    np.testing.assert_allclose(got["a"], want["a"], rtol=1e-9)
    np.testing.assert_array_equal(got["b"][0], np.zeros((2, 3, 3)))


def test_numbers_of_passes_that_a_rule_keeps():
    slope = grad(lambda v: np.sum(counted(v) * v))
    rule = custom_jvp(lambda v: slope(v))
    rule.defjvp(lambda primals, tangents: jvp(slope, primals, tangents))
    got = jacrev(grad(lambda v: np.sum(rule(v))))(V)
    np.testing.assert_allclose(got, jacfwd(grad(lambda v: np.sum(slope(v))))(V), rtol=1e-9)


def branched(x, v, m):
    if x - x > 0.15:
        x = 1.0 * x
    elif x * x > 0.05:
        x = np.tanh(-x - np.sum(np.tanh(m @ v) * (m[::-1] @ (0.3 * v))) * 0.3)
    return x


def test_lengths_that_simplifying_the_first_function_names_anew():
    def f(x, v, m):
        return branched(x, v, m * x) * branched(0.5 * x, 0.9 * v, 0.8 * m) + np.sum(np.sin(m))

    def batch(y, v, m):
        return vmap(value_and_grad(f))(v, np.stack([v, v * y, 0.8 * v]), np.stack([m, m, m]))

    (value, slopes), back = vjp(lambda y: batch(y, V, M), X)
    _, dots = jvp(lambda y: batch(y, V, M), (X,), (1.0,))
    want = np.sum(np.cos(value) * dots[0] + np.cos(slopes) * dots[1])
    np.testing.assert_allclose(back((np.cos(value), np.cos(slopes)))[0], want, rtol=1e-9)


@checkpoint
def again(a):
    y = a
    while abs(y) < 1.2:
        y = 1.3 * y + 0.2 * np.cos(a)
    return np.sin(y)


def test_lengths_of_batches_that_run_again_in_forward_mode():
    def passes(e):
        k, t = 0, e
        while k < 3 and t < 0.8:
            k += 1
            t = t + again(e * t)
        return t

    def pushed(x):
        _, push = linearize(vmap(passes), x)
        return push(np.cos(x))

    def by_jvp(x):
        return jvp(vmap(passes), (x,), (np.cos(x),))[1]

    _, back = vjp(pushed, V)
    _, dots = jvp(by_jvp, (V,), (np.ones(3),))
    np.testing.assert_allclose(back(np.ones(3))[0], dots, rtol=1e-9)


def settled(a):
    y = a
    while abs(y) > 0.4:
        y = 0.6 * np.sin(y) + 0.05 * a
    return y * a


def left_early(x, v, m):
    row = m[-1]
    k = 0
    while x < 0.5 and k < 4:
        if -0.5 < x < 0.7:
            return np.sin(settled(x))
    row[:] = np.tanh(np.tanh(x) if x < 0.2 else x * x)
    return x + np.sum(v * v) + np.sum(row * row) + np.sum(np.sin(m))


def test_a_cotangent_without_a_value_is_not_copied():
    def f(x, v, m):
        parts = left_early(x, v.copy(), m * x) * left_early(0.5 * x, 0.9 * v, 0.8 * m)
        return {"a": parts, "b": [m]}

    second = jacrev(jacrev(f, argnums=(0, 1)))

    def total(x, v, m):
        return sum(np.sum(np.sin(leaf)) for leaf in tree.leaves(second(x, v, m)))

    want = (total(0.17 + 1e-6, V, M) - total(0.17 - 1e-6, V, M)) / 2e-6
    np.testing.assert_allclose(grad(total)(0.17, V, M), want, rtol=1e-6)


def loops_on_one_side(x, v, m):
    if not -0.5 < x < 0.7:
        k, going = 0, True
        while k < 4 and going:
            j = 0
            while j < 3 and x < 0.8:
                j += 1
                v[:] *= np.sin(v * v)
                x = np.sin(x * x)
            going = bool(v[k % len(v)] > 0.1)
            x = np.sin(np.sum(v) - x * x)
            k += 1
    return x + np.sum(v * v) + np.sum(np.sin(m))


def test_zeros_of_a_list_without_a_value_have_none():
    def f(x, v, m):
        parts = loops_on_one_side(x, v.copy(), m * x)
        return parts * loops_on_one_side(0.5 * x, 0.9 * v, 0.8 * m)

    def slope(x):
        out, back = vjp(lambda y: grad(f, argnums=(0, 1))(y, V, M), x)
        return back((np.cos(out[0]), np.cos(out[1])))[0]

    want = (slope(0.23 + 1e-4) - 2 * slope(0.23) + slope(0.23 - 1e-4)) / 1e-8
    np.testing.assert_allclose(hessian(slope)(0.23), want, rtol=1e-5)
