"""What variables of emitted code are called."""

import ast
import re

import numpy as np
import pytest

from tapeless import grad, jit, vmap

RNG = np.random.default_rng(2)


def recurrent(w, u, b, xs):
    h = np.zeros(len(w))
    for t in range(len(xs)):
        h = np.tanh(w @ xs[t] + u @ h + b)
    return np.sum(h**2)


ARGUMENTS = (*(RNG.normal(size=s) for s in ((3, 2), (3, 3), 3, (5, 2))),)


def names(text):
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


@pytest.mark.parametrize("compiled", [False, True])
def test_what_has_no_name_is_never_called_after_a_variable_t(compiled):
    slope = grad(recurrent, (0, 1, 2))
    text = (jit(slope) if compiled else slope).source(*ARGUMENTS)
    loops = {n.target.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.For)}
    assert "t" in loops
    assert {name for name in names(text) if re.match(r"t(_|\d|$)", name)} <= loops


def test_what_has_no_name_avoids_all_names_of_the_user():
    def f(w, value, b, xs):
        h = np.zeros(len(w))
        for t in range(len(xs)):
            h = np.tanh(w @ xs[t] + value @ h + b)
        return np.sum(h**2)

    found = names(grad(f, (0, 1, 2)).source(*ARGUMENTS))
    assert "inner_bar" in found
    assert {name for name in found if name.startswith(("t_", "value_"))} == {"value_bar"}


def classified(params, x, y):
    n = len(y)
    hidden = np.maximum(x @ params["w"], 0)
    logits = hidden @ params["v"]
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(logp[np.arange(n), y]) / n


def test_no_array_of_a_kernel_is_called_after_a_length():
    params = {"w": RNG.normal(size=(4, 6)), "v": RNG.normal(size=(6, 3))}
    text = jit(grad(classified)).source(params, RNG.normal(size=(5, 4)), np.array([0, 1, 2, 1, 0]))
    indexed = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Subscript)]
    arrays = {n.value.id for n in indexed if isinstance(n.value, ast.Name)}
    assert arrays
    assert not {name for name in arrays if re.fullmatch(r"n(_\d+)?", name)}


def chosen(x, count):
    if x > 0:
        y = np.sin(x) * x
        for _ in range(count):
            y = y + np.exp(x) * y
    else:
        y = np.log(2 - x)
    return 2 * y


@pytest.mark.parametrize("derive", [False, True])
def test_a_parameter_is_not_overwritten_by_a_part_of_itself(derive):
    function = grad(chosen) if derive else chosen
    f, x = vmap(function, in_axes=(0, None)), np.array([1.0, -2.0, 0.5])
    module = ast.parse(f.source(x, 3))
    parameters = {a.arg for a in module.body[-1].args.args}
    stores = [
        t.id
        for n in ast.walk(module)
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    ]
    assert not parameters & {*stores}
    np.testing.assert_allclose(f(x, 3), [function(v, 3) for v in x])


def momentum(x, n):
    state = {"v": 0.0 * x, 3: 2 * x}
    for _ in range(n):
        state["v"] = 0.9 * state["v"] - 0.1 * np.cos(x)
        state[3] = state[3] * x + state["v"]
    return state["v"] * state[3]


def test_values_of_a_dict_are_called_by_their_keys():
    source = grad(momentum).source(1.0, 3)
    assert "state_v = 0.9 * state_v" in source, source
    assert "state_v_bar" in source, source
    assert "state_3 " in source, source
    assert "carried" not in source, source
