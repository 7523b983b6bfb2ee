"""Provides pytrees under the names of jax.tree_util; `tapeless.tree` has the same under shorter
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import optree

from tapeless.missing import missing as _missing
from tapeless.transformations.partial import Partial
from tapeless.transforms.errors import ArgumentError
from tapeless.tree import all as tree_all
from tapeless.tree import broadcast as tree_broadcast
from tapeless.tree import flatten as tree_flatten
from tapeless.tree import flatten_with_path as tree_flatten_with_path
from tapeless.tree import leaves as tree_leaves
from tapeless.tree import leaves_with_path as tree_leaves_with_path
from tapeless.tree import map as tree_map
from tapeless.tree import map_with_path as tree_map_with_path
from tapeless.tree import reduce as tree_reduce
from tapeless.tree import reduce_associative as tree_reduce_associative
from tapeless.tree import structure as tree_structure
from tapeless.tree import transpose as tree_transpose
from tapeless.tree import unflatten as tree_unflatten
from tapeless.tree_registry import (
    NAMESPACE,
    C,
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    SequenceKey,
    keystr,
    one_level,
)
from tapeless.tree_registry import register_dataclass as _register_dataclass
from tapeless.tree_registry import register_pytree_node as _register_pytree_node

PyTreeDef = optree.PyTreeSpec

# -- registration


def register_pytree_node(
    nodetype: C,
    flatten_func: Callable[[Any], tuple[Any, Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Any, Any]] | None = None,
) -> C:
    """Makes a class a pytree, as `tapeless.tree.register_pytree_node` does.

    flatten_with_keys_func  object to ([(key, child), ...], static part)

    >>> class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> _ = register_pytree_node(Box, lambda b: ((b.x,), None), lambda _, children: Box(*children))
    >>> tree_leaves([Box(1.0)])
    [1.0]
    """
    if flatten_with_keys_func is None:
        return _register_pytree_node(nodetype, flatten_func, unflatten_func)
    return register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func)


def register_pytree_with_keys(
    nodetype: C,
    flatten_with_keys: Callable[[Any], tuple[Any, Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Any, Any]] | None = None,
) -> C:
    """Makes a class a pytree whose parts have names.

    flatten_with_keys  object to ([(key, child), ...], static part); keys are `GetAttrKey`s and
                       the like, or any objects
    flatten_func       not needed

    >>> class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> _ = register_pytree_with_keys(
    ...     Box, lambda b: (((GetAttrKey("x"), b.x),), None), lambda _, children: Box(*children)
    ... )
    >>> keystr(tree_leaves_with_path([Box(1.0)])[0][0])
    '[0].x'
    """

    def flatten_without_keys(obj: Any) -> Any:
        pairs, static = flatten_with_keys(obj)
        pairs = list(pairs)
        return [child for _, child in pairs], static, [key for key, _ in pairs]

    return _register_pytree_node(nodetype, flatten_without_keys, unflatten_func)


def register_pytree_node_class(cls: C) -> C:
    """Makes a class with the methods `tree_flatten()` and `tree_unflatten(static, children)` (a
    class method) a pytree; a decorator.

    >>> @register_pytree_node_class
    ... class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten(self):
    ...         return (self.x,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, static, children):
    ...         return cls(*children)
    >>> tree_map(lambda x: -x, Box(1.0)).x
    -1.0
    """
    return _register_pytree_node(cls, lambda x: x.tree_flatten(), _unflatten_of(cls))


def register_pytree_with_keys_class(cls: C) -> C:
    """The same for a class with `tree_flatten_with_keys()` and `tree_unflatten(static, children)`.

    >>> @register_pytree_with_keys_class
    ... class Pair:
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    ...     def tree_flatten_with_keys(self):
    ...         return ((GetAttrKey("left"), self.left), (GetAttrKey("right"), self.right)), None
    ...     @classmethod
    ...     def tree_unflatten(cls, static, children):
    ...         return cls(*children)
    >>> [keystr(path) for path, _ in tree_leaves_with_path(Pair(1.0, 2.0))]
    ['.left', '.right']
    """
    return register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), _unflatten_of(cls))


def _unflatten_of(cls: Any) -> Callable[[Any, Any], Any]:
    return lambda static, children: cls.tree_unflatten(static, children)


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Makes a dataclass a pytree, as `tapeless.tree.register_dataclass` does.

    drop_fields  of JAX; only () is accepted
    """
    if tuple(drop_fields):
        raise ArgumentError(
            f"register_dataclass: drop_fields has {', '.join(drop_fields)}",
            "name them in meta_fields: they are part of the structure",
        )
    return _register_dataclass(nodetype, data_fields, meta_fields)


def register_static(cls: C) -> C:
    """Makes a class a pytree without leaves: its objects, which must be hashable and comparable,
    are part of the structure; a decorator.

    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> tree_leaves([1.0, Mode("fast")])
    [1.0]
    """
    return _register_pytree_node(cls, lambda x: ((), x), lambda static, _: static)


# -- structures


def treedef_children(treedef: Any) -> list[Any]:
    """The structures of the parts.

    >>> treedef_children(tree_structure([1, (2, 3)])) == [tree_structure(x) for x in (1, (2, 3))]
    True
    """
    return list(treedef.children())


def treedef_is_leaf(treedef: Any) -> bool:
    """Whether it is the structure of a leaf.

    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure(None))
    (True, False)
    """
    return bool(treedef.is_leaf())


def treedef_tuple(treedefs: Iterable[Any]) -> Any:
    """The structure of a tuple of trees.

    >>> treedef_tuple([tree_structure(1), tree_structure([2])]) == tree_structure((1, [2]))
    True
    """
    return optree.treespec_tuple(list(treedefs), namespace=NAMESPACE)


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether all elements are leaves.

    >>> all_leaves([1.0, "x"]), all_leaves([1.0, [2.0]]), all_leaves([None])
    (True, False, False)
    """
    elements = list(iterable)
    leaves_of_elements = tree_leaves(elements, is_leaf)
    return len(leaves_of_elements) == len(elements) and all(
        a is b for a, b in zip(leaves_of_elements, elements, strict=True)
    )


def is_tree_node(typ: type) -> bool:
    """Whether objects of a class are containers.

    >>> is_tree_node(dict), is_tree_node(float)
    (True, False)
    """
    return (
        typ is type(None)
        or optree.is_namedtuple_class(typ)
        or optree.register_pytree_node.get(typ, namespace=NAMESPACE) is not None
    )


def flatten_one_level(tree: Any) -> tuple[list[Any], Any]:
    """The parts of a container, and its static part.

    Raises ValueError for a leaf.

    >>> flatten_one_level({"a": [1, 2], "b": 3})
    ([[1, 2], 3], ('a', 'b'))
    """
    parts: Any = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    children, static, _, _ = parts
    return list(children), tuple(static) if isinstance(tree, dict) else static


def flatten_one_level_with_keys(tree: Any) -> tuple[list[tuple[KeyEntry, Any]], Any]:
    """The parts of a container, each with its key, and its static part.

    Raises ValueError for a leaf.

    >>> flatten_one_level_with_keys([5])
    ([(SequenceKey(idx=0), 5)], None)
    """
    children, keys = one_level(tree)
    return list(zip(keys, children, strict=True)), flatten_one_level(tree)[1]


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)


__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
