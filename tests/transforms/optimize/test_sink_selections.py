"""Numbers that a test chooses stand in the branch by the same test."""

import numpy as np
import pytest

from tapeless import grad, hvp, jit, vmap
from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import Block, If, Let, Type, Var
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.optimize.sink_selections import sink_selections


def energy(x, cutoff):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            r = np.sqrt(dx * dx + dy * dy)
            if r < cutoff:
                total += 1 / r**6 - 1 / r**3
    return total


def beyond(x, cutoff):
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        if r < cutoff:
            total += r
        else:
            total += r * np.sin(r)
    return total


def outside(x, cutoff):
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i, 0] * x[i, 0] + x[i, 1] * x[i, 1])
        if r < cutoff:
            pass
        else:
            total += r * np.sin(r)
    return total


PLACES = np.array([[0.1, 0.2], [1.2, 0.1], [0.2, 1.3], [4.0, 4.0], [0.1, 4.0]])


def differences(f, x, *rest):
    """Central differences, extrapolated."""
    slopes = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = 1e-3
        halves = [(f(x + h * step, *rest) - f(x - h * step, *rest)) / (2e-3 * h) for h in (1, 0.5)]
        slopes[at] = (4 * halves[1] - halves[0]) / 3
    return slopes


@pytest.mark.parametrize("f", [energy, beyond, outside])
def test_derivatives_of_roots_under_tests(f):
    slopes = differences(f, PLACES, 2.0)
    np.testing.assert_allclose(grad(f)(PLACES, 2.0), slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jit(grad(f))(PLACES, 2.0), slopes, rtol=1e-6, atol=1e-8)
    batch = vmap(grad(f), in_axes=(0, None))(np.stack([PLACES, PLACES[::-1]]), 2.0)
    np.testing.assert_allclose(batch, [slopes, slopes[::-1]], rtol=1e-6, atol=1e-8)
    v = np.cos(np.arange(10.0)).reshape(5, 2)
    second = differences(lambda x: np.sum(grad(f)(x, 2.0) * v), PLACES)
    np.testing.assert_allclose(
        hvp(lambda x: f(x, 2.0), (PLACES,), (v,)), second, rtol=1e-5, atol=1e-7
    )


def test_where_the_test_fails_nothing_is_chosen_again():
    source = grad(energy).source(PLACES, 2.0)
    assert "if r < cutoff:" in source
    assert " else 0.0" not in source


def test_places_that_coincide_beyond_the_cutoff_have_no_slope():
    places = np.zeros((2, 2))
    for f in (grad(outside), jit(grad(outside))):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(f(places, 2.0), places)


def program(both):
    """y = x on both sides of a branch, then y / x where the test holds; `both`: also elsewhere."""
    number = Type(np.dtype(float), ())
    x, y, test = Var(number), Var(number), Var(Type(np.dtype(bool), ()))
    b = Builder()
    with building(b):
        ratio = truediv(y, x)
        chosen = select(test, ratio, 0.0)
    sides = (Block((), (), (x,)), Block((), (), (x,)))
    branch = If((y,), test, *sides)
    results = (chosen, ratio) if both else (chosen,)
    return Block((x, test), (branch, *b.blocks[0]), results)


def test_what_only_one_side_reads_is_computed_there():
    block = sink_selections(program(both=False))
    (branch,) = block.body
    assert [s.op for s in branch.then.body if isinstance(s, Let)] == [truediv]
    assert not branch.orelse.body


def test_what_others_read_stays():
    block = program(both=True)
    assert sink_selections(block) is block
