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
    with pytest.raises(UnsupportedError, match="keys depend on") as caught:
        tapeless.vmap(made)(np.ones(2))
    assert "lambda x" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("value", ["a", {}, int], ids=repr)
def test_what_is_no_number_comes_with_a_way_out(value):
    with pytest.raises(TapelessError, match="where a number or an array is needed") as caught:
        tapeless.jit(lambda x: np.stack([x, value]))(1.0)
    assert caught.value.hint


@pytest.mark.parametrize(
    "function",
    [
        lambda s: np.full(0.5, s),
        lambda s: np.zeros((2, s)),
        lambda s: np.tile(np.ones(2) * s, (1.5, 2)),
        lambda s: np.sum(np.ones(s)),
    ],
)
def test_lengths_are_integers(function):
    with pytest.raises(TypeError) as right:
        function(2.0)
    with pytest.raises(TypeError) as caught:
        tapeless.jit(function)(2.0)
    assert str(caught.value) == str(right.value) or "cannot be interpreted" in str(caught.value)


class Held:
    def __init__(self, w=1.0):
        self.w = w

    def loss(self, x):
        return self.w * x * x


def by_update(w):
    made = Held.__new__(Held)
    made.__dict__.update({"w": w})
    return made.loss(3.0)


def by_attribute(w):
    made = object.__new__(Held)
    made.w = w
    return made.loss(3.0)


def by_init(w):
    made = Held.__new__(Held)
    for _ in range(2):
        Held.__init__(made, w * 2)
    return made.loss(3.0)


@pytest.mark.parametrize("function", [by_update, by_attribute, by_init])
def test_objects_made_by_new_are_the_programs_own(function):
    value, slope = tapeless.value_and_grad(function)(2.0)
    assert value == function(2.0)
    assert slope == function(1.0)  # it is linear


def keeps_a_label(x):
    while np.sum(x) < 10:
        x = np.array([np.sum(x), 1.0])
    return np.sum(x)


def test_loops_that_are_not_rolled_say_how_they_would_be():
    with pytest.raises(TapelessError, match="must be unrolled") as caught:
        tapeless.jit(keeps_a_label)(1.0)
    assert "give both the same shape" in caught.value.hint


@pytest.mark.parametrize("x", [1.5, np.float32(2.0), np.ones(2)], ids=repr)
def test_arrays_are_no_context_managers(x):
    def f(x):
        with x:
            return x

    with pytest.raises(TypeError) as right:
        f(x)
    with pytest.raises(TypeError) as caught:
        tapeless.jit(f)(x)
    assert str(caught.value) == str(right.value)


def clipped(a):
    points = [(x, x * x) for x in a]
    for _ in range(3):
        kept = []
        for x, y in points:
            if x + y > 0:
                kept.append((x, y * 0.5))
        points = kept
        if not points:
            return 0.0
    return sum([x * y for x, y in points])


def test_lists_of_tuples_that_are_rebuilt():
    for a in (np.arange(3.0), -np.arange(3.0), np.array([0.3, -2.0, 1.5, -0.2])):
        assert tapeless.jit(clipped)(a) == pytest.approx(clipped(a), rel=1e-12)
