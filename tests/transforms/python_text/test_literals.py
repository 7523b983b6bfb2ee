"""Constants in messages: their expressions need builtins and `np`, and give them again."""

import ast
import io
from contextlib import redirect_stdout

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.python_text.literals import NotLiteral, is_literal, literal

CONSTANTS = [
    *(None, True, 3, -2.5, 1e300, float("inf"), -float("inf"), 1 + 2j, "a'\"b\n", b"q", ...),
    *(np.float32(2.5), np.float64(3.0), np.int8(-3), np.bool_(True), np.complex64(1j)),
    *(np.dtype("float32"), np.dtype(">f8"), np.dtype("S3"), np.float32, int, ValueError, len),
    *(np.ndarray, np.sin, slice(1, None), range(0, 5, 2), frozenset({1}), frozenset(), set()),
    *({1, 2}, (), (1,), [[1.5], (np.inf,)], {"a": np.float32, 2: [None]}),
]


@pytest.mark.parametrize("value", CONSTANTS, ids=repr)
def test_a_literal_gives_the_constant(value):
    made = eval(ast.unparse(ast.fix_missing_locations(literal(value))), {"np": np})
    assert type(made) is type(value)
    assert made == value
    assert repr(made) == repr(value)


def test_what_builtins_do_not_spell_is_no_literal():
    class Named:
        def __repr__(self):
            return "Named(3)"

    assert not any(map(is_literal, [Named(), [Named()], lambda: 0, np, object(), Named]))
    with pytest.raises(NotLiteral):
        literal((1, Named()))


def shown(x):
    print("dtype", x.dtype, [x.dtype, np.float32], np.sin, len, type(x), {np.int8: (np.inf,)})  # noqa: T201
    print(f"{x.dtype} {np.float32}", [x.shape, x.dtype.type], slice(1, None), np.float64(2.5))  # noqa: T201
    return x * x


@pytest.mark.parametrize("transform", [jit, vmap, lambda f: grad(lambda x: np.sum(f(x)))])
def test_types_and_constants_are_printed_as_python_prints_them(transform):
    def printed(f):
        with redirect_stdout(io.StringIO()) as out:
            f(np.ones((2, 2)))
        return out.getvalue()

    each = transform is vmap
    got = printed(transform(shown))
    assert got.replace("(2,)", "(2, 2)") == printed(shown) if each else got == printed(shown)


def raising(x):
    if np.sum(x) > 0:
        raise ValueError("for", x.dtype, np.float32, np.inf)
    return x


@pytest.mark.parametrize("transform", [jit, lambda f: grad(lambda x: np.sum(f(x)))])
def test_types_in_errors_are_the_types(transform):
    with pytest.raises(ValueError, match="for") as caught:
        transform(raising)(np.ones(2))
    assert caught.value.args == ("for", np.dtype(float), np.float32, np.inf)


class Pair(tuple):
    """A tuple of a class of its own."""


def test_containers_of_other_classes_are_not_shown_as_lists():
    def f(x):
        print(Pair((x, 1)))  # noqa: T201
        return x

    with pytest.raises(UnsupportedError, match="an object of type Pair is shown in text"):
        jit(f)(1.0)
