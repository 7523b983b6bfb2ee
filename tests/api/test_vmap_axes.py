"""vmap over any axes of trees of arguments and results, against a Python loop over the elements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeless
from tapeless import grad, jit, pmap, vmap
from tapeless.transformations.compilation.compiled_function import Jit
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tests.test_corpus_compiled import by_python

SHAPES = {"a": (2, 3), "b": (3,), "y": (3,), "k": ()}
N = 4


def smooth(p, y, k):
    r = np.sin(p["a"]) * p["b"] + y * k
    return {"m": r, "v": (np.sum(r, axis=0), np.max(r)), "b": p["b"] * k}


def branching(p, y, k):
    total, row = 0.0, p["a"][0] + p["b"]
    while np.sum(row * row) > k:
        row = 0.5 * row
        total += 1
    if total > 1:
        y = np.exp(-y)
    return {"m": np.outer(row, y)[:2], "v": (row, total + k), "b": p["b"] + y}


RESULTS = {"m": (2, 3), "v0": (3,), "v1": (), "b": (3,)}


def axis_for(ndim):
    """Where a batch axis may be among those of an element."""
    return st.integers(-ndim - 1, ndim)


@st.composite
def axes(draw):
    """For each argument an axis or None, not None for all; for each result an axis."""
    found = {name: draw(st.none() | axis_for(len(shape))) for name, shape in SHAPES.items()}
    if all(k is None for k in found.values()):
        found["y"] = draw(axis_for(1))
    return found, {name: draw(axis_for(len(shape))) for name, shape in RESULTS.items()}


def arguments(ins, n=N, seed=0):
    """Arrays whose elements lie along the given axes."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, k in ins.items():
        shape = SHAPES[name] if k is None else (n, *SHAPES[name])
        made = rng.uniform(0.3, 2.0, shape)
        found[name] = made if k is None else np.moveaxis(made, 0, k)
    return found


def passed(values):
    return {"a": values["a"], "b": values["b"]}, values["y"], values["k"]


def tree_of(outs):
    return {"m": outs["m"], "v": (outs["v0"], outs["v1"]), "b": outs["b"]}


def flat(value):
    return {"m": value["m"], "v0": value["v"][0], "v1": value["v"][1], "b": value["b"]}


def element(values, ins, i):
    return {
        name: x if ins[name] is None else np.take(x, i, axis=ins[name])
        for name, x in values.items()
    }


def by_loop(function, values, ins, outs):
    rows = [flat(function(*passed(element(values, ins, i)))) for i in range(N)]
    return {name: np.stack([np.asarray(row[name]) for row in rows], k) for name, k in outs.items()}


def agree(got, want, rtol=1e-9):
    got = flat(got)
    for name, x in want.items():
        assert np.shape(got[name]) == x.shape
        np.testing.assert_allclose(got[name], x, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("function", [smooth, branching])
@settings(max_examples=15, deadline=None)
@given(axes())
def test_any_axes(function, chosen):
    ins, outs = chosen
    values = arguments(ins)
    mapped = vmap(function, passed(ins), tree_of(outs))
    agree(mapped(*passed(values)), by_loop(function, values, ins, outs))


@pytest.mark.parametrize("function", [smooth, branching])
@settings(max_examples=12, deadline=None)
@given(axes())
def test_any_axes_in_loop_form(function, chosen):
    ins, outs = chosen
    values = arguments(ins)
    mapped = jit(vmap(function, passed(ins), tree_of(outs)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Jit, "load", by_python)
        agree(mapped(*passed(values)), by_loop(function, values, ins, outs))


@pytest.mark.parametrize("function", [smooth, branching])
@settings(max_examples=8, deadline=None)
@given(axes(), axis_for(1))
def test_nested(function, chosen, outer):
    """The outer batch is of y alone; the inner one of whatever was chosen."""
    ins, outs = chosen
    ins = {**ins, "y": None}
    if all(k is None for k in ins.values()):
        ins["k"] = 0
    values = arguments(ins)
    ys = np.moveaxis(np.random.default_rng(1).uniform(0.3, 2.0, (2, 3)), 0, outer)
    inner = vmap(function, passed(ins), tree_of(outs))
    found = vmap(inner, (None, outer, None))(*passed({**values, "y": ys}))
    for i in range(2):
        row = by_loop(function, {**values, "y": np.take(ys, i, outer)}, ins, outs)
        agree({"m": found["m"][i], "v": [v[i] for v in found["v"]], "b": found["b"][i]}, row)


@pytest.mark.parametrize("function", [smooth, branching])
@settings(max_examples=8, deadline=None)
@given(axes())
def test_gradients_of_elements(function, chosen):
    ins, _ = chosen

    def total(p, y, k):
        value = function(p, y, k)
        return np.sum(value["m"] ** 2) + value["v"][1] + np.sum(value["b"] * value["v"][0])

    slope = grad(total)
    values = arguments(ins)
    found = vmap(slope, passed(ins))(*passed(values))
    rows = [slope(*passed(element(values, ins, i))) for i in range(N)]
    for name in ("a", "b"):
        np.testing.assert_allclose(found[name], [row[name] for row in rows], rtol=1e-9, atol=1e-12)

    def whole(p, y, k):
        return np.sum(vmap(total, passed(ins))(p, y, k))

    summed = grad(whole)(*passed(values))
    for name in ("a", "b"):
        k = ins[name]
        each = np.sum(found[name], 0) if k is None else np.moveaxis(found[name], 0, k)
        np.testing.assert_allclose(summed[name], each, rtol=1e-9, atol=1e-12)


def test_out_axes_stand_for_trees():
    values = arguments(dict.fromkeys(SHAPES, 0))
    found = vmap(smooth, 0, {"m": 1, "v": -1, "b": 0})(*passed(values))
    assert found["m"].shape == (2, N, 3)
    assert [np.shape(v) for v in found["v"]] == [(3, N), (N,)]


def test_axes_that_are_refused():
    with pytest.raises(ValueError, match="out of bounds"):
        vmap(lambda x: x, 2)(np.ones((2, 2)))
    with pytest.raises(ValueError, match="does not fit"):
        vmap(smooth, ({"a": 0, "c": 0}, 0, 0))(*passed(arguments(dict.fromkeys(SHAPES, 0))))
    with pytest.raises(tapeless.TapelessError, match="no argument is mapped"):
        vmap(lambda x: x, None)(1.0)


@pytest.mark.parametrize("batch", [[1.0, 2.0], (1.0, 2.0), {"a": 1.0}], ids=repr)
def test_numbers_in_containers_are_not_taken_for_an_array(batch):
    with pytest.raises(ArgumentError, match="out of bounds for one number") as e:
        vmap(lambda x: x)(batch)
    assert "np.array(...)" in e.value.hint
    with pytest.raises(ArgumentError) as e:
        vmap(lambda x: x)(1.0)
    assert "give None" in e.value.hint


@pytest.mark.parametrize("transform", [vmap, pmap])
@pytest.mark.parametrize("size", [-1, 2.0, True])
def test_the_size_of_an_axis_is_a_length(transform, size):
    with pytest.raises(ArgumentError if size == -1 else ArgumentTypeError, match="axis_size must"):
        transform(lambda x: x, in_axes=None, axis_size=size)(np.ones(2))
