"""Pytrees: nested tuples, lists, dicts, namedtuples, dataclasses, None and registered types.

The work is done by optree; None is a node without leaves, as in JAX.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import optree

from tapeless.calling import call_user
from tapeless.transforms.core import builder
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.frontend.staged_list import StagedList

NAMESPACE = "tapeless"
_dataclasses: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}
_others: set[type] = set()  # that are no dataclasses
IsLeaf = Callable[[Any], bool]
C = TypeVar("C", bound=type)


def register_pytree_node(
    nodetype: C,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
) -> C:
    """Makes a class a pytree.

    nodetype        the class; its subclasses are not included
    flatten_func    object to (children, static part); the static part must be hashable
    unflatten_func  (static part, children) to object

    Returns the class. Raises TypeError for what is no class, ValueError for a class that is a
    pytree already.

    >>> class Span:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> _ = register_pytree_node(
    ...     Span, lambda s: ((s.low, s.high), None), lambda _, children: Span(*children)
    ... )
    >>> leaves(Span(1.0, 2.0))
    [1.0, 2.0]
    """
    if not isinstance(nodetype, type):
        raise ArgumentTypeError(f"register_pytree_node needs a class, not {nodetype!r}")

    def flat(obj: Any) -> Any:
        children, static = flatten_func(obj)
        return tuple(children), static

    _register(nodetype, flat, unflatten_func, optree.PyTreeEntry)
    _others.add(nodetype)
    return nodetype


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
) -> C:
    """Makes a dataclass a pytree of its fields; also as a decorator.

    nodetype     the dataclass
    data_fields  the fields that are children; all that are not in meta_fields, where left out
    meta_fields  the fields that are part of the structure: hashable, not differentiated

    Returns the class. Dataclasses that are met in arguments are registered by themselves, with all
    fields as children. Raises TypeError for what is no dataclass, ValueError for fields that it
    does not have and for a class that was registered with other fields.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     b: float
    >>> map(lambda x: -x, Layer(1.0, 2.0))
    Layer(w=-1.0, b=-2.0)
    """
    if not isinstance(nodetype, type) or not dataclasses.is_dataclass(nodetype):
        raise ArgumentTypeError(f"register_dataclass needs a dataclass, not {nodetype!r}")
    fields = [f.name for f in dataclasses.fields(nodetype)]
    meta = tuple(meta_fields or ())
    data = tuple(n for n in fields if n not in meta) if data_fields is None else tuple(data_fields)
    if sorted((*data, *meta)) != sorted(fields):
        raise ArgumentError(
            f"register_dataclass: {nodetype.__name__} has the fields {', '.join(fields)}, and "
            f"data_fields and meta_fields name {', '.join((*data, *meta)) or 'none'}"
        )
    if _dataclasses.get(nodetype, (data, meta)) != (data, meta):
        raise ArgumentError(
            f"register_dataclass: {nodetype.__name__} is a pytree already, with other fields",
            "register it before it is used",
        )
    if nodetype in _dataclasses:
        return nodetype

    def flat(obj: Any) -> Any:
        children = tuple(getattr(obj, n) for n in data)
        return children, tuple(getattr(obj, n) for n in meta), data

    def unflatten(static: Any, children: Any) -> Any:
        made = object.__new__(nodetype)
        for name, value in zip((*data, *meta), (*children, *static), strict=True):
            object.__setattr__(made, name, value)
        return made

    _register(nodetype, flat, unflatten, optree.GetAttrEntry)
    _dataclasses[nodetype] = (data, meta)
    return nodetype


def fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass that is a pytree of all of them; None for other classes."""
    data, meta = _dataclasses.get(kind, ((), ("",)))
    return None if meta else data


def _register(nodetype: Any, flat: Any, unflatten: Any, entry: Any) -> None:
    optree.register_pytree_node(
        nodetype, flat, unflatten, path_entry_type=entry, namespace=NAMESPACE
    )


def _prepared(leaf: Any) -> bool:
    """Whether what looks like a leaf is a container after all: a dataclass, registered now."""
    if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
        register_dataclass(type(leaf))
        return True
    return isinstance(leaf, StagedList)


def plain(tree: Any) -> Any:
    """The tree with the lists of a staged run as lists."""
    if isinstance(tree, StagedList):  # of a length that is known, or is made known now
        return [plain(x) for x in tree]
    if type(tree) in (list, tuple):
        return type(tree)(plain(x) for x in tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(plain(x) for x in tree))
    if isinstance(tree, dict) and builder.active():
        copy = tree.copy()
        copy.update({k: plain(v) for k, v in tree.items()})
        return copy
    return tree


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
        found = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
        new = [leaf for leaf in found[0] if is_leaf is None and _prepared(leaf)]
        if not new:
            return found


def unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """The tree with the given structure and leaves.

    Raises ValueError for another number of leaves.

    >>> unflatten(structure((0, [0])), [1, 2])
    (1, [2])
    """
    return optree.tree_unflatten(treedef, list(leaves))


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
    return unflatten(spec, [call_user(f, *xs) for xs in zip(flat, *others, strict=True)])


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
    return functools.reduce(functools.partial(call_user, function), leaves(tree, is_leaf), *start)


def transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """A tree of structure `outer` whose leaves are trees of structure `inner`, inside out.

    Raises TypeError for a tree that is built otherwise.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    return optree.tree_transpose(outer_treedef, inner_treedef, plain(pytree_to_transpose))


def paths(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[Any, ...]]:
    """For each leaf, the keys, indices and attribute names that lead to it.

    >>> paths({"a": (1.0, 2.0)})
    [('a', 0), ('a', 1)]
    """
    flatten(tree)
    return [tuple(p) for p in optree.tree_paths(tree, is_leaf, namespace=NAMESPACE)]


def accessors(tree: Any) -> list[Any]:
    """For each leaf, an object that reads it and writes itself as an expression."""
    return optree.tree_accessors(tree, namespace=NAMESPACE)


def has_registered(tree: Any) -> bool:
    """Whether objects of classes registered with `register_pytree_node` are in a tree."""
    return bool(_others) and any(type(x) in _others for x in leaves(tree, _is_other))


def _is_other(x: Any) -> bool:
    return type(x) in _others


def structure_text(tree: Any) -> str:
    """A structure as errors show it: `{'a': (*, *)}`."""
    return structure_stars(structure(tree))


def structure_stars(treedef: Any) -> str:
    """The same for a structure without its tree."""
    return repr(unflatten(treedef, [_Star()] * treedef.num_leaves))[:80]


class _Star:
    def __repr__(self) -> str:
        return "*"
