"""The core language: types, atoms, and what statements read, hold and define."""

import numpy as np
import pytest

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Type,
    Var,
    While,
    blocks,
    free_variables,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.elementwise import sin

FLOAT, INT, BOOL = Type(np.dtype(float)), Type(np.dtype(int), (), True), Type(np.dtype(bool))


def var(name, kind=FLOAT):
    return Var(kind, name)


def const(value):
    return Literal(value, INT)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (FLOAT, "f8"),
        (INT, "pyi8"),
        (Type(np.dtype("f4"), (2, dims.symbol("n"))), "f4[2, n]"),
        (StackType(FLOAT), "stack(f8)"),
    ],
)
def test_types_as_text(kind, text):
    assert str(kind) == text


@pytest.mark.parametrize(("code", "smooth"), [("f4", True), ("c8", True), ("i8", False), ("?", 0)])
def test_floats_and_complex_numbers_have_derivatives(code, smooth):
    kind = Type(np.dtype(code))
    assert kind.differentiable == StackType(kind).differentiable == smooth


def test_only_scalars_are_weak():
    weak = Type(np.dtype(float), (), True)
    assert weak.with_shape(()).weak
    assert not weak.with_shape((3,)).weak


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
    ],
)
def test_literals_are_equal_if_they_are_the_same_constant(a, b, equal):
    x, y = Literal(a, FLOAT), Literal(b, FLOAT)
    assert (x == y) is equal
    assert not equal or hash(x) == hash(y)
    assert x != Literal(a, INT)


def test_variables_are_equal_only_to_themselves():
    assert var("x") != var("x")


def program():
    """A loop with a branch in it, a while loop and an effect, and their variables.

    for i in range(n): c = sin(c) if t else c + a;  while p: ...;  print(a)
    """
    v = {k: var(k) for k in ("a", "c", "d", "e", "out", "q", "r", "w")}
    v |= {k: var(k, INT) for k in ("n", "i")} | {k: var(k, BOOL) for k in ("t", "p")}
    yes = Block((), (Let((v["d"],), sin, (v["c"],)),), (v["d"],))
    no = Block((), (Let((v["e"],), add, (v["c"], v["a"])),), (v["e"],))
    branch = If((v["r"],), v["t"], yes, no)
    loop = For(
        (v["out"],),
        const(0),
        v["n"],
        const(1),
        (v["a"],),
        Block((v["i"], v["c"]), (branch,), (v["r"],)),
    )
    again = While(
        (v["w"],), (v["out"],), Block((v["q"],), (), (v["p"],)), Block((var("s"),), (), (v["a"],))
    )
    return v, loop, branch, again, Effect("print", (v["a"],))


def test_free_variables_in_order_of_use():
    v, loop, _, again, effect = program()
    block = Block((v["a"],), (loop, again, effect), (v["w"],))
    assert list(free_variables(block)) == [v["n"], v["t"], v["p"]]
    assert list(free_variables(loop.body)) == [v["t"], v["a"]]


def test_statements_outer_before_inner():
    _, loop, branch, again, effect = program()
    found = list(statements(Block((), (loop, again, effect), ())))
    assert found == [loop, branch, *branch.then.body, *branch.orelse.body, again, effect]


def test_what_statements_hold_and_read():
    v, loop, branch, again, effect = program()
    assert blocks(loop) == (loop.body,)
    assert blocks(branch) == (branch.then, branch.orelse)
    assert blocks(again) == (again.test, again.body)
    assert blocks(effect) == blocks(branch.then.body[0]) == ()
    assert operands(loop) == (const(0), v["n"], const(1), v["a"])
    assert operands(branch) == (v["t"],)
    assert operands(again) == (v["out"],)
    assert operands(effect) == (v["a"],)
    with pytest.raises(TypeError):
        operands(v["a"])


def test_a_loop_that_ends_early_gives_its_passes_too():
    i, c, out, passes = var("i", INT), var("c"), var("out"), var("passes", INT)
    go = var("go", BOOL)
    body = Block((i, c), (), (go, c))
    loop = For((out,), const(0), const(9), const(1), (c,), body, until=True, count=passes)
    assert outputs(loop) == (out, passes)
    assert loop.index is i
    assert loop.carries == (c,)
    assert loop.yields == (c,)
