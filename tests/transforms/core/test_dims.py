"""Arithmetic of axis lengths against plain integers."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tapeless.transforms.core import dims

NAMES = ("n", "m", "k")
LOWER = (0, 2, 1)
SYMBOLS = [dims.symbol(name, lower) for name, lower in zip(NAMES, LOWER, strict=True)]
N, M, K = SYMBOLS
(N_SYMBOL,), (M_SYMBOL,), (K_SYMBOL,) = map(dims.symbols, SYMBOLS)
FACTORS = (N_SYMBOL, M_SYMBOL, K_SYMBOL)


@dataclass
class Both:
    """An expression as a size, and as Python text of integers."""

    size: Any
    text: str


def combined(kind, a, b):
    try:
        if kind == "max":
            return Both(dims.maximum(a.size, b.size), f"max({a.text}, {b.text})")
        return Both(
            eval(f"a {kind} b", {"a": a.size, "b": b.size}), f"({a.text}) {kind} ({b.text})"
        )
    except ZeroDivisionError:
        assume(False)


LEAVES = st.integers(-3, 4).map(lambda k: Both(k, str(k))) | st.sampled_from(
    [Both(s, name) for s, name in zip(SYMBOLS, NAMES, strict=True)]
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda e: st.builds(combined, st.sampled_from(("+", "-", "*", "//", "%", "max")), e, e),
    max_leaves=6,
)
VALUES = st.tuples(*(st.integers(low, low + 6) for low in LOWER))


def number(expression, values):
    try:
        return eval(expression.text, {"max": max, **dict(zip(NAMES, values, strict=True))})
    except ZeroDivisionError:
        assume(False)


@given(EXPRESSIONS, VALUES)
def test_sizes_have_the_values_of_integers(e, values):
    got = dims.evaluate(e.size, dict(zip(FACTORS, values, strict=True)))
    assert got == number(e, values)


@given(EXPRESSIONS, VALUES)
def test_lower_bounds_hold(e, values):
    bound = dims.lower_bound(e.size)
    assert bound is None or bound <= number(e, values)


@given(EXPRESSIONS, EXPRESSIONS, VALUES)
def test_what_is_certain_holds(a, b, values):
    x, y = number(a, values), number(b, values)
    if dims.at_least(a.size, b.size):
        assert x >= y
    if a.size == b.size:
        assert x == y


@given(EXPRESSIONS, VALUES)
def test_the_text_of_a_size_is_the_size(e, values):
    shown = eval(str(e.size), {"max": max, **dict(zip(NAMES, values, strict=True))})
    assert shown == number(e, values)


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_laws_of_rings_hold_as_equal_expressions(a, b, c):
    a, b, c = a.size, b.size, c.size
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a + b) * c == a * c + b * c
    assert a - a == 0
    assert hash(a + b) == hash(b + a)


@given(EXPRESSIONS, EXPRESSIONS, VALUES)
def test_substitution_is_evaluation_of_the_parts(e, new, values):
    """n replaced by an expression that has the value of n in another environment."""
    inner = number(new, values)
    assume(inner >= LOWER[0])
    try:
        size = dims.substitute(e.size, lambda s: new.size if s is N_SYMBOL else None)
    except ZeroDivisionError:
        assume(False)
    expected = number(e, (inner, *values[1:]))
    assert dims.evaluate(size, dict(zip(FACTORS, values, strict=True))) == expected


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ((N + 1) - 1, "n"),
        (N * M - M * N, "0"),
        (2 * N // 2, "n"),
        (N * M // M, "n"),
        ((N * M) % M, "0"),
        ((4 * N + 6) // 2, "2*n + 3"),
        (N // 2, "(n) // (2)"),
        (1 - N, "-n + 1"),
        (dims.maximum(M - 2, 0), "m - 2"),
        (dims.maximum(N - 2, 0), "max(n - 2, 0)"),
        (dims.maximum(N - 2, N), "n"),
        (dims.product([N, 2, M]), "2*n*m"),
        ((N - K + 1) * (M + 2) * K // ((N - K + 1) * (M + 2)), "k"),
        ((N * N - M * M) // (N + M), "n - m"),
        ((N * N - M * M) % (N - M), "0"),
        ((N + 1) // (N - 1), "(n + 1) // (n - 1)"),
        ((N + 1) // 2 - (N - 1) // 2, "1"),
        ((2 * N + 3) // 2, "n + 1"),
        ((N + 7) // 4 - (N + 3) // 4, "1"),
        (dims.product([]), "1"),
    ],
    ids=str,
)
def test_what_is_simplified(made, text):
    assert str(made) == text


def test_symbols_of_one_name_are_different_sizes():
    a, b = dims.symbol("n"), dims.symbol("n")
    assert a != b
    assert a - b != 0
    assert str(a) == str(b)
    for x, y in ((a, b), (a // 2, b // 2), (dims.maximum(a, b - 3), b % 2)):
        assert x != y
        assert x + y == y + x
        assert x * y - y * x == 0


def test_an_unknown_symbol_has_no_value():
    assert dims.evaluate(N + M, {N_SYMBOL: 3}) is None
    assert dims.evaluate(7, {}) == 7


def test_symbols_are_found_inside_quotients():
    assert dims.symbols((N // 2) * (M % 3) + dims.maximum(N, K)) == set(FACTORS)
    assert dims.symbols(3) == set()


def test_a_symbol_without_bound_has_none():
    free = dims.symbol("free")
    assert dims.lower_bound(free) is None
    assert dims.lower_bound(free // 2) is None
    assert not dims.at_least(free, 0)


def test_a_length_is_never_less_than_the_smaller_one_of_two():
    n, m = dims.symbol("n", 0), dims.symbol("m", 0)
    assert dims.at_least(n, dims.minimum(n, m))
    assert dims.at_least(dims.maximum(n, m), m)
    assert dims.maximum(n - dims.minimum(n, m), 0) == n - dims.minimum(n, m)
    assert not dims.at_least(dims.minimum(n, m), n)
