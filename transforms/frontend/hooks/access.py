"""Reads and stores attributes and items of Python objects in a staged run."""

from __future__ import annotations

import functools
import operator
import os
import types
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.known_arrays import item_of_library, require_own
from tapeless.transforms.frontend.arrays.python_scalars import attribute_of, items_of
from tapeless.transforms.frontend.arrays.shape_changes import WAY_OUT, set_shape
from tapeless.transforms.frontend.arrays.symbols import Symbol, constant, wrap
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.builtins.flagged_lists import item_of_flagged
from tapeless.transforms.frontend.builtins.index_errors import reach
from tapeless.transforms.frontend.builtins.index_tricks import joined_by, joins
from tapeless.transforms.frontend.builtins.list_methods import of_data
from tapeless.transforms.frontend.builtins.text_keys import for_each_key, held_at, is_chosen
from tapeless.transforms.frontend.control_flow.branches import choose, for_each_option, has_options
from tapeless.transforms.frontend.control_flow.chosen_elements import (
    chosen_by_data,
    element,
    store_element,
)
from tapeless.transforms.frontend.control_flow.loop_ranges import sequence
from tapeless.transforms.frontend.effects.foreign_calls import refuse_foreign_store
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.absent_attributes import (
    computed_once,
    note_absence,
    presence,
)
from tapeless.transforms.frontend.heap.frames import Frame, name_after
from tapeless.transforms.frontend.heap.indexed_choice import (
    NOTHING,
    make_room,
    pick_element,
    place_among_constants,
)
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.heap.locations import (
    AttributeLocation,
    before_change,
    put_attribute,
    update_namespaces,
)
from tapeless.transforms.frontend.hooks.calls import READERS, VIEWS, Calls, is_method
from tapeless.transforms.frontend.objects import capture, special_methods
from tapeless.transforms.frontend.objects.attributes import namespace, seen, watch_class
from tapeless.transforms.frontend.objects.derived_arrays import method_of
from tapeless.transforms.frontend.objects.environment import watch_environment
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import inherited_from, name_of, static_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, as_either, is_one_of_texts
from tapeless.transforms.frontend.values.container_aliases import (
    MUTABLE,
    require_all_current,
    require_current,
)
from tapeless.transforms.frontend.values.container_writes import write_back
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.uneven_contents import contents_of
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.prelude.containers.hashed_containers import Keyed

#: Containers of Python's, whose keys and indices a program that is traced knows.
PYTHON = (list, tuple, dict, deque, range, str)
SEQUENCES = (list, tuple, deque, range, str)
GETSET = types.GetSetDescriptorType


def _one_of(items: Sequence[Any], place: Any) -> Any:
    """The item at a place that run-time values decide, as conditional expressions choose it."""

    def choose_from(k: int) -> Any:
        if k == len(items) - 1:
            return items[k]
        return choose(place == k, lambda: items[k], lambda: choose_from(k + 1))

    return choose_from(0)


def _is_mapping(value: Any) -> bool:
    """Whether it is a dictionary of Python's, or one whose keys depend on run-time values."""
    return isinstance(value, Keyed) or type(value) in dicts_and_sets.DICTS


class AccessHooks(Calls):
    """What rewritten code does to attributes and items."""

    def attr(self, obj: Any, name: str) -> Any:
        if name == "__class__" and type(obj).__module__.startswith("tapeless.transforms."):
            return self.call(type, obj)  # of what it stands for
        if isinstance(obj, Symbol):
            if obj.listing is not None and name in list.__dict__ and name != "sort":
                return self.attr(_list_of_array(obj, name), name)
            return attribute_of(obj, name, self.function)
        if (common := special_methods.method_of_all(obj, name)) is not None:
            if isinstance(common, property):
                return self.call(common.fget, obj)
            return types.MethodType(common, obj)
        if isinstance(obj, Either) and name in VIEWS and all(map(_is_mapping, obj.options())):
            return Either(obj.test, self.attr(obj.yes, name), self.attr(obj.no, name))
        if isinstance(obj, Either) or (is_one_of_texts(obj) and hasattr(str, name)):
            return for_each_option(lambda option: self.attr(option, name), as_either(obj))
        if special_methods.foreign(obj):
            value = getattr(obj, name)
            return value if is_method(value) else call_outside(getattr, (obj, name), {})
        this, cls = (obj, type(obj)) if not isinstance(obj, super) else inherited_from(obj, name)
        if (value := self._property_value(this, cls, name)) is not NOTHING:
            return value
        note_absence(this, name)
        attribute = static_attribute(cls, name)
        if (inherited := method_of(obj, name)) is not None:
            return inherited
        if contents_of(obj) is None:  # methods ask for each length when they are called
            require_current(obj)
        absent = isinstance(this, super) or name not in getattr(this, "__dict__", {})
        if (method := special_methods.getter(this, name, attribute, absent)) is not None:
            return trace().enter(*method)
        if (there := presence(this, name)) is not None:
            method = special_methods.getter(this, name, attribute, absent=True)
            if method is not None:
                stored = functools.partial(getattr, this, name)
                return choose(there, stored, functools.partial(trace().enter, *method))
        value = getattr(obj, name)
        if name == "__dict__" and trace().birth(obj):
            trace().containers.of_objects[id(value)] = value
            return trace().as_old(value, obj)
        if isinstance(obj, Frame):
            return value
        if name == "__dict__" and isinstance(attribute, GETSET) and not isinstance(obj, type):
            return namespace(obj, value)
        if isinstance(value, Symbol) and value.undefined is not None and not value.undefined.none:
            value.value()  # raises where the program runs, if the attribute is not set
        return seen(obj, name, value)

    def _property_value(self, obj: Any, cls: type, name: str) -> Any:
        """What a property gives that a class has under a name; NOTHING if it has none."""
        attribute = static_attribute(cls, name)
        if isinstance(attribute, property) and isinstance(attribute.fget, types.FunctionType):
            watch_class(cls, name)
            return self.call(attribute.fget, obj)
        kinds = {type(attribute), type(static_attribute(type(obj), name))}  # of a super() are two
        if kinds != {functools.cached_property}:
            return NOTHING

        def compute() -> Any:
            value = computed_once(obj, name, lambda: self.call(attribute.func, obj))
            put_attribute(obj, name, value, object.__setattr__)
            return value

        if name not in getattr(obj, "__dict__", {}):
            return compute()
        if (there := presence(obj, name)) is not None:
            return choose(there, lambda: seen(obj, name, getattr(obj, name)), compute)
        return NOTHING

    def set_attr(self, obj: Any, name: str, value: Any) -> None:
        if isinstance(obj, Either):
            for_each_option(lambda option: self.set_attr(option, name, value), obj)
            return
        if isinstance(obj, Symbol):
            _set_of_array(obj, name, value)
            return
        if isinstance(obj, np.ndarray) and name in vars(np.ndarray):
            require_own(obj)
            raise UnsupportedError(f".{name} of an array is set", WAY_OUT)
        if special_methods.foreign(obj):
            refuse_foreign_store(obj)
        attribute = static_attribute(type(obj), name)
        if isinstance(attribute, property) and attribute.fset is not None:
            self.call(attribute.fset, obj, value)
            return
        if (method := special_methods.setter(obj, name, attribute)) is not None:
            trace().enter(*method, value)
            return
        if isinstance(obj, dict) and type(obj).__setattr__ is dict.__setitem__:
            self.set_item(obj, name, value)
            return
        name_after(value, name)
        put_attribute(obj, name, value)

    def store_attr(self, value: Any, obj: Any, name: str) -> None:
        """obj.name = value, in the order in which Python evaluates them."""
        self.set_attr(obj, name, value)

    def delete_attr(self, obj: Any, name: str) -> None:
        if isinstance(obj, Either):
            for_each_option(lambda option: self.delete_attr(option, name), obj)
            return
        if special_methods.foreign(obj):
            refuse_foreign_store(obj)
        if isinstance(obj, Symbol):
            raise AttributeError(_why_not_deleted(obj, name))
        trace().touch(AttributeLocation(obj, name))
        delattr(obj, name)
        update_namespaces(trace().containers, obj, name)

    def item(self, obj: Any, key: Any) -> Any:
        if (item_there := item_of_flagged(obj, key)) is not None:
            return item_there
        if has_options(obj) or is_one_of_texts(obj):
            return for_each_option(lambda option: self.item(option, key), as_either(obj))
        if isinstance(obj, dict) and is_chosen(key):
            return held_at(self, key, lambda option: self.item(obj, option), obj)
        if special_methods.foreign(obj):
            return call_outside(operator.getitem, (obj, key), {})
        if isinstance(obj, range) and isinstance(key, Symbol):
            obj = sequence(obj)
        key = trace().key_of(key) if _is_known(obj) else key
        items_of(obj, self.function)
        if isinstance(obj, (Symbol, np.ndarray)):
            key = special_methods.index_of(key)
        elif isinstance(obj, SEQUENCES):
            key = special_methods.place_in(obj, key)
        if isinstance(obj, Symbol):
            require_all_current(key)
        method = special_methods.special(obj, "__getitem__")
        if method is not None:
            return trace().enter(method, obj, key)
        if dicts_and_sets.is_key_by_data(obj, key):
            require_current(obj)
            return dicts_and_sets.item(self, obj, key)
        if isinstance(obj, defaultdict) and key not in obj:
            return _default_item(obj, key)
        numbers = isinstance(obj, np.ndarray) and obj.dtype.kind not in "OSU"
        if numbers and has_symbols(key):
            return wrap(constant(obj))[key]
        if obj is os.environ:
            return watch_environment(obj.__getitem__, (key,), {})
        if joins(obj, key):
            return joined_by(obj, key)
        require_current(obj)
        if chosen_by_data(obj, key):
            return element(obj, key)
        if (value := pick_element(self, obj, key)) is not NOTHING:
            return value
        if type(obj) is str and dicts_and_sets.by_data(key):
            obj = tuple(obj)
        if (place := place_among_constants(obj, key)) is not None:
            return _one_of(obj, place)
        listed = isinstance(obj, Symbol) and obj.listing is not None
        reach(obj, key, "list index out of range")
        value = _item_of_listed(obj, key) if listed else obj[key]
        if isinstance(obj, capture.MAPPINGS) and not trace().birth(obj):
            return capture.outer(value, lambda: obj[key], f"{name_of(obj)}[{key!r}]")
        return item_of_library(obj, value)

    def store_item(self, value: Any, obj: Any, key: Any) -> None:
        """obj[key] = value, in the order in which Python evaluates them."""
        self.set_item(obj, key, value)

    def set_item(self, obj: Any, key: Any, value: Any) -> None:
        if has_options(obj):
            for_each_option(lambda option: self.set_item(option, key, value), obj)
            return
        key = trace().key_of(key, kept=isinstance(obj, dict)) if _is_known(obj) else key
        if isinstance(obj, dict) and is_chosen(key):
            for_each_key(lambda option: self.set_item(obj, option, value), key)
            return
        if (owner := trace().containers.object_of(obj)) is not None:
            put_attribute(owner, key, value, object.__setattr__)
            return
        method = special_methods.special(obj, "__setitem__")
        if method is not None:
            trace().enter(method, obj, key, value)
            return
        if isinstance(obj, np.ndarray) and obj.dtype.kind in "OSU":
            raise UnsupportedError("a store to an array made of None or of text", "use a list")
        owner = obj.base if isinstance(obj, np.flatiter) else obj
        require_own(owner, static=not has_symbols(value))
        dicts_and_sets.change(obj, key)
        if isinstance(obj, Symbol):
            key, value = special_methods.index_of(key), special_methods.array_of(value)
            require_all_current(key, value)
        elif isinstance(obj, SEQUENCES):
            key = special_methods.place_in(obj, key)
        before_change(owner)
        if not isinstance(owner, (Symbol, *MUTABLE)):
            refuse_foreign_store(owner)
        if isinstance(key, slice) and own_attribute(obj, "listing") is not None:
            raise UnsupportedError(
                "a store to a slice of a list that a loop carries along or data chose",
                "make it an array with np.array first, or store to its items",
            )
        if chosen_by_data(obj, key):
            store_element(obj, key, lambda k: self.set_item(obj, k, value))
            return
        make_room(obj, key, value)
        reach(obj, key, "list assignment index out of range")
        obj[key] = value
        write_back(obj)

    def delete_item(self, obj: Any, key: Any) -> None:
        if has_options(obj):
            for_each_option(lambda option: self.delete_item(option, key), obj)
            return
        if special_methods.foreign(obj):
            refuse_foreign_store(obj)
        key = trace().key_of(key) if _is_known(obj) else key
        if isinstance(obj, dict) and is_chosen(key):
            for_each_key(lambda option: self.delete_item(obj, option), key)
            return
        method = special_methods.special(obj, "__delitem__")
        if method is not None:
            trace().enter(method, obj, key)
            return
        by_columns = own_attribute(obj, "tail") is not None
        if not isinstance(key, slice) and (by_columns or of_data(obj, "pop", (key,)) is not None):
            self.call(obj.pop, key)
            return
        dicts_and_sets.change(obj, key)
        before_change(obj)
        del obj[key]
        write_back(obj)


def _is_known(obj: Any) -> bool:
    """Whether a program that is traced knows which item of an object is meant: one of Python's
    containers, or of an array where an except clause catches what an index raises."""
    return isinstance(obj, PYTHON) or (
        isinstance(obj, Symbol) and trace().handlers.innermost(IndexError) is not None
    )


def _why_not_deleted(x: Symbol, name: str) -> str:
    """Python's words where an attribute of an array or number is deleted."""
    kind = x.class_name()
    if hasattr(np.ndarray if x.mutable or not x.type.weak else type(x.dtype.type(0).item()), name):
        return f"attribute '{name}' of '{kind}' objects cannot be deleted"
    return f"'{kind}' object has no attribute '{name}'"


def _set_of_array(x: Symbol, name: str, value: Any) -> None:
    """Parts of complex numbers are stored to; the rest would make another array of it."""
    if name == "imag" and x.type.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    if name in ("real", "imag", "flat") and x.mutable:
        getattr(x, name)[...] = value
        return
    if name == "shape" and x.mutable:
        set_shape(x, value)
        return
    if hasattr(np.ndarray, name):
        raise UnsupportedError(f".{name} of an array is set", WAY_OUT)
    raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")


def _list_of_array(obj: Symbol, name: str) -> Any:
    """The list that an array stands for, to be looked into."""
    if name not in READERS:
        trace().decisions.changes_moved_list()
        raise UnsupportedError(
            f".{name}() of a list that was filled in a loop, and then chosen or carried by data",
            "make a list of it first: list(...)",
        )
    return as_list(obj)


def _item_of_listed(obj: Symbol, key: Any) -> Any:
    """What a list gives for a key, of the array that stands for it."""
    if isinstance(key, (slice, tuple)):
        return as_list(obj)[key]
    item, like = obj[key], obj.listing.spec.value
    if isinstance(item, Symbol) and item.type.shape:
        item.listing = own_attribute(like, "listing")
    elif isinstance(item, Symbol) and obj.listing.items[0].weak:
        return wrap(cast(item.value(), dtype=item.type.dtype, python=True))
    return item


def _default_item(obj: Any, key: Any) -> Any:
    """What a defaultdict makes for a key that it does not have."""
    before_change(obj)
    item = obj[key]
    obj[key] = StagedList(item) if type(item) is list else item
    return trace().born(obj[key])
