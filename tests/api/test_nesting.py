"""Transformations of functions that are transformed, or that transform inside."""

import collections
import functools

import numpy as np
import pytest

from tapeless import (
    checkpoint,
    custom_jvp,
    grad,
    jit,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

X = 0.7


def f(x):
    return np.sin(x) * x**2


# f, f', f'', f''' by hand
DERIVATIVES = [
    np.sin(X) * X**2,
    np.cos(X) * X**2 + 2 * X * np.sin(X),
    -np.sin(X) * X**2 + 4 * X * np.cos(X) + 2 * np.sin(X),
    -np.cos(X) * X**2 - 6 * X * np.sin(X) + 6 * np.cos(X),
]


def by_grad(f):
    return grad(f)


def by_value_and_grad(f):
    return lambda x: value_and_grad(f)(x)[1]


def by_jvp(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def by_vjp(f):
    return lambda x: vjp(f, x)[1](1.0)[0]


def by_linearize(f):
    return lambda x: linearize(f, x)[1](1.0)


WAYS = [by_grad, by_value_and_grad, by_jvp, by_vjp, by_linearize]


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_second_order(outer, inner):
    assert outer(inner(f))(X) == pytest.approx(DERIVATIVES[2], rel=1e-13)


@pytest.mark.parametrize("ways", [WAYS[k:] + WAYS[:k] for k in range(5)])
def test_third_order(ways):
    first, second, third, *_ = ways
    assert first(second(third(f)))(X) == pytest.approx(DERIVATIVES[3], rel=1e-13)


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("wrap", [checkpoint, lambda f: checkpoint(checkpoint(f))])
def test_checkpoint_inside_and_outside(outer, wrap):
    assert outer(wrap(by_grad(f)))(X) == pytest.approx(DERIVATIVES[2], rel=1e-13)
    assert outer(by_grad(wrap(f)))(X) == pytest.approx(DERIVATIVES[2], rel=1e-13)


def test_perturbations_are_not_confused():
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    assert jvp(lambda x: x * jvp(lambda y: x * y, (2.0,), (1.0,))[1], (3.0,), (1.0,))[1] == 6.0
    assert grad(lambda x: grad(lambda y: x * y**2)(x))(3.0) == 12.0


def test_the_derivative_may_depend_on_closed_over_values():
    def outer(x):
        slope = grad(lambda y: np.sin(x * y))(2.0)  # x cos(2x)
        return slope**2

    x = 0.3
    wanted = 2 * x * np.cos(2 * x) * (np.cos(2 * x) - 2 * x * np.sin(2 * x))
    assert grad(outer)(x) == pytest.approx(wanted, rel=1e-13)


def test_gradient_descent_inside():
    def minimum(a):
        x = 0.0
        for _ in range(5):
            x = x - 0.25 * grad(lambda x: (x - a) ** 2)(x)  # halves the distance to a
        return x

    assert minimum(1.0) == 1 - 0.5**5
    assert grad(minimum)(1.0) == pytest.approx(1 - 0.5**5)


def test_hessian_vector_products():
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    x, v = np.array([1.0, -1.0]), np.array([2.0, 5.0])

    def quadratic(x):
        return 0.5 * x @ a @ x

    np.testing.assert_allclose(jvp(grad(quadratic), (x,), (v,))[1], a @ v)
    np.testing.assert_allclose(grad(lambda x: np.vdot(grad(quadratic)(x), v))(x), a @ v)
    np.testing.assert_allclose(grad(lambda x: jvp(quadratic, (x,), (v,))[1])(x), a @ v)
    np.testing.assert_allclose(vjp(grad(quadratic), x)[1](v)[0], a @ v)
    np.testing.assert_allclose(linearize(grad(quadratic), x)[1](v), a @ v)


def test_derivatives_made_outside_are_called_inside():
    _, pull = vjp(f, X)
    _, push = linearize(f, X)
    slope = DERIVATIVES[1]
    assert grad(lambda c: pull(c)[0] ** 2)(3.0) == pytest.approx(6 * slope**2, rel=1e-13)
    assert grad(lambda c: push(c) ** 2)(3.0) == pytest.approx(6 * slope**2, rel=1e-13)


def test_transformed_functions_are_arguments():
    def apply(g, x):
        return g(x) ** 2

    wanted = 2 * DERIVATIVES[1] * DERIVATIVES[2]
    assert grad(apply, argnums=1)(grad(f), X) == pytest.approx(wanted, rel=1e-13)


def test_decorators_stack():
    @grad
    @grad
    @checkpoint
    def second(x):
        return f(x)

    assert second(X) == pytest.approx(DERIVATIVES[2], rel=1e-13)


def test_partials_of_transformed_functions():
    slope = functools.partial(grad(lambda a, x: a * x**3, argnums=1), 2.0)
    assert slope(3.0) == 54.0
    assert grad(slope)(3.0) == 36.0


# -- stop_gradient


def test_stop_gradient():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert jvp(lambda x: stop_gradient(x) ** 2, (3.0,), (1.0,)) == (9.0, 0.0)
    assert stop_gradient(3.0) == 3.0


def test_stop_gradient_of_trees():
    def g(t):
        held = stop_gradient(t)
        return t["a"] * held["a"] + held["b"][0] * t["b"][0] * held["c"]

    assert grad(lambda t: g({**t, "c": 2}))({"a": 3.0, "b": [4.0]}) == {"a": 3.0, "b": [8.0]}


def test_stop_gradient_lasts():
    assert grad(grad(lambda x: x**2 * stop_gradient(x)))(3.0) == 6.0


# -- rules at higher order


@custom_jvp
def doubled(x):
    return np.sin(x)


@doubled.defjvp
def doubled_rule(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return doubled(x), 2 * np.cos(x) * x_dot


@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("inner", WAYS)
def test_rules_hold_at_every_order(outer, inner):
    # The rule is differentiated, not the function: d/dx 2 cos x = -2 sin x.
    assert outer(inner(doubled))(X) == pytest.approx(-2 * np.sin(X), rel=1e-13)


@pytest.mark.parametrize(
    "params",
    [
        collections.OrderedDict(b=1.0, a=2.0),
        collections.defaultdict(float, a=2.0, b=3.0),
    ],
)
def test_dictionaries_keep_their_kind(params):
    slopes = grad(lambda d: d["a"] * d["b"])(params)
    assert type(slopes) is type(params)
    assert slopes == {"a": params["b"], "b": params["a"]}
    assert list(slopes) == list(params)
    chosen = jit(lambda x, d: d if x > 0 else {**d, "a": x})(1.0, dict(params))
    assert chosen == dict(params)
    picked = jit(lambda x, p, q: p if x > 0 else q)(-1.0, params, slopes)
    assert type(picked) is type(params)
    assert picked == slopes


def root_or_nothing(x):
    y = np.sqrt(x) if x > 0 else 0.0
    return np.sin(y) + x


def root_in_a_loop(x):
    for _ in range(2):
        y = np.sqrt(x) if x > 0 else 0.5
        x = x * y
    return x


@pytest.mark.parametrize("f", [root_or_nothing, root_in_a_loop])
def test_factors_of_branches_in_second_derivatives(f):
    for x in (2.0, -1.0):
        slope = grad(f)
        expected = (slope(x + 1e-6) - slope(x - 1e-6)) / 2e-6
        assert grad(slope)(x) == pytest.approx(expected, abs=1e-7)
        assert vmap(grad(slope))(np.array([x, -x]))[0] == pytest.approx(expected, abs=1e-7)
