"""The parameters of checkpoint that JAX has."""

import numpy as np
import pytest

import tapeless
from tapeless import checkpoint, checkpoint_policies, grad, jit, remat, vmap
from tapeless.ad_checkpoint import checkpoint_name


def layer(x, kind="tanh"):
    return np.sum(np.tanh(np.sin(x)) if kind == "tanh" else x)


POLICIES = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
]


@pytest.mark.parametrize("name", POLICIES)
def test_hints_change_no_values(name):
    policy = getattr(checkpoint_policies, name)
    x = np.linspace(0.1, 1.0, 4)
    f = checkpoint(layer, policy=policy, prevent_cse=False)
    np.testing.assert_array_equal(grad(f)(x), grad(layer)(x))
    assert policy() == (name == "everything_saveable")
    assert name.removeprefix("checkpoint_")[:4] in repr(policy)


def test_what_is_saved():
    def steps(f):
        def run(x, n):
            for _ in range(n):
                x = f(x)
            return np.sum(x)

        return run

    def body(x):
        return np.tanh(np.sin(x)) * np.exp(x)

    saved = {
        name: grad(steps(checkpoint(body, policy=policy))).source(np.ones(3), 4).count("np.empty(")
        for name, policy in (
            ("some", checkpoint_policies.everything_saveable),
            ("none", checkpoint_policies.nothing_saveable),
        )
    }
    assert saved["none"] == 1 < saved["some"]


def test_static_arguments():
    f = remat(layer, static_argnums=(1,))
    x = np.ones(2)
    np.testing.assert_array_equal(grad(f)(x, "sum"), [1.0, 1.0])
    np.testing.assert_array_equal(grad(f)(x, "tanh"), grad(layer)(x))


def test_what_is_refused():
    with pytest.raises(TypeError, match="policy needs a function"):
        checkpoint(layer, policy="dots")
    with pytest.raises(AttributeError, match="use offload_dot_with_no_batch_dims"):
        checkpoint_policies.offload_dot_products_to_host  # noqa: B018 (asking is what is tested)
    assert tapeless.checkpoint_policies is checkpoint_policies


NAMED = [
    checkpoint_policies.save_only_these_names("a", "b"),
    checkpoint_policies.save_any_names_but_these("a"),
    checkpoint_policies.save_anything_except_these_names("a"),
    checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["a"],
        names_which_can_be_offloaded=["b"],
        offload_src="device",
        offload_dst="pinned_host",
    ),
    checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
    checkpoint_policies.save_from_both_policies(
        checkpoint_policies.dots_saveable, checkpoint_policies.save_only_these_names("a")
    ),
]


def straight(x, w):
    y = checkpoint_name(np.tanh(x @ w), "a")
    return np.sum(checkpoint_name(np.sin(y), "b") * y)


def in_loop(x, w):
    for _ in range(3):
        y = checkpoint_name(np.tanh(x @ w), "a")
        x = checkpoint_name(np.sin(x + y), "b")
    return np.sum(x)


def in_nested_loops(x, w):
    total = 0.0
    for i in range(3):
        for j in range(i + 1):
            y = checkpoint_name(np.tanh(x[0] * w[i, j] + total), "a")
            total = total + y * y
    return total


def in_branch(x, w):
    for _ in range(3):
        if np.sum(x) > 0:
            x = checkpoint_name(np.tanh(x @ w), "a") * x
        else:
            x = checkpoint_name(np.cos(x + 0.3), "b")
    return np.sum(x)


def in_while(x, w):
    while np.sum(x * x) > 0.5:
        x = 0.5 * np.sin(x) + 0.1 * checkpoint_name(np.tanh(x @ w), "a")
    return np.sum(checkpoint_name(np.exp(x), "b") ** 2)


def until(x, w):
    for _ in range(6):
        x = np.sin(x + checkpoint_name(np.tanh(x @ w), "a"))
        if np.sum(x) > 1.5:
            break
    return np.sum(checkpoint_name(np.exp(x), "b"))


def result_of_loop(x, w):
    for _ in range(3):
        x = checkpoint_name(x, "b")
        x = np.sin(x @ w)
    x = checkpoint_name(x, "a")
    return np.sum(np.tanh(x))


def overwritten(x, w):
    y = checkpoint_name(np.tanh(x @ w), "a")
    total = np.sum(y * y)
    y[0] = 2.0 * x[0]
    return total + np.sum(np.sin(y))


def symmetric(x, w):
    a = checkpoint_name(np.eye(3) * np.sum(x * x) + 0 * w, "a")
    d, q = np.linalg.eigh(a)  # all eigenvalues are equal
    return np.sum(checkpoint_name((q * np.exp(d)) @ q.T, "b") ** 2)


PROGRAMS = [
    straight,
    in_loop,
    in_nested_loops,
    in_branch,
    in_while,
    until,
    result_of_loop,
    overwritten,
    symmetric,
]
X = np.array([0.4, -0.2, 0.7])
W = np.array([[0.3, -0.8, 0.5], [0.9, 0.1, -0.4], [-0.6, 0.7, 0.2]])


@pytest.mark.parametrize("policy", NAMED, ids=repr)
@pytest.mark.parametrize("named", PROGRAMS)
def test_policies_change_no_values(named, policy):
    f = checkpoint(named, policy=policy)
    for x in (X, -X):
        want = grad(named, (0, 1))(x, W)
        for got, right in zip(grad(f, (0, 1))(x, W), want, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("named", [straight, in_loop, in_branch])
@pytest.mark.parametrize("policy", [NAMED[0], NAMED[2], NAMED[5]], ids=repr)
def test_policies_under_other_transformations(named, policy):
    def batch(f):
        return lambda x, w: vmap(grad(f), (0, None))(np.stack([x, -x]), w)

    def of_batch(f):
        return grad(lambda x, w: np.sum(vmap(f, (0, None))(np.stack([x, -x]), w)))

    ways = (lambda f: tapeless.jit(grad(f)), tapeless.hessian, batch, of_batch)
    for way in ways:
        got = way(checkpoint(named, policy=policy))(X, W)
        np.testing.assert_allclose(got, way(named)(X, W), rtol=1e-11, atol=1e-13)


def both_ways(f, policy, *operations):
    """How often operations are done on the way there and on the way back, where a checkpointed
    function is called in a loop."""

    def calls(x, w):
        for _ in range(2):
            x = x + checkpoint(f, policy=policy)(x, w)
        return np.sum(x)

    there, back = grad(calls, 1).source(X, W).split("w_bar =", 1)
    return [(there.count(text), back.count(text)) for text in operations]


@pytest.mark.parametrize("f", [straight, in_loop])
def test_values_that_are_saved_are_not_computed_again(f):
    policies = checkpoint_policies
    work = ("np.tanh(", "np.sin(", "x @ w" if f is straight else "x_2 @ w")
    once, twice = (1, 0), (1, 1)
    assert both_ways(f, None, *work) == [twice, twice, twice]
    assert both_ways(f, policies.nothing_saveable, *work) == [twice, twice, twice]
    a = policies.save_only_these_names("a")
    assert both_ways(f, a, *work) == [once, twice, once]
    assert both_ways(f, policies.save_only_these_names("a", "b"), *work) == [once] * 3
    assert both_ways(f, policies.save_any_names_but_these("a"), *work) == [twice, once, twice]
    assert both_ways(f, policies.save_any_names_but_these("b"), *work) == [once, twice, once]
    but_a = policies.save_anything_except_these_names("a")
    assert both_ways(f, but_a, *work) == [twice, once, once]
    assert both_ways(f, policies.dots_saveable, *work) == [twice, twice, once]
    both = policies.save_from_both_policies(policies.dots_saveable, policies.nothing_saveable)
    assert both_ways(f, both, *work) == [twice, twice, once]


def test_products_of_stacks_are_no_single_products():
    def stacked(x, w):
        return np.sum(np.sin(np.stack([w, w]) @ x) + np.tanh(w @ x))

    def sines_of_products(policy):
        return both_ways(stacked, policy, " @ ")[0]

    single = sines_of_products(checkpoint_policies.dots_with_no_batch_dims_saveable)
    every = sines_of_products(checkpoint_policies.dots_saveable)
    none = sines_of_products(checkpoint_policies.nothing_saveable)
    assert single[1] == none[1] - 1
    assert every[1] == none[1] - 2


def test_names_do_not_change_what_is_shared():
    def f(x):
        y = checkpoint_name(x, "a")
        y[0] = 5.0
        return x

    np.testing.assert_array_equal(tapeless.jit(f)(np.ones(2)), f(np.ones(2)))


def test_names_of_trees():
    def f(x):
        pair = checkpoint_name({"s": np.sin(x), "t": (np.exp(x), "text")}, "a")
        return np.sum(pair["s"] * pair["t"][0])

    both = checkpoint(f, policy=checkpoint_policies.save_only_these_names("a"))
    np.testing.assert_allclose(grad(both)(X), grad(f)(X), rtol=1e-13)


def test_names_are_texts():
    with pytest.raises(TypeError, match="save_only_these_names: a name is 1"):
        checkpoint_policies.save_only_these_names(1)
    both = checkpoint_policies.save_from_both_policies(
        checkpoint_policies.nothing_saveable, checkpoint_policies.everything_saveable
    )
    assert both()


def test_names_may_have_the_number_of_a_pass():
    def layers(x):
        for k in range(3):
            x = checkpoint_name(np.sin(x), f"layer {k}")
        return np.sum(x)

    x, policy = np.ones(3), checkpoint_policies.save_any_names_but_these("layer 0")
    expected = grad(lambda x: np.sum(np.sin(np.sin(np.sin(x)))))(x)
    for slope in (grad(layers), jit(grad(checkpoint(layers, policy=policy)))):
        np.testing.assert_allclose(slope(x), expected, rtol=1e-14)
