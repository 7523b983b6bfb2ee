"""Linear programs run backwards: <A x, y> = <x, A' y>, in the same loops, writing in place."""

# ruff: noqa: SIM108 (branches are what is differentiated)

import numpy as np
import pytest

from tapeless.transforms.autodiff.linearize import linearize
from tapeless.transforms.autodiff.residuals.resolve import resolve
from tapeless.transforms.autodiff.transpose import transpose
from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import Block, For, If, Let, Type, Var
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.primitives.comparisons_and_rounding import floor
from tests.transforms.staging import block_of, close_to, compiled, every, lets

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])


def products(x):
    return A @ x


def prefix(x):
    return np.cumsum(x) * 2


def parts(x):
    y = np.zeros(4)
    y[1:] = x
    y[0] = x[2] - x[0]
    return y


def repeated(x):
    return x[np.array([0, 0, 2])] + np.sum(x)


def broadcast(x):
    return (x[:, None] + x) * A


def stencil(x):
    for _ in range(3):
        for i in range(1, len(x) - 1):
            x[i] = x[i] + 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
    return x


def shifted(x):
    y = x
    for k in range(4):
        y = np.roll(y, 1) * k + x
    return y


def chosen(x):
    if A[0, 0] > 0:
        y = 3 * x
    else:
        y = x[::-1] * 2
    return np.stack([x, y])


def unused(x):
    return x[:1] * 2


FUNCTIONS = [products, prefix, parts, repeated, broadcast, stencil, shifted, chosen, unused]


def split(function, *args):
    block = block_of(function, *args)
    return block, linearize(block, [0])


def transposed(body, inputs, out):
    """The statements that run a linear body backwards, from a cotangent of `out`."""
    bar = Var(out.type, "out_bar")
    with building(Builder()) as b:
        made = transpose(body, inputs, [(out, bar)])
    return Block((bar,), tuple(b.blocks[0]), tuple(made))


def backward(function, *args):
    """The block from arguments and the cotangent of the result to that of the first argument."""
    block, linear = split(function, *args)
    back = transposed(linear.body, linear.inputs, linear.outputs[0])
    forward, body, new = resolve(linear.primal, list(back.body))
    (made,) = back.results
    return Block((*block.params, *back.params), (*forward, *body), (new.get(made, made),))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_transposed_program_is_the_adjoint(function, rng):
    x = rng.standard_normal(3)
    image = function(x.copy())
    y = rng.standard_normal(image.shape)
    block = backward(function, x)
    verify(block)
    captured = [A] * (len(block.params) - 2)
    (bar,) = compiled(block)(x.copy(), *captured, y)
    assert bar.shape == x.shape
    close_to(np.sum(image * y), np.sum(x * bar))


def test_loops_run_backwards_over_the_same_range():
    _, linear = split(stencil, np.ones(5))
    before = list(every(Block((), tuple(linear.body), ()), For))
    after = list(every(transposed(linear.body, linear.inputs, linear.outputs[0]), For))
    assert [s.reverse for s in before] == [False, False]
    assert [s.reverse for s in after] == [True, True]
    spans = [[(s.start, s.stop, s.step) for s in loops] for loops in (before, after)]
    assert spans[0] == spans[1]


def test_branches_mirror_the_same_test():
    _, linear = split(chosen, np.ones(3))
    (before,) = every(Block((), tuple(linear.body), ()), If)
    (after,) = every(transposed(linear.body, linear.inputs, linear.outputs[0]), If)
    assert (after.test, after.mirror) == (before.test, before.mirror)


def test_parts_of_arrays_are_added_in_place():
    block = backward(stencil, np.ones(5))
    (_, inner) = [s for s in every(block, For) if s.reverse]
    assert len(lets(inner.body, "add_at")) == 3  # u[i - 1], u[i], u[i + 1]
    full = [s for s in every(inner.body, Let) if s.outs[0].type.shape and not s.op.inplace]
    assert full == []


def test_twice_transposed_is_the_program():
    x, y = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
    _, linear = split(prefix, x)
    back = transposed(linear.body, linear.inputs, linear.outputs[0])
    forth = transposed(back.body, list(back.params), back.results[0])
    close_to(compiled(forth)(y)[0], prefix(y))


def test_cotangents_are_named_after_their_values():
    block = backward(chosen, np.ones(3))
    names = {v.name for s in every(block) for v in s.outs}
    assert {"x_bar", "y_bar"} <= names
    assert not any(name.endswith("_dot_bar") for name in names)


def test_an_input_that_is_not_used_gets_zeros():
    x, y = (Var(Type(np.dtype(float), (2,)), name) for name in "xy")
    with building(Builder()) as b:
        made = transpose([], [x, y], [(x, x)])
    assert made[0] is x
    assert [s.op.name for s in b.blocks[0]] == ["zeros"]


def test_what_has_no_transpose_is_refused():
    x, y = (Var(Type(np.dtype(float)), name) for name in "xy")
    with building(Builder()), pytest.raises(InternalError, match="floor is used linearly"):
        transpose([Let((y,), floor, (x,))], [x], [(y, y)])


@pytest.mark.parametrize("scale", [np.inf, np.nan])
def test_a_zero_that_where_made_stays_zero_when_it_is_scaled(scale):
    """where(x > 0, scale * x, 0) at x < 0."""

    def masked(x, scale):
        return np.where(x > 0, x * scale, 0.0)

    x = np.array([-1.0, -2.0])
    (bar,) = compiled(backward(masked, x, 3.0))(x, scale, np.ones(2))
    assert np.array_equal(bar, np.zeros(2))
