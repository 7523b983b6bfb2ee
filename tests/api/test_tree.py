"""Pytrees."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, jit, jvp, strict, tree, vjp, vmap
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, UnsupportedError

Pair = namedtuple("Pair", "first second")
TREE = {"b": [1, (2, None)], "a": Pair(3, {"x": 4})}


def test_leaves_and_structure():
    assert tree.leaves(TREE) == [3, 4, 1, 2]  # keys in order
    leaves, structure = tree.flatten(TREE)
    assert leaves == tree.leaves(TREE)
    assert structure == tree.structure(TREE)
    assert hash(structure) == hash(tree.structure(TREE))
    assert structure != tree.structure([1, 2])
    assert tree.structure({"a": 1, "b": 2}) == tree.structure({"b": 1, "a": 2})


@pytest.mark.parametrize(
    "value",
    [
        TREE,
        None,
        5.0,
        [],
        (),
        {},
        [None, (), {"a": []}],
        OrderedDict(b=1, a=2),
        defaultdict(list, b=1, a=2),
        Pair(1, Pair(2, 3)),
    ],
)
def test_unflatten_undoes_flatten(value):
    leaves, structure = tree.flatten(value)
    again = tree.unflatten(structure, leaves)
    assert again == value
    assert type(again) is type(value)
    if isinstance(value, dict):
        assert list(again) == list(value)


def test_unflatten_takes_any_iterable():
    assert tree.unflatten(tree.structure((0, [0])), iter([1, 2])) == (1, [2])


def test_map():
    assert tree.map(lambda x: x * 10, TREE) == {"b": [10, (20, None)], "a": Pair(30, {"x": 40})}
    assert tree.map(lambda x, y, z: x + y + z, (1, [2]), (3, [4]), (5, [6])) == (9, [12])
    assert tree.map(lambda x, y: (x, y), {"a": 1}, {"a": [1, 2]}) == {"a": (1, [1, 2])}


def test_is_leaf():
    def pairs(x):
        return isinstance(x, tuple)

    assert tree.leaves([(1, 2), 3], is_leaf=pairs) == [(1, 2), 3]
    assert tree.map(len, [(1, 2), (3,)], is_leaf=pairs) == [2, 1]
    assert tree.structure([(1, 2)], is_leaf=pairs) == tree.structure([0])
    assert tree.paths([(1, 2)], is_leaf=pairs) == [(0,)]
    assert tree.reduce(lambda a, b: a + len(b), [(1, 2), (3,)], 0, is_leaf=pairs) == 3
    assert tree.leaves([None, 1], is_leaf=lambda x: x is None) == [None, 1]


def test_reduce():
    assert tree.reduce(lambda a, b: a * 10 + b, {"a": 1, "b": (2, 3)}) == 123
    assert tree.reduce(lambda a, b: a + b, [], 7) == 7
    assert tree.reduce(lambda a, b: a + b, [1, 2], initializer=7) == 10
    assert tree.reduce(lambda a, b: b, [1], None) == 1
    with pytest.raises(TypeError):
        tree.reduce(lambda a, b: a + b, [])


def test_transpose():
    inside_out = tree.transpose(
        tree.structure([0, 0]), tree.structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}] * 2
    )
    assert inside_out == {"a": [1, 1], "b": [2, 2]}
    assert tree.transpose(tree.structure([0, 0]), None, [{"a": 1}, {"a": 2}]) == {"a": [1, 2]}
    assert tree.transpose(tree.structure([0, 0]), tree.structure({}), [{}, {}]) == {}


@pytest.mark.parametrize(
    ("outer", "inner", "value"),
    [
        ([0, 0], {"a": 0}, [{"a": 1}]),
        ([0, 0], {"a": 0}, [{"a": 1}, {"b": 1}]),
        ([0, 0], {"a": 0}, [{"a": 1}, {"a": [1]}]),
    ],
)
def test_what_cannot_be_transposed(outer, inner, value):
    with pytest.raises(ArgumentTypeError, match="is not built like"):
        tree.transpose(tree.structure(outer), tree.structure(inner), value)


def test_dicts_whose_keys_have_another_order():
    """An OrderedDict has its leaves in its own order, a dict in that of its keys."""
    ordered, plain = OrderedDict([("z", 1), ("a", 2)]), {"a": 20, "z": 10}
    assert tree.broadcast(ordered, plain) == {"a": 2, "z": 1}
    assert tree.broadcast(plain, ordered) == OrderedDict([("z", 10), ("a", 20)])
    assert tree.map(lambda x, y: (x, y), ordered, plain) == {"z": (1, 10), "a": (2, 20)}
    turned = tree.transpose(tree.structure([0, 0]), tree.structure(ordered), [plain, plain])
    assert turned == {"z": [10, 10], "a": [20, 20]}
    axes, arrays = OrderedDict([("z", 1), ("a", 0)]), {"a": np.eye(2), "z": np.arange(6.0)[None]}
    made = vmap(lambda t: t["a"][0] + t["z"][0], (axes,))({**arrays, "z": arrays["z"][:, :2]})
    assert made.tolist() == [1.0, 1.0]


def test_paths():
    assert tree.paths(TREE) == [("a", 0), ("a", 1, "x"), ("b", 0), ("b", 1, 0)]
    assert tree.paths(3.0) == [()]


def test_trees_that_differ():
    with pytest.raises(ValueError, match="expected"):
        tree.map(lambda x, y: x, (1, 2), (1,))
    with pytest.raises(ValueError, match="few leaves"):
        tree.unflatten(tree.structure((1, 2)), [1])


# -- dataclasses and registered classes


def test_dataclasses_are_trees():
    @dataclasses.dataclass
    class Layer:
        w: object
        b: object = None

    assert grad(lambda t: t.w * t.b)(Layer(2.0, 3.0)) == Layer(3.0, 2.0)
    assert tree.paths([Layer(1.0)]) == [(0, "w")]
    assert tree.map(lambda x: -x, Layer(1.0, [2.0])) == Layer(-1.0, [-2.0])


def test_frozen_dataclasses():
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: float
        y: float

        def __post_init__(self):
            if isinstance(self.x, str):
                raise TypeError

    assert grad(lambda p: p.x * p.y)(Point(2.0, 3.0)) == Point(3.0, 2.0)


def test_static_fields():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Plain:
        w: float

    assert tree.leaves(Plain(1.0)) == [1.0]

    @dataclasses.dataclass
    class Layer:
        w: object
        power: int

    assert tree.register_dataclass(Layer, data_fields=["w"], meta_fields=["power"]) is Layer
    assert tree.leaves(Layer(2.0, 3)) == [2.0]
    assert tree.structure(Layer(2.0, 3)) != tree.structure(Layer(2.0, 4))
    slope = grad(lambda layer: layer.w**layer.power)
    assert slope(Layer(2.0, 3)) == Layer(12.0, 3)
    assert slope(Layer(2.0, 2)) == Layer(4.0, 2)


def test_registered_classes():
    class Span:
        def __init__(self, low, high, unit):
            self.low, self.high, self.unit = low, high, unit

    tree.register_pytree_node(
        Span, lambda s: ([s.low, s.high], s.unit), lambda unit, children: Span(*children, unit)
    )
    found = grad(lambda s: s.low * s.high**2 if s.unit == "m" else s.low)(Span(2.0, 3.0, "m"))
    assert (found.low, found.high, found.unit) == (9.0, 12.0, "m")
    point, along = Span(1.0, 2.0, ""), Span(3.0, 4.0, "")
    value, dot = jvp(lambda s: Span(s.high, s.low, "km"), (point,), (along,))
    assert (value.low, value.unit, dot.low, dot.high) == (2.0, "km", 4.0, 3.0)
    _, pull = vjp(lambda s, k: {"s": Span(s.low * k, s.high, "")}, point, 5.0)
    (bar, k_bar) = pull({"s": along})
    assert (bar.low, bar.high, k_bar) == (15.0, 4.0, 3.0)
    slope = grad(lambda x, *, span: x * span.low, argnames="span")
    assert slope(7.0, span=point)["span"].low == 7.0


def test_inside_transformed_functions():
    def f(params):
        doubled = tree.map(lambda x: x * 2 if x > 0 else x, params)
        return tree.reduce(lambda a, b: a + b, doubled)

    assert grad(f)({"a": 1.0, "b": [-3.0, 2.0]}) == {"a": 2.0, "b": [1.0, 2.0]}

    def norm(params):
        leaves, structure = tree.flatten(params)
        again = tree.unflatten(structure, [x**2 for x in leaves])
        return sum(tree.leaves(again))

    assert grad(norm)((1.0, [2.0])) == (2.0, [4.0])


@pytest.mark.parametrize(
    ("use", "error", "problem"),
    [
        (
            lambda: tree.register_dataclass(3),
            ArgumentTypeError,
            "register_dataclass needs a dataclass, not 3",
        ),
        (
            lambda: tree.register_dataclass(int),
            ArgumentTypeError,
            "register_dataclass needs a dataclass, not <class 'int'>",
        ),
        (
            lambda: tree.register_pytree_node(3, None, None),
            ArgumentTypeError,
            "register_pytree_node needs a class, not 3",
        ),
        (
            lambda: tree.register_dataclass(
                dataclasses.make_dataclass("Two", ["a", "b"]), data_fields=["a"]
            ),
            ArgumentError,
            "register_dataclass: Two has the fields a, b, and data_fields and meta_fields name a",
        ),
    ],
)
def test_bad_registrations(use, error, problem):
    with pytest.raises(error) as e:
        use()
    assert e.value.problem == problem


def test_registered_with_other_fields():
    made = dataclasses.make_dataclass("Once", ["a", "b"])
    assert tree.leaves(made(1, 2)) == [1, 2]  # registered by itself
    with pytest.raises(ArgumentError) as e:
        tree.register_dataclass(made, ["a"], ["b"])
    assert e.value.problem == "register_dataclass: Once is a pytree already, with other fields"
    with pytest.raises(ValueError, match="already registered"):
        tree.register_pytree_node(made, lambda o: ((), None), lambda s, c: made(1, 2))


def test_arrays_are_leaves():
    x = np.ones(3)
    assert tree.leaves([x])[0] is x


@pytest.mark.parametrize(
    "kind", [list, tuple, lambda v: {"a": list(v)}], ids=["list", "tuple", "dict"]
)
def test_trees_made_in_loops_are_carried_on(kind):
    """A loop whose test depends on data: what `map` gives is new in each pass."""

    def doubled(x):
        state, total = kind([x, x + 1]), 0.0
        while total < 50.0:
            state = tree.map(lambda v: v * 2, state)
            total = total + np.sum(tree.leaves(state)[0])
        return state

    x = np.arange(3.0)
    wanted = tree.leaves(doubled(x))
    found = tree.leaves(jit(doubled)(x))
    np.testing.assert_allclose(found, wanted)


def test_leaves_of_trees_stay_the_same_objects():
    outer = [1.0]

    def stored(x):
        made = tree.unflatten(tree.structure((0, 0)), [outer, x])
        made[0][0] = x
        return made[1]

    assert jit(stored)(2.0) == 2.0
    assert outer == [2.0]


def test_leaves_of_a_dict_whose_keys_are_data():
    def total(x):
        return sum(tree.leaves(dict(enumerate(x * x))))

    x = np.arange(4.0)
    with pytest.raises(UnsupportedError, match="a container of which data decides what it holds"):
        jit(total)(x)
    with strict(False), pytest.warns(PerformanceWarning, match="give it a list or an array"):
        np.testing.assert_allclose(grad(total)(x), 2 * x)
