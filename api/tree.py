"""Pytrees: nested tuples, lists, dicts, namedtuples, dataclasses, None and registered types.

The work is done by optree; None is a node without leaves, as in JAX.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import optree

from tapeless.transforms.core import builder
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.hooks import Hooks
from tapeless.transforms.frontend.staged_list import StagedList

NAMESPACE = "tapeless"
_registered: set[type] = set()
IsLeaf = Callable[[Any], bool]
C = TypeVar("C", bound=type)


def register_pytree_node(
    cls: C,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Any], Any],
) -> C:
    """Makes a class a pytree.

    flatten    object to (children, static part); the static part must be hashable
    unflatten  (static part, children) to object

    >>> class Span:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> _ = register_pytree_node(
    ...     Span, lambda s: ((s.low, s.high), None), lambda _, children: Span(*children)
    ... )
    >>> leaves(Span(1.0, 2.0))
    [1.0, 2.0]
    """
    if not isinstance(cls, type):
        raise ArgumentTypeError(f"register_pytree_node needs a class, not {cls!r}")

    def flat(obj: Any) -> Any:
        children, static = flatten(obj)
        return tuple(children), static

    optree.register_pytree_node(cls, flat, unflatten, namespace=NAMESPACE)
    _registered.add(cls)
    return cls


def register_dataclass(cls: C) -> C:
    """Makes a dataclass a pytree of its fields; also as a decorator.

    Dataclasses that are met as arguments are registered by themselves.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     b: float
    >>> map(lambda x: -x, Layer(1.0, 2.0))
    Layer(w=-1.0, b=-2.0)
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise ArgumentTypeError(f"register_dataclass needs a dataclass, not {cls!r}")
    if cls in _registered:
        return cls
    names = tuple(f.name for f in dataclasses.fields(cls))

    def unflatten(_: Any, children: Any) -> Any:
        made = object.__new__(cls)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(made, name, child)
        return made

    optree.register_pytree_node(
        cls,
        lambda o: (tuple(getattr(o, n) for n in names), None, names),
        unflatten,
        path_entry_type=optree.GetAttrEntry,
        namespace=NAMESPACE,
    )
    _registered.add(cls)
    return cls


def _prepared(leaf: Any) -> bool:
    """Whether what looks like a leaf is a container after all: a dataclass, registered now."""
    if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
        register_dataclass(type(leaf))
        return True
    return isinstance(leaf, StagedList)


def plain(tree: Any) -> Any:
    """The tree with the lists of a staged run as lists."""
    if isinstance(tree, StagedList) and tree.tail is None:
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


def flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], Any]:
    """The leaves of a tree, in order, and its structure.

    >>> leaves, structure = flatten({"b": 1.0, "a": (2.0, None)})
    >>> leaves, unflatten(structure, leaves)
    ([2.0, 1.0], {'a': (2.0, None), 'b': 1.0})
    """
    if builder.active():
        tree = plain(tree)
    while True:
        found = optree.tree_flatten(tree, is_leaf, namespace=NAMESPACE)
        if is_leaf is not None or not any([_prepared(leaf) for leaf in found[0]]):
            return found


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The tree with the given structure and leaves.

    >>> unflatten(structure((0, [0])), [1, 2])
    (1, [2])
    """
    return optree.tree_unflatten(structure, list(leaves))


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
    return unflatten(spec, [_call(f, *xs) for xs in zip(flat, *others, strict=True)])


def reduce(
    f: Callable[[Any, Any], Any], tree: Any, *initial: Any, is_leaf: IsLeaf | None = None
) -> Any:
    """`functools.reduce` over the leaves.

    >>> reduce(lambda total, x: total + x, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    return functools.reduce(functools.partial(_call, f), leaves(tree, is_leaf), *initial)


def transpose(outer: Any, inner: Any, tree: Any) -> Any:
    """A tree of structure `outer` whose leaves are trees of structure `inner`, inside out.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    return optree.tree_transpose(outer, inner, plain(tree))


def paths(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[Any, ...]]:
    """For each leaf, the keys, indices and attribute names that lead to it.

    >>> paths({"a": (1.0, 2.0)})
    [('a', 0), ('a', 1)]
    """
    flatten(tree)
    return [tuple(p) for p in optree.tree_paths(tree, is_leaf, namespace=NAMESPACE)]


def accessors(tree: Any) -> list[Any]:
    """For each leaf, an object that reads it and writes itself as an expression."""
    return optree.tree_accessors(tree, namespace=NAMESPACE)  # type: ignore[return-value]


def structure_text(tree: Any) -> str:
    """A structure as errors show it: `{'a': (*, *)}`."""
    flat, spec = flatten(tree)
    return repr(unflatten(spec, [_Star()] * len(flat)))[:80]


class _Star:
    def __repr__(self) -> str:
        return "*"


def _call(f: Callable[..., Any], *args: Any) -> Any:
    """f(*args), through the hooks while staging, so that `f` may branch on its arguments."""
    return Hooks(_nothing).call(f, *args) if builder.active() else f(*args)


def _nothing() -> None:
    """Stands in for the calling function where hooks are used without one."""
