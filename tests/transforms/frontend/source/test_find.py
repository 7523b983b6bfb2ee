"""Finding the source of a function: the right one, or an error."""

# ruff: noqa: C417, E731 (odd places of lambdas are what is tested)

import ast
import functools
import importlib.util
import linecache

import pytest

from tapeless.transforms.errors import SourceError, TapelessError
from tapeless.transforms.frontend.source.find import read


def again(function):
    """The function, compiled anew from the source that was found."""
    node = read(function).node
    values = dict(function.__globals__)
    if isinstance(node, ast.Lambda):
        return eval(compile(ast.Expression(node), "<found>", "eval"), values)
    node.decorator_list = []
    exec(compile(ast.Module([node], []), "<found>", "exec"), values)
    return values[node.name]


def plain(x):
    return x + 1


def marked(function):
    function.marked = True
    return function


def wrapping(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args) * 100

    return inner


@marked
@functools.lru_cache(None)
def decorated(x):
    return x + 2


@wrapping
def wrapped(x):
    return x + 3


def outer():
    def nested(x):
        return x + 4

    return nested


class Holder:
    def method(self, x):
        return x + 5

    @staticmethod
    def static(x):
        return x + 6

    @classmethod
    def of_class(cls, x):
        return x + 7

    @property
    def size(self):
        return 8

    class Inner:
        def method(self, x):
            return x + 9


FUNCTIONS = [
    (plain, (1,), 2),
    (decorated.__wrapped__, (1,), 3),
    (wrapped.__wrapped__, (1,), 4),
    (outer(), (1,), 5),
    (Holder.method, (None, 1), 6),
    (Holder.static, (1,), 7),
    (Holder.of_class.__func__, (None, 1), 8),
    (Holder.size.fget, (None,), 8),
    (Holder.Inner.method, (None, 1), 10),
]


@pytest.mark.parametrize(("function", "args", "expected"), FUNCTIONS)
def test_functions(function, args, expected):
    assert again(function)(*args) == expected
    found = read(function)
    assert found.file == __file__
    first = min([found.node.lineno, *(d.lineno for d in found.node.decorator_list)])
    assert first == function.__code__.co_firstlineno


# fmt: off
one, two, three = lambda x: x + 1, lambda x: x + 2, lambda x: x * 3
pair = [lambda x: x, lambda x: x]
curried = lambda x: lambda y: (x, y, lambda z: z - 1)
long = (lambda x,
               y=2:
        x
        + y)
in_call = list(map(lambda f: f, [lambda x: -x, lambda x: +x]))
starred = lambda *args, k=1, **kw: (args, k, kw)
constants = [(lambda x: x + 1, lambda x: x + 1.0), (lambda x: 1, lambda x: 2)]
named = {"a": lambda: 1, "b": lambda: 2, "c": lambda: "a"}
folded = [lambda x: x[0] if True else 0, lambda x: x[1] if False else 3]
# fmt: on


def default(x, f=lambda v: v * 7, g=lambda v: v * 8):
    return f(x), g(x)


LAMBDAS = [
    (one, (5,), 6),
    (two, (5,), 7),
    (three, (5,), 15),
    (pair[0], (5,), 5),
    (pair[1], (5,), 5),
    (curried(1)(2)[2], (5,), 4),
    (long, (5, 1), 6),
    (in_call[0], (5,), -5),
    (in_call[1], (5,), 5),
    (starred, (1, 2), ((1, 2), 1, {})),
    (constants[0][0], (1,), 2),
    (constants[0][1], (1,), 2.0),
    (constants[1][0], (0,), 1),
    (constants[1][1], (0,), 2),
    (named["a"], (), 1),
    (named["b"], (), 2),
    (named["c"], (), "a"),
    (folded[0], ([7],), 7),
    (folded[1], ([7],), 3),
    (default.__defaults__[0], (1,), 7),
    (default.__defaults__[1], (1,), 8),
]


@pytest.mark.parametrize(("function", "args", "expected"), LAMBDAS)
def test_lambdas_several_on_a_line(function, args, expected):
    found = again(function)(*args)
    assert found == expected
    assert type(found) is type(expected)


# -- files that change, and functions without a file


def load(path, name="changing"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "new",
    [
        "def f(x):\n    return x * 3\n",
        "def f(x):\n    return x + 2\n",
        "def f(y):\n    return y * 2\n",
        "\ndef f(x):\n    return x * 2\n",
        "def f(x):\n    return x * 2.0\n",
        "def g(x):\n    return x * 2\n",
        "def f(x:\n",
        "",
    ],
)
def test_a_file_that_was_edited_since_it_was_imported(tmp_path, new):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x * 2\n", encoding="utf-8")
    function = load(path).f
    assert again(function)(4) == 8
    path.write_text(new + "# of another length\n", encoding="utf-8")
    with pytest.raises(SourceError):
        read(function)


def test_an_edit_elsewhere_is_no_harm(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x * 2\n", encoding="utf-8")
    function = load(path).f
    path.write_text("def f(x):\n    return x * 2\n\n\nother = 5\n", encoding="utf-8")
    assert again(function)(4) == 8


def test_a_lambda_whose_file_was_edited(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("f = lambda x: x * 2\n", encoding="utf-8")
    function = load(path).f
    path.write_text("f = lambda x: x * 345\n", encoding="utf-8")
    with pytest.raises(SourceError):
        read(function)


def test_a_lambda_whose_operator_was_edited(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("f = lambda x: x * 2\n", encoding="utf-8")
    function = load(path).f
    path.write_text("f = lambda x: x + 2\n# longer\n", encoding="utf-8")
    with pytest.raises(SourceError):
        read(function)


def test_a_function_made_by_exec():
    values = {}
    exec("def f(x):\n    return x", values)
    with pytest.raises(SourceError, match="the source of f is not available") as met:
        read(values["f"])
    assert "not by exec" in str(met.value)
    assert isinstance(met.value, (TapelessError, TypeError))


def test_a_cell_of_a_notebook():
    """Notebooks and consoles put the text of a cell where `linecache` finds it."""
    text = "def f(x):\n    return x * 5\ng = lambda x: x * 6\n"
    name = "<ipython-input-1-abcdef>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    values = {}
    exec(compile(text, name, "exec"), values)
    assert again(values["f"])(2) == 10
    assert again(values["g"])(2) == 12


@pytest.mark.parametrize(
    "body",
    [
        "g = lambda t: t * 2\n    return g(x)",
        "return sum([t * 2 for t in (x, x)])",
        "return sum(t * 2 for t in (x, x))",
        "def g(t):\n        return t * 2\n    return g(x)",
        "return {k: (lambda: x * 2)() for k in 'a'}['a']",
    ],
)
def test_an_edit_inside_of_an_inner_function(tmp_path, body):
    path = tmp_path / "changing.py"
    text = f"def f(x):\n    {body}\n"
    path.write_text(text, encoding="utf-8")
    function = load(path).f
    assert again(function)(4) == function(4)
    path.write_text(text.replace("2", "33"), encoding="utf-8")
    with pytest.raises(SourceError, match="has changed since it was imported"):
        read(function)


def test_functions_of_one_name_on_one_line_number(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def make(k):\n    def f(x): return x + k\n    return f\n", encoding="utf-8")
    make = load(path).make
    assert read(make(1)).node.name == "f"


def test_each_reading_is_a_tree_of_its_own():
    """Those who rewrite it change it."""
    first, second = read(plain).node, read(plain).node
    assert first is not second
    assert ast.dump(first) == ast.dump(second)


def test_future_imports_of_the_file_are_known(tmp_path):
    path = tmp_path / "changing.py"
    text = "from __future__ import annotations\ndef f(x: Unknown) -> Unknown:\n    return x * 2\n"
    path.write_text(text, encoding="utf-8")
    assert read(load(path).f).node.name == "f"
