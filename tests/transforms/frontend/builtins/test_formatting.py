# ruff: noqa: T201, UP031 (printing and every way of formatting are what is tested)
"""Texts of users' objects that hold what only the running program knows."""

import logging
import types
import typing
from dataclasses import dataclass

import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError


class Length:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Length({self.value:.3f})"


class Spelled(Length):
    def __str__(self):
        return f"long {self.value}" if self.value > 5 else "short"


class Formatted(Length):
    def __format__(self, spec):
        return format(self.value, spec or ".1f")


@dataclass
class Record:
    value: float
    children: list
    name: str = "r"


class Pair(typing.NamedTuple):
    first: float
    second: float


class TooLargeError(Exception):
    pass


def printed(x):
    print(Length(x), [Length(x)], {"a": (Length(x),)}, Record(x, [Record(2 * x, [])]))


def in_f_strings(x):
    length = Length(x)
    print(f"{length} {length!r:>20} {[length]} {Record(x, [])!s:.12}")


def by_percent(x):
    print("%s, %r and %5.2f%%" % (Length(x), Length(x), x))
    print("%-20s|" % Length(x))


def by_format(x):
    print("{0!r} {0} {1:.3f} {r.value:.1f} {r}".format(Length(x), x, r=Record(x, [])))


def with_a_format_of_its_own(x):
    print(f"{Formatted(x)} {Formatted(x):.3e}", format(Formatted(x), ".2f"), Formatted(x))


def chosen_by_data(x):
    print(Spelled(x), [Spelled(x)], f"{Spelled(x)}", "%s" % Spelled(x), str(Spelled(x)))


def named_tuples_and_namespaces(x):
    print(Pair(x, 2.0), [Pair(x, x)], f"{Pair(x, x)}", types.SimpleNamespace(x=x, n=Length(x)))


def errors_that_are_shown(x):
    error = TooLargeError("too large", x)
    print(error, f"{TooLargeError(x)}", str(error))


def in_loops(x):
    for k in range(3):
        print(k, Length(k * x))


FUNCTIONS = [
    printed,
    in_f_strings,
    by_percent,
    by_format,
    with_a_format_of_its_own,
    chosen_by_data,
    named_tuples_and_namespaces,
    errors_that_are_shown,
    in_loops,
]


@pytest.mark.parametrize("x", [1.25, 7.5])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_texts_are_those_of_python(f, x, capsys):
    f(x)
    expected = capsys.readouterr().out

    def product(x):
        f(x)
        return x * x

    with tapeless.strict(True):
        assert tapeless.jit(product)(x) == x * x
        assert capsys.readouterr().out == expected
        assert tapeless.grad(product)(x) == 2 * x
        assert capsys.readouterr().out == expected


def checked_at_the_start(x):
    if x > 1:
        raise TooLargeError(f"too large: {Record(x, [Length(x)])}")
    return x


def checked_in_a_loop(x):
    for k in range(4):
        if k * x > 3:
            raise TooLargeError(f"{Spelled(k * x)} after {k} steps")
    return x


def asserted(x):
    length = Length(x)
    assert x < 1, f"{length} is not below 1"
    return x


@pytest.mark.parametrize("transformation", [tapeless.jit, tapeless.grad])
@pytest.mark.parametrize("f", [checked_at_the_start, checked_in_a_loop, asserted])
def test_messages_are_those_of_python(f, transformation):
    for x in (1.5, 7.0):
        with pytest.raises((TooLargeError, AssertionError)) as expected:
            f(x)
        with tapeless.strict(True), pytest.raises(expected.type) as raised:
            transformation(f)(x)
        assert str(raised.value).partition("\n")[0] == str(expected.value).partition("\n")[0]


def test_logs_show_them(caplog):
    def f(x):
        logging.getLogger("lengths").warning("%s of %r at %.1f", Length(x), Record(x, []), x)
        return x

    with tapeless.strict(True):
        tapeless.jit(f)(2.0)
    assert caplog.messages == ["Length(2.000) of Record(value=2.0, children=[], name='r') at 2.0"]


def test_texts_by_libraries_show_no_symbols():
    """`str` of a library's object is made while staging, where its parts have no values."""

    def f(x):
        if x > 0:
            raise ValueError(f"{types.MappingProxyType({'x': x})}")
        return x

    with tapeless.strict(True), pytest.raises(UnsupportedError, match="shown in text"):
        tapeless.jit(f)(-1.0)
