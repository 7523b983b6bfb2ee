"""Pytrees: nested tuples, lists, dicts, namedtuples, dataclasses, None and registered types (on optree)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

import optree

NAMESPACE = "tapeless"
_registered: set[type] = set()


def register_pytree_node(cls: type, flatten: Callable[[Any], tuple[Iterable[Any], Any]], unflatten: Callable[[Any, Any], Any]) -> type:
    """Makes a class a pytree: `flatten(obj)` gives (children, static part), `unflatten(static, children)` the object."""
    def flat(obj: Any) -> Any:
        children, static = flatten(obj)
        return tuple(children), static

    optree.register_pytree_node(cls, flat, unflatten, namespace=NAMESPACE)
    _registered.add(cls)
    return cls


def register_dataclass(cls: type) -> type:
    """Makes a dataclass a pytree of its fields; usable as a decorator. Instances that are met as
    arguments are registered by themselves."""
    if cls in _registered:
        return cls
    names = tuple(f.name for f in dataclasses.fields(cls))

    def unflatten(_: Any, children: Any) -> Any:
        made = object.__new__(cls)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(made, name, child)
        return made

    optree.register_pytree_node(cls, lambda o: (tuple(getattr(o, n) for n in names), None, names), unflatten,
                                path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)
    _registered.add(cls)
    return cls


def _prepared(tree: Any) -> bool:
    """Registers dataclasses that appear as leaves; True if there were any."""
    new = {type(leaf) for leaf in optree.tree_leaves(tree, namespace=NAMESPACE) if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type)}
    for cls in new:
        register_dataclass(cls)
    return bool(new)


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Any]:
    """The leaves of a tree, in order, and its structure.

    >>> leaves, structure = flatten({"b": 1.0, "a": (2.0, None)})
    >>> leaves, unflatten(structure, leaves)
    ([2.0, 1.0], {'a': (2.0, None), 'b': 1.0})
    """
    while is_leaf is None and _prepared(tree):
        pass
    return optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The tree with the given structure and leaves."""
    return optree.tree_unflatten(structure, list(leaves))


def leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The structure of a tree, without its leaves."""
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:  # noqa: A001 (JAX's name)
    """The tree of `f(leaf, ...)` over one tree or several of the same structure.

    >>> map(lambda x, y: x + y, {"a": 1}, {"a": 2})
    {'a': 3}
    """
    flat, spec = flatten(tree, is_leaf)
    others = [spec.flatten_up_to(t) for t in rest]
    return unflatten(spec, [f(*xs) for xs in zip(flat, *others, strict=True)])


def reduce(f: Callable[[Any, Any], Any], tree: Any, *initial: Any) -> Any:
    """`functools.reduce` over the leaves."""
    return functools.reduce(f, leaves(tree), *initial)


def transpose(outer: Any, inner: Any, tree: Any) -> Any:
    """A tree of structure `outer` whose leaves are trees of structure `inner`, inside out."""
    return optree.tree_transpose(outer, inner, tree)


def paths(tree: Any) -> list[tuple[Any, ...]]:
    """For each leaf, the keys, indices and attribute names that lead to it."""
    flatten(tree)
    return [tuple(p) for p in optree.tree_paths(tree, namespace=NAMESPACE)]


def accessors(tree: Any) -> list[Any]:
    return optree.tree_accessors(tree, namespace=NAMESPACE)
