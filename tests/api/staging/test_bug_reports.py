"""Errors of users stay what they are; mistakes of ours become reports with the user's position."""

import traceback
from pathlib import Path

import numpy as np
import pytest

from tapeless import TapelessError, config, grad, vjp
from tapeless.backends import array_form
from tapeless.transforms.autodiff import linearize
from tapeless.transforms.errors import InternalError
from tapeless.transforms.frontend.source import rewrite


class Empty:
    pass


EMPTY, SHORT = Empty(), [1.0]

USERS = {
    "missing key of an argument": (lambda p: p["b"] * 1.0, {"a": 1.0}),
    "missing key": (lambda x: x * {"a": 1.0}["b"], 1.0),
    "index of a list": (lambda x: x * SHORT[10], 1.0),
    "index of an argument": (lambda x: x[10] * 1.0, [1.0]),
    "index of an array": (lambda x: x[10] * 1.0, np.ones(3)),
    "attribute": (lambda x: x * EMPTY.missing, 1.0),
    "attribute of an array": (lambda x: x.missing * 1.0, np.ones(2)),
    "name": (lambda x: x * undefined_name, 1.0),  # noqa: F821 (the mistake that is tested)
    "arguments": (lambda x: (lambda a, b: a)(x), 1.0),
    "text and number": (lambda x: x + "a", 1.0),
    "int of text": (lambda x: x * int("x"), 1.0),
    "pop of an empty dict": (lambda x: x * {}.pop("x"), 1.0),
    "next of nothing": (lambda x: x * next(iter([])), 1.0),
    "unpacking": (lambda x: max(a for a, b in [(x,)]), 1.0),
    "unknown keyword": (lambda x: np.sum(x, foo=1), np.ones(2)),
    "axis": (lambda x: np.sum(np.sum(x, axis=3)), np.ones(2)),
    "division": (lambda x: x * (1 / 0), 1.0),
    "max of nothing": (lambda x: x * max([]), 1.0),
    "maximum of nothing": (np.max, np.ones(0)),
    "shapes": (lambda x: np.sum(x @ np.ones(3)), np.ones(2)),
}


@pytest.mark.parametrize(("function", "x"), USERS.values(), ids=USERS.keys())
def test_errors_of_users_are_those_of_python(function, x):
    with pytest.raises(Exception) as plain:  # noqa: PT011 (whatever Python raises)
        function(x)
    with pytest.raises(plain.type) as e:
        grad(function)(x)
    assert not isinstance(e.value, InternalError)


def failing(error):
    def fail(*args, **kwargs):
        raise error

    return fail


def square_root(x):
    y = x + 1.0
    return np.sqrt(y)


@pytest.mark.parametrize("error", [KeyError("k"), IndexError("i"), TypeError("t"), ValueError("v")])
def test_mistakes_of_passes_are_reports(monkeypatch, error):
    def broken(*args):
        raise error

    # Defined here, it counts as code of the pass only by the frame of the pass that calls it.
    monkeypatch.setattr(linearize, "dependents", broken)
    with pytest.raises(InternalError) as e:
        grad(square_root)(1.0)
    name = type(error).__name__
    assert e.value.problem == (
        f"a mistake in tapeless ({name}: {error}) while transforming square_root"
    )
    assert e.value.hint == "please report it with the function"
    assert e.value.where[:2] == (__file__, square_root.__code__.co_firstlineno)
    assert e.value.__cause__ is error


def test_reports_name_the_line_that_was_staged(monkeypatch):
    monkeypatch.setattr(rewrite, "_compile", failing(KeyError("node")))

    def outer(x):
        return helper(x)

    def helper(x):
        return x * 2

    with pytest.raises(InternalError) as e:
        grad(outer)(1.0)
    assert e.value.where[0] == __file__


def test_code_that_does_not_compile_is_a_report(monkeypatch):
    monkeypatch.setattr(array_form.cache, "store", lambda name, text: None)
    original = array_form.load

    def damaged(name, text):
        return original(name, text.replace("return", "return )"))

    monkeypatch.setattr(array_form, "load", damaged)
    with pytest.raises(InternalError, match="a mistake in tapeless \\(SyntaxError"):
        grad(lambda x: x * 3.25)(1.0)


def test_errors_have_the_users_position():
    def f(x):
        return np.sum(np.busday_count(x, x))

    with pytest.raises(TapelessError) as e:
        grad(f)(np.ones(3))
    assert e.value.where[:2] == (__file__, f.__code__.co_firstlineno + 1)
    assert "np.sum(np.busday_count(x, x))" in str(e.value)
    assert "^" in str(e.value)


def test_nothing_is_wrapped_twice():
    with pytest.raises(TapelessError) as e:
        vjp(lambda x: grad(lambda y: y)(1), 1.0)
    assert not isinstance(e.value, InternalError)
    assert e.value.problem == "grad: cannot differentiate with respect to y, which is int64"


def no_rule(x):
    return np.busday_count(x)


def calls_it(x):
    for _ in range(3):
        x = x + no_rule(x)
    return np.sum(x)


def lines_of(error):
    frames = traceback.extract_tb(error.__traceback__)
    return [(Path(f.filename).name, f.lineno) for f in frames]


def test_tracebacks_show_the_users_lines_only():
    with pytest.raises(TapelessError) as e:
        grad(calls_it)(np.ones(3))
    here = Path(__file__).name
    first = calls_it.__code__.co_firstlineno
    inner = no_rule.__code__.co_firstlineno + 1
    assert lines_of(e.value)[1:] == [(here, first + 1), (here, first + 2), (here, inner)]


def test_whole_tracebacks_on_request():
    config.update("traceback_filtering", "off")
    try:
        with pytest.raises(TapelessError) as e:
            grad(calls_it)(np.ones(3))
    finally:
        config.update("traceback_filtering", "auto")
    assert "transformation.py" in dict(lines_of(e.value))
