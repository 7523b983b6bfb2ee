"""debug.print, debug.callback, debug.log and debug.breakpoint, inside transformations."""

import bdb
import builtins
import io
import logging
import re

import numpy as np
import pytest

from tapeless import debug, grad, jit, vmap
from tapeless.transforms.errors import ArgumentError, UnsupportedError

WAYS = [lambda f: f, jit, grad, lambda f: jit(grad(f)), lambda f: lambda x: vmap(f)(np.array([x]))]


@pytest.mark.parametrize("way", WAYS)
def test_print(way, capsys):
    def f(x):
        y = x * x
        debug.print("x = {:.1f}, y = {y}", x, y=y, ordered=True)
        debug.print("shape {}", np.shape(x))
        return y

    way(f)(3.0)
    assert capsys.readouterr().out == "x = 3.0, y = 9.0\nshape ()\n"


def test_print_is_a_print_in_emitted_code():
    def f(x):
        debug.print("x is {x}", x=x)
        return x * x

    assert 'print(f"x is {x}")' in grad(f).source(3.0)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        (("{}", 1.0, 2.0), {}, ArgumentError, "does not show all arguments: 1 of the positional"),
        (("{a}",), {"a": 1.0, "b": 2.0}, ArgumentError, "does not show all arguments: b"),
        ((1.0,), {}, TypeError, "needs a format string, not float"),
        (("{} {}", 1.0), {}, IndexError, "index 1 out of range"),
        (("{a}",), {}, KeyError, "a"),
    ],
)
@pytest.mark.parametrize("way", [lambda f: f, jit])
def test_formats_that_do_not_fit(args, kwargs, error, message, way):
    with pytest.raises(error, match=message):
        way(lambda x: debug.print(*args, **kwargs))(1.0)


def test_arguments_that_are_not_shown(capsys):
    debug.print("{0}", 1.0, 2.0, skip_format_check=True)
    assert capsys.readouterr().out == "1.0\n"


@pytest.mark.parametrize("way", WAYS)
def test_log(way, caplog):
    def f(x):
        debug.log("x = {}", x)
        return x * x

    with caplog.at_level(logging.INFO, "tapeless.debug"):
        way(f)(3.0)
    assert [r.getMessage() for r in caplog.records] == ["x = 3.0"]


@pytest.mark.parametrize("way", WAYS)
def test_callback(way):
    seen = []

    def f(x):
        y = x * x
        debug.callback(lambda v, *, name: seen.append((name, float(v))), y, name="y")
        return y

    way(f)(3.0)
    assert seen == [("y", 9.0)]


def test_options_in_a_call_of_their_own(capsys):
    seen = []

    def f(x):
        debug.print(ordered=True)("x = {ordered} {}", x, ordered=1)
        debug.print(skip_format_check=True)("x", x)
        debug.callback(ordered=True)(lambda v, ordered: seen.append((v, ordered)), x, ordered=2)
        return x * x

    for way in (jit(f), grad(f), f):
        way(3.0)
    assert capsys.readouterr().out == "x = 1 3.0\nx\n" * 3
    assert seen == [(3.0, 2)] * 3
    with pytest.raises(TypeError, match="needs a format string, not NoneType"):
        debug.print(x=1.0)


def test_callback_for_each_element():
    seen = []

    def f(x):
        if x > 0:
            debug.callback(seen.append, x)
        return x

    vmap(f)(np.array([1.0, -1.0, 2.0]))
    assert seen == [1.0, 2.0]


def test_callback_that_holds_values_of_the_program():
    def f(x):
        debug.callback(lambda: str(x))
        return x

    with pytest.raises(UnsupportedError, match="reads 'x', which is known only there"):
        jit(f)(1.0)


# -- the debugger


def talk(commands):
    """Streams for a debugger: what is typed, and what it says."""
    return {"stdin": io.StringIO("\n".join([*commands, ""])), "stdout": io.StringIO()}


def said(streams):
    return [t.strip() for t in streams["stdout"].getvalue().split("(Pdb)")]


def outer(x, streams):
    kind = "text"
    return inner(x, x + 1, streams) + len(kind)


def inner(a, b, streams):
    c = a * b
    if c > 0:
        debug.breakpoint(**streams)  # here
    return c


@pytest.mark.parametrize("way", [lambda f: f, jit, grad, lambda f: jit(grad(f))])
def test_breakpoint_shows_the_users_lines_and_variables(way):
    streams = talk(["p a, b, c", "up", "p kind, x", "down", "continue"])
    way(lambda x: outer(x, streams))(2.0)
    first, values, up, more, down, _ = said(streams)
    assert re.search(r"test_debug\.py\(\d+\)inner\(\)\n-> debug\.breakpoint\(.* # here", first)
    assert values == "(2.0, 3.0, 6.0)"
    assert re.search(r"test_debug\.py\(\d+\)outer\(\)\n-> return inner\(x, x \+ 1", up)
    assert more == "('text', 2.0)"
    assert "inner()" in down


def test_breakpoint_shows_no_frames_of_tapeless():
    streams = talk(["where", "continue"])
    jit(lambda x: outer(x, streams))(2.0)
    places = re.findall(r"(\S+)\(\d+\)(\w+)\(\)", said(streams)[1])
    assert [name for _, name in places][-2:] == ["outer", "inner"]
    assert not [file for file, _ in places if re.search(r"(?<!tests)/(api|transforms)/", file)]


def test_breakpoint_at_each_element():
    streams = talk(["p float(c)", "continue"] * 2)
    vmap(lambda x: outer(x, streams))(np.array([1.0, -0.5, 2.0]))
    assert said(streams)[1::2] == ["2.0", "6.0"]


def test_as_many_frames_as_asked_for():
    streams = talk(["p x", "continue"])

    def f(x):
        def g(y):
            debug.breakpoint(num_frames=1, **streams)
            return y

        return g(x * 1.0)

    jit(f)(1.0)
    assert "NameError" in said(streams)[1]


@pytest.mark.parametrize("way", [lambda f: f, jit])
def test_breakpoint_that_is_left_by_quit(way):
    streams = talk(["quit"])
    with pytest.raises(bdb.BdbQuit):
        way(lambda x: outer(x, streams))(2.0)


def test_breakpoint_of_another_debugger():
    with pytest.raises(ArgumentError, match="backend is 'web'"):
        debug.breakpoint(backend="web")


def test_the_builtin_names_it():
    def f(x):
        builtins.breakpoint()
        return x

    with pytest.raises(UnsupportedError) as e:
        grad(f)(1.0)
    assert "debug.breakpoint()" in e.value.hint
