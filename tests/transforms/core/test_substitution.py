"""Copies of blocks: other variables, the same program."""

# ruff: noqa: SIM108 (branches are what is copied)

import numpy as np
import pytest

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, var_size
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import (
    TAPE,
    Block,
    Let,
    Literal,
    StackType,
    Type,
    Var,
    free_variables,
    outputs,
    statements,
)
from tapeless.transforms.core.substitution import (
    map_symbols,
    refresh,
    replace_symbols,
    retype,
    size,
    substitute,
)
from tapeless.transforms.ops.numpy.creation import zeros
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.function_calls import unbundle
from tests.transforms.staging import block_of, compiled

INT = Type(np.dtype(int), (), True)
FLOAT = Type(np.dtype(float))


def mixed(x, n):
    """Every kind of statement."""
    total = 0.0
    for k in range(n):
        if x > 1:
            x = x - 0.5 * np.sin(x)
        else:
            x = x + k
        if x > 40:
            break
        total = total + x
    while total > 10:
        total = total / 2
    if total < 0:
        raise ValueError("negative")
    return total


def defined(block):
    found = set(block.params)
    for s in statements(block):
        found |= set(outputs(s))
        for inner in (getattr(s, name, None) for name in ("then", "orelse", "body", "test")):
            if isinstance(inner, Block):
                found |= set(inner.params)
    return found


def test_a_refreshed_block_shares_no_variable_and_does_the_same():
    block = block_of(mixed, 1.5, 4)
    copy, new = refresh(block)
    verify(copy)
    assert not defined(block) & defined(copy)
    assert not free_variables(copy)
    assert set(new) >= set(block.params)
    for x, n in ((1.5, 4), (0.2, 9), (39.5, 3), (1.0, 0)):
        assert compiled(copy)(x, n) == compiled(block)(x, n) == (mixed(x, n),)


def test_names_and_lines_are_kept_in_copies():
    block = block_of(mixed, 1.5, 4)
    copy, new = refresh(block)
    assert [v.name for v in copy.params] == ["x", "n"]
    assert all(new[v].name == v.name for v in defined(block))
    lines = [[s.origin and s.origin.line for s in statements(b)] for b in (block, copy)]
    assert lines[0] == lines[1]


def test_known_variables_are_replaced_in_a_copy():
    x, y, z = (Var(FLOAT, n) for n in "xyz")
    block = Block((), (Let((y,), add, (x, x)),), (y,))
    copy, _ = refresh(block, {x: z})
    assert list(free_variables(copy)) == [z]
    assert list(free_variables(block)) == [x]


def test_substitution_reaches_every_nested_block():
    block = block_of(mixed, 1.5, 4)
    x, n = block.params
    y, m = Var(x.type, "y"), Var(n.type, "m")
    made = substitute(Block((), block.body, block.results), {x: y, n: m})
    assert set(free_variables(made)) == {y, m}
    made = Block((y, m), made.body, made.results)
    assert compiled(made)(1.5, 4) == (mixed(1.5, 4),)
    assert substitute(block, {}) is block


def sized(size_of_it):
    with building(Builder()) as b:
        made = zeros(shape=(size_of_it,), dtype=np.dtype(float))
    return made, b.blocks[0][0]


@pytest.mark.parametrize(
    ("new", "expected"), [(Literal(5, INT), 6), (Var(INT, "m"), "m + 1")], ids=["literal", "var"]
)
def test_sizes_follow_the_variables_that_they_are_values_of(new, expected):
    n = Var(INT, "n")
    made, let = sized(var_size(n) + 1)
    (copy,) = substitute(Block((), (let,), ()), {n: new}).body
    assert str(copy.params["shape"][0]) == str(expected)
    assert str(retype(made.type, {n: new}).shape[0]) == str(expected)
    assert retype(StackType(made.type), {n: new}).item == retype(made.type, {n: new})


def test_sizes_of_inputs_stay():
    n = dims.symbol("n", 2)
    assert size(n * 2, {Var(INT, "n"): Literal(5, INT)}) == n * 2


def test_symbols_are_replaced_in_params_of_nested_blocks():
    n, m = dims.symbol("n"), dims.symbol("m")
    (symbol,) = dims.symbols(n)

    def local(u, k):
        for _ in range(k):
            u = u + np.zeros(3)
        return u

    block = block_of(local, np.ones(3), 2)
    (axis,) = block.params[0].type.shape
    assert axis != m
    kind = Type(np.dtype(float), (n, 2))
    assert map_symbols({"a": kind, "b": (n + 1, slice(None)), "c": "n"}, {symbol: m}) == {
        "a": Type(np.dtype(float), (m, 2)),
        "b": (m + 1, slice(None)),
        "c": "n",
    }
    _, let = sized(n)
    assert replace_symbols(Block((), (let,), ()), {symbol: m}).body[0].params["shape"] == (m,)


def test_sizes_in_the_types_of_parameters_follow_their_integer():
    tape, n, m = Var(TAPE, "saved"), Var(INT, "n"), Var(INT, "m")
    stack = StackType(Type(np.dtype(float), (var_size(n),)))
    part = Var(stack, "rows")
    opening = Let((part,), unbundle, (tape,), {"kinds": (stack,)})
    copied, _ = refresh(Block((tape, m), (opening,), (part,)), {n: m})
    assert copied.body[0].params["kinds"] == (copied.body[0].outs[0].type,) != (stack,)


def test_what_is_as_long_as_an_undefined_number_is_empty():
    n = Var(Type(np.dtype(int), (), True), "n")
    kind = Type(np.dtype(float), (var_size(n),))
    assert retype(kind, {n: Literal(None, n.type)}).shape == (0,)
    assert retype(kind, {n: Literal(3, n.type)}).shape == (3,)
