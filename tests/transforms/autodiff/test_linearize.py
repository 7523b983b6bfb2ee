"""The linear part: what is known is computed apart, and the tangents enter linearly."""

# ruff: noqa: SIM108 (branches are what is differentiated)

import numpy as np
import pytest

from tapeless.transforms.autodiff.linearize import dependents, linearize
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Literal,
    Var,
    While,
    free_variables,
    outputs,
)
from tests.transforms.staging import block_of, close_to, compiled, every, lets, slope


def product(x, y):
    s = np.sin(x)
    return s * y + x


def stepping(x, y, n):
    for _ in range(n):
        if x > 1:
            x = np.sqrt(x) * y
        else:
            x = x + y * y
    return x


def doubling(x):
    while x < 20:
        x = x * np.exp(0.5 * x)
    return x


def both_parts(function, *args, wrt=(0,)):
    """Primal and linear statements as one block from arguments and tangents to tangents."""
    block = block_of(function, *args)
    split = linearize(block, list(wrt))
    params = (*block.params, *split.inputs)
    return split, Block(params, (*split.primal, *split.body), tuple(split.outputs))


def test_the_linear_part_gives_the_derivative():
    split, whole = both_parts(product, 0.7, 2.0, wrt=(0, 1))
    verify(whole)
    (dot,) = compiled(whole)(0.7, 2.0, 3.0, 5.0)
    close_to(dot, 3 * (np.cos(0.7) * 2 + 1) + 5 * np.sin(0.7))
    assert [v.name for v in split.inputs] == ["x_dot", "y_dot"]


@pytest.mark.parametrize("scale", [0.0, -2.0, 1e6])
def test_it_is_linear(scale):
    _, whole = both_parts(product, 0.7, 2.0, wrt=(0, 1))
    f = compiled(whole)
    close_to(f(0.7, 2.0, scale, 3 * scale)[0], scale * f(0.7, 2.0, 1.0, 3.0)[0])


def test_no_statement_multiplies_two_tangents():
    for function, args in ((product, (0.7, 2.0)), (stepping, (0.7, 2.0, 3)), (doubling, (1.5,))):
        split, whole = both_parts(function, *args)
        linear = dependents(Block((), tuple(split.body), ()), split.inputs)
        for s in every(Block((), tuple(split.body), ()), Let):
            read = [a for a in s.args if a in linear]
            assert len(read) < 2 or s.op.name in ("add", "sub"), s
        assert whole.results[0] in linear


def test_the_linear_part_does_not_repeat_what_is_known():
    """Its branch mirrors the primal one and reads the values that one has computed."""
    split, _ = both_parts(stepping, 1.5, 2.0, 3)
    body = Block((), tuple(split.body), ())
    primal = Block((), tuple(split.primal), ())
    assert len(lets(body, "sqrt")) == 0
    assert len(lets(primal, "sqrt")) == 1
    (loop,) = every(body, For)
    (branch,) = every(body, If)
    assert loop.mirror in set(every(primal, For))
    assert branch.mirror in set(every(primal, If))
    (root,) = lets(primal, "sqrt")
    assert root.outs[0] in free_variables(body)


def test_a_while_loop_counts_its_passes_and_its_tangent_is_a_for():
    split, _ = both_parts(doubling, 1.5)
    (primal,) = (s for s in split.primal if isinstance(s, While))
    passes = primal.outs[0]
    assert passes.name == "passes"
    (loop,) = (s for s in split.body if isinstance(s, For))
    assert loop.stop is passes
    assert loop.start == Literal(0, loop.start.type)
    counted = Block((*block_of(doubling, 1.5).params,), (), ())
    assert counted.params[0].name == "x"
    run = compiled(
        Block(tuple(free_variables(Block((), (*split.primal,), ()))), (*split.primal,), (passes,))
    )
    x, expected = 1.5, 0
    while x < 20:
        x, expected = x * np.exp(0.5 * x), expected + 1
    assert run(1.5) == (expected,)


def test_what_does_not_depend_has_no_tangent():
    block = block_of(lambda x, y: (np.floor(x), y, 3.0), 1.5, 2.0)
    split = linearize(block, [0])
    assert split.outputs == [None, None, None]
    assert split.body == []


def test_dependents_go_through_branches_and_loops():
    block = block_of(stepping, 0.7, 2.0, 3)
    x, y, n = block.params
    found = dependents(block, [x])
    assert block.results[0] in found
    assert not {y, n} & found
    (loop,) = every(block, For)
    assert block.results[0] in outputs(loop)


def test_a_carry_that_becomes_active_late_is_found():
    """c gets its tangent in the second pass only, through b."""

    def chain(a, n):
        b, c = 0.0, 0.0
        for _ in range(n):
            c = b * 2
            b = a * 3
        return c

    split, _ = both_parts(chain, 1.5, 3)
    assert isinstance(split.outputs[0], Var)
    close_to(6.0, slope(lambda a: chain(a, 3), 1.5), 1e-6)
    assert len(split.body[-1].inits) == 2
