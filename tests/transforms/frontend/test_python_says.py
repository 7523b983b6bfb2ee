"""What Python refuses is refused in its words, also where staging holds the value."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import TapelessError, UnsupportedError


def adds_to_an_item(x):
    x[0] += 1.0
    return x


def stores_to_an_item(x):
    x[0] = 1.0
    return x


def deletes_an_item(x):
    del x[0]
    return x


def reads_an_item(x):
    return x[0]


@pytest.mark.parametrize("x", [1.5, 2, 1j, np.float32(1.5), np.int8(3)], ids=repr)
@pytest.mark.parametrize(
    "function", [adds_to_an_item, stores_to_an_item, deletes_an_item, reads_an_item]
)
def test_numbers_have_no_items(function, x):
    with pytest.raises((TypeError, IndexError)) as right:
        function(x)
    with pytest.raises(right.type) as caught:
        tapeless.jit(function)(x)
    assert str(caught.value) == str(right.value)


def test_elements_of_arrays_are_not_deleted():
    with pytest.raises(ValueError, match="cannot delete array elements"):
        tapeless.jit(deletes_an_item)(np.ones(3))


@pytest.mark.parametrize("x", [1.5, np.ones(2)], ids=repr)
def test_arrays_are_no_classes(x):
    def f(x):
        class Inner(x):
            pass

        return Inner()

    with pytest.raises(TypeError):
        f(x)
    with pytest.raises(TypeError, match="is no class"):
        tapeless.jit(f)(x)


@pytest.mark.parametrize("made", [lambda x: {x, 2.0}, lambda x: {x: 1.0}, lambda x: frozenset([x])])
def test_a_batch_has_no_sets_of_what_differs(made):
    assert tapeless.jit(made)(1.0) == made(1.0)
    with pytest.raises(UnsupportedError, match="keys depend on run-time values") as caught:
        tapeless.vmap(made)(np.ones(2))
    assert "lambda x" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("value", ["a", {}, int], ids=repr)
def test_what_is_no_number_comes_with_a_way_out(value):
    with pytest.raises(TapelessError, match="where a number or an array is needed") as caught:
        tapeless.jit(lambda x: np.stack([x, value]))(1.0)
    assert caught.value.hint
