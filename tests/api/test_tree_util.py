"""The names of jax.tree_util: paths, registration, structures, Partial."""

import dataclasses
import functools
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from tapeless import grad, jit, tree, tree_util, vmap
from tapeless.transforms.errors import ArgumentError
from tapeless.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, Partial, SequenceKey, keystr

Pair = namedtuple("Pair", "first second")


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: object
    kind: str = tree.static(default="dense")


@tree_util.register_pytree_node_class
class Box:
    def __init__(self, x):
        self.x = x

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, static, children):
        return cls(*children)


@tree_util.register_pytree_with_keys_class
class Named(Box):
    def tree_flatten_with_keys(self):
        return ((GetAttrKey("x"), self.x),), None


@tree_util.register_static
class Mode(str):
    __slots__ = ()


TREE = {
    "b": [1, (2, None)],
    "a": Pair(3, OrderedDict(z=4, y=5)),
    "c": [Layer(6), Box(7), Named(8), Mode("fast")],
}
PATHS = {
    "['a'].first": 3,
    "['a'].second['z']": 4,
    "['a'].second['y']": 5,
    "['b'][0]": 1,
    "['b'][1][0]": 2,
    "['c'][0].w": 6,
    "['c'][1][<flat index 0>]": 7,
    "['c'][2].x": 8,
}


def test_paths():
    pairs, structure = tree_util.tree_flatten_with_path(TREE)
    assert {keystr(path): x for path, x in pairs} == PATHS
    assert structure == tree.structure(TREE)
    assert [x for _, x in pairs] == tree.leaves(TREE)
    assert pairs == tree_util.tree_leaves_with_path(TREE)
    assert pairs[5][0] == (DictKey("c"), SequenceKey(0), GetAttrKey("w"))
    assert pairs[6][0][-1] == FlattenedIndexKey(0)


def test_simple_paths():
    path = (DictKey("a"), SequenceKey(1), GetAttrKey("w"), FlattenedIndexKey(2))
    assert keystr(path, simple=True, separator="/") == "a/1/w/2"


def test_maps_know_the_path():
    made = tree_util.tree_map_with_path(lambda path, x, y: (keystr(path), x + y), TREE, TREE)
    ends = tree_util.tree_leaves(made, is_leaf=lambda x: type(x) is tuple and type(x[0]) is str)
    assert dict(ends) == {path: 2 * x for path, x in PATHS.items()}


@pytest.mark.parametrize("takes_path", [False, True])
def test_leaves_that_are_containers(takes_path):
    def is_leaf(*given):
        return isinstance(given[-1], tuple) and (not takes_path or given[0][0].key == "b")

    value = {"a": (1, 2), "b": [(3, 4)]}
    pairs, structure = tree.flatten_with_path(value, is_leaf, is_leaf_takes_path=takes_path)
    expected = [1, 2, (3, 4)] if takes_path else [(1, 2), (3, 4)]
    assert [x for _, x in pairs] == expected
    assert tree.unflatten(structure, expected) == value
    made = tree.map_with_path(
        lambda p, x: str(x), value, is_leaf=is_leaf, is_leaf_takes_path=takes_path
    )
    assert made["b"] == ["(3, 4)"]


def test_the_same_as_jax():
    jax_util = pytest.importorskip("jax.tree_util", reason="JAX is not installed")
    for value in ({"b": [1, (2, None)], "a": Pair(3, OrderedDict(z=4))}, 5, [], [None]):
        ours, theirs = tree_util.tree_leaves_with_path(value), jax_util.tree_leaves_with_path(value)
        assert [keystr(p) for p, _ in ours] == [jax_util.keystr(p) for p, _ in theirs]
        assert [x for _, x in ours] == [x for _, x in theirs]
    public = {n for n in dir(jax_util) if not n.startswith("_")}
    assert public - {"default_registry"} <= set(tree_util.__all__)


def test_joining_leaves():
    added = tree_util.tree_reduce_associative(lambda a, b: a + b, [["a", "b"], "c"])
    assert added == "abc"
    assert tree_util.tree_reduce_associative(lambda a, b: a + b, [], identity=0) == 0
    with pytest.raises(TypeError, match="without leaves"):
        tree_util.tree_reduce_associative(lambda a, b: a + b, [])


def test_broadcast():
    assert tree_util.tree_broadcast({"a": 1, "b": (2, 3)}, {"a": [0, 0], "b": (0, {"c": 0})}) == {
        "a": [1, 1],
        "b": (2, {"c": 3}),
    }
    with pytest.raises(ValueError, match="mismatch"):
        tree_util.tree_broadcast((1, 2), (1, 2, 3))


def test_what_structures_say():
    structure = tree_util.tree_structure({"a": 1, "b": (2, None)})
    assert [c.num_leaves for c in tree_util.treedef_children(structure)] == [1, 1]
    assert isinstance(structure, tree_util.PyTreeDef)
    assert tree_util.is_tree_node(Box)
    assert tree_util.is_tree_node(Pair)
    assert not tree_util.is_tree_node(np.ndarray)
    assert tree_util.tree_all([True, [1]])
    assert not tree_util.tree_all([True, [0]])
    assert tree_util.flatten_one_level(Named(3))[0] == [3]
    assert tree_util.flatten_one_level_with_keys(Named(3))[0] == [(GetAttrKey("x"), 3)]
    with pytest.raises(ValueError, match="leaf"):
        tree_util.flatten_one_level(3.0)


def test_static_fields_are_structure():
    assert tree.leaves(Layer(1.0, "conv")) == [1.0]
    assert tree.structure(Layer(1.0, "conv")) != tree.structure(Layer(1.0))
    slope = grad(lambda layer, x: (layer.w * x) ** (2 if layer.kind == "square" else 1))
    assert slope(Layer(3.0, "square"), 2.0) == Layer(24.0, "square")
    assert slope(Layer(3.0), 2.0) == Layer(2.0)


def test_static_objects_choose_the_program():
    f = jit(lambda mode, x: 2 * x if mode == "fast" else x)
    assert (f(Mode("fast"), 3.0), f(Mode("slow"), 3.0)) == (6.0, 3.0)


def test_fields_to_drop():
    with pytest.raises(ArgumentError, match="drop_fields has w"):
        tree_util.register_dataclass(Layer, ["w"], ["kind"], drop_fields=["w"])


# -- Partial


def weighted(a, b, x, power=1):
    return np.sum(a * x**power + b)


def test_partials_are_trees():
    p = Partial(weighted, 2.0, b=3.0)
    assert tree.leaves(p) == [2.0, 3.0]
    assert tree.map(lambda v: -v, p)(x=1.0) == -5.0
    assert tree.structure(p) == tree.structure(Partial(weighted, 5.0, b=1.0))
    assert tree.structure(p) != tree.structure(Partial(np.sum, 5.0, b=1.0))


def test_what_a_partial_of_a_partial_holds_is_static():
    inner = functools.partial(weighted, 2.0)
    assert tree.leaves(Partial(inner, 3.0)) == [3.0]
    assert Partial(inner, 3.0)(1.0) == 5.0
    assert tree.structure(Partial(inner, 3.0)) == tree.structure(Partial(inner, 4.0))


def test_partials_go_through_transformations():
    p, x = Partial(weighted, 2.0, 3.0), np.arange(3.0)
    bars = grad(lambda p, x: p(x))(p, x)
    assert bars.args == (3.0, 3.0)
    assert jit(lambda p, x: p(x))(p, x) == weighted(2.0, 3.0, x)
    over_inner = Partial(functools.partial(weighted, 2.0), 1.0)
    assert grad(lambda p: p(x))(over_inner).args == (3.0,)
    batch = Partial(weighted, np.arange(2.0), np.ones(2))
    np.testing.assert_array_equal(vmap(lambda p, x: p(x), in_axes=(0, None))(batch, x), [3.0, 6.0])


def test_registered_classes_of_dicts_stay_what_they_are():
    @tree_util.register_pytree_node_class
    class Named(dict):
        def __getattr__(self, name):
            return self[name]

        def tree_flatten(self):
            return [self[k] for k in sorted(self)], tuple(sorted(self))

        @classmethod
        def tree_unflatten(cls, keys, values):
            return cls(zip(keys, values, strict=True))

    def f(p, x):
        return np.sum(p.w * p.inner.b) * x

    p = Named(w=np.ones(2), inner=Named(b=3.0))
    for slope in (grad(f), jit(grad(f)), lambda p, x: jit(lambda q: grad(f)(q, x))(p)):
        made = slope(p, 2.0)
        assert type(made) is type(made.inner) is Named
        np.testing.assert_array_equal(made.w, [6.0, 6.0])
        assert made.inner.b == 4.0
