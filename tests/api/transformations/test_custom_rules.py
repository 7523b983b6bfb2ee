"""custom_jvp, custom_vjp and checkpoint."""

import functools
import re

import numpy as np
import pytest

from tapeless import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linearize,
    remat,
    value_and_grad,
    vjp,
    vmap,
)
from tapeless.transforms.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotDifferentiableError,
    UnsupportedError,
)

X = 0.7


@custom_jvp
def tripled(x):
    """A function whose derivative is made three times too large, to tell it from its own."""
    return np.sin(x)


@tripled.defjvp
def tripled_rule(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return tripled(x), 3 * np.cos(x) * x_dot


@custom_vjp
def halved(x):
    """A function whose derivative is made half of what it is."""
    return np.sin(x)


halved.defvjp(lambda x: (np.sin(x), x), lambda x, bar: (0.5 * np.cos(x) * bar,))


# -- custom_jvp


def test_custom_jvp_in_both_modes():
    assert tripled(X) == np.sin(X)
    assert jvp(tripled, (X,), (2.0,)) == pytest.approx((np.sin(X), 6 * np.cos(X)))
    assert grad(tripled)(X) == pytest.approx(3 * np.cos(X))
    assert vjp(tripled, X)[1](2.0)[0] == pytest.approx(6 * np.cos(X))
    assert linearize(tripled, X)[1](2.0) == pytest.approx(6 * np.cos(X))


def test_custom_jvp_of_arrays_and_containers():
    @custom_jvp
    def f(params, x):
        return {"out": params["w"] * x, "sum": np.sum(x)}

    @f.defjvp
    def rule(primals, tangents):
        (params, x), (params_dot, x_dot) = primals, tangents
        out_dot = params_dot["w"] * x + 10 * params["w"] * x_dot
        return f(params, x), {"out": out_dot, "sum": np.sum(x_dot)}

    def loss(params, x):
        made = f(params, x)
        return np.sum(made["out"]) + made["sum"]

    x = np.array([1.0, 2.0])
    params_bar, x_bar = grad(loss, argnums=(0, 1))({"w": 3.0}, x)
    assert params_bar == {"w": 3.0}
    np.testing.assert_array_equal(x_bar, [31.0, 31.0])


def test_defjvps():
    @custom_jvp
    def f(x, y, z):
        return x * y * z

    f.defjvps(lambda dot, out, x, y, z: 7 * dot, None, lambda dot, out, x, y, z: out * dot)
    assert grad(f, argnums=(0, 1, 2))(2.0, 3.0, 4.0) == (7.0, 0.0, 24.0)
    assert jvp(f, (2.0, 3.0, 4.0), (1.0, 1.0, 1.0)) == (24.0, 31.0)


def test_defjvps_without_any_rule_is_zero():
    @custom_jvp
    def f(x):
        return x**2

    f.defjvps(None)
    assert jvp(f, (3.0,), (1.0,)) == (9.0, 0.0)


@pytest.mark.parametrize(
    "options", [{"nondiff_argnums": (0, 2)}, {"nondiff_argnames": ("power", "times")}]
)
def test_nondiff_arguments_of_custom_jvp(options):
    @functools.partial(custom_jvp, **options)
    def f(power, x, times):
        return times(x**power)

    @f.defjvp
    def rule(power, times, primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return times(x**power), 100.0 * power * x_dot

    assert f(2, 3.0, abs) == 9.0
    assert grad(f, argnums=1)(2, 3.0, abs) == 200.0
    assert grad(lambda x: f(3, x, lambda y: -y))(2.0) == 300.0
    assert jvp(lambda x: f(2, x, times=abs), (3.0,), (1.0,)) == (9.0, 200.0)


def test_defaults_and_keywords_reach_the_rule_in_their_places():
    @custom_jvp
    def f(x, scale=2.0):
        return scale * x

    @f.defjvp
    def rule(primals, tangents):
        (x, scale), (x_dot, scale_dot) = primals, tangents
        return f(x, scale), 10 * scale * x_dot + x * scale_dot

    assert grad(f)(3.0) == 20.0
    assert grad(lambda x: f(x, scale=5.0))(3.0) == 50.0
    assert grad(lambda s: f(3.0, scale=s))(5.0) == 3.0


# -- custom_vjp


def test_custom_vjp():
    assert halved(X) == np.sin(X)
    assert grad(halved)(X) == pytest.approx(0.5 * np.cos(X))
    assert value_and_grad(halved)(X) == pytest.approx((np.sin(X), 0.5 * np.cos(X)))
    assert vjp(halved, X)[1](2.0)[0] == pytest.approx(np.cos(X))
    assert grad(grad(halved))(X) == pytest.approx(-0.5 * np.sin(X))
    assert jvp(grad(halved), (X,), (1.0,))[1] == pytest.approx(-0.5 * np.sin(X))


def test_rules_may_branch_and_loop_on_values():
    @custom_vjp
    def clipped(x):
        return x

    def back(_, bar):
        if bar > 1.0:
            bar = 1.0
        while bar < -1.0:
            bar = bar + 0.25
        return (bar,)

    clipped.defvjp(lambda x: (x, None), back)
    assert grad(lambda x: 5.0 * clipped(x))(2.0) == 1.0
    assert grad(lambda x: 0.5 * clipped(x))(2.0) == 0.5
    assert grad(lambda x: -1.6 * clipped(x))(2.0) == pytest.approx(-0.85)


def test_custom_vjp_of_containers():
    @custom_vjp
    def f(t):
        return t["a"] * t["b"], {"a": t["a"]}

    def forward(t):
        return f(t), (t["a"], [t["b"]])

    def back(saved, bars):
        _, (b,) = saved
        bar, more = bars
        return ({"a": 2 * b * bar + more["a"], "b": None},)

    f.defvjp(forward, back)
    _, pull = vjp(f, {"a": 3.0, "b": 4.0})
    assert pull((1.0, {"a": 10.0})) == ({"a": 18.0, "b": 0.0},)


@pytest.mark.parametrize("options", [{"nondiff_argnums": (1,)}, {"nondiff_argnames": "bound"}])
def test_nondiff_arguments_of_custom_vjp(options):
    @functools.partial(custom_vjp, **options)
    def f(x, bound):
        return x

    f.defvjp(lambda x, bound: (x, x), lambda bound, x, bar: (min(bar, bound) * x,))
    assert grad(f)(3.0, 0.25) == 0.75
    assert grad(lambda x: 10.0 * f(x, bound=2.0))(3.0) == 6.0


def test_none_stands_for_zero():
    @custom_vjp
    def f(x, y):
        return x * y

    f.defvjp(lambda x, y: (x * y, y), lambda y, bar: (y * bar, None))
    assert grad(f, argnums=(0, 1))(2.0, 3.0) == (3.0, 0.0)


# -- both, everywhere


@pytest.mark.parametrize(("f", "factor"), [(tripled, 3.0), (halved, 0.5)])
def test_rules_in_loops_branches_and_calls(f, factor):
    def loop(x):
        for _ in range(4):
            x = f(x) + x
        return x

    def branch(x):
        if x > 0.5:
            return f(x) * 2
        return x

    def while_(x):
        while x < 3.0:
            x = x + f(x)
        return x

    def by_hand(x, steps):
        dot = 1.0
        for _ in range(steps):
            x, dot = np.sin(x) + x, dot * (factor * np.cos(x) + 1)
        return dot

    steps, y = 0, X
    while y < 3.0:
        y, steps = y + np.sin(y), steps + 1
    assert steps > 1
    assert grad(loop)(X) == pytest.approx(by_hand(X, 4))
    assert grad(while_)(X) == pytest.approx(by_hand(X, steps))
    assert grad(branch)(X) == pytest.approx(2 * factor * np.cos(X))
    assert grad(branch)(0.1) == 1.0
    assert grad(checkpoint(loop))(X) == pytest.approx(by_hand(X, 4))
    assert grad(lambda x: grad(loop)(x) * 0.0 + loop(x))(X) == pytest.approx(by_hand(X, 4))


def test_a_rule_that_is_changed_counts_from_then_on():
    @custom_jvp
    def f(x):
        return x

    slope = grad(lambda x: f(x))
    f.defjvp(lambda primals, tangents: (primals[0], 2 * tangents[0]))
    assert slope(1.0) == 2.0
    f.defjvp(lambda primals, tangents: (primals[0], 5 * tangents[0]))
    assert slope(1.0) == 5.0


def test_rules_of_methods():
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @functools.partial(custom_vjp, nondiff_argnums=(0,))
        def __call__(self, x):
            return self.factor * x

        def forward(self, x):
            return self.factor * x, None

        def back(self, _, bar):
            return (100.0 * self.factor * bar,)

        __call__.defvjp(forward, back)

    assert Model(2.0)(3.0) == 6.0
    assert grad(Model(2.0).__call__)(3.0) == 200.0


def test_repr_and_names():
    assert repr(tripled) == "<custom_jvp tripled>"
    assert repr(halved) == "<custom_vjp halved>"
    assert repr(checkpoint(test_custom_vjp)) == "<checkpoint test_custom_vjp>"
    assert tripled.__doc__.startswith("A function whose derivative")
    assert tripled.__wrapped__(X) == np.sin(X)


# -- checkpoint


def deep(x):
    return np.exp(np.sin(np.sin(np.sin(x))))


def test_checkpoint_saves_the_arguments_only():
    _, plain = vjp(deep, X)
    _, less = vjp(checkpoint(deep), X)
    assert less(1.0)[0] == pytest.approx(plain(1.0)[0], rel=1e-14)
    assert len(plain.residuals) > 1
    assert less.residuals == (X,)
    back = less.source().split("def deep_bwd")[1]
    assert back.count("np.sin(") >= 3


def test_checkpoint_of_a_loop_body():
    def body(x):
        return np.sin(np.exp(np.sin(x)))

    def run(step):
        def f(x):
            for _ in range(6):
                x = step(x)
            return np.sum(x)

        return f

    x = np.linspace(0.0, 1.0, 4)
    plain, less = grad(run(body)), grad(run(checkpoint(body)))
    np.testing.assert_allclose(less(x), plain(x), rtol=1e-13)
    assert plain.source().count("saved = np.empty") == 2
    assert less.source().count("saved = np.empty") == 1


def test_checkpoint_keeps_forward_mode_and_values():
    f = remat(deep)
    assert f(X) == deep(X)
    assert jvp(f, (X,), (1.0,)) == pytest.approx(jvp(deep, (X,), (1.0,)))


def test_checkpoint_differentiates_what_it_closes_over():
    def f(w):
        inner = checkpoint(lambda x: np.sin(w * x))
        return inner(2.0)

    assert grad(f)(X) == pytest.approx(2 * np.cos(2 * X))


def test_checkpoint_as_a_decorator_with_containers():
    @checkpoint
    def f(params, *, power=2):
        return {"y": params["x"] ** power}

    assert grad(lambda x: f({"x": x}, power=3)["y"])(2.0) == 12.0


# -- errors

NO_PAIR = "the custom_jvp rule of f must return a pair (value, tangent), not {}"


def jvp_rule(rule):
    @custom_jvp
    def f(x):
        return x

    f.defjvp(rule)
    return f


def vjp_rule(forward, back):
    @custom_vjp
    def f(x):
        return x

    f.defvjp(forward, back)
    return f


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (jvp_rule(lambda p, t: t[0]), ArgumentTypeError, NO_PAIR.format("one number")),
        (jvp_rule(lambda p, t: None), ArgumentTypeError, NO_PAIR.format("None")),
        (
            jvp_rule(lambda p, t: (p[0], [t[0]])),
            ArgumentTypeError,
            "the tangent from the custom_jvp rule of f must be built like what the function "
            "returns: *, not [*]",
        ),
        (
            jvp_rule(lambda p, t: (p[0], np.zeros(3))),
            ArgumentError,
            "the tangent from the custom_jvp rule of f has shape (3,), where () is needed",
        ),
        (
            jvp_rule(lambda p, t: (p[0], t[0] * t[0])),
            NotDifferentiableError,
            "the custom_jvp rule of f is not linear in its tangents",
        ),
        (
            vjp_rule(lambda x: x, lambda r, b: (b,)),
            ArgumentTypeError,
            "the forward rule of f must return a pair (value, residuals), not one number",
        ),
        (
            vjp_rule(lambda x: (x, x), lambda r, b: b),
            ArgumentTypeError,
            "the backward rule of f must return a tuple of 1 cotangents, one for each argument "
            "with a derivative, not one number",
        ),
        (
            vjp_rule(lambda x: (x, x), lambda r, b: (b, b)),
            ArgumentTypeError,
            "the backward rule of f must return a tuple of 1 cotangents, one for each argument "
            "with a derivative, not 2",
        ),
        (
            vjp_rule(lambda x: (x, x), lambda r, b: ([b],)),
            ArgumentTypeError,
            "a cotangent from the backward rule of f is list '[*]', not a number or an array",
        ),
        (
            vjp_rule(lambda x: ([x], x), lambda r, b: (b,)),
            ArgumentTypeError,
            "the value from the forward rule of f must be built like what the function returns: "
            "*, not [*]",
        ),
        (
            vjp_rule(lambda x: (x, x), lambda r, b: (np.ones(2),)),
            ArgumentError,
            "a cotangent from the backward rule of f has shape (2,), where () is needed",
        ),
    ],
)
def test_what_rules_must_return(f, error, message):
    with pytest.raises(error) as e:
        grad(lambda x: f(x))(2.0)
    found = re.sub(r"list '\[.*\]'", "list '[*]'", e.value.problem)
    assert found == message


def test_forward_mode_does_not_pass_custom_vjp():
    with pytest.raises(NotDifferentiableError) as e:
        jvp(halved, (X,), (1.0,))
    assert e.value.problem == (
        "forward mode (jvp) cannot pass through halved, which has a custom_vjp rule"
    )
    assert e.value.hint == "give it a custom_jvp rule, which serves both modes"


@pytest.mark.parametrize("decorate", [custom_jvp, custom_vjp])
def test_no_rule(decorate):
    @decorate
    def f(x):
        return x

    way = {custom_jvp: "defjvp", custom_vjp: "defvjp"}[decorate]
    for use in (lambda: f(1.0), lambda: grad(f)(1.0)):
        with pytest.raises(ArgumentError) as e:
            use()
        assert e.value.problem == "f has no rule yet"
        assert e.value.hint == f"give it one with f.{way}"


def test_values_from_outside_must_be_arguments():
    def f(w):
        @custom_vjp
        def inner(x):
            return w * x

        inner.defvjp(lambda x: (w * x, None), lambda _, bar: (w * bar,))
        return inner(2.0)

    with pytest.raises(NotDifferentiableError) as e:
        grad(f)(3.0)
    assert e.value.problem == (
        "inner has a custom_vjp rule and reads a variable from outside that is differentiated"
    )


def test_nondiff_arguments_are_not_differentiated():
    @functools.partial(custom_jvp, nondiff_argnums=(1,))
    def f(x, y):
        return x * y

    f.defjvp(lambda y, primals, tangents: (primals[0] * y, y * tangents[0]))
    with pytest.raises(NotDifferentiableError) as e:
        grad(lambda x: f(x, x))(3.0)
    assert e.value.problem == ("an argument of f that is in nondiff_argnums is differentiated")


def test_functions_with_rules_do_not_write_outside():
    seen = []

    @custom_jvp
    def f(x):
        seen.append(x)
        return x

    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(UnsupportedError, match="f writes to an object from outside"):
        grad(lambda x: f(x))(3.0)
    assert seen == []


@pytest.mark.parametrize("decorate", [custom_jvp, custom_vjp])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nondiff_argnums": 1}, "nondiff_argnums must be a tuple of positions, not 1"),
        ({"nondiff_argnums": (-1,)}, "nondiff_argnums must be a tuple of positions, not (-1,)"),
        ({"nondiff_argnames": "z"}, "nondiff_argnames has 'z', and f takes x"),
        ({"nondiff_argnames": 3}, "argnames must be a name or several, not 3"),
    ],
)
def test_bad_nondiff_options(decorate, options, message):
    def f(x):
        return x

    with pytest.raises(ArgumentError) as e:
        decorate(f, **options)
    assert e.value.problem == f"{decorate.__name__}: {message}"


def test_keyword_only_arguments_have_no_place_in_a_rule():
    @custom_jvp
    def f(x, *, scale=1.0):
        return x

    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(ArgumentError) as e:
        grad(lambda x: f(x, scale=2.0))(1.0)
    assert e.value.problem == "f has a custom_jvp rule and keyword-only arguments (scale)"


def test_defjvps_needs_all_arguments():
    f = custom_jvp(lambda x, y: x, nondiff_argnums=(1,))
    with pytest.raises(ArgumentError) as e:
        f.defjvps(None)
    assert e.value.problem == "defjvps cannot be used with nondiff_argnums"
    g = jvp_rule(lambda p, t: (p[0], t[0]))
    with pytest.raises(ArgumentTypeError, match="defjvps needs a function, not int '3'"):
        g.defjvps(3)


def test_results_whose_lengths_the_function_finds_out():
    @custom_vjp
    def positive(x):
        y = x[x > 0]
        return y, np.sum(y), np.nonzero(x > 0)[0]

    def forward(x):
        return (x[x > 0], np.sum(x[x > 0]), np.nonzero(x > 0)[0]), x > 0

    def backward(mask, cts):
        bar = np.zeros(mask.shape)
        bar[mask] = cts[0] + cts[1] + cts[2]
        return (bar,)

    positive.defvjp(forward, backward)
    x = np.array([1.0, -2.0, 3.0, 0.5])
    for f, expected in [
        (lambda x: 3 * positive(x)[1], [3.0, 0.0, 3.0, 3.0]),
        (lambda x: np.sum(positive(x)[0] * np.arange(len(positive(x)[0]))), [0.0, 0.0, 1.0, 2.0]),
        (lambda x: np.sum(positive(x)[0] ** 2) + positive(x)[1], [3.0, 0.0, 7.0, 2.0]),
    ]:
        np.testing.assert_array_equal(grad(f)(x), expected)
        np.testing.assert_array_equal(jit(grad(f))(x), expected)


def test_rules_that_call_their_own_function_for_tangents():
    """As JAX does, the rule is not asked again for what is linear in the tangents."""

    @custom_jvp
    def apply(a, x):
        return a @ x

    @apply.defjvp
    def rule(primals, tangents):
        (a, x), (a_dot, x_dot) = primals, tangents
        return apply(a, x), x_dot + apply(a_dot, x)  # not the slope by x, on purpose

    a, x = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([1.0, 4.0])
    by_a, by_x = grad(lambda a, x: np.sum(apply(a, x)), argnums=(0, 1))(a, x)
    np.testing.assert_array_equal(by_a, [x, x])
    np.testing.assert_array_equal(by_x, [1.0, 1.0])
    _, slope = jvp(apply, (a, x), (np.ones((2, 2)), np.zeros(2)))
    np.testing.assert_array_equal(slope, [5.0, 5.0])
    twice = grad(lambda x: np.sum(grad(lambda a: np.sum(apply(a, x)))(a) ** 2))(x)
    np.testing.assert_array_equal(twice, 4 * x)


@pytest.mark.parametrize("name", ["add", "mul", "select", "index", "zeros", "exp"])
def test_functions_may_be_called_as_operations_are(name):
    def quadratic(x):
        return 3.0 * x + x * x

    quadratic.__name__ = name
    custom = custom_jvp(quadratic)

    @custom.defjvp
    def rule(primals, tangents):
        return custom(primals[0]), (3.0 + 2 * primals[0]) * tangents[0]

    x = np.linspace(-1, 2, 5)
    slope = grad(lambda x: np.sum(custom(x) * 2))
    np.testing.assert_allclose(slope(x), 6 + 4 * x, rtol=1e-15)
    np.testing.assert_allclose(jit(slope)(x), 6 + 4 * x, rtol=1e-15)
    np.testing.assert_allclose(jit(vmap(slope))(np.stack([x, -x]))[1], 6 - 4 * x, rtol=1e-15)


def ruled_by_jvp(g):
    made = custom_jvp(lambda x: g(x))
    made.defjvp(lambda primals, tangents: jvp(g, primals, tangents))
    return made


def product(x):
    return x if x < 0.1 else np.sin(x) * product(x / 2)


def quotient(x):
    return x if x < 0.1 else x / (x + np.maximum(quotient(x / 2), 0.5))


def normed(x):
    return x if x < 0.1 else np.linalg.norm(np.array([x, x * x])) * normed(x / 2)


def summed(x):
    return np.sum(x**2) if x[0] < 0.1 else np.sum(np.cos(x)) * summed(x / 2)


def early(v):
    if np.any(v > 0.6):
        return np.tanh(np.linalg.norm(np.sin(v)))
    kept = [np.tanh(searched(v))]
    return np.sum(v * v) * len(kept)


def searched(v):
    for e in v:
        if e > 0.1:
            return np.cos(e)
    return 0.5


def twice(v):
    return early(v) * early(0.9 * v)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (product, 0.7),
        (quotient, 0.7),
        (normed, 0.7),
        (summed, np.array([0.3, 0.8])),
        (twice, np.array([0.2, -0.1, -0.3])),
    ],
)
def test_a_rule_may_be_the_forward_mode_of_a_derivative_with_calls(f, x):
    """Its backward part asks for the form of the tape of the tangents, but not for the values."""
    expected = jacfwd(grad(f))(x)
    assert np.allclose(jacrev(ruled_by_jvp(grad(f)))(x), expected, rtol=1e-12)
    step = 1e-6
    entries = np.eye(np.size(x)) * step if np.ndim(x) else [step]
    slopes = [(grad(f)(x + e) - grad(f)(x - e)) / (2 * step) for e in entries]
    assert np.allclose(np.reshape(np.stack(slopes), np.shape(expected)), expected, rtol=1e-6)
