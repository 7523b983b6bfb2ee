"""Text of trees: what is printed is read back as the same tree, for random expressions."""

import ast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeless.transforms.python_text import python_source
from tapeless.transforms.python_text.python_source import number, quote, template, to_source

NAMES = st.sampled_from(["x", "y", "np.pi"]).map(lambda text: template(text, {}))
NUMBERS = st.sampled_from([0, 2, -1, 0.5, -0.25, 1e-9, 1e22, 1j, True]).map(number)
TEMPLATES = [
    *(
        f"{{0}} {operator} {{1}}"
        for operator in ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"]
    ),
    *(f"{{0}} {operator} {{1}}" for operator in ["<", "<=", ">", ">=", "==", "!="]),
    *("-{0}", "~{0}", "+{0}", "not {0}", "{0} and {1}", "{0} or {1}", "{0} if {1} else {2}"),
    *("np.where({0}, {1}, {2})", "{0}.T", "{0}[{1}]", "{0}[{1}, :, np.newaxis]", "{0}[1:{1}]"),
    *("{0}[::-1]", "{0}.shape[0]", "np.sum({0}, axis=(0, 1))", "({0}, {1})", "[{0}, {1}]"),
    *("{{'a': {0}}}".replace("{{", "{").replace("}}", "}"), "({0},)", "{0}[..., {1}]"),
]


def filled(children):
    places = {"0": children, "1": children, "2": children}
    return st.builds(template, st.sampled_from(TEMPLATES), st.fixed_dictionaries(places))


TREES = st.recursive(NAMES | NUMBERS, filled, max_leaves=8)


@given(TREES)
def test_what_is_printed_reads_back_as_the_same_tree(tree):
    text = to_source(tree)
    back = ast.parse(text, mode="eval").body
    assert ast.dump(back) == ast.dump(ast.parse(ast.unparse(tree), mode="eval").body)
    assert "\n" not in text


@given(TREES)
def test_no_parentheses_around_the_whole(tree):
    text = to_source(tree)
    if text.startswith("(") and text.endswith(")") and not isinstance(tree, ast.Tuple):
        with pytest.raises((SyntaxError, AssertionError)):
            assert ast.dump(ast.parse(text[1:-1])) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (-2, "-2"),
        (np.float64(3), "3.0"),
        (np.float32(0.5), "np.float32(0.5)"),
        (np.int8(-3), "np.int8(-3)"),
        (float("inf"), "np.inf"),
        (float("-inf"), "-np.inf"),
        (np.float32("nan"), "np.float32(np.nan)"),
        (True, "True"),
    ],
)
def test_numbers(value, text):
    assert to_source(number(value)) == text


@pytest.mark.parametrize("text", ["plain", "it's", 'a "b"', "new\nline", "back\\slash", ""])
def test_strings_keep_their_value(text):
    assert ast.literal_eval(quote(text)) == text
    assert ast.literal_eval(to_source(ast.Constant(text))) == text


@pytest.mark.parametrize("by_python", [False, True])
def test_strings_have_double_quotes(by_python, monkeypatch):
    """Also where astor is not: from Python 3.14 on."""
    if by_python:
        monkeypatch.setattr(python_source, "_astor", lambda: None)
    assert quote("w1") == '"w1"'
    assert to_source(template("f('a', k=['it\\'s'])", {})) == """f("a", k=["it's"])"""
    assert to_source(template("params['w1']", {})) == 'params["w1"]'


def test_a_template_is_not_changed_by_filling():
    first = to_source(template("{0} * {1}", {"0": number(1), "1": number(2)}))
    second = to_source(template("{0} * {1}", {"0": number(3), "1": number(4)}))
    assert (first, second) == ("1 * 2", "3 * 4")


def test_a_tree_may_be_in_several_places():
    """What is around it in one place says nothing of the brackets that it needs in another."""
    product = template("{0} * {1}", {"0": number(2), "1": template("x", {})})
    for text in ("{0} / 2 + {0}.real", "{0} + {0}[0]", "({0}, {0}.T)", "{0} - {0}(1)"):
        tree = template(text, {"0": product})
        wanted = text.replace("{0}.", "(2 * x).").replace("{0}[", "(2 * x)[")
        wanted = wanted.replace("{0}(", "(2 * x)(").replace("{0}", "2 * x")
        assert to_source(tree) == wanted
    to_source(template("{0} / 2", {"0": product}))
    assert to_source(template("{0}.real", {"0": product})) == "(2 * x).real"


def test_statements_without_a_line_need_no_astor(monkeypatch):
    monkeypatch.setattr(python_source, "_astor", lambda: None)
    assert to_source(ast.Assign([ast.Name("x", ast.Store())], ast.Constant(1))) == "x = 1"
