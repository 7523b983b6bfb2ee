"""Arrays of tapeless.numpy: where they come from, what they do, and that NumPy code meets none."""

import pickle

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import grad, jit, jvp, lax, vjp, vmap
from tapeless.staging.jax_arrays import Array

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
    made += [x.round(1), x.dot(x), x.argmax(), x.argmin(), *x.nonzero(), x.mean(), x.std(), x.max()]
    made += [x.searchsorted(1.5), x.reshape(2, 2).trace()]
    assert {type(y) for y in made} == {Array}


def test_libraries_make_them_of_them():
    stats, linalg = tapeless.scipy.stats, tapeless.scipy.linalg
    x, a = jnp.array([0.3, 0.4]), jnp.array([[2.0, 0.5], [0.5, 3.0]])
    made = [stats.expon.logpdf(x), stats.poisson.pmf(x, 2.0), linalg.cholesky(a), linalg.inv(a)]
    made += [lax.cond(x[0] > 0, lambda x: np.where(x > 0, x, 0), lambda x: x, x), *linalg.qr(a)]
    made += [lax.clamp(0.35, x, 1.0), lax.select(x > 0, x, x), lax.linalg.cholesky(a)]
    made += [tapeless.scipy.special.logsumexp(x), tapeless.scipy.signal.convolve(x, x)]
    made += [tapeless.image.resize(a, (3, 3), "linear"), tapeless.scipy.integrate.trapezoid(x)]
    made += [lax.switch(1, [np.copy, lambda x: np.where(x > 0, x, 0)], x)]
    assert {type(y) for y in made} == {Array}
    plain = [stats.expon.logpdf(X), linalg.inv(np.eye(2)), lax.clamp(0.0, X, 1.0)]
    assert {type(y) for y in plain} == {np.ndarray}


def test_numpy_makes_none():
    assert type(np.sin(X)) is np.ndarray
    assert type(np.asarray(jnp.zeros(3))) is np.ndarray
    assert type(np.array(jnp.zeros(3))) is np.ndarray


def test_methods():
    x = jnp.arange(3.0)
    assert x.block_until_ready() is x
    assert x.device in tapeless.devices()
    assert x.devices() == {x.device}
    assert x.sharding.device == x.device
    assert np.shares_memory(x.to_device(x.device), x)
    (shard,) = x.addressable_shards
    np.testing.assert_array_equal(shard.data, x)
    assert shard.device == x.device
    assert type(x.addressable_data(0)) is Array
    assert x.is_fully_addressable
    assert x.is_fully_replicated
    assert not x.committed
    assert x.to_device(x.device).committed
    assert not x.weak_type
    assert not x.is_deleted()
    assert x.copy_to_host_async() is None
    assert x.on_device_size_in_bytes() == 24
    assert round(jnp.array(2.6)) == 3
    assert round(jnp.array(2.64), 1) == 2.6
    assert f"{jnp.mean(x):.2f}" == "1.00"


@pytest.mark.parametrize(
    ("values", "text"),
    [  # JAX 0.10.2 prints these texts, with 64-bit numbers
        (np.arange(3.0), "Array([0., 1., 2.], dtype=float64)"),
        (np.float32(3), "Array(3., dtype=float32)"),
        (np.array([True]), "Array([ True], dtype=bool)"),
        (np.array(1 + 2j), "Array(1.+2.j, dtype=complex128)"),
        (np.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float64)"),
        (np.arange(2000), "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int64)"),
        (
            np.array([[0.12573022, -0.13210486, 0.64042265, 0.10490012]] * 2),
            "Array([[ 0.12573022, -0.13210486,  0.64042265,  0.10490012],\n"
            "       [ 0.12573022, -0.13210486,  0.64042265,  0.10490012]],      dtype=float64)",
        ),
    ],
)
def test_they_print_as_in_jax(values, text):
    assert repr(jnp.asarray(values)) == text


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


class Counted(np.ndarray):
    """An array with operations of its own."""


def test_other_subclasses_are_refused():
    with pytest.raises(TypeError, match="operations of their own"):
        jit(plain_sine)(np.ones(1).view(Counted))


def test_captured_arrays():
    weights = jnp.array(X)
    made = jit(lambda x: x * weights)(X)
    np.testing.assert_allclose(made, X * X)


def grow(x):
    x += 1
    return x


def two_names(x):
    y = x * 2
    z = y
    z += 1
    return y, z


def of_a_function(x):
    y = jnp.zeros(3)
    z = y
    z += x
    return y, z


def in_a_loop(x):
    y = x
    for _ in range(3):
        y += 1.0
        if y[0] > 2:
            y *= 2.0
    return x, y


def a_part(x):
    row = x[1:]
    row -= 1.0
    return x, row


def numpy_inside(x):
    y = np.zeros(3)
    tail = y[1:]
    tail += x[1:]
    return y


@pytest.mark.parametrize(
    "function", [grow, two_names, of_a_function, in_a_loop, a_part, numpy_inside]
)
def test_names_while_staging_are_as_outside(function):
    x, y = jnp.arange(3.0), jnp.arange(3.0)
    wanted = function(x)
    for _ in range(2):
        made = jit(function)(y)
        for a, b in zip(tapeless.tree.leaves(made), tapeless.tree.leaves(wanted), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(x, np.arange(3.0))
    np.testing.assert_array_equal(y, np.arange(3.0))


def test_plain_arrays_are_overwritten_as_before():
    x = np.arange(3.0)
    jit(grow)(x)
    np.testing.assert_array_equal(x, np.arange(3.0) + 1)


WEIGHTS = jnp.arange(3.0)


def with_a_global(x):
    w = WEIGHTS
    w += x
    return w


def test_arrays_from_outside():
    made = jit(with_a_global)(np.ones(3))
    assert type(made) is Array
    np.testing.assert_array_equal(made, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(WEIGHTS, np.arange(3.0))


def test_results_are_these_where_an_argument_is_or_the_function_makes_one():
    plain, calls = jit(lambda x: x + x * x.T), jit(lambda x: jnp.sin(x))
    square = np.ones((3, 3))
    assert type(plain(square)) is np.ndarray
    assert type(plain(jnp.array(square)).block_until_ready()) is Array
    assert type(plain(tapeless.device_put(square)).block_until_ready()) is Array
    assert type(calls(square).block_until_ready()) is Array
    assert tapeless.block_until_ready(plain(square)).shape == (3, 3)
