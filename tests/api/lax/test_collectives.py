"""Collectives against their definitions, under vmap and on several shards, with derivatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tapeless
from tapeless import custom_jvp, custom_vjp, grad, jit, jvp, pmap, vjp, vmap
from tapeless.lax import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pbroadcast,
    pmax,
    pmean,
    ppermute,
    pshuffle,
    psum,
    psum_scatter,
)
from tests.api.lax.definitions import DEFINITIONS, N

EVERY = pytest.mark.parametrize("name", DEFINITIONS)


def case(name, rng):
    f, shape, definition = DEFINITIONS[name]
    return f, rng.standard_normal((N, *shape)), definition


@EVERY
def test_under_vmap(name, rng):
    f, x, definition = case(name, rng)
    assert_allclose(vmap(f, axis_name="i")(x), definition(x), rtol=1e-13, atol=1e-13)


@EVERY
@pytest.mark.parametrize("axis", [1, -1])
def test_along_other_axes(name, axis, rng):
    f, x, definition = case(name, rng)
    if x.ndim == 1:
        axis = 0
    mapped = vmap(f, in_axes=axis, out_axes=-1, axis_name="i")
    want = np.moveaxis(definition(x), 0, -1)
    assert_allclose(mapped(np.moveaxis(x, 0, axis)), want, rtol=1e-13, atol=1e-13)


@EVERY
@pytest.mark.parametrize("shards", [2, 4])
def test_on_shards(name, shards, rng):
    f, x, definition = case(name, rng)
    mapped = pmap(f, axis_name="i", devices=tapeless.devices()[:1] * shards)
    got = mapped(x)
    assert_allclose(got, definition(x), rtol=1e-13, atol=1e-13)
    assert got.dtype == vmap(f, axis_name="i")(x).dtype


@EVERY
def test_inside_another_vmap(name, rng):
    f, x, definition = case(name, rng)
    xs = np.stack([x, x[::-1] + 1, 2 * x])
    want = np.stack([definition(x) for x in xs])
    outside = vmap(vmap(f, axis_name="i"))(xs)
    assert_allclose(outside, want, rtol=1e-13, atol=1e-13)
    inside = vmap(vmap(f), in_axes=1, out_axes=1, axis_name="i")(xs)
    assert_allclose(inside, want, rtol=1e-13, atol=1e-13)
    last = vmap(vmap(f, in_axes=-1), out_axes=1, axis_name="i")(np.moveaxis(xs, 0, -1))
    assert_allclose(last, want, rtol=1e-13, atol=1e-13)


def numeric(definition, x, weights):
    """The derivative of the weighted sum of what all elements get, by central differences."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        high, low = definition(x + step), definition(x - step)
        found[at] = np.sum(weights * (high - low)) / 2e-6
    return found


@EVERY
def test_reverse_mode_inside(name, rng):
    """The gradient that an element takes is that of the sum of what all return."""
    f, x, definition = case(name, rng)
    weights = rng.standard_normal(definition(x).shape)

    def slope(v, w):
        return grad(lambda v: np.sum(w * f(v)))(v)

    want = numeric(definition, x, weights)
    assert_allclose(vmap(slope, axis_name="i")(x, weights), want, rtol=2e-7, atol=2e-8)
    shards = pmap(slope, axis_name="i", devices=tapeless.devices()[:1] * 3)
    assert_allclose(shards(x, weights), want, rtol=2e-7, atol=2e-8)


@EVERY
def test_derivatives_from_outside(name, rng):
    f, x, definition = case(name, rng)
    weights = rng.standard_normal(definition(x).shape)
    direction = rng.standard_normal(x.shape)
    want = numeric(definition, x, weights)
    for mapped in (vmap(f, axis_name="i"), pmap(f, axis_name="i")):
        value, pull = vjp(mapped, x)
        assert_allclose(value, definition(x), rtol=1e-13, atol=1e-13)
        assert_allclose(pull(weights)[0], want, rtol=2e-7, atol=2e-8)
        along = jvp(mapped, (x,), (direction,))[1]
        assert_allclose(np.sum(along * weights), np.sum(want * direction), rtol=2e-7, atol=2e-8)


@EVERY
def test_forward_mode_inside(name, rng):
    """The tangent of an element is that along the directions of all."""
    f, x, definition = case(name, rng)
    direction = rng.standard_normal(x.shape)
    got = vmap(lambda v, d: jvp(f, (v,), (d,))[1], axis_name="i")(x, direction)
    want = (definition(x + 1e-6 * direction) - definition(x - 1e-6 * direction)) / 2e-6
    assert_allclose(got, want, rtol=2e-7, atol=2e-8)


@pytest.mark.parametrize("name", ["normalised", "softmax", "several steps", "pmax"])
def test_second_derivatives(name, rng):
    f, x, _ = case(name, rng)
    direction = rng.standard_normal(x.shape)
    power = 3 if name == "pmax" else 1

    def slope(v):
        return grad(lambda v: np.sum(f(v) ** power))(v)

    got = vmap(lambda v, d: jvp(slope, (v,), (d,))[1], axis_name="i")(x, direction)
    first = vmap(slope, axis_name="i")
    want = (first(x + 1e-5 * direction) - first(x - 1e-5 * direction)) / 2e-5
    assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_ties_share_the_derivative_of_an_extremum():
    x = np.array([1.0, 3.0, 3.0, 2.0])
    got = vmap(grad(lambda v: pmax(v, "i")), axis_name="i")(x)
    assert_array_equal(got, [0.0, 2.0, 2.0, 0.0])


# -- several axes


def test_several_names(rng):
    x = rng.standard_normal((2, 3, 4))

    def both(f):
        return vmap(vmap(f, axis_name="j"), axis_name="i")(x)

    assert_allclose(both(lambda v: v - psum(v, ("i", "j"))), x - x.sum((0, 1)))
    assert_allclose(both(lambda v: v - pmean(v, ("j", "i"))), x - x.mean((0, 1)))
    assert_allclose(
        both(lambda v: v - psum(v, "i") + psum(v, "j")), x - x.sum(0) + x.sum(1)[:, None]
    )
    assert_array_equal(both(lambda v: axis_index(("i", "j"))), [[0, 1, 2], [3, 4, 5]])
    assert_array_equal(both(lambda v: axis_index(("j", "i"))), [[0, 2, 4], [1, 3, 5]])
    assert_array_equal(both(lambda v: axis_size(("i", "j"))), np.full((2, 3), 6))
    gathered = both(lambda v: all_gather(v, ("i", "j")))
    assert_allclose(gathered, np.broadcast_to(x.reshape(6, 4), (2, 3, 6, 4)))
    tiled = both(lambda v: all_gather(v, ("j", "i"), tiled=True))
    assert_allclose(tiled, np.broadcast_to(x.swapaxes(0, 1).reshape(-1), (2, 3, 24)))


def test_several_names_on_shards(rng):
    x = rng.standard_normal((4, 3))
    f = pmap(
        vmap(lambda v: v / psum(v, ("i", "j")), axis_name="j"),
        axis_name="i",
        devices=tapeless.devices()[:1] * 3,
    )
    assert_allclose(f(x), x / x.sum())


def test_the_innermost_of_equal_names_counts(rng):
    x = rng.standard_normal((2, 3))
    got = vmap(vmap(lambda v: psum(v, "i"), axis_name="i"), axis_name="i")(x)
    assert_allclose(got, np.broadcast_to(x.sum(1)[:, None], (2, 3)))


# -- values


def test_trees_and_dtypes():
    x = {"a": np.arange(4, dtype=np.float32), "b": (np.arange(4) > 1, np.arange(4) * 1j)}
    got = vmap(lambda v: psum(v, "i"), axis_name="i")(x)
    assert_array_equal(got["a"], np.full(4, 6, np.float32))
    assert got["a"].dtype == np.float32
    assert_array_equal(got["b"][0], np.full(4, 2))
    assert_array_equal(got["b"][1], np.full(4, 6j))


def test_python_numbers_stay_python_numbers():
    assert_array_equal(
        vmap(lambda v: v[: psum(1, "i")], axis_name="i")(np.ones((2, 5))).shape, (2, 2)
    )

    def f(v):
        return v * isinstance(psum(2.0, "i"), float)

    assert_array_equal(vmap(f, axis_name="i", axis_size=3)(np.ones(3)), np.ones(3))


def test_one_program_serves_all_lengths():
    f = vmap(lambda v: v / psum(v, "i"), axis_name="i")
    for n in (2, 3, 7):
        assert_allclose(f(np.arange(1.0, n)), np.arange(1.0, n) / np.arange(1.0, n).sum())
    a = f.source(np.ones(3))
    assert f.source(np.ones(8)) is a


def test_control_flow_that_all_elements_share(rng):
    x = rng.standard_normal((5, 3)) + 3

    def halve(v):
        steps = 0
        while psum(np.sum(v), "i") > 1:
            v = v / 2
            steps += 1
        return v, steps

    got, steps = vmap(halve, axis_name="i")(x)
    want, count = x.copy(), 0
    while want.sum() > 1:
        want, count = want / 2, count + 1
    assert_allclose(got, want)
    assert_array_equal(steps, np.full(5, count))


# -- errors


def refused(error, f):
    with pytest.raises(error) as caught:
        vmap(f, axis_name="i")(np.ones((4, 3)))
    assert isinstance(caught.value, tapeless.TapelessError)
    return str(caught.value)


def test_names_that_are_not_mapped():
    with pytest.raises(NameError, match="psum: no axis 'i' is mapped here"):
        psum(1.0, "i")
    assert "no axis 'k' is mapped here, only 'i'" in refused(NameError, lambda v: pmax(v, "k"))
    with pytest.raises(NameError, match="no axis 'i'"):
        vmap(lambda v: psum(v, "i"))(np.ones(3))
    message = refused(ValueError, lambda v: psum(v, ("i", "i")))
    assert "('i', 'i') is no name of an axis, nor different names" in message


def test_branches_that_elements_do_not_share():
    message = refused(NotImplementedError, lambda v: psum(v, "i") if v[0] > 0 else v)
    assert "psum over the axis 'i' in a branch or loop that some of its elements" in message
    assert "use it before the branch" in message
    assert "test_collectives.py" in message

    def steps(v):
        while v[0] > 0:
            v = v - psum(v, "i")
        return v

    assert "in a branch or loop" in refused(NotImplementedError, steps)


def test_recursion_to_a_depth_that_data_decides(rng):
    def down(v, n):
        return psum(v, "i") if n < 0.5 else down(v + 1, n - 1)

    x = rng.standard_normal((3, 2))
    got = vmap(down, in_axes=(0, None), axis_name="i")(x, 2.5)
    assert_allclose(got, np.stack([(x + 3).sum(0)] * 3))

    mapped = vmap(lambda v, w, n: v + down(w, n), in_axes=(0, None, None), axis_name="i")
    with pytest.raises(NotImplementedError, match="in a function that the program calls by name"):
        mapped(x, x[0], 2.5)


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (lambda v: ppermute(v, "i", [(0, 1), (2, 1)]), "the positions sent to must be different"),
        (lambda v: ppermute(v, "i", [(4, 1)]), "the positions sent from must be different, and in"),
        (lambda v: pshuffle(v, "i", [0, 1, 2, 2]), r"no permutation of range\(4\)"),
        (lambda v: psum(v, "i", axis_index_groups=[[0, 1], [2]]), "must be of one length"),
        (lambda v: psum(v, "i", axis_index_groups=[[0, 1], [2, 2]]), "each position of range"),
        (lambda v: psum_scatter(v, "i"), "axis 0 of an array of shape .* is split for 4 elements"),
        (lambda v: all_to_all(v[:3], "i", 0, 0, tiled=True), "is split for 4 elements"),
        (lambda v: all_to_all(v, ("i", "i"), 0, 0), "different names"),
        (lambda v: psum("text", "i"), "'text' is not a number or an array"),
    ],
)
def test_bad_arguments(f, says):
    with pytest.raises(tapeless.TapelessError, match=says):
        jit(vmap(f, axis_name="i", axis_size=4))(np.ones((4, 3)))


def test_pbroadcast_of_nobody():
    f = vmap(lambda v: pbroadcast(v, "i", 4), in_axes=None, axis_name="i", axis_size=4)
    with pytest.raises(ValueError, match="no position 4 on the axis 'i'"):
        f(np.ones(3))
    assert "no position -1" in refused(ValueError, lambda v: pbroadcast(v, "i", -1))


@pytest.mark.parametrize(
    ("f", "error", "says"),
    [
        (lambda v: all_gather(v, "i", axis=4), np.exceptions.AxisError, "axis 4 is out of bounds"),
        (lambda v: all_gather(v, "i", axis=0.5), TypeError, "'float' object"),
        (lambda v: all_to_all(v, "i", 4, 0), np.exceptions.AxisError, "axis 4 is out of bounds"),
        (lambda v: psum(v), TypeError, "missing 1 required positional argument: 'axis_name'"),
        (lambda v: psum(v, "i", axis_index_groups=3), TypeError, "must be lists of positions"),
        (lambda v: ppermute(v, "i", [0, 1]), TypeError, "must be pairs"),
        (lambda v: ppermute(v, "i", [(0, 1, 2)]), ValueError, "must be pairs"),
    ],
)
def test_arguments_that_do_not_fit(f, error, says):
    with pytest.raises(error, match=says):
        vmap(f, axis_name="i")(np.ones((4, 3)))


# -- rules of users


def test_rules_of_users_may_talk(rng):
    @custom_vjp
    def total(v):
        return psum(v, "i")

    total.defvjp(lambda v: (psum(v, "i"), v), lambda v, ct: (10 * psum(ct, "i"),))
    x = rng.standard_normal((5, 3))
    want = np.broadcast_to(100 * x.sum(axis=0), x.shape)
    slope = grad(lambda v: np.sum(total(v) ** 2))
    assert_allclose(vmap(slope, axis_name="i")(x), want)
    assert_allclose(pmap(slope, axis_name="i", devices=tapeless.devices()[:1] * 2)(x), want)
    outside = grad(lambda x: np.sum(vmap(total, axis_name="i")(x) ** 2))
    assert_allclose(outside(x), want)


def test_forward_rules_of_users_may_talk(rng):
    @custom_jvp
    def total(v):
        return psum(v, "i")

    @total.defjvp
    def rule(primals, tangents):
        return total(*primals), 3 * psum(tangents[0], "i")

    x, d = rng.standard_normal((2, 5, 3))
    want = np.broadcast_to(3 * d.sum(axis=0), x.shape)
    got = vmap(lambda v, d: jvp(total, (v,), (d,))[1], axis_name="i")(x, d)
    assert_allclose(got, want)
    assert_allclose(jvp(vmap(total, axis_name="i"), (x,), (d,))[1], want)
