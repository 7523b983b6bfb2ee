"""vjp and linearize: values, the two emitted functions, and what is kept between them."""

import copy
import pickle

import numpy as np
import pytest

from tapeless import custom_jvp, grad, jacrev, jit, jvp, linearize, new_ref, tree, vjp, vmap
from tapeless.transforms.errors import ArgumentError, TapelessError, UnsupportedError
from tests.api.importable import scaled, square


def layer(w, x):
    return np.tanh(w @ x)


W = np.array([[0.1, 0.2, -0.3], [0.5, -0.4, 0.2]])
V = np.array([1.0, -1.0, 2.0])


def test_vjp_of_a_layer():
    value, pull = vjp(layer, W, V)
    np.testing.assert_array_equal(value, np.tanh(W @ V))
    bar = np.array([2.0, 3.0])
    z_bar = bar * (1 - np.tanh(W @ V) ** 2)
    w_bar, x_bar = pull(bar)
    np.testing.assert_allclose(w_bar, np.outer(z_bar, V), rtol=1e-14)
    np.testing.assert_allclose(x_bar, W.T @ z_bar, rtol=1e-14)


def test_linearize_of_a_layer():
    value, push = linearize(layer, W, V)
    np.testing.assert_array_equal(value, np.tanh(W @ V))
    w_dot, x_dot = np.ones_like(W), np.array([0.5, 0.0, 1.0])
    wanted = (1 - np.tanh(W @ V) ** 2) * (w_dot @ V + W @ x_dot)
    np.testing.assert_allclose(push(w_dot, x_dot), wanted, rtol=1e-14)


def test_they_are_linear_and_may_be_called_often():
    _, pull = vjp(square, 3.0)
    assert [pull(c) for c in (1.0, 2.0, -1.0)] == [(6.0,), (12.0,), (-6.0,)]
    _, push = linearize(square, 3.0)
    assert [push(c) for c in (1.0, 2.0, -1.0)] == [6.0, 12.0, -6.0]


def test_has_aux():
    def f(x):
        return x**2, {"seen": x}

    value, pull, aux = vjp(f, 3.0, has_aux=True)
    assert (value, pull(1.0), aux) == (9.0, (6.0,), {"seen": 3.0})
    value, push, aux = linearize(f, 3.0, has_aux=True)
    assert (value, push(1.0), aux) == (9.0, 6.0, {"seen": 3.0})


def test_containers():
    def f(t):
        return [t["a"] * t["b"], (t["a"], None)]

    value, pull = vjp(f, {"a": 2.0, "b": 3.0})
    assert value == [6.0, (2.0, None)]
    assert pull([1.0, (10.0, None)]) == ({"a": 13.0, "b": 2.0},)


def test_leaves_without_derivative():
    def f(x, n, flags):
        return x**n if flags["cube"] else x

    _, pull = vjp(f, 2.0, 3, {"cube": True, "name": "text"})
    assert pull(1.0) == (12.0, 0.0, {"cube": 0.0, "name": None})
    _, pull = vjp(lambda x, k: x[k], np.arange(3.0), np.array([2, 2]))
    x_bar, k_bar = pull(np.ones(2))
    np.testing.assert_array_equal(x_bar, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(k_bar, [0.0, 0.0])


def test_what_is_saved_is_not_the_callers():
    x = np.array([2.0, 3.0])
    value, pull = vjp(lambda x: x * x, x)
    _, push = linearize(lambda x: x * x, x)
    x[:] = 100.0
    value[:] = 100.0
    np.testing.assert_array_equal(pull(np.ones(2))[0], [4.0, 6.0])
    np.testing.assert_array_equal(push(np.ones(2)), [4.0, 6.0])


def test_cotangents_are_not_returned_themselves():
    ct = np.ones(2)
    (bar,) = vjp(lambda x: x, np.zeros(2))[1](ct)
    bar[:] = 5.0
    np.testing.assert_array_equal(ct, [1.0, 1.0])


def test_results_do_not_share_memory():
    first, second = vjp(lambda x, y: x + y, np.zeros(2), np.zeros(2))[1](np.ones(2))
    first[:] = 5.0
    np.testing.assert_array_equal(second, [1.0, 1.0])


def test_dtypes_are_kept():
    x = np.ones(3, np.float32)
    value, pull = vjp(lambda x: x * 2.0, x)
    assert value.dtype == np.float32
    assert pull(np.ones(3, np.float32))[0].dtype == np.float32
    assert linearize(lambda x: x * 2.0, x)[1](x).dtype == np.float32


# -- loops


def powers(x):
    for _ in range(3):
        x = x * np.sin(x)
    return x


def until(x):
    while x < 100.0:
        x = x * x if x > 3.0 else x + 1.5
    return x


def smooth(u):
    for _ in range(2):
        for i in range(1, len(u) - 1):
            u[i] = np.sin(u[i - 1]) * u[i + 1]
    return u


@pytest.mark.parametrize(
    ("f", "x"), [(powers, 0.9), (until, 0.7), (smooth, np.linspace(0.1, 1.0, 6))]
)
def test_loops(f, x):
    h = 1e-6
    direction = np.ones_like(x) if np.ndim(x) else 1.0
    wanted = (f(np.copy(x) + h * direction) - f(np.copy(x) - h * direction)) / (2 * h)
    value, push = linearize(f, x)
    np.testing.assert_allclose(value, f(np.copy(x)), rtol=1e-14)
    for _ in range(2):
        np.testing.assert_allclose(push(direction), wanted, rtol=1e-6)
    _, pull = vjp(f, x)
    for _ in range(2):
        (bar,) = pull(direction)
        np.testing.assert_allclose(np.sum(bar * direction), np.sum(wanted * direction), rtol=1e-6)


def test_linearize_saves_in_loops_and_computes_the_value_once():
    _, push = linearize(powers, 0.9)
    forward, backward = push.source().split("def powers_tangent")
    assert "x_saved[" in forward
    assert "x_saved" in backward
    assert ".copy()" not in forward


# -- source, repr, pickle


def test_one_module_has_both_functions():
    _, pull = vjp(scaled, 1.0)
    values = {}
    exec(pull.source(), values)
    value, saved = values["scaled_fwd"](1.0)
    assert value == 2 * np.sin(1.0)
    assert values["scaled_bwd"](*saved, 3.0) == (6 * np.cos(1.0),)
    assert "tapeless" not in pull.source()


def test_repr():
    assert repr(vjp(square, 1.0)[1]) == "<pull-back of square>"
    assert repr(linearize(square, 1.0)[1]) == "<derivative of square at a point>"


@pytest.mark.parametrize("again", [lambda p: pickle.loads(pickle.dumps(p)), copy.deepcopy])
def test_pickle_and_copy(again):
    assert again(vjp(scaled, 1.0)[1])(3.0) == (6 * np.cos(1.0),)
    assert again(linearize(scaled, 1.0)[1])(3.0) == 6 * np.cos(1.0)
    x = np.linspace(0.0, 1.0, 5)
    np.testing.assert_allclose(again(vjp(scaled, x)[1])(x)[0], 2 * x * np.cos(x))


def test_a_pickle_of_another_function_is_refused():
    made = pickle.dumps(vjp(scaled, 1.0)[1])
    old = scaled.__defaults__
    scaled.__defaults__ = (3,)  # an integer: other code
    try:
        with pytest.raises(TapelessError, match="was pickled where the function"):
            pickle.loads(made)
    finally:
        scaled.__defaults__ = old


def test_while_loops_cannot_be_pulled_back_inside_other_functions():
    _, pull = vjp(until, 0.7)
    with pytest.raises(UnsupportedError) as e:
        vjp(lambda c: pull(c)[0], 1.0)
    assert e.value.problem == (
        "the derivative of until holds what a while loop saved, and is called in a function that "
        "is transformed"
    )
    assert e.value.hint == "call vjp inside that function"


def test_a_function_that_says_what_may_be_ignored():
    def below_errstate(x):
        with np.errstate(divide="ignore"):
            return np.log(x) ** 2

    assert vjp(below_errstate, 2.0)[1](1.0)[0] == pytest.approx(np.log(2.0))


def test_a_variable_of_the_user_that_is_called_like_ours():
    """Saved values without a name are called t, t_2, ...: no variable of the user is."""

    def masked(x, y):
        t = np.where(x > 9, y * x, 0.0)
        return np.where(x > 9, t * t, y * y * y * x)

    x_bar, y_bar = vjp(masked, np.array([3.0]), 0.5)[1](np.array([1.0]))
    assert (x_bar.tolist(), float(y_bar)) == ([0.125], 2.25)


def cumulated(x):
    return np.cumsum(np.tanh(x)) * x


@pytest.mark.parametrize("n", [1, 3, 100])
def test_derivatives_at_a_point_over_a_batch(n):
    """vmap(pull)(np.eye(n)) is the Jacobian: the sizes of the point are those of elements."""
    x = np.linspace(0.5, 1.0, n)
    _, pull = vjp(cumulated, x)
    _, push = linearize(cumulated, x)
    jacobian = jacrev(cumulated)(x)
    np.testing.assert_allclose(vmap(pull)(np.eye(n))[0], jacobian, rtol=1e-13)
    np.testing.assert_allclose(vmap(push)(np.eye(n)).T, jacobian, rtol=1e-13)


def test_derivatives_at_a_point_beside_other_arrays():
    x, v = np.linspace(0.5, 1.0, 3), np.array([1.0, 2.0, 3.0])
    _, pull = vjp(cumulated, x)
    jacobian = jacrev(cumulated)(x)
    np.testing.assert_allclose(jit(lambda ct: pull(ct)[0] + ct)(v), v @ jacobian + v, rtol=1e-13)
    slope = grad(lambda ct: np.sum(pull(ct)[0] ** 2))(v)
    np.testing.assert_allclose(slope, 2 * jacobian @ (v @ jacobian), rtol=1e-13)
    for wrong in (np.ones(4), np.ones(1)):
        with pytest.raises(ArgumentError, match=r"where \(3,\) is needed"):
            jit(lambda ct: pull(ct)[0])(wrong)


@pytest.mark.parametrize("columns", [3, 5])
def test_lengths_that_only_later_arrays_of_the_derivative_have(columns):
    """The cotangents of the pieces are cut out of an array that is made of their lengths."""

    def joined(c, r):
        return np.concatenate((r[:0:-1], c))[np.array([0, 1, 1])]

    bar, many = np.array([1.0, 2.0, 4.0]), np.arange(float(columns))
    c_bar, r_bar = vjp(joined, V, many)[1](bar)
    rows = np.eye(3 + columns - 1)[[0, 1, 1]]  # the part of r is turned around
    np.testing.assert_array_equal(c_bar, bar @ rows[:, columns - 1 :])
    np.testing.assert_array_equal(r_bar, [0, *(bar @ rows[:, : columns - 1])[::-1]])
    np.testing.assert_array_equal(jit(lambda *a: vjp(joined, *a)[1](bar)[1])(V, many), r_bar)


def test_stages_and_the_function_behind():
    for derivative in (vjp(layer, W, V)[1], linearize(layer, W, V)[1]):
        assert derivative.__wrapped__ is layer
        assert derivative.stages()["source"] == derivative.source()


def test_called_functions_that_save_a_length():
    """The second derivative reads the length again from what the first one saved."""

    def total(a, w):
        parts = [np.sum(np.linalg.qr(w[k] * a, "complete")[k] * w[k]) for k in range(2)]
        return parts[0] + parts[1] ** 2

    a, w = np.array([[1.0, 0.3], [0.2, -0.7], [0.5, 0.1]]), np.array([0.5, 2.0])
    _, pull = vjp(lambda a: vjp(total, a, w)[1](1.0)[0], a)
    step = np.cos(np.arange(6.0)).reshape(3, 2)
    ahead, back = (grad(total)(a + h * step, w) for h in (1e-6, -1e-6))
    np.testing.assert_allclose(pull(step)[0], (ahead - back) / 2e-6, rtol=1e-6, atol=1e-7)


def stepped(x, scale):
    h = scale * x
    for _ in range(3):
        h = np.sin(h)
    return h, h * x


def by_side(x, c):
    if c > 0:
        first, second = stepped(x, 2.0)
        return np.sum(np.cos(first)) + np.sum(second**3)
    first, _ = stepped(x, 3.0)
    _, second = stepped(x, 3.0)
    return np.sum(np.cos(first)) + np.sum(second**3)


def joined_in_steps(x, c):
    """Long enough for its steps to be functions of the module."""

    def steps(x):
        h = 2 * x
        for _ in range(3):
            h = (np.sin(h) + x * np.cos(h) - x**2 * h + np.sin(x * h)) / 4
            h = (np.cos(h) - x * np.sin(h) - x**2 * h + np.cos(x * h)) / 4
            h = (np.sin(h) - x * np.sin(h) + x**2 * h + np.cos(x + h)) / 4
        return h, h * x

    if c > 0:
        z = x + 1j * c
        return np.sum(np.cos(np.real(steps(z)[0]))) + np.sum(np.real(steps(z)[1]) ** 2)
    return np.sum(np.cos(steps(x)[0])) + np.sum(steps(x)[1] ** 3)


@pytest.mark.parametrize("f", [by_side, joined_in_steps])
@pytest.mark.parametrize("c", [0.1, -0.1])
def test_what_one_side_of_a_branch_saves(f, c):
    x = np.array([0.3, -0.2, 0.5])
    bar = vjp(f, x, c)[1](1.0)[0]
    step = 1e-6 * np.eye(3)
    expected = [(f(x + e, c) - f(x - e, c)) / 2e-6 for e in step]
    np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-8)


def test_cotangents_are_added_to_references():
    def f(p, x):
        return np.sin(p["w"] * x)

    x = np.arange(3.0)
    _, pull = vjp(f, {"w": 2.0}, x)
    w, bar = new_ref(1.0), new_ref(np.ones(3))
    expected = pull(np.ones(3))
    for times in (1, 2):
        returned = pull.with_refs({"w": w}, bar)(np.ones(3))
        assert returned[0]["w"] is w
        assert returned[1] is bar
        np.testing.assert_allclose(w[...], 1 + times * expected[0]["w"])
        np.testing.assert_allclose(bar[...], 1 + times * expected[1])
    np.testing.assert_allclose(pull.with_refs({"w": w}, None)(np.ones(3))[1], expected[1])
    np.testing.assert_allclose(pull.with_refs()(np.ones(3))[1], expected[1])

    @jit
    def inside(x):
        total = new_ref(np.zeros(3))
        vjp(np.sin, x)[1].with_refs(total)(np.ones(3))
        return total[...]

    np.testing.assert_allclose(inside(x), np.cos(x))


def test_what_a_pull_back_holds():
    value, pull = vjp(lambda p, x: {"y": np.sin(p["w"] * x)}, {"w": 2.0}, np.arange(3.0))
    assert pull.in_tree == tree.structure(({"w": 0.0}, 0.0))
    assert pull.out_tree == tree.structure(value)
    assert pull.in_tree == tree.structure(pull(value))
    saved = [np.asarray(r) for r in pull.opaque_residuals]
    assert any(np.array_equal(r, np.cos(2 * np.arange(3.0))) for r in saved) or any(
        np.array_equal(r, np.arange(3.0)) for r in saved
    )


def chosen(x, m):
    return np.tanh(x) if x < 0.2 else np.sum(np.sin(m)) * x


def test_a_length_is_not_read_off_what_only_one_side_saves():
    by_push, by_formula = custom_jvp(chosen), custom_jvp(chosen)
    by_push.defjvp(lambda primals, tangents: jvp(chosen, primals, tangents))

    @by_formula.defjvp
    def rule(primals, tangents):
        (x, m), (x_dot, m_dot) = primals, tangents
        if x < 0.2:
            return chosen(x, m), (1 - np.tanh(x) ** 2) * x_dot
        tangent = np.sum(np.cos(m) * m_dot) * x + np.sum(np.sin(m)) * x_dot
        return chosen(x, m), tangent

    for f in (by_push, by_formula):
        for x, m in ((0.1, np.ones((2, 3))), (0.3, np.ones((2, 3))), (0.1, np.ones((4, 2)))):
            x_bar, m_bar = vjp(f, x, m)[1](1.0)
            np.testing.assert_allclose(m_bar, np.cos(m) * x * (x >= 0.2))
            expected = 1 - np.tanh(x) ** 2 if x < 0.2 else np.sum(np.sin(m))
            np.testing.assert_allclose(x_bar, expected)
