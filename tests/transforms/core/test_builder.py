"""Recording: atoms, sizes, broadcasting, and what is not known while staging."""

import itertools

import numpy as np
import pytest

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import Builder, NeedStatic, atom, building
from tapeless.transforms.core.language import Literal, Origin, Type, Var
from tapeless.transforms.errors import ArgumentTypeError, InternalError, ShapeError
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul, sub
from tapeless.transforms.ops.primitives.elementwise import sin

INT = Type(np.dtype(int), (), True)
FLOAT = Type(np.dtype(float))
SHAPES = [s for rank in range(3) for s in itertools.product((0, 1, 2, 3), repeat=rank)]


@pytest.fixture
def recording():
    with building(Builder()) as b:
        yield b


@pytest.mark.parametrize(
    ("value", "kind", "weak"),
    [
        (1, "i8", True),
        (1.0, "f8", True),
        (True, "?", True),
        (1j, "c16", True),
        (np.float32(1), "f4", False),
        (np.int8(1), "i1", False),
        (np.float64(1), "f8", False),
    ],
)
def test_python_scalars_are_weak_and_numpy_scalars_are_not(value, kind, weak):
    made = atom(value)
    assert made == Literal(value, Type(np.dtype(kind), (), weak))


def test_atoms_stay_and_other_objects_are_refused():
    x = Var(FLOAT, "x")
    assert atom(x) is x
    with pytest.raises(ArgumentTypeError, match="list, where a number or an array is needed"):
        atom([1.0])


def test_nothing_is_recorded_outside_of_a_run():
    assert not builder.active()
    with pytest.raises(InternalError, match="outside a staged run"):
        builder.current()
    with building(Builder()) as outer:
        with building(Builder()) as inner:
            assert builder.current() is inner
        assert builder.current() is outer
    assert not builder.active()


def test_operations_write_into_the_open_block_with_the_line(recording):
    recording.origin = Origin("models.py", 7)
    with recording.block() as inside:
        y = sin(Var(FLOAT, "x"))
    assert recording.blocks == [[]]
    assert [s.op for s in inside] == [sin]
    assert inside[0].origin.line == y.origin.line == 7
    assert recording.definitions[y] is inside[0]


def test_a_block_is_closed_by_an_error_too(recording):
    with pytest.raises(ZeroDivisionError), recording.block():
        raise ZeroDivisionError
    assert len(recording.blocks) == 1


def test_broadcasting_is_numpys(recording):
    for a, b in itertools.product(SHAPES, repeat=2):
        try:
            expected = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(ShapeError, match="could not be broadcast together"):
                builder.broadcast(a, b)
        else:
            assert builder.broadcast(a, b) == expected


def test_broadcasting_of_named_sizes(recording):
    n = dims.symbol("n", 2)
    assert builder.broadcast((n, 1), (3,)) == (n, 3)
    assert builder.broadcast((n,), (n,), (1,)) == (n,)
    assert builder.broadcast((n,), (5,)) == (5,)  # a pass may rely on it: the run has checked
    assert builder.broadcast() == ()


@pytest.mark.parametrize(
    ("op", "expected"), [(add, 7), (sub, 3), (mul, 10), (floordiv, 2), (mod, 1)]
)
def test_sizes_are_followed_through_integer_arithmetic(recording, op, expected):
    k = Var(INT, "k")
    made = builder.size_of(op(k, 2))
    (symbol,) = dims.symbols(builder.var_size(k))
    assert dims.evaluate(made, {symbol: 5}) == expected


def test_a_size_and_the_variable_that_holds_it(recording):
    k = Var(INT, "k")
    size = builder.size_of(k)
    assert builder.atom_of_size(size) is k
    assert builder.size_of(builder.atom_of_size(size + 1)) == size + 1
    assert builder.size_of(Literal(4, INT)) == builder.size_of(4) == 4


def test_what_is_static(recording):
    k = Var(INT, "k")
    assert builder.static(3, "") == builder.static(atom(3), "") == 3
    assert builder.static(sub(add(k, 2), k), "") == 2
    with pytest.raises(NeedStatic) as met:
        builder.static(k, "an axis")
    assert (met.value.atom, met.value.why) == (k, "an axis")
    assert not isinstance(met.value, Exception)  # users' `except Exception` must not catch it


def test_a_rule_that_branches_on_a_value_asks_for_it(recording):
    flag = Var(Type(np.dtype(bool), (), True))
    with pytest.raises(NeedStatic):
        bool(flag)
    assert [bool(atom(x)) for x in (True, 2.0, 0, 0j)] == [True, True, False, False]
