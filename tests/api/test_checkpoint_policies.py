"""The parameters of checkpoint that JAX has."""

import numpy as np
import pytest

import tapeless
from tapeless import checkpoint, checkpoint_policies, grad, remat
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
def test_policies_change_no_values(name):
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


@pytest.mark.parametrize("policy", NAMED, ids=repr)
def test_policies_of_names_change_no_values(policy):
    def named(x):
        y = checkpoint_name(np.tanh(x), "a")
        return np.sum(checkpoint_name(np.sin(y), "b") * y)

    x = np.linspace(0.1, 1.0, 4)
    for way in (grad, lambda f: tapeless.jit(grad(f)), tapeless.hessian):
        f = checkpoint(named, policy=policy)
        np.testing.assert_allclose(way(f)(x), way(named)(x), rtol=1e-13)
    assert isinstance(f, type(checkpoint(named))) != policy()


def test_names_are_texts():
    with pytest.raises(TypeError, match="save_only_these_names: a name is 1"):
        checkpoint_policies.save_only_these_names(1)
    both = checkpoint_policies.save_from_both_policies(
        checkpoint_policies.nothing_saveable, checkpoint_policies.everything_saveable
    )
    assert both()
