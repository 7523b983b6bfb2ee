"""Sources of functions that notebooks compiled a part at a time, or with other names.

How Jupyter and marimo themselves do that is tried in tests/api/view.
"""

import ast
import linecache
import sys
import textwrap

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import SourceError
from tapeless.transforms.frontend.source.find import own_lines, read

CELL = """\
import numpy as np
from math import *
import os.path as path

def plain(x):
    return np.sin(x)

@staticmethod
def decorated(x):
    return np.sin(x)

class Model:
    def cost(self, x):
        return np.sin(x)

def outer(x):
    def inner(y):
        return np.sin(y)
    return inner(x)

short = lambda x: np.sin(x)
"""
APP = '''\
import marimo

app = marimo.App()

with app.setup:
    import numpy as np

    def in_setup(x):
        return np.sin(x)


@app.function
def alone(x):
    return np.sin(x)


@app.cell
def _():
    """A text."""
    _k = 2.0
    _half = lambda x: x / 2

    def _private(x):
        _y = _half(x)
        return np.sin(_k * _y)

    def public(x):
        return _private(x)

    return (public,)
'''


def text_of(name, text):
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def jupyter(text, name="/tmp/ipykernel_1/123.py"):
    """Runs a cell as IPython does, statement by statement."""
    text_of(name, text)
    values = {"__name__": "__main__"}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec"), values)
    return values


@pytest.fixture
def marimo(tmp_path):
    """Runs some lines of a text as marimo does, in a module of their own, with private names."""

    def run(text, first, last, name="/tmp/app.py", values=None):
        text_of(name, text)
        lines = text.splitlines()[first - 1 : last]
        code = textwrap.dedent("\n".join(lines))
        for private in ("_k", "_half", "_private"):
            code = code.replace(private, f"_cell_Hbol{private}")
        tree = ast.increment_lineno(ast.parse(code), first - 1)
        values = {"__name__": "__main__", "np": np} if values is None else values
        exec(compile(tree, name, "exec"), values)
        return values

    return run


def test_functions_beside_the_import_of_what_they_call():
    values = jupyter(CELL)
    model = values["Model"]()
    functions = [*(values[name] for name in ("plain", "outer", "short")), model.cost]
    for function in (*functions, values["decorated"].__func__):
        assert tapeless.grad(function)(1.0) == pytest.approx(np.cos(1.0))


def test_lines_of_a_function_with_its_decorators():
    values = jupyter(CELL)
    assert own_lines(values["plain"]) == (5, ["def plain(x):", "    return np.sin(x)"])
    first, lines = own_lines(values["decorated"].__func__)
    assert (first, lines[0]) == (8, "@staticmethod")
    assert own_lines(values["short"]) == (21, ["short = lambda x: np.sin(x)"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.sin(x)", "np.cos(x)"),
        ("def plain(x)", "\ndef plain(x)"),
        ("def plain(x)", "def other(x)"),
        ("    return np.sin(x)", "    return (np.sin(x)"),
        ("import numpy as np", "import numpy as np, sys\n"),
    ],
)
def test_a_cell_that_was_edited_is_not_the_source(before, after):
    plain = jupyter(CELL)["plain"]
    text_of("/tmp/ipykernel_1/123.py", CELL.replace(before, after))
    with pytest.raises(SourceError, match="is not the code that runs"):
        read(plain)


def test_cells_of_marimo_are_functions_in_its_file(marimo):
    public = marimo(APP, 19, 28)["public"]
    assert public.__code__.co_firstlineno == 27
    assert tapeless.grad(public)(1.0) == pytest.approx(np.cos(1.0))
    assert own_lines(public) == (27, ["    def public(x):", "        return _private(x)"])


def test_functions_of_the_setup_and_of_marimo_itself(marimo):
    in_setup = marimo(APP, 6, 9)["in_setup"]
    alone = marimo(APP, 13, 14)["alone"]
    for function in (in_setup, alone):
        assert tapeless.grad(function)(1.0) == pytest.approx(np.cos(1.0))


def test_a_cell_of_marimo_that_is_run_again_has_the_same_file(marimo):
    name = "/tmp/marimo_1/__marimo__cell_Hbol_.py"
    text = "def _half(x):\n    return x / 2\ndef f(x):\n    return _half(x) ** 2\n"
    values = marimo(text, 1, 4, name)
    first, slope = values["f"], tapeless.grad(values["f"])
    assert slope(3.0) == 1.5
    marimo(text.replace("** 2", "** 3"), 1, 4, name, values)
    assert tapeless.grad(values["f"])(2.0) == 1.5
    assert slope(3.0) == 1.5
    with pytest.raises(SourceError, match="is not the code that runs"):
        read(first)
    marimo(text.replace("x / 2", "x / 4"), 1, 4, name, values)
    assert slope(8.0) == 1.0  # the function of before calls the helper of now, as in Python


MODULE = """\
import numpy as np

def other(x):
    return np.cos(x)

@staticmethod
def f(x):  # a remark
    return np.sin(
        x,
    )

class Model:
    def f(self, x):
        return np.sin(x) * 2
"""


def as_ipython_reloads(node, prefix=""):
    """The code that `%autoreload 2` gives a function of a module."""
    text = prefix + textwrap.indent(ast.unparse(node), "    " if prefix else "")
    values = {"np": np, "__name__": "reloaded"}
    exec(compile(text, "/tmp/reloaded.py", "exec"), values)
    return values


def test_functions_that_ipython_loads_again(monkeypatch):
    text_of("/tmp/reloaded.py", MODULE)
    _, other, f, model = ast.parse(MODULE).body
    function = as_ipython_reloads(f)["f"].__func__
    method = as_ipython_reloads(model.body[0], "class M:\n")["M"]().f
    with pytest.raises(SourceError):
        read(function)  # IPython is not there
    monkeypatch.setitem(sys.modules, "IPython.extensions.autoreload", sys)
    assert own_lines(function)[0] == 6
    assert tapeless.grad(function)(1.0) == pytest.approx(np.cos(1.0))
    assert tapeless.grad(method)(1.0) == pytest.approx(2 * np.cos(1.0))
    text_of("/tmp/reloaded.py", MODULE.replace("sin", "tan"))
    assert own_lines(as_ipython_reloads(other)["other"])[0] == 3
    with pytest.raises(SourceError):
        read(function)


def test_private_names_of_another_cell_are_not_the_source(marimo):
    public = marimo(APP, 19, 28)["public"]
    text_of("/tmp/app.py", APP.replace("return _private(x)", "return _half(x)"))
    with pytest.raises(SourceError, match="is not the code that runs"):
        read(public)
