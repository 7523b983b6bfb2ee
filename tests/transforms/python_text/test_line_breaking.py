"""Long lines: the same statement, short enough, broken at the outermost operators or commas."""

import ast
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeless.transforms.python_text.line_breaking import WIDTH, without_brackets, wrap
from tapeless.transforms.python_text.python_source import template, to_source

NAMES = st.text("abcdefgh", min_size=4, max_size=30).map(lambda text: template(f"v_{text}", {}))
FORMS = ["{0} + {1}", "{0} * {1}", "{0} / {1}", "f({0}, {1})", "{0}[{1}]", "({0} - {1}).T"]
TREES = st.recursive(
    NAMES,
    lambda inner: st.builds(
        template, st.sampled_from(FORMS), st.fixed_dictionaries({"0": inner, "1": inner})
    ),
    max_leaves=20,
)
HEADS = ["value = {}", "x[i, 0] += {}", "return {}", "if {}:", "while {}:", "a, b = {}, y", "f({})"]


def parsed(lines):
    text = "\n".join(lines)
    text = textwrap.indent(text, "    ") if text[0] != " " else text
    text += "\n        pass" if text.endswith(":") else ""
    return ast.dump(ast.parse("def f():\n  while 1:\n" + text))


@given(TREES, st.sampled_from(HEADS))
def test_a_wrapped_line_is_the_same_statement(tree, head):
    line = "    " + head.format(to_source(tree))
    lines = wrap(line)
    assert parsed(lines) == parsed([line])
    # what has neither brackets nor operators of its own cannot be broken
    assert all(len(each) <= WIDTH or not re.search(r"[-+*/] |\(.{9}", each) for each in lines)


def test_the_targets_of_a_comprehension_stay_together():
    inner = "[p + q for p, q in zip(first, second)]"
    line = f"    total = [p + q for p, q in zip({inner}, list(np.array(third)))]"
    for width in (40, 60, 80):
        assert parsed(wrap(line, width)) == parsed([line])


@pytest.mark.parametrize("line", ["x = y", "    return x", "if x > 0:", "pass"])
def test_short_lines_stay(line):
    assert wrap(line) == [line]


def test_sums_are_broken_before_the_operators():
    line = "  total = first_term * factor + second_term - np.sum(third_term, axis=0)"
    assert wrap(line, 40) == [
        "  total = (",
        "      first_term * factor",
        "      + second_term",
        "      - np.sum(third_term, axis=0)",
        "  )",
    ]


def test_results_stand_one_a_line():
    line = 'return value, {"weights": weights_bar, "bias": bias_bar}'
    assert wrap(line, 50) == [
        "return (",
        "    value,",
        '    {"weights": weights_bar, "bias": bias_bar},',
        ")",
    ]
    assert wrap('return {"weights": weights_bar, "bias": bias_bar}', 40) == [
        "return {",
        '    "weights": weights_bar,',
        '    "bias": bias_bar,',
        "}",
    ]


def test_calls_are_opened_at_their_brackets():
    assert wrap("out = np.zeros((image.shape[0] - 1, image.shape[1]))", 45) == [
        "out = np.zeros(",
        "    (image.shape[0] - 1, image.shape[1])",
        ")",
    ]


def test_strings_are_broken_between_words_only():
    line = 'raise ValueError("a long message, with commas (and brackets) + signs")'
    assert wrap(line, 40) == [
        "raise ValueError(",
        '    "a long message, with commas (and "',
        '    "brackets) + signs"',
        ")",
    ]


def test_a_string_with_a_colon_is_no_key():
    line = 'raise ValueError(f"solve: the shapes {(first, second)} and {(third, fourth)} differ")'
    assert parsed(wrap(line, 40)) == parsed([line])


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("(a, b)", "a, b"),
        ("(a,)", "(a,)"),
        ("(a + b) * (c, d)", "(a + b) * (c, d)"),
        ("((a, b), c)", "(a, b), c"),
        ("()", "()"),
        ("f(a, b)", "f(a, b)"),
    ],
)
def test_tuples_of_two_need_no_brackets(text, bare):
    assert without_brackets(text) == bare


@pytest.mark.parametrize("prefix", ["", "f"])
def test_long_messages_are_several_strings(prefix):
    text = "a message that is long, with {value + 1:.3f} and {{brackets}}, and a \\n line " * 2
    line = f'    raise ValueError({prefix}"{text}")'
    lines = wrap(line, 40)
    assert all(len(each) <= 40 for each in lines)
    assert len(lines) > 4
    assert raised(lines) == raised([line])


def raised(lines):
    """The message of the error that the statement raises."""
    with pytest.raises(ValueError, match="a message") as caught:
        exec("if True:\n" + "\n".join(lines), {"value": 1})
    return str(caught.value)
