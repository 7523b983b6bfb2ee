"""Operations that stand for blocks, and their blocks written out."""

import numpy as np
import pytest

from tapeless.transforms.analysis.free_variables import close
from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Type,
    Var,
    free_variables,
)
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.elementwise import sin
from tapeless.transforms.ops.primitives.identities import again, identity
from tapeless.transforms.optimize.inline_calls import closed_operation, expand, forget
from tests.transforms.staging import block_of, compiled, every, lets

FLOAT = Type(np.dtype(float))
INT = Type(np.dtype(int), (), True)
BOOL = Type(np.dtype(bool))


def var(name, kind=FLOAT):
    return Var(kind, name)


@pytest.fixture
def double_sine():
    """The operation y = 2 sin(x) with the block {s = sin(x); return s * 2}."""
    x, s, r = var("x"), var("s"), var("r")
    body = (Let((s,), sin, (x,)), Let((r,), mul, (s, Literal(2.0, FLOAT))))
    return closed_operation("double_sine", Block((x,), body, (r,)))


def test_a_block_closes_over_all_that_it_reads():
    block = block_of(lambda v, n: np.zeros(n) + v, np.ones(3), 3)
    assert {p.name for p in close(block.body, block.results).params} >= {"v", "n"}
    inner = block.body[-1:]
    closed_inner = close(inner, inner[0].outs)
    assert list(closed_inner.params) == list(free_variables(closed_inner) or closed_inner.params)
    assert close((), (Literal(1.0, FLOAT),)).params == ()


def test_an_operation_is_written_out(double_sine):
    a, y = var("a"), var("y")
    body = expand([Let((y,), double_sine, (a,))])
    assert [s.op for s in body] == [sin, mul, identity]
    block = Block((a,), tuple(body), (y,))
    verify(block)
    assert compiled(block)(0.5) == (2 * np.sin(0.5),)


def test_each_use_gets_variables_of_its_own(double_sine):
    a, y, z = var("a"), var("y"), var("z")
    body = expand([Let((y,), double_sine, (a,)), Let((z,), double_sine, (y,))])
    block = Block((a,), tuple(body), (z,))
    verify(block)
    assert compiled(block)(0.5) == (2 * np.sin(2 * np.sin(0.5)),)


def test_operations_inside_of_blocks_and_of_operations(double_sine):
    x, y, r, i, c, t = var("x"), var("y"), var("r"), var("i", INT), var("c"), var("t", BOOL)
    twice = closed_operation("twice", Block((x,), (Let((y,), double_sine, (x,)),), (y,)))
    side, out = var("side"), var("out")
    branch = If((r,), t, Block((), (Let((side,), twice, (c,)),), (side,)), Block((), (), (c,)))
    zero, three, one = (Literal(k, INT) for k in (0, 3, 1))
    loop = For((out,), zero, three, one, (var("a"),), Block((i, c), (branch,), (r,)))
    block = Block((loop.inits[0], t), tuple(expand([loop])), (out,))
    verify(block)
    assert {s.op.name for s in every(block, Let)} == {"sin", "mul", "identity"}
    value = 0.5
    for _ in range(3):
        value = 2 * np.sin(value)
    assert compiled(block)(0.5, True) == (value,)
    assert compiled(block)(0.5, False) == (0.5,)


def test_operations_with_a_rule_wait():
    x, y = var("x"), var("y")
    op = closed_operation("f", Block((x,), (), (x,)), reverse=lambda s: s)
    assert expand([Let((y,), op, (x,))], rules=False)[0].op is op
    assert expand([Let((y,), op, (x,))])[0].op is identity


def test_an_operation_with_effects_is_not_pure():
    x = var("x")
    assert closed_operation("f", Block((x,), (), (x,))).pure
    assert not closed_operation("f", Block((x,), (Effect("print", (x,)),), (x,))).pure


def test_again_is_forgotten():
    x, y, z = var("x"), var("y"), var("z")
    body = (Let((y,), again, (x,)), Let((z,), add, (y, x)))
    block = forget(Block((x,), body, (z,)))
    verify(block)
    assert [s.op for s in block.body] == [add]
    assert block.body[0].args == (x, x)


def test_identity_is_nothing():
    x = var("x")
    with building(Builder()) as b:
        assert identity(x) is x
        assert again(x) is not x
    assert len(b.blocks[0]) == 1
    assert lets(Block((x,), tuple(b.blocks[0]), ()), "again")
