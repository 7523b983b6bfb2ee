"""Stages calls: by rule, by entering the user's own code, or by running the function as it is."""

from __future__ import annotations

import copy
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.external_objects import NamedMethod
from tapeless.transforms.frontend.arrays.known_arrays import (
    made_by_library,
    overwritten,
    require_own,
)
from tapeless.transforms.frontend.arrays.random_draws import (
    all_known,
    draw_once,
    is_own_generator,
    is_recorded,
    moves_elements,
    permute_elements,
    record_draw,
    recorded_generator,
    with_known_seed,
)
from tapeless.transforms.frontend.arrays.symbols import (
    BoundRule,
    Symbol,
    call_numpy,
)
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.builtins.builtins import AT_ONCE, BUILTINS, OVER_ITEMS
from tapeless.transforms.frontend.builtins.flagged_lists import change_flagged, items_of_flagged
from tapeless.transforms.frontend.builtins.formatting import has_own_text, of_string, with_texts
from tapeless.transforms.frontend.builtins.index_errors import reach
from tapeless.transforms.frontend.builtins.list_methods import ASKING, of_data
from tapeless.transforms.frontend.builtins.numpy_callbacks import staging_of
from tapeless.transforms.frontend.builtins.sorted import is_sorted_by_names
from tapeless.transforms.frontend.builtins.stand_ins import refuse_sparse, refuse_stand_ins
from tapeless.transforms.frontend.control_flow.branches import (
    DeferredChoice,
    DeferredIterator,
    defer_choice,
    for_each_option,
    has_options,
)
from tapeless.transforms.frontend.control_flow.item_filters import staged_form
from tapeless.transforms.frontend.control_flow.recursion import call_recursive, short_name
from tapeless.transforms.frontend.control_flow.truth import number_of_items
from tapeless.transforms.frontend.effects.external_arguments import is_function_of_program
from tapeless.transforms.frontend.effects.external_calls import seed_now
from tapeless.transforms.frontend.effects.foreign_calls import (
    record,
    refuse_kept,
    refuse_outside,
    spelling,
)
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.effects.python_generators import generator_of
from tapeless.transforms.frontend.effects.readings import NO_READING, reading, shuffle_list
from tapeless.transforms.frontend.heap.indexed_choice import NOTHING
from tapeless.transforms.frontend.heap.iterators import Advancing, advancing
from tapeless.transforms.frontend.heap.lists import StagedList, numbers_of
from tapeless.transforms.frontend.heap.locations import before_change, put_attribute
from tapeless.transforms.frontend.hooks.constructors import construct, construct_parametrised
from tapeless.transforms.frontend.hooks.library_calls import (
    MethodByName,
    before_native_change,
    by_rule,
    call_opaque,
    call_with_functions,
    is_for_library,
    require_program_order,
    rule_or_external_call,
)
from tapeless.transforms.frontend.hooks.recursive_calls import decide_recursion
from tapeless.transforms.frontend.objects.attributes import watch_class, watch_function
from tapeless.transforms.frontend.objects.bound_arguments import defaults, fixed_arguments
from tapeless.transforms.frontend.objects.derived_arrays import (
    apply_to_derived as applied_to_derived,
)
from tapeless.transforms.frontend.objects.derived_arrays import (
    has_masked,
    is_derived,
    of_masked,
    of_structured,
    takes_derived,
    view_as,
)
from tapeless.transforms.frontend.objects.environment import (
    reads_environment,
    refuse_acting,
    watch_environment,
)
from tapeless.transforms.frontend.objects.special_methods import foreign, iterable_of, operand_of
from tapeless.transforms.frontend.source.push_form import can_push
from tapeless.transforms.frontend.source.rewrite import known_codes, rewritten
from tapeless.transforms.frontend.trace.own_attributes import is_own_class
from tapeless.transforms.frontend.trace.provenance import (
    hashable,
    impure,
    is_formula,
    is_numpy,
    is_parametrised,
    may_change,
    of_library,
    of_numba,
    of_objects,
    of_ours,
    qualified_name,
)
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, as_either, is_one_of_texts
from tapeless.transforms.frontend.values.container_aliases import (
    MUTABLE,
    require_all_current,
    require_fresh,
)
from tapeless.transforms.frontend.values.container_writes import write_back
from tapeless.transforms.frontend.values.memoized import forget, of_cache, remember_result
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import Text
from tapeless.transforms.frontend.values.uneven_contents import contents_of, flagged_contents
from tapeless.transforms.ops.function_table import FUNCTIONS, WRITERS
from tapeless.transforms.ops.numpy import creation
from tapeless.transforms.optimize.outline import Stretch
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.hashed_containers import Keyed
from tapeless.transforms.prelude.containers.linked_lists import Part, extreme_row
from tapeless.transforms.prelude.numpy.structured_arrays import StructuredArray

#: Functions of Python's that make iterators: of one of several things, where it is run over.
ITERATORS = frozenset({enumerate, zip, reversed, map, filter, iter})
#: Functions of Python's that ask an object for its value.
ASKED = frozenset({len, abs, int, float, bool, complex, round, pow, copy.copy, copy.deepcopy})
#: Methods of containers that change nothing.
READERS = frozenset(
    {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values", "most_common"}
    | {"union", "intersection", "difference", "symmetric_difference", "elements", "total"}
    | {"isdisjoint", "issubset", "issuperset", "__contains__", "__getitem__", "__len__"}
    | {"__iter__", "__reversed__", "__eq__", "__ne__", "__le__", "__lt__", "__ge__", "__gt__"}
)
#: Methods whose result is an object that nobody else has.
CREATORS = frozenset(
    {"__new__", "copy", "fromkeys", "split", "rsplit", "splitlines", "tolist"}
    | {"union", "intersection", "difference", "symmetric_difference"}
)
STAGED_ALWAYS = frozenset(creation.NUMPY)


#: Builtin functions that loop over a list, or ask how long it is.
PLAIN_USES = (len, sum, any, all, bool, iter, enumerate, isinstance, type)


VIEWS = ("keys", "values", "items")


class Calls:
    """Calls made by one function."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.closure = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:

        staged = getattr(type(f), "__staged_call__", None)
        if staged is not None:
            return staged(f, *args, **kwargs)
        if isinstance(f, BoundRule):
            return f(*args, **kwargs)
        if isinstance(f, Either):
            if all(map(_is_view_method, f.options())):
                return self.view_of_one(f)
            return for_each_option(lambda option: self.call(option, *args, **kwargs), f)
        this = getattr(f, "__self__", None)
        if contents_of(this) is not None and not _is_method_of_user(f):
            if change_flagged(this, f.__name__, args):
                return None
            return for_each_option(lambda _: self.call(f, *args, **kwargs), this)
        if any(isinstance(a, FilteredList) for a in args):
            _require_plain_use(f, args)
        if isinstance(f, Symbol):
            raise TypeError(f"'{'numpy.ndarray' if f.mutable else f.dtype.name}' is not callable")
        if hashable(f):
            if len(args) == 1 and (flagged := flagged_contents(args[0])) is not None:
                require_fresh(args[0])
                if f is len:
                    return number_of_items(flagged)
                if f in PLAIN_USES:
                    return self.call(f, items_of_flagged(args[0]), **kwargs)
            if f in BUILTINS and any(map(has_options, args)):
                if f is next and isinstance(args[0], (DeferredChoice, DeferredIterator)):
                    raise UnsupportedError(
                        "next() of an iterator over one of several containers", "index it"
                    )
                if f in ITERATORS:
                    return defer_choice(lambda *option: self.call(f, *option, **kwargs), *args)
                return for_each_option(lambda *option: self.call(f, *option, **kwargs), *args)
            if f in (max, min) and isinstance(args[0], Part) and "key" in kwargs:
                return self.call(extreme_row, f, *args, **kwargs)
            if f in ASKED and any(map(foreign, args)):
                return call_outside(f, args, kwargs)
            if f in (float, complex) and trace().observing and isinstance((*args, 0)[0], Text):
                return call_outside(f, args, kwargs)
            if f in (id, hash):
                trace().ask_identity(*args)
                trace().ask_address(*args)
            if f in (sorted, min, max):
                trace().ask_compared(*args)
            if f in BUILTINS:
                return advancing(BUILTINS[f](self, *_run_over(f, args, kwargs), **kwargs))
            if (iterated_by := staged_form(f, args)) is not None:
                return self.call(iterated_by, *args, **kwargs)
            if (staged := staging_of(f)) is not None and not takes_derived(f, (args, kwargs)):
                return by_rule(functools.partial(staged, self), f, args, kwargs)
        if isinstance(f, types.MethodType):
            return self.call_method(f, args, kwargs)
        if isinstance(f, types.FunctionType):
            return self.call_function(f, args, kwargs)
        if isinstance(f, functools.partial):
            first, named = fixed_arguments(f)
            return self.call(f.func, *first, *args, **{**named, **kwargs})
        if (written := of_numba(f)) is not None:
            return self.call(written, *args, **kwargs)
        if is_parametrised(f):
            return construct_parametrised(self, f, args, kwargs)
        if isinstance(f, type):
            return construct(self, f, args, kwargs)
        if isinstance(f, functools._lru_cache_wrapper):
            return remember_result(f, args, kwargs, self.call)
        method = getattr(type(f), "__call__", None)  # noqa: B004 (it is needed itself)
        if isinstance(method, types.FunctionType) and is_formula(method):
            return self.call_function(method, (f, *args), kwargs)
        if isinstance(
            f, (np.ufunc, types.BuiltinFunctionType, types.BuiltinMethodType)
        ) or is_numpy(f):
            return self.call_native(f, args, kwargs)
        if isinstance(method, types.FunctionType):
            watch_class(type(f), "__call__")
            return self.call_function(method, (f, *args), kwargs)
        if hasattr(type(method), "__staged_call__"):
            return self.call(method, f, *args, **kwargs)
        if not callable(f):
            raise TypeError(f"'{type(f).__name__}' object is not callable")
        return self.call_native(f, args, kwargs)

    def call_method(
        self, f: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if is_own_generator(f.__self__):
            draw_once(f.__self__)
            if has_symbols((args, kwargs)) and isinstance(f.__func__, types.FunctionType):
                return self.enter_function(f.__func__, (f.__self__, *args), kwargs)
            return f(*args, **kwargs)
        if foreign(f.__self__) or isinstance(f.__func__, NamedMethod):
            return call_outside(MethodByName(f.__self__, f.__name__), (f.__self__, *args), kwargs)
        if isinstance(f.__self__, Symbol):
            if f.__name__ == "view" and args and is_derived(args[0]):
                return view_as(f.__self__, args[0])
            if f.__name__ == "tolist" and (items := numbers_of(f.__self__)) is not None:
                return trace().born(items)
            result = f(*args, **kwargs)
            return trace().born(StagedList(result)) if type(result) is list else result
        if is_stateful(f.__self__) or spelling(f) is not None:
            return self.call_native(f, args, kwargs)
        if (written := of_data(f.__self__, f.__name__, args)) is not None:
            return self.call(written, f.__self__, *args, **kwargs)
        if (result := dicts_and_sets.method(self, f.__self__, f.__name__, args)) is not NOTHING:
            return result
        require_program_order(f)
        if isinstance(f.__self__, StagedList) and f.__name__ not in READERS:
            before_change(f.__self__)
            if f.__name__ in ("pop", "popleft"):
                reach(f.__self__, args[0] if args else -1, "pop from empty list")
            result = f(*args, **kwargs)
            write_back(f.__self__)
            return result
        if isinstance(f.__func__, types.FunctionType):
            library = of_library(f.__func__)
            if library and isinstance(f.__self__, MUTABLE) and f.__name__ not in READERS:
                before_change(f.__self__)  # a Counter
                result = f(*args, **kwargs)
                write_back(f.__self__)
                return result
            if library and has_symbols((args, kwargs)):
                refuse_kept(f)
            return self.call_function(f.__func__, (f.__self__, *args), kwargs)
        return self.call(f.__func__, f.__self__, *args, **kwargs)

    def call_function(
        self, f: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if is_numpy(f):
            return self.call_native(f, args, kwargs)
        if f.__code__ in known_codes:
            return self.enter_function(f, args, kwargs)
        return (
            self.call_native(f, args, kwargs)
            if of_library(f)
            else self.enter_function(f, args, kwargs)
        )

    def call_native(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function that is known by rule, or is run as it is."""
        if any(map(has_options, args)):
            return for_each_option(lambda *option: self.call_native(f, option, kwargs), *args)
        if reads_environment(f):
            return watch_environment(f, args, kwargs)
        refuse_acting(f)
        require_all_current(*args, *kwargs.values())
        for array in overwritten(f, args, kwargs):
            require_own(array)
        if hashable(f):
            if (generator := recorded_generator(f, args, kwargs)) is not None:
                return generator
            args = with_known_seed(f, args)
        if is_numpy(f):
            if (result := self.call_on_arrays_of_classes(f, args, kwargs)) is not NOTHING:
                return result
            args = tuple(operand_of(f, a) for a in args)
        if (result := self.call_known_method(f, args, kwargs)) is not NOTHING:
            return result
        return self.call_with_state(f, args, kwargs)

    def call_on_arrays_of_classes(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A function of NumPy on structured, masked or derived arrays; NOTHING for plain ones."""
        if args and isinstance(args[0], StructuredArray):
            return self.call(of_structured(f), *args, **kwargs)
        if has_masked((*args, *kwargs.values())):
            return self.call(of_masked(f), *args, **kwargs)
        refuse_sparse(f, *args, *kwargs.values())
        if takes_derived(f, (args, kwargs)):
            return applied_to_derived(f, functools.partial(self.call, f), args, kwargs)
        return NOTHING

    def view_of_one(self, method: Any) -> Any:
        """The keys, values or items of one of several dictionaries: one of their views."""
        if not isinstance(method, Either):
            return self.call(method)
        return Either(method.test, self.view_of_one(method.yes), self.view_of_one(method.no))

    def call_known_method(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A method of text or of a container, or a function that acts on the world; NOTHING for
        others."""
        name, this = getattr(f, "__name__", ""), getattr(f, "__self__", None)
        if isinstance(f, types.MethodWrapperType) and name == "__setattr__":  # of super()
            put_attribute(this, args[0], args[1], f.__objclass__.__setattr__)
            return None
        values = (*args, *kwargs.values())
        if isinstance(this, str) and (
            name == "join" or any(map(has_symbols, values)) or any(map(has_own_text, values))
        ):
            if name == "join":
                args = (self.call(list, *args),)
            elif any(map(is_one_of_texts, args)):
                either = map(as_either, args)
                return for_each_option(lambda *texts: self.call(f, *texts, **kwargs), *either)
            result = of_string(this, name, args, kwargs)
            if result is not None:
                return result
        if name == "cache_clear" and (function := of_cache(f)) is not None:
            forget(function)
            return None
        if (recorded := spelling(f)) is not None:
            if generator_of(f) is not None and trace().observing:
                seed_now(f, args, kwargs)
            record(*recorded, with_texts(args) if any(map(has_own_text, args)) else args, kwargs)
            return None
        if hashable(f):
            refuse_outside(f, args, kwargs)
        if (written := of_data(this, name, args)) is not None:
            return self.call(written, this, *args, **kwargs)
        if (result := dicts_and_sets.method(self, this, name, args)) is not NOTHING:
            return result
        if isinstance(this, (set, frozenset, dict)) or name in ASKING:
            trace().ask_compared([*this] if isinstance(this, dict) else this, *args)
        if isinstance(this, MUTABLE) and not isinstance(f, type):
            return self.call_container_method(f, this, name, args, kwargs)
        return NOTHING

    def call_container_method(
        self, f: Any, this: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A method of a list, dict, set or deque of Python's own."""
        if name not in READERS:
            before_change(this)
        if name == "sort":
            this[:] = self.call(sorted, this, *args, **kwargs)
            write_back(this)
            return None
        result = f(*args, **kwargs)
        if name not in READERS:
            write_back(this)
        return trace().born(result) if name in CREATORS else advancing(result)

    def call_with_state(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function that draws random numbers, reads a clock, or has other state; others run."""
        name, this = getattr(f, "__name__", ""), getattr(f, "__self__", None)
        if is_own_generator(this):
            draw_once(this)
            return self.run_native(f, tuple(map(all_known, args)), kwargs, False)
        if is_stateful(this):
            if name == "shuffle" and len(args) == 1 and isinstance(args[0], (list, StagedList)):
                return shuffle_list(self, f, *args)
            if is_recorded(this) or not trace().birth(this):
                return record_draw(this, name, args, kwargs)
            draw_once(this)
            if moves_elements(name, args, kwargs):
                return permute_elements(this, name, args, kwargs)
            named = {k: all_known(v) for k, v in kwargs.items()}
            return self.run_native(f, all_known(args), named, False)
        if may_change(this):
            require_program_order(f)
        elif impure(f) and (number := reading(self, f, args, kwargs)) is not NO_READING:
            return number
        elif impure(f) and trace().observing:
            return call_outside(f, args, kwargs, pure=False)
        elif impure(f):
            raise UnsupportedError(
                f"{qualified_name(f)} gives other values at each call, and would be frozen by "
                "staging",
                "pass its values in as arguments",
            )
        elif isinstance(f, types.BuiltinFunctionType) and not is_numpy(f):
            before_native_change(name, args)
        return self.run_native(f, args, kwargs, has_symbols(args) or has_symbols(kwargs))

    def run_native(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], symbolic: bool
    ) -> Any:
        """A function by its rule, in a call by the program, or run now; `symbolic`: the arguments
        hold symbols."""
        name, this = getattr(f, "__name__", ""), getattr(f, "__self__", None)
        if foreign(this):
            return call_outside(MethodByName(this, name), (this, *args), kwargs)
        if is_for_library(f, args, kwargs):
            return call_outside(f, args, kwargs)
        if is_numpy(f) or (hashable(f) and f in FUNCTIONS):
            arrays = any(isinstance(a, np.ndarray) for a in (*args, *kwargs.values()))
            has_rule = hashable(f) and (f in FUNCTIONS or f in WRITERS) and not of_objects(f, args)
            if symbolic or (has_rule and (f in STAGED_ALWAYS or arrays)):
                rule = functools.partial(call_numpy, f)
                if has_rule:
                    return by_rule(lambda *a, **k: rule(a, k), f, args, kwargs)
                return rule_or_external_call(lambda: rule(args, dict(kwargs)), f, args, kwargs)
        refuse_stand_ins(name, *args, *kwargs.values())
        trace().ask_address(*args, *kwargs.values())
        given_functions = any(map(is_function_of_program, (*args, *kwargs.values())))
        if trace().observing and given_functions:
            result = call_with_functions(f, args, kwargs)
        elif symbolic and trace().observing:
            result = rule_or_external_call(
                functools.partial(call_opaque, f, args, kwargs), f, args, kwargs
            )
        else:
            looks = symbolic or given_functions
            result = call_opaque(f, args, kwargs) if looks else f(*args, **kwargs)
        if (
            isinstance(result, (np.ndarray, tuple))
            and (own := made_by_library(result)) is not result
        ):
            return own
        return (
            trace().born(result) if is_stateful(result) or name in CREATORS else advancing(result)
        )

    def enter_function(
        self, f: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Runs the rewritten form of a user's function."""
        t = trace()
        if f.__code__ not in known_codes and not of_ours(f):
            watch_function(f)
        run = f if f.__code__ in known_codes else rewritten(f, type(self)(f))
        if run is not f and (f.__defaults__ or f.__kwdefaults__) and not t.birth(f):
            run.__defaults__, run.__kwdefaults__ = defaults(f)
        if f.__code__ in t.decisions.recursive:
            return call_recursive(f, run, args, kwargs)
        open_calls = t.calls.entered.setdefault(f.__code__, [])
        if open_calls:
            decide_recursion(f, open_calls, (args, kwargs))
        open_calls.append((len(t.tests), f, (args, kwargs)))
        block, origin = t.blocks[-1], t.place()
        start, names = len(block), dict(argument_names(f, args, kwargs))
        try:
            result = run(*args, **kwargs)
        finally:
            open_calls.pop()
        if t.blocks[-1] is block and len(block) > start:
            t.calls.stretches.append(
                Stretch(short_name(f), f.__code__, block[start:], names, origin)
            )
        if isinstance(result, types.GeneratorType):
            return self.generator(f, result, args, kwargs)
        return advancing(result)

    def generator(
        self,
        f: types.FunctionType,
        items: types.GeneratorType[Any, Any, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Advancing:
        """A generator of the user's, which a loop may have run by itself."""
        if f.__code__ in known_codes or trace().tracing or not can_push(f):
            return Advancing(items)

        def pushes(leaves: bool, emit: Any) -> None:
            run = rewritten(f, type(self)(f), leaves)
            run.__defaults__, run.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
            run(emit, *args, **kwargs)

        return Advancing(items, pushes)


def _is_view_method(f: Any) -> bool:
    """Whether it is a method of a dictionary that neither changes nor copies it."""
    this = getattr(f, "__self__", None)
    is_mapping = isinstance(this, Keyed) or type(this) in dicts_and_sets.DICTS
    return is_mapping and getattr(f, "__name__", "") in VIEWS


def is_method(value: Any) -> bool:
    return isinstance(value, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType))


def _is_method_of_user(f: Any) -> bool:
    """Whether it is a method of a class of the user's, such as one that derives from list."""
    return isinstance(f, types.MethodType) and not is_own_class(type(f.__self__))


def _require_plain_use(f: Any, args: tuple[Any, ...]) -> None:
    """A function that does more with a list of the objects that pass a test than to loop over it
    gets a list of Python's; the user's own are staged."""
    own = isinstance(f, (types.FunctionType, types.MethodType, functools.partial))
    own_class = isinstance(f, type) and f.__module__ not in ("builtins", "numpy", "collections")
    if own or own_class or any(f is use for use in PLAIN_USES):
        return
    for value in args:
        if isinstance(value, FilteredList):
            trace().decisions.as_lengths(value.site)


def _run_over(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[Any]:
    """The arguments of a builtin function, those that it runs over as what they give."""
    items, by_key = list(args), "key" in kwargs
    if f in (min, max) and len(items) == 1:
        return [dicts_and_sets.members_in_any_order(items[0], f, by_key)]
    if f is sorted and len(items) == 1 and is_sorted_by_names(items[0], kwargs.get("key")):
        return items
    which = OVER_ITEMS.get(f, slice(0))
    items[which] = [
        iterable_of(dicts_and_sets.members_in_any_order(v, f, by_key), f in AT_ONCE)
        for v in args[which]
    ]
    return items


def is_stateful(value: Any) -> bool:
    """Whether a value is a generator of random numbers. NumPy imports them on first use only."""
    if "numpy.random" not in sys.modules:
        return False
    return isinstance(value, (np.random.RandomState, np.random.Generator))


def argument_names(
    f: types.FunctionType, args: Iterable[Any], kwargs: dict[str, Any]
) -> Iterator[tuple[Var, str]]:
    """The names that a function has for its arguments."""
    for name, value in (*zip(f.__code__.co_varnames, args, strict=False), *kwargs.items()):
        cell = value.cell if isinstance(value, Symbol) else None
        if cell is not None and isinstance(cell.atom, Var):
            yield cell.atom, name
