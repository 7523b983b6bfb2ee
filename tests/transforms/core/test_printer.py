"""Core programs as text: every part is shown, and equal names are told apart."""

import itertools
import re
from dataclasses import replace

import numpy as np

from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Origin,
    Program,
    StackType,
    Type,
    Var,
    While,
)
from tapeless.transforms.core.printer import show, show_block
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import greater
from tapeless.transforms.ops.primitives.elementwise import sin

FLOAT = Type(np.dtype(float))


X = Var(FLOAT, "x")
COUNT = Var(Type(np.dtype(int), (), True), "n")


def loop_with_branch():
    """for i in range(n): c = sin(c) if t else c"""
    i, c, s, r = Var(COUNT.type, "i"), Var(FLOAT, "c"), Var(FLOAT, "s"), Var(FLOAT)
    t = Var(Type(np.dtype(bool)), "t")
    sine = Let((s,), sin, (c,), {}, Origin("models.py", 3))
    test = Let((t,), greater, (c, Literal(1, COUNT.type)))
    branch = If(
        (r,), t, Block((), (sine,), (s,)), Block((), (), (c,)), None, Origin("models.py", 2)
    )
    body = Block((i, c), (test, branch), (r,))
    zero, one = Literal(0, COUNT.type), Literal(1, COUNT.type)
    return For((Var(FLOAT, "x"),), zero, COUNT, one, (X,), body)


LOOP = """\
(x: f8, n: pyi8):
    x_2 = for i in range(0, n, 1) with c: f8 = x:
        t: b1 = greater(c, 1)
        t1 = if t:  # line 2
            s: f8 = sin(c)  # line 3
            yield s
        else:
            yield c
        yield t1
    return x_2"""


def test_a_loop_with_a_branch():
    loop = loop_with_branch()
    assert show_block(Block((X, COUNT), (loop,), loop.outs)) == LOOP
    back = replace(loop, reverse=True)
    assert "in reversed(range(0, n, 1)) with" in show_block(Block((X, COUNT), (back,), back.outs))


def test_while_and_effects():
    p, q, t = Var(FLOAT, "p"), Var(FLOAT, "q"), Var(Type(np.dtype(bool)), "t")
    test = Block((p,), (Let((t,), greater, (p, Literal(1, COUNT.type))),), (t,))
    loop = While((Var(FLOAT, "r"),), (X,), test, Block((q,), (), (q,)))
    assert show_block(Block((X,), (loop, Effect("print", loop.outs)), ())).splitlines() == [
        "(x: f8):",
        "    r = while with q: f8 = x:",
        "        t: b1 = greater(q, 1)",
        "        test t",
        "        yield q",
        "    print(r)",
        "    return",
    ]


def test_programs_are_closed_and_named():
    x = Var(FLOAT, "x")
    program = Program("half", Block((x,), (), (x,)))
    assert show(program) == "program half(x: f8):\n    return x"


def test_variables_of_one_name_are_told_apart():
    x = [Var(FLOAT, "x") for _ in range(3)] + [Var(FLOAT) for _ in range(3)]
    body = tuple(Let((b,), sin, (a,)) for a, b in itertools.pairwise(x))
    text = show_block(Block((x[0],), body, (x[-1],)))
    assert re.findall(r"(\w+): f8 =", text) == ["x_2", "x_3", "t1", "t2", "t3"]


def test_a_users_name_like_ours_is_not_taken_twice():
    named, ours, other = Var(FLOAT, "t1"), Var(FLOAT), Var(FLOAT, "t1_2")
    text = show_block(Block((named, ours, other), (), (named, ours, other)))
    names = re.findall(r"\w+(?=: f8)", text)
    assert len(set(names)) == 3
    assert names[0] == "t1"


def test_constants_stacks_and_what_is_undefined():
    x, stack = Var(FLOAT, "x"), Var(StackType(FLOAT), "kept")
    body = (
        Let((Var(FLOAT, "y"),), add, (x, Literal(2.0, FLOAT)), {"axis": 1}),
        Effect("blank", ()),
    )
    text = show_block(Block((x, stack), body, (Literal(None, FLOAT),)))
    assert text.splitlines() == [
        "(x: f8, kept: stack(f8)):",
        "    y: f8 = add(x, 2.0, axis=1)",
        "    blank()",
        "    return undefined",
    ]


def test_the_text_depends_on_the_program_only():
    loop = loop_with_branch()
    copy, _ = refresh(Block((X, COUNT), (loop,), loop.outs))
    assert show_block(copy) == LOOP
