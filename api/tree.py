"""Flattens and maps pytrees: nested tuples, lists, dicts, namedtuples, dataclasses, None and
registered types.

The work is done by optree; None is a node without leaves, as in JAX.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import optree

from tapeless.lazy_import import lazy_module
from tapeless.transforms.core import builder
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError
from tapeless.tree_registry import NAMESPACE as NAMESPACE
from tapeless.tree_registry import KeyPath, any_others, is_other, one_level
from tapeless.tree_registry import fields as fields
from tapeless.tree_registry import register_dataclass as register_dataclass
from tapeless.tree_registry import register_pytree_node as register_pytree_node

if TYPE_CHECKING:
    from tapeless.staging import subprogram as region
    from tapeless.staging import user_calls as calling
    from tapeless.transforms.frontend.heap import lists as staged_list
    from tapeless.transforms.prelude.containers import hashed_containers
else:
    calling = lazy_module("tapeless.staging.user_calls")
    region = lazy_module("tapeless.staging.subprogram")
    staged_list = lazy_module("tapeless.transforms.frontend.heap.lists")
    hashed_containers = lazy_module("tapeless.transforms.prelude.containers.hashed_containers")

IsLeaf = Callable[..., bool]
Structure = optree.PyTreeSpec

STAGED = "tapeless.transforms.frontend."  # where text and others are that run-time values decide


def _is_new_dataclass(leaf: Any) -> bool:
    """Whether what looks like a leaf is a container after all: a dataclass, registered now."""
    ours = type(leaf).__module__.startswith(STAGED)
    if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type) and not ours:
        register_dataclass(type(leaf))
        return True
    return False


DICTS = (dict, OrderedDict, defaultdict)


def plain(tree: Any) -> Any:
    """The tree with the lists of a staged run as lists."""
    if builder.active() and isinstance(
        tree, staged_list.StagedList
    ):  # of a length that is known, or is made known now
        return tree.of_python([plain(x) for x in tree])
    if builder.active() and isinstance(tree, hashed_containers.Keys):
        raise UnsupportedError(
            f"the leaves of a {tree.kind.__name__} are asked for whose keys depend on data",
            "work with lists of the keys and of the values: list(d), list(d.values())",
        )
    if type(tree) in (list, tuple):
        return type(tree)(plain(x) for x in tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(plain(x) for x in tree))
    if type(tree) in DICTS and builder.active():
        copy = tree.copy()
        copy.update({k: plain(v) for k, v in tree.items()})
        return copy
    if not builder.active() or (_is_leaf(tree) and not _is_new_dataclass(tree)):
        return tree
    return _plain_object(tree)


def _is_leaf(tree: Any) -> bool:
    return optree.tree_is_leaf(tree, namespace=NAMESPACE)


def _plain_object(tree: Any) -> Any:
    children, static, _, unflatten = optree.tree_flatten_one_level(tree, namespace=NAMESPACE)
    plain_children = [plain(x) for x in children]
    same = builtins.all(x is y for x, y in zip(children, plain_children, strict=True))
    return tree if same else unflatten(static, plain_children)


def flatten_known(tree: Any) -> tuple[list[Any], Any]:
    """Leaves and structure without looking for dataclasses that are not registered yet: quick."""
    return optree.tree_flatten(tree, namespace=NAMESPACE)


def flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], Any]:
    """The leaves of a tree, in order, and its structure.

    >>> leaves, structure = flatten({"b": 1.0, "a": (2.0, None)})
    >>> leaves, unflatten(structure, leaves)
    ([2.0, 1.0], {'b': 1.0, 'a': (2.0, None)})
    """
    if builder.active():
        tree = plain(tree)
    while True:
        leaves_and_structure = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
        new = [
            leaf for leaf in leaves_and_structure[0] if is_leaf is None and _is_new_dataclass(leaf)
        ]
        if not new:
            return leaves_and_structure


def unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """The tree with the given structure and leaves.

    Raises ValueError for another number of leaves.

    >>> unflatten(structure((0, [0])), [1, 2])
    (1, [2])
    """
    leaves = list(leaves)
    rebuilt = optree.tree_unflatten(treedef, leaves)
    return region.made_now(rebuilt, leaves) if builder.active() else rebuilt


def leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of a tree, in order.

    >>> leaves([1, (2, None), {"a": 3}])
    [1, 2, 3]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The structure of a tree, without its leaves: comparable and hashable.

    >>> structure([1, (2, None)]) == structure([0.5, ("x", None)])
    True
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of `f(leaf, ...)` over one tree or several of the same structure.

    Raises ValueError where the structures differ.

    >>> map(lambda x, y: x + y, {"a": 1}, {"a": 2})
    {'a': 3}
    """
    flat, spec = flatten(tree, is_leaf)
    others = [spec.flatten_up_to(plain(t)) for t in rest]
    return unflatten(spec, [calling.call_user(f, *xs) for xs in zip(flat, *others, strict=True)])


_NOTHING = object()


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _NOTHING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """`functools.reduce` over the leaves.

    Raises TypeError for a tree without leaves where no initializer is given.

    >>> reduce(lambda total, x: total + x, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    start = () if initializer is _NOTHING else (initializer,)
    return functools.reduce(
        functools.partial(calling.call_user, function), leaves(tree, is_leaf), *start
    )


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _NOTHING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """The leaves joined two by two by an associative operation: log n steps deep.

    Raises TypeError for a tree without leaves where no identity is given.

    >>> reduce_associative(lambda a, b: a + b, {"a": 1, "b": (2, 3)})
    6
    """
    remaining = leaves(tree, is_leaf)
    if not remaining and identity is _NOTHING:
        raise TypeError("reduce_associative of a tree without leaves, and no identity")
    while len(remaining) > 1:
        pairs = [remaining[k : k + 2] for k in range(0, len(remaining), 2)]
        remaining = [calling.call_user(operation, *p) if len(p) == 2 else p[0] for p in pairs]
    return remaining[0] if remaining else identity


def all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Whether all leaves are true.

    >>> all([True, {"a": 1}]), all([True, (0,)])
    (True, False)
    """
    return builtins.all(leaves(tree, is_leaf))


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of the structure of `full_tree` in which each leaf of `prefix_tree` stands for all
    that is below its place.

    Raises ValueError where the structures differ.

    >>> broadcast((0, {"a": 1}), ([5, 6], {"a": (7, 8)}))
    ([0, 0], {'a': (1, 1)})
    """
    repeated = map(
        lambda leaf, sub: map(lambda _: leaf, sub, is_leaf=is_leaf),
        prefix_tree,
        full_tree,
        is_leaf=is_leaf,
    )
    whole = structure(full_tree, is_leaf)
    return unflatten(whole, whole.flatten_up_to(repeated))  # by keys, in which dicts may differ


def static(**kwargs: Any) -> Any:
    """A field of a dataclass that is part of its structure, for `register_dataclass`.

    kwargs  of `dataclasses.field`

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Scale:
    ...     by: float
    ...     unit: str = static(default="m")
    >>> map(lambda x: -x, Scale(2.0)), leaves(Scale(2.0, "km"))
    (Scale(by=-2.0, unit='m'), [2.0])
    """
    return dataclasses.field(
        **{**kwargs, "metadata": {**kwargs.get("metadata", {}), "static": True}}
    )


def transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """A tree of structure `outer` whose leaves are trees of structure `inner`, inside out.

    inner_treedef  None: the structure of the first of these trees

    Raises TypeError for a tree that is built otherwise.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    flatten(pytree_to_transpose)  # dataclasses become trees
    try:
        parts = outer_treedef.flatten_up_to(plain(pytree_to_transpose))
        inner = structure(parts[0]) if inner_treedef is None else inner_treedef
        rows = [inner.flatten_up_to(part) for part in parts]  # by keys, in which dicts may differ
    except (ValueError, IndexError) as e:
        raise _not_of_trees(pytree_to_transpose, outer_treedef) from e
    if not builtins.all(_is_leaf(x) for row in rows for x in row):
        raise _not_of_trees(pytree_to_transpose, outer_treedef)
    columns = [[row[k] for row in rows] for k in range(inner.num_leaves)]
    return unflatten(inner, [unflatten(outer_treedef, column) for column in columns])


def _not_of_trees(tree: Any, outer: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"transpose: {structure_text(tree)} is not built like {structure_stars(outer)} with trees "
        "of one structure in place of its leaves"
    )


def paths(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[Any, ...]]:
    """For each leaf, the keys, indices and attribute names that lead to it.

    >>> paths({"a": (1.0, 2.0)})
    [('a', 0), ('a', 1)]
    """
    flatten(tree)
    return [tuple(p) for p in optree.tree_paths(tree, is_leaf, namespace=NAMESPACE)]


def flatten_with_path(
    tree: Any, is_leaf: IsLeaf | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """The leaves of a tree, each with the keys that lead to it, and its structure.

    is_leaf_takes_path  whether `is_leaf` is called with (path, value)

    >>> flatten_with_path({"a": [1.0, 2.0]})[0][1]
    ((DictKey(key='a'), SequenceKey(idx=1)), 2.0)
    """
    flatten(tree)  # dataclasses become trees
    ends: dict[int, Any] = {}

    def is_end(path: KeyPath, x: Any) -> bool:
        if is_leaf is None or not (is_leaf(path, x) if is_leaf_takes_path else is_leaf(x)):
            return False
        ends[id(x)] = x
        return True

    paths_and_leaves = [*_walk((), plain(tree) if builder.active() else tree, is_end)]
    return paths_and_leaves, flatten(tree, lambda x: id(x) in ends)[1]


def _walk(path: KeyPath, x: Any, ended: Callable[[KeyPath, Any], bool]) -> Iterator[Any]:
    if ended(path, x) or _is_leaf(x):
        yield path, x
        return
    for child, key in zip(*one_level(x), strict=True):
        yield from _walk((*path, key), child, ended)


def leaves_with_path(
    tree: Any, is_leaf: IsLeaf | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the keys that lead to it.

    >>> leaves_with_path((5.0,))
    [((SequenceKey(idx=0),), 5.0)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """The tree of `f(path, leaf, ...)` over one tree or several of the same structure.

    Raises ValueError where the structures differ.

    >>> from tapeless.tree_util import keystr
    >>> map_with_path(lambda path, x: keystr(path) + "=" + str(x), {"a": [1, 2]})
    {'a': ["['a'][0]=1", "['a'][1]=2"]}
    """
    pairs, spec = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [spec.flatten_up_to(plain(t)) for t in rest]
    results = [
        calling.call_user(f, path, x, *xs) for (path, x), *xs in zip(pairs, *others, strict=True)
    ]
    return unflatten(spec, results)


def accessors(tree: Any) -> list[Any]:
    """For each leaf, an object that reads it and writes itself as an expression."""
    return optree.tree_accessors(tree, namespace=NAMESPACE)


def has_registered(tree: Any) -> bool:
    """Whether objects of classes registered with `register_pytree_node` are in a tree."""
    return any_others() and _holds_registered(tree)


def _holds_registered(x: Any) -> bool:
    if is_other(x):
        return True
    if isinstance(x, dict):
        return any(_holds_registered(v) for v in x.values())
    if isinstance(x, (list, tuple, deque)):  # what a loop filled holds numbers and containers
        parts = list.__iter__(x) if isinstance(x, list) else x
        return any(_holds_registered(v) for v in parts)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return any(_holds_registered(getattr(x, f.name)) for f in dataclasses.fields(x))
    return False


def structure_text(tree: Any) -> str:
    """A structure as errors show it: `{'a': (*, *)}`."""
    return structure_stars(structure(tree))


def structure_stars(treedef: Any) -> str:
    """The same for a structure without its tree."""
    return repr(unflatten(treedef, [_Star()] * treedef.num_leaves))[:80]


class _Star:
    def __repr__(self) -> str:
        return "*"
