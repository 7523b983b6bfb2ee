"""Captures what a staged run reads from outside: arrays become inputs, everything else is guarded;
numbers that were others at an earlier call are inputs, too.
"""

from __future__ import annotations

import copy
import types
from collections import ChainMap, UserDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Var
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.core.user_names import short_name
from tapeless.transforms.frontend.arrays.foreign_arrays import (
    is_foreign,
    refuse_foreign,
    refuse_on_cpu,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.plain_objects import is_described
from tapeless.transforms.frontend.trace.readers import (
    AreOne,
    ContentsOf,
    ElementsOf,
    EntriesOf,
    ItemOf,
    KeysOf,
    LengthOf,
    LengthsOf,
    ShapeOf,
    TypeOf,
    ValuesOf,
    place_of,
)
from tapeless.transforms.frontend.trace.recorded_reads import (
    Captured,
    Constants,
    FrozenConstants,
    Guard,
    NamedRead,
    input_type,
    is_constant,
    is_frozen,
    number_type,
    snapshot,
)
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.numpy.matrices import matrix_of
from tapeless.transforms.prelude.sparse.entries import SparseMatrix

MAPPINGS = (ChainMap, UserDict, types.MappingProxyType)  # that hold others
CONTAINERS = (list, dict, tuple, deque, set, frozenset)


def outer(value: Any, get: Callable[[], Any], name: str, owner: Any = None) -> Any:
    """What the program sees of a value that it reads from outside; `owner`: what has it, where the
    name alone does not tell."""
    t = trace()
    if isinstance(value, Symbol):
        return value
    if on_gpu(value):
        refuse_on_cpu(name)
        return _capture_array(value, get, name)
    if type(value) is np.matrix:
        if id(value) not in t.matrices:
            elements = outer(np.asarray(value), ElementsOf(get), name, owner)
            t.matrices[id(value)] = matrix_of(elements)
        return t.matrices[id(value)]
    if not t.observing and _is_sparse(value):
        return _sparse(value, get, name)
    if not (t.observing and is_foreign(value)):  # the program passes it on to its library
        refuse_foreign(value, name)
    if isinstance(value, np.ndarray) and not is_foreign(value):
        return (_capture_array if value.dtype.kind in "biufc" else _capture_constant)(
            value, get, name
        )
    if isinstance(value, CONTAINERS) and (value or type(value) is not tuple):  # () is one object
        allocated = t.birth(value) or ("copy", id(value)) in t.reads
        return value if allocated else _container(value, get, name)
    if isinstance(value, types.ModuleType) and value is np:
        return value
    if is_number(value) and t.changes(name):
        return _number(value, get, name, owner)
    key = ("guard", name, id(owner), id(value))
    if key not in t.reads:
        t.reads[key] = Guard(name, get, value)
        t.paths.setdefault(id(value), name)
        if is_described(type(value)):  # which may be given another class
            t.reads["class", id(value)] = Guard(f"the class of {name}", TypeOf(get), type(value))
    return value


def _is_sparse(value: Any) -> bool:
    """Whether it is a matrix of scipy.sparse."""
    return type(value).__module__.startswith("scipy.sparse._") and hasattr(value, "tocoo")


def _sparse(value: Any, get: Callable[[], Any], name: str) -> Any:
    """A sparse matrix, whose entries and their places are inputs; its class and shape are
    guarded."""
    t, key = trace(), ("sparse", id(value))
    if key not in t.reads:
        t.reads["class", id(value)] = Guard(f"the class of {name}", TypeOf(get), type(value))
        t.reads["shape", id(value)] = Guard(f"the shape of {name}", ShapeOf(get), value.shape)
        data, rows, cols = (
            _capture_array(reader(), reader, f"{name}.{part}")
            for part in ("data", "row", "col")
            for reader in (EntriesOf(get, part),)
        )
        arraylike = not hasattr(value, "getrow")
        matrix = SparseMatrix(data, (rows, cols), value.shape, value.format, arraylike)
        t.reads[key] = (value, t.made_ahead(matrix))
    return t.reads[key][1]


def is_number(value: Any) -> bool:
    return type(value) in (int, float, complex) or isinstance(value, np.number)


def _number(value: Any, get: Callable[[], Any], name: str, owner: Any) -> Symbol:
    """A number that is another at each call: a step counter, or a rate that decays."""
    t, key = trace(), ("number", name, id(owner))
    if key not in t.reads:
        var = Var(number_type(value), short_name(name))
        if var.type.dtype.kind in "iu":
            var.size = dims.symbol(var.name, None, var)
            (s,) = dims.symbols(var.size)
            t.hints[s], t.decisions.homes[s] = int(value), (("outer", name), -1)
        t.inputs[var] = value
        t.reads[key] = (Captured(name, get, var, value), Symbol(var))
    return t.reads[key][1]  # type: ignore[no-any-return]


def _capture_array(array: Any, get: Callable[[], Any], name: str) -> Any:
    t = trace()
    staged: np.ndarray[Any, Any] = (
        np.zeros(array.shape, array.dtype) if on_gpu(array) else array  # its elements stay there
    )
    if t.decisions is not None and name in t.decisions.contents:
        return _capture_constant(array, get, name)
    key = ("array", id(array))
    if key in t.reads:
        _same_object(t.reads[key][0].name, t.reads[key][0].get, name, get)
    else:
        short = short_name(name)
        home = ("outer", name)
        fixed_axes = [k for leaf, k in t.decisions.axes if leaf == home] if t.decisions else []
        if fixed_axes:
            t.reads["shape", id(array)] = Guard(
                f"the shape of {name}",
                LengthsOf(get, tuple(fixed_axes)),
                tuple(array.shape[k] for k in fixed_axes),
            )
        kind, symbols = input_type(staged, short, fixed_axes)
        var = Var(kind, short)
        for k, s in enumerate(symbols):
            if s is not None:
                t.hints[s] = array.shape[k]
                if t.decisions is not None:
                    t.decisions.homes[s] = (home, k)
        symbol = Symbol(var, is_array=True)
        symbol.read_only = not staged.flags.writeable
        t.inputs[var] = staged
        assert symbol.cell is not None
        symbol.cell.functional = getattr(array, "functional", False)
        t.functional = t.functional or symbol.cell.functional
        symbol.cell.birth = 0  # it was there before the loop or branch that reads it first
        t.reads[key] = (Captured(name, get, var, array), symbol)
    return t.reads[key][1]


def _same_object(
    first: str, get_first: Callable[[], Any], name: str, get: Callable[[], Any]
) -> None:
    """Two places of one object from outside: that they hold one is guarded."""
    places = place_of(get_first), place_of(get)
    key = ("same", *places)
    if places[0] != places[1] and key not in trace().reads:
        what = f"whether {name} is {first}"
        trace().reads[key] = Guard(what, AreOne(get, get_first), True)


def _capture_constant(array: np.ndarray[Any, Any], get: Callable[[], Any], name: str) -> Any:
    """A table whose contents Python needs while staging, or dates, names and records: they are
    guarded."""
    t, key = trace(), ("known", id(array))
    if key not in t.reads:
        copied = array.copy()
        copied.setflags(write=False)
        contents = ContentsOf(lambda: array)()
        t.reads["contents", id(array)] = Guard(f"the contents of {name}", ContentsOf(get), contents)
        t.reads[key] = (array, copied)
    return t.reads[key][1]


def _container(value: Any, get: Callable[[], Any], name: str) -> Any:
    """A copy whose arrays are inputs; its type, length, keys and other elements are guarded."""
    t = trace()
    key = ("container", id(value))
    if key in t.reads:
        _same_object(t.reads["type", id(value)].name[12:], t.reads[key][2], name, get)
        return t.reads[key][1]
    if is_frozen(value) and not t.changes(name) and not _is_known_in_part(value):
        return _frozen(value, get, name)
    t.reads["type", id(value)] = Guard(f"the type of {name}", TypeOf(get), type(value))
    part = _part_of(value, get, name)
    if isinstance(value, (dict, set, frozenset)):
        t.reads["keys", id(value)] = Guard(f"the keys of {name}", KeysOf(get), (*value,))
        container = _blank(value)
        t.reads[key] = (value, container, get)
        t.reads["copy", id(container)] = container
        for k, v in value.items() if isinstance(value, dict) else ():
            dict.__setitem__(container, k, part(v, k))
        return container
    items = list(ValuesOf(lambda: value)())
    t.reads["length", id(value)] = Guard(f"the length of {name}", LengthOf(get), len(items))
    container = _of_parts(value, [part(v, k) for k, v in enumerate(items)])
    t.reads[key] = (value, _with_name(container, name), get)
    t.reads["copy", id(container)] = container
    return container


def _is_known_in_part(value: Any) -> bool:
    """Whether something in a container is known by another name already."""
    parts = value.values() if isinstance(value, dict) else value
    return any(("container", id(v)) in trace().reads for v in parts)


def _frozen(value: Any, get: Callable[[], Any], name: str) -> Any:
    """A copy of a container of many with constants, which are guarded at once."""
    t = trace()
    t.reads["frozen", id(value)] = FrozenConstants(name, get, snapshot(value))
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    parts = [_register_copy(v, _with_items(v), ItemOf(get, k), f"{name}[{k!r}]") for k, v in pairs]
    rebuilt = _with_items(value, parts)
    return _register_copy(value, rebuilt, get, name)


def _with_items(value: Any, parts: Any = None) -> Any:
    """A container of the program's with the items of another one, or with these."""
    if isinstance(value, dict):
        return dict(zip(value, value.values() if parts is None else parts, strict=True))
    return _of_parts(value, list(value) if parts is None else parts)


def _register_copy(value: Any, result: Any, get: Callable[[], Any], name: str) -> Any:
    """A copy that stands for a container from outside."""
    t = trace()
    t.reads["container", id(value)] = (value, _with_name(result, name), get)
    t.reads["copy", id(result)] = result
    t.reads["type", id(value)] = NamedRead(f"the type of {name}")
    return result


def _part_of(value: Any, get: Callable[[], Any], name: str) -> Callable[[Any, Any], Any]:
    """What the program sees of a part of a container, by its key; one guard is enough for constants
    until they change."""
    t, held = trace(), ValuesOf(get)
    if isinstance(value, (list, dict, tuple)) and not t.changes(name) and is_constant(held()):
        t.reads["constants", id(value)] = Constants(name, held, held())
        return lambda v, k: v
    return lambda v, k: outer(v, ItemOf(get, k), f"{name}[{k!r}]", value)


def _with_name(container: Any, name: str) -> Any:
    """A list with the name that it is read by."""
    if isinstance(container, StagedList):
        container.name = name.rpartition(".")[2]
    return container


def _blank(value: Any) -> Any:
    """A dict of this kind without items; of a set, a set."""
    if type(value) is dict:
        return {}
    empty = copy.copy(value)
    if isinstance(value, dict):
        dict.clear(empty)
    return _sharing(empty, value)


def _of_parts(value: Any, parts: list[Any]) -> Any:
    if type(value) is list:
        return StagedList(parts)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), parts)
    rebuilt = copy.copy(value)
    rebuilt.clear()
    rebuilt.extend(parts)
    return _sharing(rebuilt, value)


def _sharing(array: Any, value: Any) -> Any:
    """The copy of an object of a user's class has the attributes of the object itself."""
    if getattr(value, "__dict__", value) is not value:
        array.__dict__ = value.__dict__
    return array
