"""The checker accepts what passes make, and finds each kind of broken program."""

from dataclasses import replace

import numpy as np
import pytest

from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Origin,
    StackType,
    Type,
    Var,
    While,
)
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.elementwise import sin
from tests.transforms.staging import block_of

FLOAT, INT, BOOL = Type(np.dtype(float)), Type(np.dtype(int), (), True), Type(np.dtype(bool))
VECTOR = Type(np.dtype(float), (3,))
ZERO, ONE = Literal(0, INT), Literal(1, INT)

x, y, z, stray = (Var(FLOAT, n) for n in ("x", "y", "z", "stray"))
v, w = Var(VECTOR, "v"), Var(VECTOR, "w")
n, i, k, passes = (Var(INT, name) for name in ("n", "i", "k", "passes"))
t, go = Var(BOOL, "t"), Var(BOOL, "go")
stack = Var(StackType(FLOAT), "kept")
PARAMS = (x, v, n, t, stack)


def block(*body, results=(), params=()):
    return Block(params, body, results)


def sine(out, of, origin=None):
    return Let((out,), sin, (of,), {}, origin)


YES = block(sine(z, x), results=(z,))
NO = block(results=(x,))
BRANCH = If((y,), t, YES, NO)
c, d = Var(FLOAT, "c"), Var(FLOAT, "d")
STEP = block(sine(d, c), params=(i, c), results=(d,))
LOOP = For((y,), ZERO, n, ONE, (x,), STEP)
EARLY = replace(
    LOOP,
    body=block(sine(d, c), params=(i, c), results=(t, d)),
    until=True,
    count=passes,
)
p, q = Var(FLOAT, "p"), Var(FLOAT, "q")
TEST = block(params=(p,), results=(t,))
AGAIN = While((y,), (x,), TEST, block(sine(d, q), params=(q,), results=(d,)))

GOOD = {
    "nothing": (),
    "branch": (BRANCH,),
    "loop": (LOOP,),
    "loop that ends early": (EARLY, Let((k,), add, (passes, ONE))),
    "while": (AGAIN,),
    "two loops in a row": (LOOP, sine(Var(FLOAT), y)),
    "effect": (Effect("print", (x,)),),
}

BROKEN = {
    "never defined": ((sine(y, stray),), "stray: f8 is read by sin"),
    "read before it is defined": ((sine(y, z), sine(z, x)), "z: f8 is read by sin"),
    "read by itself": ((sine(y, y),), "y: f8 is read by sin"),
    "defined twice": ((sine(y, x), sine(y, x)), "y is defined twice"),
    "a parameter defined again": ((sine(x, x),), "x is defined twice"),
    "defined inside and outside": ((BRANCH, sine(z, x)), "z is defined twice"),
    "defined on both sides": (
        (replace(BRANCH, orelse=block(sine(z, x), results=(z,))),),
        "z is defined twice",
    ),
    "read outside of the branch": ((BRANCH, sine(d, z)), "z: f8 is read by sin"),
    "read on the other side": (
        (replace(BRANCH, orelse=block(results=(z,))),),
        "z: f8 is read by a result",
    ),
    "read outside of the loop": ((LOOP, sine(z, d)), "d: f8 is read by sin"),
    "an index read after the loop": (
        (LOOP, Let((k,), add, (i, ONE))),
        "i: pyi8 is read by add",
    ),
    "a carry read by its own loop's start": ((replace(LOOP, start=i),), "i: pyi8 is read by For"),
    "an effect of nothing": ((Effect("print", (stray,)),), "stray: f8 is read by Effect"),
    "a test of nothing": ((replace(BRANCH, test=go),), "go: b1 is read by If"),
    "a branch that gives too little": (
        (replace(BRANCH, then=block()),),
        "If gives 0 values where 1 are taken",
    ),
    "another side that gives too much": (
        (replace(BRANCH, orelse=block(results=(x, x))),),
        "If gives 2 values where 1 are taken",
    ),
    "a loop without a start for its carry": (
        (replace(LOOP, inits=()),),
        "For gives 1 values where 0 are taken",
    ),
    "a loop that yields too much": (
        (replace(LOOP, body=replace(STEP, results=(d, d))),),
        "For gives 2 values where 1 are taken",
    ),
    "an early loop without its flag": (
        (replace(EARLY, body=STEP),),
        "For gives 0 values where 1 are taken",
    ),
    "a carry that changes its dtype": (
        (replace(LOOP, outs=(k,)),),
        "For carries f8 but gives pyi8",
    ),
    "a carry that changes its rank": ((replace(LOOP, outs=(w,)),), "For carries f8 but gives f8"),
    "a carry that becomes a stack": (
        (replace(LOOP, outs=(Var(StackType(FLOAT), "s"),)),),
        "For carries f8 but gives stack",
    ),
    "a while without a start": (
        (replace(AGAIN, inits=()),),
        "While gives 1 values where 0 are taken",
    ),
    "a while test of other parameters": (
        (replace(AGAIN, test=replace(TEST, params=())),),
        "While gives 0 values where 1 are taken",
    ),
    "a while that yields too little": (
        (replace(AGAIN, body=replace(AGAIN.body, results=())),),
        "While gives 0 values where 1 are taken",
    ),
    "a while test that reads the body": (
        (replace(AGAIN, test=block(params=(p,), results=(d,))),),
        "d: f8 is read by a result",
    ),
    # what comes out has the type that the statement says
    "a branch of another dtype": (
        (replace(BRANCH, orelse=block(results=(n,))),),
        "If carries pyi8 but gives f8",
    ),
    "a branch of another rank": (
        (replace(BRANCH, then=block(results=(v,))),),
        "If carries f8",
    ),
    "a loop that starts with another dtype": (
        (replace(LOOP, inits=(n,)),),
        "For carries",
    ),
    "a loop that yields another rank": (
        (replace(LOOP, body=replace(STEP, results=(v,))),),
        "For carries",
    ),
    "a while that yields another dtype": (
        (replace(AGAIN, body=replace(AGAIN.body, results=(n,))),),
        "While carries",
    ),
    "a while that gives another rank": ((replace(AGAIN, outs=(w,)),), "While carries"),
    "a while test that gives two values": (
        (replace(AGAIN, test=block(params=(p,), results=(t, t))),),
        "While gives 2 values where 1 are taken",
    ),
    "a loop without an index": (
        (For((), ZERO, n, ONE, (), Block((), (), ())),),
        "For",
    ),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
def test_what_is_well_formed(body):
    verify(block(*body, params=PARAMS, results=(x,)))


@pytest.mark.parametrize(("body", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken(body, message):
    with pytest.raises(InternalError, match="not well formed after dropping: ") as met:
        verify(block(*body, params=PARAMS), "dropping")
    assert message in met.value.problem


def test_a_result_that_is_not_defined():
    with pytest.raises(InternalError, match="stray: f8 is read by a result"):
        verify(block(params=PARAMS, results=(stray,)))


def test_two_parameters_that_are_one():
    with pytest.raises(InternalError, match="x is defined twice"):
        verify(block(params=(x, x)))


def test_the_users_line_is_in_the_message():
    with pytest.raises(InternalError, match=r"sin -> \(y,\) \(line 12\)"):
        verify(block(sine(y, stray, Origin("models.py", 12))))


def walk(u, n):
    for k in range(n):
        u[k] = u[k] * np.sin(u[k - 1])
        if np.sum(u) > 100:
            break
    while u[0] < 1:
        u = u * 2
    return u


def test_staged_programs_are_well_formed():
    verify(block_of(walk, np.ones(4), 3), "staging")
