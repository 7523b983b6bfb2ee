"""Registers classes as pytrees, with the names of their parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
import optree

from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray
from tapeless.transforms.prelude.numpy.matrices import Matrix, matrix_of

NAMESPACE = "tapeless"
_dataclasses: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}
_others: set[type] = set()  # that are no dataclasses
C = TypeVar("C", bound=type)


def register_pytree_node(
    nodetype: C,
    flatten_func: Callable[[Any], tuple[Any, ...]],
    unflatten_func: Callable[[Any, Any], Any],
) -> C:
    """Makes a class a pytree.

    nodetype        the class; its subclasses are not included
    flatten_func    object to (children, static part), and, where children have names, a key for
                    each; the static part must be hashable
    unflatten_func  (static part, children) to object

    Returns the class. Raises TypeError for what is no class, ValueError for a class that is a
    pytree already.

    >>> class Span:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> _ = register_pytree_node(
    ...     Span, lambda s: ((s.low, s.high), None), lambda _, children: Span(*children)
    ... )
    >>> from tapeless import tree
    >>> tree.leaves(Span(1.0, 2.0))
    [1.0, 2.0]
    """
    if not isinstance(nodetype, type):
        raise ArgumentTypeError(f"register_pytree_node needs a class, not {nodetype!r}")

    def flatten_node(obj: Any) -> Any:
        children, static, *keys = flatten_func(obj)
        return tuple(children), static, *map(tuple, keys)

    _register(nodetype, flatten_node, unflatten_func, optree.PyTreeEntry)
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
    meta_fields  the fields that are part of the structure: hashable, not differentiated; those
                 made by `tree.static`, where both are left out

    Returns the class. Dataclasses that are met in arguments are registered by themselves, with all
    fields as children. Raises TypeError for what is no dataclass, ValueError for fields that it
    does not have and for a class that was registered with other fields.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     b: float
    >>> from tapeless import tree
    >>> tree.map(lambda x: -x, Layer(1.0, 2.0))
    Layer(w=-1.0, b=-2.0)
    """
    if not isinstance(nodetype, type) or not dataclasses.is_dataclass(nodetype):
        raise ArgumentTypeError(f"register_dataclass needs a dataclass, not {nodetype!r}")
    fields = [f.name for f in dataclasses.fields(nodetype)]
    marked = [f.name for f in dataclasses.fields(nodetype) if f.metadata.get("static")]
    if data_fields is None and meta_fields is None:
        meta_fields = marked
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

    def flatten_fields(obj: Any) -> Any:
        children = tuple(getattr(obj, n) for n in data)
        return children, tuple(getattr(obj, n) for n in meta), data

    def unflatten(static: Any, children: Any) -> Any:
        instance = object.__new__(nodetype)
        for name, value in zip((*data, *meta), (*children, *static), strict=True):
            object.__setattr__(instance, name, value)
        return instance

    _register(nodetype, flatten_fields, unflatten, optree.GetAttrEntry)
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


def _data_and_mask(x: Any) -> Any:
    return (x.data, None if x.mask is np.ma.nomask else x.mask), None, ("data", "mask")


def _rebuild_masked(_: None, parts: Sequence[Any]) -> Any:
    """A masked array; of what stands for arrays while a function is staged, what stands for it."""
    data, mask = parts
    if not isinstance(data, np.ndarray):
        return MaskedArray(data, mask)
    return np.ma.MaskedArray(data, np.ma.nomask if mask is None else mask)


_register(np.ma.MaskedArray, _data_and_mask, _rebuild_masked, optree.GetAttrEntry)


def _rebuild_matrix(_: None, parts: Sequence[Any]) -> Any:
    """A matrix; of what stands for an array while a function is staged, what stands for it."""
    (elements,) = parts
    if isinstance(elements, np.ndarray) and elements.ndim == 2:
        return elements.view(np.matrix)
    if getattr(elements, "ndim", 0) != 2:  # of something else that has the same structure
        return elements
    return matrix_of(elements)


for _kind in (np.matrix, Matrix):
    _register(_kind, lambda x: ((x.A,), None, ("A",)), _rebuild_matrix, optree.GetAttrEntry)


def is_other(x: Any) -> bool:
    """Whether an object is of a class registered with `register_pytree_node`."""
    return type(x) in _others


def any_others() -> bool:
    return bool(_others)


# -- what leads to a part of a container


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """An index of a list or tuple.

    >>> print(SequenceKey(0))
    [0]
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """A key of a dict.

    >>> print(DictKey("w"))
    ['w']
    """

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A field of a dataclass or named tuple.

    >>> print(GetAttrKey("w"))
    .w
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The position of a part of an object whose class does not name its parts.

    >>> print(FlattenedIndexKey(1))
    [<flat index 1>]
    """

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]
KEYS = (SequenceKey, DictKey, GetAttrKey, FlattenedIndexKey)


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """The text of a path.

    simple     only names and numbers: "a/0" for "['a'][0]"
    separator  what stands between them

    >>> keystr((DictKey("a"), SequenceKey(0))), keystr((DictKey("a"),), simple=True)
    ("['a'][0]", 'a')
    """
    return separator.join(_simple(k) if simple else str(k) for k in keys)


def _simple(key: Any) -> str:
    fields = dataclasses.fields(key) if isinstance(key, KEYS) else ()
    return str(getattr(key, fields[0].name)) if fields else str(key)


def one_level(node: Any) -> tuple[list[Any], list[KeyEntry]]:
    """The parts of a container, and what leads to each. Raises ValueError for a leaf."""
    children, _, entries, _ = optree.tree_flatten_one_level(node, namespace=NAMESPACE)
    kind = type(node)
    if kind in _others:
        keys = [e if _is_key(e) else FlattenedIndexKey(k) for k, e in enumerate(entries)]
    elif kind in _dataclasses:
        keys = [GetAttrKey(e) for e in entries]
    elif isinstance(node, dict):
        keys = [DictKey(e) for e in entries]
    elif hasattr(kind, "_fields"):
        keys = [GetAttrKey(name) for name in kind._fields]
    else:
        keys = [SequenceKey(k) for k in range(len(children))]
    return list(children), keys


def _is_key(entry: Any) -> bool:
    return not isinstance(entry, int)
