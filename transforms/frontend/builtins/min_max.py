"""Stages max() and min() of values whose order is known only when the program runs."""

from __future__ import annotations

import builtins
import functools
import types
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, wrap
from tapeless.transforms.frontend.builtins.comparison import binary, has_run_time_order
from tapeless.transforms.frontend.control_flow.branches import choose
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension, must_roll
from tapeless.transforms.frontend.control_flow.item_filters import is_pushed, list_of_generator
from tapeless.transforms.frontend.control_flow.iteration import fold, item_of, len_, map_, zip_
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.primitives.comparisons_and_rounding import isnan
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.prelude.containers.hashed_containers import Keyed
from tapeless.transforms.prelude.containers.optional_keys import OptionalKeyed

#: How Python compares, and what NumPy has for it.
KINDS = {"max": ("Gt", np.max, np.argmax), "min": ("Lt", np.min, np.argmin)}
GETTERS = (Keyed.get, OptionalKeyed.get)


def of_present(key: Any) -> Any:
    """The key `counts.get` of a dictionary of data, of keys that are there."""
    of_data = isinstance(key, types.MethodType) and key.__func__ in GETTERS
    return key.__self__.__getitem__ if of_data else key


def list_of_lazy(x: Any) -> Any:
    return x.to_list() if isinstance(x, Lazy) else x


def materialize(x: Any) -> Any:
    """Something rolled as an array, a range or a list; a list that is not rolled if its loop must
    be run through."""
    if isinstance(x, (Symbol, StagedList)) or (isinstance(x, Sequence) and x.is_range):
        return x
    return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: item), False))


def of_python(x: Any) -> bool:
    """Whether something rolled gives numbers of Python's, which adapt to arrays."""
    tail = own_attribute(x, "tail")
    weak = tail is not None and all(t.weak for t in tail.items)
    return weak or (isinstance(x, Sequence) and x.is_range)


def column_of(x: Any) -> Any:
    """The numbers in something rolled, as an array with one axis more; None if it holds tuples or
    other containers."""
    if isinstance(x, Sequence) and x.is_range:
        return wrap(x.as_atom())
    if isinstance(x, StagedList):
        spec = x.tail.spec if x.tail is not None else None
        numbers = (
            spec is not None
            and spec.kind == "leaf"
            and own_attribute(spec.value, "listing") is None
        )
        return x.arrays()[0] if numbers else None
    if not isinstance(x, Symbol):
        return None
    return x if x.type.shape else iter(x)  # which is an error


def extremum(name: str) -> Any:
    """The rule of max or min."""

    def run(hooks: Any, /, *args: Any, key: Any = None, **more: Any) -> Any:
        args, key = tuple(list_of_lazy(a) for a in args), of_present(key)
        x = special_methods.iterable_of(args[0], whole=True) if len(args) == 1 else list(args)
        if is_pushed(x):
            x = list_of_generator(x)  # type: ignore[arg-type]  # is_pushed says that it is one
        elif must_roll(x):
            x = materialize(x)
        if not must_roll(x):
            items = list(x)
            keys = items if key is None else [hooks.call(key, v) for v in items]
            return _of_items(name, keys, items, more)
        if "default" not in more:
            return _of_rolled(name, hooks, x, key)
        some = len_(hooks, x) > 0
        return choose(some, lambda: _of_rolled(name, hooks, x, key), lambda: more["default"])

    return run


def _of_items(name: str, keys: list[Any], items: list[Any], more: dict[str, Any]) -> Any:
    native, kind = getattr(builtins, name), KINDS[name][0]
    if not any(map(has_run_time_order, keys)):
        if keys is items or not items:
            return native(items, **more)
        return items[native(range(len(items)), key=keys.__getitem__)]
    if keys is items:
        return functools.reduce(lambda a, b: _better(kind, (a, a), (b, b))[1], items)
    pairs = zip(keys, items, strict=True)
    return functools.reduce(functools.partial(_better, kind), pairs)[1]


def _better(kind: str, a: Any, b: Any) -> Any:
    """Of two pairs of a key and an item the better one, as Python: b only if it is truly so."""
    return choose(binary(kind, b[0], a[0]), lambda: b, lambda: a)


def _of_rolled(name: str, hooks: Any, x: Any, key: Any) -> Any:
    """Of numbers by an operation on their array, else by a loop."""
    kind, numpy, position = KINDS[name]
    keys = x if key is None else materialize(map_(hooks, key, x))
    if not must_roll(keys):
        return _of_items(name, list(keys), list(x), {})
    column = column_of(keys)
    if column is None or column.ndim != 1:
        return fold(hooks, functools.partial(_better, kind), zip_(hooks, keys, x))[1]
    rules: Any = (FUNCTIONS[f] for f in (numpy, position))
    if not isinstance(keys, Symbol):  # a list; of arrays they are NumPy's, which are faster
        rules = (functools.partial(_first_of_best, f) for f in (numpy, position))
    best, where = rules
    if key is None:
        best_value = apply(best, column)
        return python_number(best_value) if of_python(x) else best_value
    return item_of(hooks, x)[1](apply(where, column))


def _first_of_best(function: Any, x: Any) -> Any:
    """The extremum of numbers, or where it is, as Python finds it: nothing is greater or less than
    NaN, which counts only in the first place."""
    if x.type.dtype.kind != "f":
        return FUNCTIONS[function](x)
    worst = -np.inf if function in (np.max, np.argmax) else np.inf
    extremum = FUNCTIONS[function](select(isnan(x), x.type.dtype.type(worst), x))
    start = FUNCTIONS[np.max](index(x, key=(slice(None, 1),)))  # an error if there is none
    return select(isnan(start), start if function in (np.max, np.min) else 0, extremum)
