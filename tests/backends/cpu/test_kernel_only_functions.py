"""Functions that only pass numbers to a kernel are one entry into machine code."""

import ast
import contextlib
import math

import numpy as np
import pytest

from tapeless import disable_jit, grad, jit
from tapeless.backends.cpu import load
from tapeless.backends.cpu.kernel_only_functions import KernelOnlyFunction, formed_by
from tapeless.backends.cpu.runtime.signature import CallForm
from tests.backends.cpu.text import HEAD

TEXT = """
@njit(nogil=True)
def f_kernel(a, b):
    return a - b, a * b


def f(x, y):
    first, second = f_kernel(y, x)
    return np.float32(second), first
"""


def settled(f, *args):
    """The function, called until it has found its quickest way."""
    for _ in range(3):
        f(*args)
    return f


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ("return k(x, y)", CallForm((0, 1), ((0, None),), True)),
        ('"""Doc."""\n    return np.float32(k(y, x))', CallForm((1, 0), ((0, "float32"),), True)),
        (
            "a, b = k(x, y)\n    return np.int8(b), a",
            CallForm((0, 1), ((1, "int8"), (0, None)), False),
        ),
        ("a = k(x, y)\n    return (a,)", CallForm((0, 1), ((0, None),), False)),
        ("return k(x)", None),
        ("return k(x, 1.0)", None),
        ("return k(x, y) + 1", None),
        ("return {'a': k(x, y)}", None),
        ("a = k(x, y)\n    return a, 2.0", None),
        ("z = x\n    a = k(x, y)\n    return a", None),
        ("return k(x, y=y)", None),
    ],
)
def test_which_functions_are_no_more_than_their_kernel(body, form):
    (function,) = ast.parse(f"def f(x, y):\n    {body}\n").body
    assert formed_by(function) == (None if form is None else ("k", form))


@pytest.mark.parametrize("kind", [float, int, np.float32, np.int16, np.float64, complex])
def test_order_and_types_are_those_of_the_function(kind):
    f = load("f", HEAD + TEXT)
    assert isinstance(f, KernelOnlyFunction)
    if kind is complex:
        f = load("f", HEAD + TEXT.replace("float32", "complex64"))
    x, y = kind(3), kind(5)
    second, first = f(x, y)
    assert type(second) is (np.complex64 if kind is complex else np.float32)
    assert (second, first) == (15, 2)


def test_values_and_types_of_numpy():
    def f(x, y):
        return x * np.sin(y) + y, x / y

    compiled = jit(f)
    for kind in (float, np.float32, np.float64, int, np.int32):
        args = kind(2), kind(3)
        settled(compiled, *args)
        assert compiled.direct is not None
        for got, want in zip(compiled(*args), f(*args), strict=True):
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-6 if kind is np.float32 else 1e-15)


def test_other_types_are_other_functions():
    compiled = settled(jit(lambda x: x * 2), 1.5)
    assert (compiled(3), type(compiled(3))) == (6, int)
    assert compiled(1.5) == 3.0
    assert type(compiled(np.float32(1.5))) is np.float32
    np.testing.assert_array_equal(compiled(np.ones(2)), [2.0, 2.0])
    with pytest.raises(TypeError):
        compiled(1.0, 2.0)
    assert compiled(x=2.0) == 4.0


def test_a_loop_and_its_gradient():
    def f(x, n):
        for _ in range(n):
            x = x - 0.1 * math.sin(x)
        return x

    slope = settled(jit(grad(f)), 1.0, 5)
    step = 1e-6
    want = (f(1 + step, 5) - f(1 - step, 5)) / (2 * step)
    assert slope(1.0, 5) == pytest.approx(want, rel=1e-8)
    assert slope(1.0, 0) == 1.0


def test_errors_name_what_ran():
    compiled = settled(jit(lambda a, b: a / b), 1.0, 2.0)
    assert compiled.direct is not None
    with pytest.raises(ZeroDivisionError, match="division by zero") as e:
        compiled(1.0, 0.0)
    assert any("while running the jit" in note for note in e.value.__notes__)
    assert compiled(1.0, 4.0) == 0.25


def test_what_is_read_from_outside_is_looked_at():
    factor = 2.0

    def f(x):
        return x * factor

    compiled = settled(jit(f), 1.5)
    factor = 3.0
    assert compiled(1.5) == 4.5


def test_switched_off():
    compiled = settled(jit(lambda x: x + 1), 1.0)
    before = compiled.direct
    compiled.direct = lambda x: 1 / 0
    with disable_jit():
        assert compiled(1.0) == 2.0
    compiled.direct = before
    assert compiled(1.0) == 2.0


def count_up(x, n):
    for i in range(n):
        x[i] += 1
        if x[i] > 5:
            raise ValueError("too many")
    return x[0]


def drawn_below(rng, n):
    total = 0.0
    for _ in range(n):
        number = rng.random()
        if number < 0.1:
            raise ValueError("too small")
        total += number
    return total


def test_what_raises_is_run_once():
    compiled = jit(count_up)
    for start in (0.0, 4.0, 5.0):
        ours, theirs = (np.array([0.0, start, 0.0]) for _ in range(2))
        for function, x in ((compiled, ours), (count_up, theirs)):
            for _ in range(2):
                with contextlib.suppress(ValueError):
                    function(x, 3)
        np.testing.assert_array_equal(ours, theirs)


def test_what_raises_draws_once():
    compiled = jit(drawn_below)
    ours, theirs = (np.random.default_rng(2) for _ in range(2))
    for _ in range(20):
        for function, rng in ((compiled, ours), (drawn_below, theirs)):
            with contextlib.suppress(ValueError):
                function(rng, 6)
        assert ours.bit_generator.state == theirs.bit_generator.state
