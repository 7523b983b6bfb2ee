"""Functions and objects that data chooses: what is refused, and what is raised."""

import enum

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import NeedStaticError, UnsupportedError


def found(x):
    return (x, 2 * x) if x > 1 else None


def index_of_mass(weight, height):
    index = weight / height**2
    if index < 18.5:
        return "under"
    return "normal" if index < 25 else "over"


def root(x, n):
    for _ in range(n):
        if abs(x * x - 2) < 1e-9:
            return x
        x = 0.5 * (x + 2 / x)
    return None


def states(x):
    state = "low"
    for v in x:
        if v > 1:
            state = "high"
        elif state == "high" and v < 0:
            state = "falling"
    return state, {"last": x if state == "low" else None}


class Color(enum.Enum):
    RED = 1
    GREEN = 2


@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (found, [(2.0,), (0.5,)]),
        (index_of_mass, [(50.0, 1.8), (70.0, 1.8), (100.0, 1.8)]),
        (root, [(1.0, 20), (1.0, 2)]),
        (lambda x: Color.RED if x > 0 else Color.GREEN, [(1.0,), (-1.0,)]),
        (lambda x: x[x > 0] if x[0] > 0 else None, [([1.0, -2.0],), ([-1.0, 2.0],)]),
        (states, [([0.1, 2.0, -1.0],), ([0.0, 0.3],), ([0.0, 3.0],)]),
    ],
)
def test_results_that_data_chooses(f, calls):
    compiled = tapeless.jit(f)
    for args in calls:
        args = [np.array(a) if isinstance(a, list) else a for a in args]
        np.testing.assert_equal(compiled(*args), f(*args))
    assert len(compiled.compilations) <= 1


def test_text_of_results_is_spelled():
    text = tapeless.jit(index_of_mass).source(50.0, 1.8)
    assert 'return "under" if value else "normal" if value_2 else "over"' in text


@pytest.mark.parametrize(
    ("transformed", "args"),
    [
        (tapeless.vmap(index_of_mass), (np.array([50.0]), np.array([1.8]))),
        (tapeless.vmap(found), (np.array([0.5, 2.0]),)),
        (lambda x: tapeless.jvp(found, (x,), (1.0,)), (2.0,)),
    ],
)
def test_they_are_no_results_of_derivatives_and_batches(transformed, args):
    with pytest.raises(UnsupportedError, match="is returned or stored outside"):
        transformed(*args)


def test_none_or_a_number_in_a_batch_raises_where_it_is_none():
    with pytest.raises(TypeError, match="is None here, and a number is needed"):
        tapeless.vmap(lambda x: root(x, 9))(np.array([1.0, 1e30]))


def test_parts_of_none_raise_when_the_program_runs():
    f = tapeless.jit(lambda x: found(x)[0])
    assert f(2.0) == 2.0
    with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
        f(0.5)


def test_none_that_is_called_raises_when_the_program_runs():
    def f(x):
        g = np.sin if x > 1 else None
        return g(x)

    slope = tapeless.grad(f)
    assert slope(2.0) == pytest.approx(np.cos(2.0))
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        slope(0.5)


def test_what_python_must_know_is_refused_with_a_way_out():
    def f(x):
        match found(x):
            case (a, _):
                return a
        return x

    with pytest.raises(NeedStaticError, match="ask whether it is None"):
        tapeless.jit(f)(2.0)


def test_a_test_for_none_is_made_once():
    def f(x):
        pair = found(x)
        return x if pair is None else pair[0] * pair[1] + pair[0]

    text = tapeless.grad(f).source(2.0)
    assert "raise" not in text
    assert text.count("x > 1") == 1


def test_what_a_side_changed_is_put_back():
    class Box:
        def __init__(self, v):
            self.v = v

    def f(x):
        box = Box(x) if x > 1 else None
        if box is not None:
            box.w = 3 * box.v
            return box.w
        return x

    assert tapeless.grad(f)(2.0) == 3.0
    assert tapeless.grad(f)(0.5) == 1.0


def tripled(v, k=3.0):
    return v * k


def test_functions_of_others_that_a_side_takes_stay_as_they_are():
    def f(x):
        g = tripled if x > 1 else (lambda v: v + x)
        return g(x)

    assert [tapeless.grad(f)(x) for x in (2.0, 0.5)] == [3.0, 2.0]
    assert tripled.__defaults__ == (3.0,)


def test_functions_made_on_a_side_read_names_that_are_set_later():
    def f(x):
        def late(v):
            return v * factor

        g = late if x > 1 else np.sin
        factor = 2.0
        return g(x)

    assert tapeless.grad(f)(2.0) == 2.0
    assert tapeless.grad(f)(0.5) == pytest.approx(np.cos(0.5))


def kind_of(v, c):
    if v < 0:
        raise ValueError("negative")
    kind = ("voltage", c) if v == 0 else ("power", v)
    if c > 5:
        raise ValueError("large")
    return {"kind": kind[0], "value": kind[1], "pair": (v, c) if v > 2 else None}


@pytest.mark.parametrize("v", [0.0, 1.0, 2.5])
def test_choices_beside_sides_that_raise(v):
    compiled = tapeless.jit(kind_of)
    assert compiled(v, 2.0) == kind_of(v, 2.0)
    with pytest.raises(ValueError, match="large"):
        compiled(v, 6.0)
    with pytest.raises(ValueError, match="negative"):
        compiled(-1.0, 2.0)


def test_a_class_made_on_a_side_of_a_test_keeps_what_it_holds():
    def f(x):
        if x > 0:

            class Scaled:
                value = 3 * x

                def go(self, v):
                    return v * v + self.value

            made = Scaled()
        else:

            class Scaled:
                value = 5 * x

                def go(self, v):
                    return 7 * v + self.value

            made = Scaled()
        return made.go(x) + made.value + Scaled.value

    for x, slope in ((1.5, 2 * 1.5 + 9), (-1.5, 7 + 15.0)):
        value, found = tapeless.value_and_grad(f)(x)
        assert value == f(x)
        assert found == slope


def test_what_two_objects_of_one_side_share_is_carried_once():
    class Held:
        pass

    def f(x):
        if x > 0:
            inner, outer = Held(), Held()
            inner.value = 3 * x
            outer.held = inner
        else:
            inner, outer = Held(), Held()
            inner.value = 5 * x
            outer.held = Held()
            outer.held.value = x * x
        return inner.value + outer.held.value

    for x, slope in ((1.5, 6.0), (-1.5, 5.0 - 3.0)):
        value, found = tapeless.value_and_grad(f)(x)
        assert value == f(x)
        assert found == slope


def kind_of_orbit(x):
    kind = "ei"
    if x[0] < 0.1:
        kind = "ce" if x[1] < 0 else "ci"
    elif x[1] < 0:
        kind = "ee"
    return kind


ABOUT_TEXTS = {
    "item": lambda x: x[0] * (2.0 if kind_of_orbit(x)[0] == "e" else 3.0),
    "slice": lambda x: x[0] * (2.0 if kind_of_orbit(x)[1:] == "i" else 3.0),
    "start": lambda x: x[0] * (2.0 if kind_of_orbit(x).startswith("e") else 3.0),
    "upper": lambda x: x[0] * (2.0 if kind_of_orbit(x).upper() == "EI" else 3.0),
    "in": lambda x: x[0] * (2.0 if "i" in kind_of_orbit(x) else 3.0),
    "joined": lambda x: x[0] * (2.0 if "an " + kind_of_orbit(x) + "!" == "an ei!" else 3.0),
    "count": lambda x: x[0] * (kind_of_orbit(x).count("e") + kind_of_orbit(x).find("i")),
    "characters": lambda x: x[0] * sum(1.0 for letter in kind_of_orbit(x) if letter == "e"),
}


@pytest.mark.parametrize("name", ABOUT_TEXTS)
def test_what_is_asked_of_one_of_some_texts(name):
    f = ABOUT_TEXTS[name]
    batch = np.array([[1.0, 1.0], [1.0, -1.0], [0.05, 1.0], [0.05, -1.0]])
    expected = [f(x) for x in batch]
    np.testing.assert_allclose([*map(tapeless.jit(f), batch)], expected)
    np.testing.assert_allclose(tapeless.vmap(f)(batch), expected)
    np.testing.assert_allclose([tapeless.grad(f)(x)[0] for x in batch], expected / batch[:, 0])


def test_letters_of_one_of_some_texts():
    def f(x):
        shape, plane = kind_of_orbit(x)
        return x[0] * (2.0 if shape == "e" else 3.0) + (x[1] if plane == "i" else 0.0)

    for x in (np.array([1.0, -1.0]), np.array([0.05, 1.0])):
        assert tapeless.jit(f)(x) == pytest.approx(f(x))
