"""Each optimizer against its formulas, written with loops over numbers, and against JAX's."""

import math

import numpy as np
import pytest

from tapeless import check_grads, grad, jit, optimizers, tree, vmap
from tapeless.transforms.errors import ArgumentTypeError, StructureError
from tests.api.jax_peer import jax_or_skip

MAKERS = {
    "sgd": {},
    "momentum": {"mass": 0.9},
    "nesterov": {"mass": 0.9},
    "adagrad": {},
    "rmsprop": {},
    "rmsprop_momentum": {},
    "adam": {},
    "adamax": {},
    "sm3": {},
}
STEPS = 4


def _gradients(k):
    rng = np.random.default_rng(k)
    return {"w": rng.standard_normal((2, 3)), "b": (rng.standard_normal(3), rng.standard_normal())}


PARAMS = _gradients(100)


def _trained(maker, options, gradients=_gradients, steps=STEPS):
    init, update, get_params = maker(0.1, **options)
    state = init(gradients(100))
    for k in range(steps):
        state = update(k, gradients(k), state)
    return tree.leaves(get_params(state))


def _by_hand(name, x, gradients):
    """The path of one number; of sm3, where it is one of its own row and column, adagrad's."""
    m = v = 0.0
    for k, g in enumerate(gradients):
        if name == "sgd":
            x -= 0.1 * g
        elif name == "momentum":
            m = 0.9 * m + g
            x -= 0.1 * m
        elif name == "nesterov":
            m = 0.9 * m + g
            x -= 0.1 * (0.9 * m + g)
        elif name in ("adagrad", "sm3"):
            v += g * g
            m = 0.9 * m + 0.1 * g / math.sqrt(v)
            x -= 0.1 * m
        elif name == "rmsprop":
            v = 0.9 * v + 0.1 * g * g
            x -= 0.1 * g / math.sqrt(v + 1e-8)
        elif name == "rmsprop_momentum":
            v = 0.9 * v + 0.1 * g * g
            m = 0.9 * m + 0.1 * g / math.sqrt(v + 1e-8)
            x -= m
        elif name == "adam":
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            mean, square = m / (1 - 0.9 ** (k + 1)), v / (1 - 0.999 ** (k + 1))
            x -= 0.1 * mean / (math.sqrt(square) + 1e-8)
        else:
            m, v = 0.9 * m + 0.1 * g, max(0.999 * v, abs(g))
            x -= 0.1 / (1 - 0.9 ** (k + 1)) * m / (v + 1e-8)
    return x


@pytest.mark.parametrize("name", MAKERS)
def test_formulas(name):
    trained = _trained(getattr(optimizers, name), MAKERS[name])
    paths = zip(*(tree.leaves(_gradients(k)) for k in range(STEPS)), strict=True)
    for got, start, path in zip(trained, tree.leaves(PARAMS), paths, strict=True):
        if name == "sm3" and np.ndim(got) > 1:
            continue  # numbers of one row share what they have met: compared with JAX's below
        numbers = zip(*(np.ravel(g) for g in path), strict=True)
        want = [_by_hand(name, x, gs) for x, gs in zip(np.ravel(start), numbers, strict=True)]
        np.testing.assert_allclose(np.ravel(got), want, rtol=1e-12)


def test_sm3_shares_bounds_along_rows_and_columns():
    init, update, get_params = optimizers.sm3(0.1, momentum=0.0)
    first, second = np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 2.0]])
    state = update(1, second, update(0, first, init(np.zeros((2, 2)))))
    rows, columns = (first**2).max(1), (first**2).max(0)
    bound = np.minimum(rows[:, None], columns) + second**2
    step = first / np.where(first == 0, 1, np.abs(first)) + second / np.sqrt(bound)
    np.testing.assert_allclose(get_params(state), -0.1 * step, rtol=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_jaxs_numbers(name):
    jax_or_skip()
    from jax.example_libraries import optimizers as peer  # noqa: PLC0415 (optional)

    def gradients(k):
        return {"w": _gradients(k)["w"]}

    (ours,) = _trained(getattr(optimizers, name), MAKERS[name], gradients, 2)
    (theirs,) = _trained(getattr(peer, name), MAKERS[name], gradients, 2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("name", ["sgd", "sm3"])
def test_compiled_steps_keep_structure_and_dtypes(name):
    init, update, get_params = getattr(optimizers, name)(0.1, **MAKERS[name])
    params = tree.map(lambda x: np.asarray(x, np.float32), PARAMS)
    step = jit(lambda k, g, state: update(k, g, state))
    plain = compiled = init(params)
    for k in range(2):
        gradients = tree.map(lambda x: np.asarray(x, np.float32), _gradients(k))
        plain, compiled = update(k, gradients, plain), step(k, gradients, compiled)
    assert isinstance(compiled, optimizers.OptimizerState)
    assert tree.structure(compiled) == tree.structure(plain)
    assert {x.dtype for x in tree.leaves(compiled)} == {np.dtype(np.float32)}
    for x, y in zip(tree.leaves(get_params(plain)), tree.leaves(get_params(compiled)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def _after_training(step_size, decay=0.9):
    init, update, get_params = optimizers.momentum(step_size, mass=decay)
    state = init(np.array([1.0, -2.0]))
    for k in range(5):
        state = update(k, grad(lambda x: np.sum(x**4))(get_params(state)) / 4, state)
    return np.sum(get_params(state) ** 2)


def test_training_is_differentiable():
    check_grads(_after_training, (0.01, 0.8), order=1)


def test_training_is_batched():
    sizes = np.array([0.001, 0.01, 0.02])
    want = [_after_training(s) for s in sizes]
    np.testing.assert_allclose(vmap(_after_training)(sizes), want, rtol=1e-12)


def test_gradients_of_another_structure():
    init, update, _ = optimizers.sgd(0.1)
    with pytest.raises(ArgumentTypeError, match="the gradients have the structure") as caught:
        update(0, {"v": 1.0}, init({"w": 1.0}))
    assert "get_params(state)" in str(caught.value)


def test_a_state_that_changes_its_structure():
    @optimizers.optimizer
    def growing(step_size):
        return lambda x: x, lambda i, g, x: (x, g), lambda x: x

    init, update, _ = growing(0.1)
    with pytest.raises(StructureError, match="update returns a state of structure"):
        update(0, 1.0, init(1.0))


def test_states_are_unpacked_and_packed():
    init, update, get_params = optimizers.adam(0.1)
    state = update(0, _gradients(0), init(PARAMS))
    marked = optimizers.unpack_optimizer_state(state)
    assert set(marked) == {"b", "w"}
    assert isinstance(marked["w"], optimizers.JoinPoint)
    ((x, _, _),) = marked["w"]
    np.testing.assert_array_equal(x, get_params(state)["w"])
    packed = optimizers.pack_optimizer_state(marked)
    assert tree.structure(packed) == tree.structure(state)
    assert all(map(np.array_equal, tree.leaves(packed), tree.leaves(state)))
    packed_state, tree_def, subtree_defs = state
    assert (tree_def.num_leaves, len(packed_state), len(subtree_defs)) == (3, 3, 3)


def test_packing_what_is_not_marked():
    with pytest.raises(ArgumentTypeError, match="no JoinPoint"):
        optimizers.pack_optimizer_state({"w": 1.0})


def test_a_state_goes_through_a_loop_as_it_is():
    init, update, get_params = optimizers.momentum(0.1, mass=0.9)

    @jit
    def trained(state, steps):
        for k in range(steps):
            leaves, structure = tree.flatten(get_params(state))
            state = update(k, tree.unflatten(structure, [2 * p for p in leaves]), state)
        return get_params(state)

    state = init({"w": np.ones(2), "b": (3.0, 1.0)})
    assert "every loop that depends on values is rolled" in trained.stages(state, 5)["notes"]
    expected, speed = 1.0, 0.0
    for _ in range(5):
        speed = 0.9 * speed + 2 * expected
        expected -= 0.1 * speed
    np.testing.assert_allclose(trained(state, 5)["w"], [expected, expected])
