"""The description of example arguments: what it yields, and what it says when malformed."""

import numpy as np
import pytest

from tapeless.tools.arguments import parse
from tapeless.tools.errors import UsageError


def test_scalars_are_pythons_own_where_python_has_them():
    float_, int_, bool_, complex_ = parse("f8, i8, b1, c16")
    assert [type(value) for value in (float_, int_, bool_, complex_)] == [float, int, bool, complex]
    assert 0.5 <= float_ <= 1.5
    assert int_ == 3


def test_other_scalars_are_numpys():
    single, short = parse("f4, u2=7")
    assert isinstance(single, np.float32)
    assert isinstance(short, np.uint16)
    assert short == 7


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("f8[100,3]", (100, 3), "f8"),
        ("float32[2]", (2,), "f4"),
        ("i8[4]", (4,), "i8"),
        ("b1[2,2]", (2, 2), "?"),
        ("c8[3]", (3,), "c8"),
        ("f8[]", (), "f8"),
        ("f8[0,3]", (0, 3), "f8"),
        ("f8[ 3 , ]", (3,), "f8"),
    ],
)
def test_arrays(text, shape, dtype):
    (array,) = parse(text)
    assert isinstance(array, np.ndarray)
    assert array.shape == shape
    assert array.dtype == dtype


def test_values():
    np.testing.assert_equal(parse("i8[3]=2"), (np.array([2, 2, 2]),))
    assert parse("f8=-1e-3, b1=False, i8=-4") == (-1e-3, False, -4)


def test_containers_nest():
    params, pair = parse("{w: f8[2,3], more: {b: f8=1}}, (f8=2, (i8=3,),),")
    assert params["w"].shape == (2, 3)
    assert params["more"] == {"b": 1.0}
    assert pair == (2.0, (3,))


def test_nothing_is_no_arguments():
    assert parse(" ") == ()


def test_numbers_repeat():
    np.testing.assert_equal(parse("f8, f8[3], c16[2]"), parse("f8, f8[3], c16[2]"))


@pytest.mark.parametrize(
    ("text", "problem", "column"),
    [
        ("f8[100, x3]", "'x3' is not a size", 8),
        ("f8[-1]", "'-1' is not a size", 3),
        ("g8", "'g8' is not a dtype", 0),
        ("f8,,f8", "',' is not a dtype", 3),
        ("U5", "'U5' is not a dtype", 0),
        ("i8=2.5", "'2.5' is not a value of dtype int64", 3),
        ("u1=300", "'300' is not a value of dtype uint8", 3),
        ("b1=maybe", "'maybe' is not a value of dtype bool", 3),
        ("f8 f8", "'f8' is where a comma is expected", 3),
        ("f8)", "')' is where a comma is expected", 2),
        ("f8[3", "the end is where a comma or ']' is expected", 4),
        ("(f8, f8", "the end is where a comma or ')' is expected", 7),
        ("{w f8}", "'f8' is where a colon is expected", 3),
        ("f8=", "the end is where more is expected", 3),
    ],
)
def test_malformed(text, problem, column):
    with pytest.raises(UsageError) as caught:
        parse(text)
    first, shown, caret, hint = str(caught.value).splitlines()
    assert first == problem
    assert shown == "    " + text
    assert caret.index("^") - 4 == column
    assert hint.startswith("  ")
