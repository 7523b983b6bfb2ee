"""Forward mode: tangents follow their values, statement by statement."""

# ruff: noqa: SIM108 (branches are what is differentiated)

import numpy as np
import pytest

from tapeless.transforms.autodiff.jvp import jvp
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import For, If, Let, Var, While
from tests.transforms.staging import block_of, close_to, compiled, every, lets, size, slope


def straight(x):
    y = np.sin(x)
    return y * x


def branching(x):
    if x > 1:
        y = np.exp(x)
    else:
        y = 3.0
    return y + x


def powers(x, n):
    total = 0.0
    for k in range(n):
        total = total * x + k
    return total


def halving(x):
    passes = 0
    while x > 1:
        x = x * x / 4
        passes += 1
    return x + passes


def overwriting(x):
    v = np.zeros(3)
    for k in range(3):
        v[k] = np.sin(x * k)
    v[0] += v[2]
    return np.sum(v * v)


CASES = [
    (straight, 0.7),
    (branching, 1.3),
    (branching, 0.4),
    (lambda x: powers(x, 5), 1.2),
    (lambda x: powers(x, 0), 1.2),
    (halving, 3.5),
    (halving, 0.5),
    (overwriting, 0.8),
]


@pytest.mark.parametrize(("function", "x"), CASES)
def test_value_and_tangent(function, x):
    block = jvp(block_of(function, x), [0])
    verify(block)
    value, dot = compiled(block)(x, 2.0)
    close_to(value, function(x))
    close_to(dot, 2 * slope(function, x), 1e-6)


def test_a_tangent_is_named_after_its_value_and_follows_it():
    block = jvp(block_of(straight, 0.7), [0])
    assert [v.name for v in block.params] == ["x", "x_dot"]
    names = [s.outs[0].name for s in every(block, Let) if s.outs[0].name]
    assert names.index("y_dot") > names.index("y")


def test_only_what_is_asked_for_has_tangents():
    def product(x, y):
        return np.sin(x) * np.cos(y)

    block = jvp(block_of(product, 1.0, 2.0), [1])
    assert [v.name for v in block.params] == ["x", "y", "y_dot"]
    assert len(lets(block, "sin")) == 2  # the value, and the derivative of cos
    assert len(lets(block, "cos")) == 1
    _, dot = compiled(block)(1.0, 2.0, 1.0)
    close_to(dot, -np.sin(1.0) * np.sin(2.0))


def test_a_result_without_dependence_has_a_zero_tangent():
    block = jvp(block_of(lambda x: (np.floor(x), 2.5, np.zeros(2)), 1.7), [0])
    *_, a, b, c = compiled(block)(1.7, 1.0)
    assert a == b == 0
    assert np.array_equal(c, np.zeros(2))


def test_integers_have_no_tangents():
    block = jvp(block_of(powers, 1.5, 4), [0])
    (loop,) = every(block, For)
    assert loop.index.name == "k"
    assert not any(v.name.startswith("k_dot") for s in every(block) for v in s.outs)
    assert len(block.results) == 2


@pytest.mark.parametrize(
    ("function", "kind"), [(branching, If), (lambda x: powers(x, 4), For), (halving, While)]
)
def test_structure_stays(function, kind):
    """As many branches and loops as before: values and tangents go through the same one."""
    block = block_of(function, 1.5)
    assert len(list(every(jvp(block, [0]), kind))) == len(list(every(block, kind))) > 0


def test_the_size_is_linear_in_the_program_and_not_in_the_order():
    """Each application at most doubles or so, also inside loops (no statement is visited twice)."""
    block = block_of(lambda x: powers(x, 4), 1.5)
    once = jvp(block, [0])
    assert size(once) <= 4 * size(block)


def test_jvp_of_jvp_is_the_second_derivative():
    once = jvp(block_of(straight, 0.7), [0])
    twice = jvp(once, [0, 1])
    verify(twice)
    *_, second = compiled(twice)(0.7, 1.0, 1.0, 0.0)
    close_to(second, 2 * np.cos(0.7) - 0.7 * np.sin(0.7))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: np.where(x > 0, np.sqrt(x), 0.0), 0.0),
        (lambda x: np.where(x > 0, np.log(x), x), -1.0),
        (lambda x: np.sqrt(x) if x > 0 else 2 * x, 0.0),
        (lambda x: np.maximum(2.0 * x, np.sqrt(x - 1)), 1.0),
    ],
)
def test_the_untaken_side_gives_an_exact_zero(function, x):
    with np.errstate(all="ignore"):
        dot = compiled(jvp(block_of(function, x), [0]))(x, 1.0)[1]
    expected = {0.0: (0.0, 2.0), -1.0: (1.0,), 1.0: (2.0,)}[x]
    assert dot in expected


def test_parameters_of_the_block_are_untouched():
    block = block_of(straight, 0.7)
    before = [(s.op.name, s.args, s.outs) for s in every(block, Let)]
    jvp(block, [0])
    assert [(s.op.name, s.args, s.outs) for s in every(block, Let)] == before
    assert all(isinstance(v, Var) for v in block.params)
