"""Algebra: each rule gives the shorter program, and the program means what it meant before."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.core.language import If
from tapeless.transforms.optimize.simplify import simplify
from tests.transforms.staging import block_of, close_to, compiled, every, lets

V = np.array([0.3, -0.7, 1.9])
M = np.array([[0.2, -1.1, 0.4], [1.3, 0.6, -0.8]])


def simplified(function, *args):
    """The simplified block; what it computes is compared with the function itself."""
    block = simplify(block_of(function, *args))
    leaves = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    close_to(compiled(block)(*leaves)[0], function(*args), 1e-14)
    return block


def operations(block):
    return sorted(s.op.name for s in every(block) if hasattr(s, "op"))


RULES = [
    # sums
    (lambda x, y: x + np.zeros(x.shape), (V, V), []),
    (lambda x, y: np.zeros(x.shape) - x, (V, V), ["neg"]),
    (lambda x, y: x - (-y), (V, V), ["add"]),
    (lambda x, y: x + (-y), (V, V), ["sub"]),
    (lambda x, y: -x + y, (V, V), ["sub"]),
    (lambda x, y: -(x - y), (V, V), ["sub"]),
    (lambda x, y: x + -0.5 * y, (V, V), ["mul", "sub"]),
    (lambda x, y: -0.25 * x + x, (V, V), ["mul", "sub"]),  # which rounds
    (lambda x, y: 2 * x + 3 * x, (V, V), ["mul"]),
    (lambda x, y: y - x - x, (V, V), ["mul", "sub"]),
    (lambda x, y: y - x + x * 2, (V, V), ["add", "mul", "sub"]),  # the same
    (lambda x, y: x + 1.0 + 2.0, (V, V), ["add"]),
    (lambda x, y: x - 1 - 2.0, (V, V), ["sub"]),
    (lambda x, y: x + 2.0**52 - 2.0**52, (V, V), ["add", "sub"]),  # which rounds
    (lambda x, y: y * (len(x) - 2 + 1), (V, 2.0), ["mul", "size_value", "sub"]),
    # products
    (lambda x, y: x * x**2, (V, V), ["power"]),
    (lambda x, y: 4 * (x / 2), (V, V), ["mul"]),
    (lambda x, y: 2 * (x / 2), (V, V), []),
    (lambda x, y: x * 2 * y * 3, (V, V), ["mul", "mul"]),
    (lambda x, y: (-x) * (-y), (V, V), ["mul"]),
    (lambda x, y: -((-x) / y), (V, V), ["truediv"]),
    (lambda x, y: (2 * x) / 4.0, (V, V), ["mul"]),
    (lambda x, y: 0.5 * (x / (0.5 * y)), (V, V), ["truediv"]),
    (lambda x, y: np.negative(-x), (V, V), []),
    # shapes
    (lambda x, y: np.broadcast_to(1.0, x.shape) * x, (V, V), []),
    (lambda x, y: np.broadcast_to(x, y.shape) + y, (V, M), ["add"]),
    (lambda x, y: x * np.broadcast_to(y, x.shape), (V, 0.7), ["mul"]),
    (lambda x, y: np.broadcast_to(np.broadcast_to(x, (2, 3)), (4, 2, 3)), (V, V), ["broadcast_to"]),
    (lambda x, y: y - (-x).reshape(3, 1).T, (V, V), ["add", "reshape", "transpose"]),
    (lambda x, y: x.T.T, (M, V), []),
    (lambda x, y: y - (-x)[1:], (V, V[1:]), ["add", "index"]),
    (lambda x, y: y * np.sum(-0.5 * x), (V, 2.0), ["mul", "mul", "sum"]),
    (lambda x, y: np.sum(x / y), (V, 2.0), ["sum", "truediv"]),
    # choices
    (lambda x, y: np.where(x > 0, np.where(x > 0, y, 0), 0), (V, V), ["greater", "select"]),
    (
        lambda x, y: np.where(x > 0, np.where(x > 0, y, 0), np.where(x > 0, 1.0, x)),
        (V, V),
        ["greater", "select"],
    ),
    (lambda x, y: y + np.where(x > 0, -y, 0.0), (V, V), ["greater", "select", "sub"]),
]


@pytest.mark.parametrize(("function", "args", "left"), RULES)
def test_rules(function, args, left):
    assert operations(simplified(function, *args)) == left


def test_a_constant_goes_to_the_smaller_factor():
    block = simplified(lambda m, v: 0.3 * (m * v), M, V)
    (scaled,) = [s for s in lets(block, "mul") if not hasattr(s.args[0], "origin")]
    assert len(scaled.outs[0].type.shape) == 1


def test_a_sum_is_scaled_rather_than_its_terms():
    block = simplified(lambda m: np.sum(0.3 * m, axis=0), M)
    (scaled,) = lets(block, "mul")
    assert len(scaled.outs[0].type.shape) == 1


def test_no_rule_hides_what_is_not_a_number():
    function = compiled(simplify(block_of(lambda x: x - x, V)))
    assert np.isnan(function(np.array([np.nan, 0.0, 1.0]))[0][0])


# -- stores


def whole(x, v):
    t = x.copy()
    t[:] = 2 * v
    return t


def whole_of_its_own(x, v):
    t = x.copy()
    t[:, :] = np.sin(x) * v
    return t


def to_narrower_type(x, v):
    t = np.zeros(x.shape, np.float32)
    t[:] = x * v
    return t


@pytest.mark.parametrize(
    ("function", "args", "left"),
    [
        (whole, (V, 0.5), ["broadcast_to", "mul"]),
        (whole_of_its_own, (M, 0.5), ["mul", "sin"]),
        (to_narrower_type, (V, 0.5), ["cast", "mul"]),
    ],
)
def test_a_full_overwrite_is_the_value(function, args, left):
    block = simplified(function, *args)
    assert [name for name in operations(block) if name != "copy"] == left
    made = compiled(block)(*args)[0]
    assert made.dtype == function(*args).dtype


def test_the_value_of_a_full_overwrite_is_not_shared():
    def overwritten(x, v):
        t = x.copy()
        t[:] = v
        t[0] = 5.0
        return t + v

    block = simplify(block_of(overwritten, V, V))
    close_to(compiled(block)(V, V)[0], overwritten(V, V))


def several(x, i):
    y = x * 2.0
    a, b = np.sin(x[0]), np.cos(x[1])
    y[i] = 0.0
    y[i + 1] += b
    y[i] += a
    y[i] += b
    return y


def accumulated(x, i):
    y = x * 2.0
    y[i] += np.sin(x[0])
    y[i] -= np.cos(x[1])
    return y


def overlapping(x, i):
    y = x * 2.0
    y[0] = 1.0
    y[i] = 3.0
    y[0] += x[1]
    return y


def looked_at(x, i):
    y = x * 2.0
    y[i] = 1.0
    z = y[0] * 1.5
    y[i] += z
    return y


@pytest.mark.parametrize(
    ("function", "stores"),
    [
        (several, ["update", "add_at"]),
        (accumulated, ["add_at"]),
        (overlapping, ["update", "update", "add_at"]),
        (looked_at, ["update", "add_at"]),
    ],
)
@pytest.mark.parametrize("i", [0, 1])
def test_stores_to_one_place_are_one_store(function, stores, i):
    block = simplified(function, V, i)
    assert [s.op.name for s in every(block) if getattr(s, "op", None) and s.op.inplace] == stores


def part_of_part(x):
    y = x * 2.0
    row = y[1]
    row[0] = 5.0
    row += 1.0
    return y


def read_again(x):
    y = x * 2.0
    y[1] = x[0] * 3.0
    return y[1] + x[1]


def test_stores_through_views_go_to_the_array():
    block = simplified(part_of_part, M)
    assert [s.op.name for s in every(block)] == ["mul", "update", "add_at"]


def test_what_was_stored_is_not_read_back():
    assert not lets(simplified(read_again, M), "update")


def elements(x):
    y = np.zeros(2)
    y[0] += x[1]
    y[1] += 2.0 * x[0]
    return y


def places(x):
    y = np.zeros(5)
    y[0] += x[1]
    y[-1] += x[0]
    y[0] += x[2]
    return y


def perhaps_one_place(x):
    y = np.zeros(4)
    y[3] += x[1]
    y[-1] += x[0]
    return y


def test_an_array_filled_element_by_element_is_made_at_once():
    assert [s.op.name for s in every(simplified(elements, V))][-1] == "array"


def test_what_is_added_to_zero_is_stored():
    assert len(lets(simplified(places, V), "update")) == 1
    assert len(lets(simplified(perhaps_one_place, V), "add_at")) == 1


# -- structure


def flag(x):
    if x > 0:  # noqa: SIM108, a branch is what is met
        on = True
    else:
        on = False
    return 1.0 if on else 2.0


def test_a_branch_between_true_and_false_is_its_test():
    block = simplified(flag, 0.5)
    (branch,) = every(block, If)
    (test,) = [s for s in every(block) if s.outs and s.outs[0] is branch.test]
    assert test.op.name == "greater"


def test_what_is_simple_stays_the_same_program():
    block = simplified(lambda x, y: np.sin(x) * y + x, V, V)
    again = simplify(block)
    assert operations(again) == operations(block) == ["add", "mul", "sin"]


def test_a_branch_inside_of_one_by_the_same_test_is_decided():
    def nested(x):
        big = x[0] > 0.5
        if big:
            y = x[1] * 2
            if not big:
                y = y * x[2]
        else:
            y = x[0] if big else x[2]
        return y

    source = tapeless.grad(nested).source(np.ones(3))
    assert source.count("if ") == 1
    for x in (np.array([0.7, 1.0, 2.0]), np.array([0.3, 1.0, 2.0])):
        np.testing.assert_array_equal(
            tapeless.grad(nested)(x), [0.0, 2.0, 0.0] if x[0] > 0.5 else [0.0, 0.0, 1.0]
        )


@pytest.mark.parametrize(("c", "x"), [(1e200, 1e-300), (1e-200, 1e300)])
def test_constants_that_meet_out_of_range_stay_apart(c, x):
    def f(x):
        return c * (c * x), c * x * c

    def array(x):
        return f(np.array([x]))[0][0]

    expected = [f(x)[0]] * 2
    np.testing.assert_allclose(tapeless.jit(f)(x), expected, rtol=1e-14)
    np.testing.assert_allclose(tapeless.jvp(f, (x,), (x,))[0], expected, rtol=1e-14)
    np.testing.assert_allclose(tapeless.jvp(array, (x,), (x,))[0], expected[0], rtol=1e-14)


def test_small_integers_stay_in_range():
    x = np.array([1, 2], np.int8)
    np.testing.assert_array_equal(tapeless.vmap(lambda x: 100 * (2 * x))(x), 100 * (2 * x))


def test_what_one_test_chooses_is_joined():
    def absolute(x, d):
        r = np.abs(x)
        return np.sum(np.where(r < d, 0.5 * r**2, d * (r - 0.5 * d)))

    x = np.array([-3.0, -0.2, 0.4, 2.0])
    slope = tapeless.grad(absolute)
    np.testing.assert_allclose(slope(x, 1.0), np.clip(x, -1.0, 1.0), rtol=1e-14)
    assert slope.source().count("np.where") == 2  # not four


def test_constants_of_quotients_meet():
    source = tapeless.grad(lambda x: 0.5 * np.mean(x**2)).source(np.ones(3))
    assert "return x / len(x)" in source


def test_a_part_of_which_only_the_length_is_read_keeps_it():
    def f(x):
        where = np.flatnonzero(x)
        part = x[where[0] : where[-1] + 1]
        made = np.eye(part.shape[0] - 1, k=-1)
        made[0] = -part[1:] / part[0]
        return made

    x = np.array([0.0, 1.0, 0.5, 2.0])
    np.testing.assert_allclose(tapeless.jvp(f, (x,), (x,))[0], f(x))


def test_what_follows_an_error_knows_its_test():
    def twice(x):
        if x[0] < 0:
            raise ValueError("negative")
        if x[0] < 0:
            raise ValueError("again")
        return x[1] if x[0] < 0 else x[2]

    assert len([*every(simplify(block_of(twice, V)), If)]) == 1
    assert tapeless.jit(twice)(V) == V[2]
    with pytest.raises(ValueError, match="negative"):
        tapeless.jit(twice)(-V)


def test_an_error_in_a_loop_tells_nothing_behind_the_loop():
    def checked(x, n):
        negative, total = x[0] < 0, 0.0
        for k in range(n):
            if negative:
                raise ValueError("negative")
            total += x[k]
        return x[1] if negative else x[2] + total

    compiled_once = tapeless.jit(checked)
    assert compiled_once(V, 2) == checked(V, 2)
    assert compiled_once(-V, 0) == checked(-V, 0) == -V[1]
    with pytest.raises(ValueError, match="negative"):
        compiled_once(-V, 1)


def on_no_side(x, v):
    if v[0] > 0.1 and x < 0.9:
        side = 1
    elif x < 0.2 or np.tanh(x) > 0.35:
        side = 2
    else:
        side = 3
        v = np.tanh(v)
    return side - side + x + 1.14 * np.sum(v * v)


@pytest.mark.parametrize("form", [lambda f: f, tapeless.jit])
def test_arithmetic_with_what_no_side_gives(form):
    """The argument is known, and with it that one side is not taken: its values stay unset."""
    v = np.array([0.35, -0.76, -0.45])

    def known(e):
        return tapeless.grad(lambda y: np.sin(on_no_side(y, e)))(-0.57)

    slope = tapeless.grad(known)
    total, factor = -0.57 + 1.14 * np.sum(v * v), 2 * 1.14
    np.testing.assert_allclose(form(slope)(v), -np.sin(total) * factor * v)
    second = form(lambda e: tapeless.hvp(known, (e,), (e,)))
    expected = -np.sin(total) * factor * v - np.cos(total) * factor**2 * v * np.sum(v * v)
    np.testing.assert_allclose(second(v), expected)
