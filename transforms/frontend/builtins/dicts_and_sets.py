"""Stages dictionaries and sets at keys that depend on run-time values.

MASS[z]                     becomes      the value at the place of z among the known keys
counts = {}; counts[k] = 1  becomes      counts = Keyed(...); counts.put(k, 1)
"""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.builtins.text_keys import for_each_key, is_chosen
from tapeless.transforms.frontend.control_flow.comprehensions import (
    Undecided,
    comprehension,
    each_item,
    known_items,
    long_by_data,
    rolls,
    undone_if_undecided,
    with_items_met,
)
from tapeless.transforms.frontend.heap.coded_constants import Coded, constants_in
from tapeless.transforms.frontend.heap.indexed_choice import NOTHING
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.locations import before_change
from tapeless.transforms.frontend.trace.dependence import decided_by_data
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_writes import write_back
from tapeless.transforms.frontend.values.structure_errors import NUMBERS, is_lasting
from tapeless.transforms.frontend.values.text import ChosenText
from tapeless.transforms.prelude.containers import (
    hashed_containers,
    known_keys,
    optional_keys,
)

DICTS = (dict, OrderedDict, defaultdict, Counter)
SETS = (set, frozenset)
STORING = ("setdefault", "pop", "add", "discard", "remove", "__setitem__", "__delitem__")
KEYED_METHODS = ("get", *STORING)
JOINING = ("update", "union", "intersection", "difference", "symmetric_difference")
MANY = 32  # keys that are not all compared


def by_data(key: Any) -> bool:
    """Whether a key is known only when the program runs."""
    if isinstance(key, Symbol):
        return not key.type.shape and not key.is_array and decided_by_data(key.value())
    return isinstance(key, tuple) and any(map(by_data, key))


def display(hooks: Any, kind: type, name: str, parts: tuple[Any, ...]) -> Any:
    """{k: v, **others} from pairs and others in tuples of one, or {a, b}."""
    if kind is set:
        return _new_container(hooks, set, _current_place(name), parts)
    if not any(isinstance(part[0], hashed_containers.Keyed) for part in parts if len(part) == 1):
        pairs = (part[0].items() if len(part) == 1 else [part] for part in parts)
        return _new_container(hooks, dict, _current_place(name), list(itertools.chain(*pairs)))
    wholes = [part[0] for part in parts if len(part) == 1]
    new = _of_data(hooks, dict, _current_place(name), wholes=wholes)
    for part in parts:
        hooks.call(hashed_containers.Keyed.update, new, part[0] if len(part) == 1 else [part])
    return new


def construct(hooks: Any, kind: Any, args: tuple[Any, ...]) -> Any:
    """dict(...), set(...), defaultdict(list)"""
    default, *rest = args if kind is defaultdict and args else (None, *args)
    items = rest[0] if rest else ()
    mapping = isinstance(items, (dict, hashed_containers.Keyed)) or hasattr(type(items), "keys")
    if isinstance(items, hashed_containers.Members):
        items = trace().enter(hashed_containers.Members.lists, items)
    elif not isinstance(items, (set, frozenset, str)) and not (mapping and issubclass(kind, dict)):
        items = hooks.call(list, items)
    return _new_container(hooks, kind, _current_place(kind.__name__), items, default)


def from_keys(hooks: Any, keys: Any, value: Any) -> Any:
    """dict.fromkeys(keys, value)"""
    if isinstance(keys, (str, range, *DICTS, *SETS)):
        items = [(key, value) for key in keys]
    else:
        items = hooks.call(hashed_containers.with_keys, keys, value)
    if isinstance(value, list) and own_attribute(items, "tail") is None:
        return trace().born(dict(items))  # one list for all keys
    return _new_container(hooks, dict, _current_place("fromkeys"), items)


def build_container(hooks: Any, kind: type, container: Any) -> Any:
    """{k: v for ...} and {k for ...}; rolled if run-time values say what the keys are."""
    if trace().tracing:
        return _new_container(
            hooks, kind, _current_place(kind.__name__), comprehension("ListComp", container)
        )
    code = container[1].__code__
    key = ((code.co_filename, code.co_firstlineno), code.co_name)
    is_generator = isinstance(container[0], Advancing) and container[0].pushes
    if key in trace().decisions.optional or (is_generator and key not in trace().decisions.keyed):
        return _fill_by_tests(hooks, kind, key, container)
    if key not in trace().decisions.keyed:
        met: list[Any] = []
        if long_by_data(container[0]):
            trace().decisions.as_keyed(key)
        try:
            with undone_if_undecided(container[0]):
                items = known_items(container, met)
        except Undecided:
            if rolls(container[0]):
                trace().decisions.as_keyed(key)
            return _fill_by_tests(hooks, kind, key, with_items_met(container, met))
        if not any(by_data(x[0] if kind is dict else x) for x in items):
            return _new_container(hooks, kind, key, items)
        trace().decisions.as_keyed(key)
    return _new_container(hooks, kind, key, comprehension("ListComp", container), own=True)


def _fill_by_tests(hooks: Any, kind: type, key: Any, container: Any) -> Any:
    """A container that gets those of some items that pass their tests, one after the other."""
    new = _new_container(hooks, kind, key, ())

    def put(item: Any) -> None:
        if kind is dict:
            hooks.set_item(new, *item)
        else:
            hooks.call(hooks.attr(new, "add"), item)

    each_item(container, put, SimpleNamespace())
    return new


def _new_container(
    hooks: Any, kind: Any, key: Any, items: Any, default: Any = None, own: bool = False
) -> Any:
    """A dictionary or set of the program, of a mapping, or of pairs or members: of Python, or of
    arrays if data asks it for keys. `own`: nobody else has what is in them."""
    t, pairs = trace(), issubclass(kind, dict) and kind is not Counter
    if t.tracing and not hasattr(type(items), "keys"):
        items = [(t.key_of(x[0], True), x[1]) if pairs else t.key_of(x, True) for x in items]
    plain = key not in t.decisions.keyed and key not in t.decisions.optional
    unasked = key not in t.decisions.optional and kind is not frozenset  # that may be a key
    names = tuple(_texts_chosen(items, pairs)) if unasked else ()
    if names and all(map(is_lasting, names)):
        t.decisions.keyed.pop(key, None)
        t.decisions.as_optional(key, names)
    if plain and _is_known(kind, items):
        mapping = hasattr(type(items), "keys")
        t.ask_compared(*(x[0] if pairs and not mapping else x for x in items))
        entries = kind(default, items) if kind is defaultdict else kind(items)
        t.containers.makers[id(entries)] = (entries, key)
        return t.born(entries)
    new = _of_data(hooks, kind, key, default, [items])
    fill = type(new).take if own and issubclass(kind, dict) else type(new).update
    hooks.call(fill, new, items)
    return new


def _texts_chosen(items: Any, pairs: bool) -> Iterator[Any]:
    """The texts and other constants, of which run-time values choose keys or members."""
    if hasattr(type(items), "keys") or isinstance(items, (Symbol, hashed_containers.Keys)):
        return
    tail = own_attribute(items, "tail")
    if tail is not None:
        spec = tail.spec.children[0] if pairs and tail.spec.children else tail.spec
        if spec.kind is Coded:
            yield from spec.keys[0].options()
        elif spec.kind in (ChosenText, Either):
            yield from constants_in(spec.value)
        return
    keys = [x[0] if pairs else x for x in items]
    if any(isinstance(k, (ChosenText, Either)) for k in keys):
        yield from (c for k in keys for c in constants_in(k))


def _is_known(kind: Any, items: Any) -> bool:
    """Whether keys or members are known while staging."""
    if isinstance(items, hashed_containers.Keys) or own_attribute(items, "tail") is not None:
        return False
    if hasattr(type(items), "keys"):
        return True
    pairs = issubclass(kind, dict) and kind is not Counter
    return not any(by_data(x[0] if pairs else x) for x in items)


def _of_data(
    hooks: Any, kind: Any, key: Any, default: Any = None, wholes: Sequence[Any] = ()
) -> Any:
    """An empty one, of arrays, or of known keys that may be there, as those of others are."""
    names = (
        *(n for w in wholes if isinstance(w, optional_keys.OptionalKeys) for n in w.names),
        *trace().decisions.optional.get(key, ()),
    )
    if names:
        names = tuple(dict.fromkeys(names))
        if not issubclass(kind, dict):
            return hooks.call(optional_keys.OptionalMembers, kind, key, names)
        lists = trace().decisions.keyed.get(key, False)
        numbered = key in trace().decisions.numbered
        return hooks.call(optional_keys.OptionalKeyed, kind, key, names, default, lists, numbered)
    if not issubclass(kind, dict):
        return hooks.call(hashed_containers.Members, kind, key)
    lists = trace().decisions.keyed.get(key, False) or default is list
    return hooks.call(hashed_containers.Keyed, kind, key, default, lists)


def _current_place(name: str) -> Any:
    origin = trace().origin
    return (origin and (origin.file, origin.line), name)


def method(hooks: Any, this: Any, name: str, args: tuple[Any, ...]) -> Any:
    """this.name(*args) of a dictionary or set of Python's, with a key of run-time values;
    NOTHING where Python's own will do."""
    if name == "most_common" and type(this) is Counter:
        return hooks.call(known_keys.most_common, this, *args)
    if not args or not isinstance(this, (*DICTS, *SETS)):
        return NOTHING
    if trace().tracing:
        return _method_of_known(this, name, args)
    if name in KEYED_METHODS and is_chosen(args[0]):
        method = getattr(this, name)
        return for_each_key(lambda option: hooks.call(method, option, *args[1:]), args[0])
    trace().ask_identity(args[0])
    if name == "get" and is_key_by_data(this, args[0]):
        return hooks.call(
            known_keys.value_or, _place(hooks, this, args[0]), _values(this), *(args[1:] or (None,))
        )
    if name in STORING:
        change(this, args[0])
    if name in JOINING:
        for other in args:
            if isinstance(other, hashed_containers.Keys) or _has_data(other):
                restage_as_keyed(this)
    return NOTHING


def _method_of_known(this: Any, name: str, args: tuple[Any, ...]) -> Any:
    """The same where a program is traced, with keys and members that the call at hand gives."""
    t = trace()
    if isinstance(this, SETS):
        members = name in JOINING or name.startswith(("is", "__"))
        operands = [
            _members(a) if members and not isinstance(a, SETS) else t.key_of(a, name == "add")
            for a in args
        ]
    elif name == "update":
        other = args[0]
        operands = [
            other if hasattr(type(other), "keys") else [(t.key_of(k, True), v) for k, v in other]
        ]
    else:
        operands = [t.key_of(args[0], name == "setdefault"), *args[1:]]
    if all(a is b for a, b in zip(operands, args, strict=True)):
        return NOTHING
    before_change(this)
    result = getattr(this, name)(*operands)
    write_back(this)
    return t.born(result) if isinstance(result, SETS) else result


def _members(items: Any) -> Any:
    return [trace().key_of(x, True) for x in items] if isinstance(items, Iterable) else items


def _has_data(other: Any) -> bool:
    if isinstance(other, Symbol) or own_attribute(other, "tail") is not None:
        return True
    return isinstance(other, (list, tuple)) and any(map(by_data, other))


def members_in_any_order(value: Any, f: Any, by_key: bool) -> Any:
    """The members of a set of data, or what a dictionary holds, for a function that does not depend
    on their order."""
    if f not in (sorted, sum, min, max, any, all):
        return value
    if isinstance(value, optional_keys.OptionalView) and not by_key:
        return trace().enter(optional_keys.OptionalView.in_any_order, value)
    if isinstance(value, hashed_containers.Members):
        return trace().enter(type(value).lists, value)
    return value


def is_key_by_data(obj: Any, key: Any) -> bool:
    """Whether run-time values say which key of a dictionary of Python's is meant."""
    return isinstance(obj, DICTS) and by_data(key)


def change(obj: Any, key: Any) -> None:
    """Before a store: a dictionary or set that a run-time value asks for a key is made anew."""
    if isinstance(obj, (*DICTS, set)) and by_data(key):
        restage_as_keyed(obj)


def restage_as_keyed(obj: Any) -> None:
    site = trace().containers.makers.get(id(obj))
    if site is not None:
        trace().decisions.as_keyed(site[1])
    kind = "a set" if isinstance(obj, SETS) else "a dictionary"
    raise UnsupportedError(
        f"which key of {kind} is stored depends on data, and it is made outside of the function",
        "make a copy of it in the function",
    )


def item(hooks: Any, obj: Any, key: Any) -> Any:
    """obj[key]"""
    if isinstance(obj, defaultdict) and obj.default_factory is not None:
        change(obj, key)
    place = _place(hooks, obj, key)
    if isinstance(obj, Counter):
        return hooks.call(known_keys.value_or, place, _values(obj), 0)
    return hooks.call(known_keys.value_at, place, _values(obj), key)


def _values(obj: Any) -> Any:
    return tuple(obj.values())


def _place(hooks: Any, obj: Any, key: Any) -> Any:
    """Where a key is among those that are known; -1 if it is none of them."""
    parts = key if isinstance(key, tuple) else (key,)
    names = [name if isinstance(name, tuple) else (name,) for name in obj]
    same_arity = [isinstance(name, tuple) == isinstance(key, tuple) for name in obj]
    places = [
        at
        for at, name in enumerate(names)
        if same_arity[at] and len(name) == len(parts) and all(isinstance(x, NUMBERS) for x in name)
    ]
    if not places:
        return -1
    columns = [np.array([names[at][k] for at in places]) for k in range(len(parts))]
    if len(places) > MANY and len(parts) == 1:
        order = np.argsort(columns[0])
        return hooks.call(known_keys.place_sorted, columns[0][order], np.array(places)[order], key)
    if places != list(range(len(names))):
        at = hooks.call(known_keys.place_among, tuple(columns), parts)
        return hooks.call(known_keys.value_or, at, tuple(places), -1)
    return hooks.call(known_keys.place_among, tuple(columns), parts)
