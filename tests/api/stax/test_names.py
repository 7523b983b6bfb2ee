"""The mini-libraries are found under their own names, JAX's, and those of its first releases."""

import importlib

import numpy as np
import pytest

import tapeless
from tapeless import example_libraries, experimental, optimizers, stax, tree
from tapeless.experimental import minmax
from tests.api.jax_peer import jax_or_skip


def test_the_same_names():
    assert example_libraries.stax.Dense is experimental.stax.Dense is stax.Dense
    assert example_libraries.optimizers.adam is experimental.optimizers.adam is optimizers.adam
    for name in ("example_libraries.stax", "experimental.optimizers", "nn.initializers"):
        assert importlib.import_module(f"tapeless.{name}").__name__ == f"tapeless.{name}"


@pytest.mark.parametrize("name", ["stax", "optimizers"])
def test_all_that_jax_has(name):
    jax_or_skip()
    peer = importlib.import_module(f"jax.example_libraries.{name}")
    known = {"Params", "State", "Updates", "Array", "InitFn", "UpdateFn", "ParamsFn", "Step"}
    known |= {"Schedule", "NamedTuple", "Callable", "namedtuple", "partial", "Any"}
    names = {n for n in vars(peer) if not n.startswith("_")} - known
    names -= {n for n in names if isinstance(getattr(peer, n), type(importlib))}
    names -= {"safe_map", "safe_zip", "unzip2", "map", "zip", "annotations"}
    assert names <= set(getattr(tapeless, name).__all__)


def test_all_that_jax_nn_has():
    peer = jax_or_skip().nn
    quantised = {"get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"}
    assert {n for n in dir(peer) if n[0] != "_"} - quantised <= set(tapeless.nn.__all__)
    names = {n for n in dir(peer.initializers) if n[0] != "_"}
    assert all(hasattr(tapeless.nn.initializers, n) for n in names)


@pytest.mark.parametrize("name", ["sgd", "adam", "sm3"])
def test_optimizers_as_pairs(name):
    params = {"w": np.ones((2, 2)), "b": np.ones(2)}
    init, update = getattr(minmax, name)(0.1)
    _, peer_update, peer_params = getattr(optimizers, name)(0.1)
    state = init(params)
    new, peer = update(0, params, state), peer_update(0, params, state)
    pairs = zip(tree.leaves(minmax.get_params(new)), tree.leaves(peer_params(peer)), strict=True)
    assert all(np.array_equal(x, y) for x, y in pairs)
