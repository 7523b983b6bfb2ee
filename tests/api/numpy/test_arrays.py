"""Arrays of tapeless.numpy: where they come from, what they do, and that NumPy code meets none."""

import pickle

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, jit, jvp, vjp, vmap
from tapeless.arrays import Array

X = np.arange(4.0)


def test_functions_make_them():
    made = [jnp.zeros(3), jnp.array(1.0), jnp.sum(X), jnp.float_power(X, 2), jnp.linalg.norm(X)]
    made += [*jnp.divmod(X, 2.0), *jnp.linalg.eigh(np.eye(2)), jnp.concatenate([X, X]), jnp.max(X)]
    assert {type(x) for x in made} == {Array}
    assert type(jnp.linalg.slogdet(np.eye(2))).__name__ == "SlogdetResult"
    assert jnp.ndim(X) == 1
    assert jnp.shape(X) == (4,)


def test_they_come_from_each_other():
    x = jnp.arange(4.0)
    made = [x + 1, np.sin(x), x.sum(), x.T, x[1:], x.reshape(2, 2), 1 / (x + 1), x.astype(int)]
    assert {type(y) for y in made} == {Array}


def test_numpy_makes_none():
    assert type(np.sin(X)) is np.ndarray
    assert type(np.asarray(jnp.zeros(3))) is np.ndarray
    assert type(np.array(jnp.zeros(3))) is np.ndarray


def test_methods():
    x = jnp.arange(3.0)
    assert x.block_until_ready() is x
    assert x.device in tapeless.devices()
    assert x.devices() == {x.device}
    assert x.sharding == x.device
    assert x.to_device(x.device) is x
    (shard,) = x.addressable_shards
    assert shard.data is x
    assert shard.device == x.device
    assert x.addressable_data(0) is x
    assert x.is_fully_addressable
    assert x.is_fully_replicated
    assert x.committed
    assert not x.weak_type
    assert not x.is_deleted()
    assert x.copy_to_host_async() is None
    assert x.on_device_size_in_bytes() == 24
    assert round(jnp.array(2.6)) == 3
    assert round(jnp.array(2.64), 1) == 2.6
    assert f"{jnp.mean(x):.2f}" == "1.00"
    assert repr(x) == "Array([0., 1., 2.])"


OPERATORS = [
    "x += 2", "x -= 2", "x *= 2", "x /= 2", "x //= 2", "x %= 2", "x **= 2", "x @= np.eye(3)",
]  # fmt: skip
OF_INTEGERS = ["x &= 2", "x |= 2", "x ^= 2", "x <<= 2", "x >>= 2"]


@pytest.mark.parametrize("statement", OPERATORS + OF_INTEGERS)
def test_assignment_with_an_operator_makes_a_new_array(statement):
    plain = np.arange(3) if statement in OF_INTEGERS else np.arange(3.0)
    names = {"x": plain, "np": np}
    exec(statement, names)
    wanted = names["x"]
    x = jnp.arange(3.0) if statement not in OF_INTEGERS else jnp.arange(3)
    before = x.copy()
    names = {"x": x, "np": np}
    exec(statement, names)
    np.testing.assert_array_equal(names["x"], wanted)
    np.testing.assert_array_equal(x, before)


def test_they_are_pickled():
    again = pickle.loads(pickle.dumps(jnp.arange(3.0)))
    assert type(again) is Array
    np.testing.assert_array_equal(again, np.arange(3.0))


def plain_sine(x):
    return np.sin(x) * 2


def our_sine(x):
    return jnp.sin(x) * 2


@pytest.mark.parametrize("transform", [jit, vmap, lambda f: grad(lambda x: f(x).sum())])
@pytest.mark.parametrize(
    ("function", "argument", "kind"),
    [
        (plain_sine, X, np.ndarray),
        (plain_sine, jnp.array(X), Array),
        (our_sine, X, Array),
        (our_sine, jnp.array(X), Array),
    ],
)
def test_results_of_transformed_functions(transform, function, argument, kind):
    made = transform(function)
    wanted = 2 * np.cos(X) if made.suffix == "grad" else 2 * np.sin(X)
    for _ in range(3):  # the second call and those after it take the quick way
        result = made(argument)
        assert type(result) is kind
        np.testing.assert_allclose(result, wanted)


def test_trees_of_them():
    def step(params, x):
        return {k: v - 0.1 * x for k, v in params.items()}, (x, 2)

    params = {"w": jnp.array(X), "b": jnp.zeros(4)}
    for _ in range(3):
        made, (x, two) = jit(step)(params, X)
        assert [type(v) for v in (made["w"], made["b"], x)] == [Array] * 3
        assert two == 2
    np.testing.assert_allclose(made["w"], 0.9 * X)


def test_derivatives_by_hand():
    x = jnp.array(X)
    value, pull = vjp(our_sine, x)
    (slope,) = pull(jnp.ones_like(value))
    np.testing.assert_allclose(slope, 2 * np.cos(X))
    value, tangent = jvp(our_sine, (x,), (x,))
    assert type(value) is type(tangent) is Array
    np.testing.assert_allclose(tangent, 2 * np.cos(X) * X)


def test_other_subclasses_are_refused():
    with pytest.raises(TypeError, match="operations of their own"):
        jit(plain_sine)(np.ma.array([1.0]))


def test_captured_arrays():
    weights = jnp.array(X)
    made = jit(lambda x: x * weights)(X)
    np.testing.assert_allclose(made, X * X)
