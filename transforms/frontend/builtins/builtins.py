"""Python's builtin functions where they meet symbols; without symbols they are Python's own."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, broadcast
from tapeless.transforms.core.language import Effect, Type
from tapeless.transforms.errors import ShapeError, UnsupportedError
from tapeless.transforms.frontend.arrays.external_objects import ExternalObject
from tapeless.transforms.frontend.arrays.number_types import record_types, same_for_all
from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.python_scalars import class_of, number_class
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.builtins import dicts_and_sets
from tapeless.transforms.frontend.builtins.deques import new_deque
from tapeless.transforms.frontend.builtins.formatting import formatted, plain_text, text_of
from tapeless.transforms.frontend.builtins.lists_of_lists import given_away, kept_still
from tapeless.transforms.frontend.builtins.min_max import (
    column_of,
    extremum,
    filled,
    listed,
    of_python,
)
from tapeless.transforms.frontend.builtins.ndindex import ndenumerate, ndindex
from tapeless.transforms.frontend.builtins.shared_memory import shares_memory
from tapeless.transforms.frontend.builtins.sorted import sorted_
from tapeless.transforms.frontend.control_flow import combinatorics
from tapeless.transforms.frontend.control_flow.branches import choose, each, short_circuit
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension, must_roll
from tapeless.transforms.frontend.control_flow.iteration import (
    accumulate,
    count_,
    enumerate_,
    filter_,
    folded,
    len_,
    map_,
    met,
    next_,
    range_,
    reduce_,
    reversed_,
    starmap,
)
from tapeless.transforms.frontend.control_flow.loop_iterators import iter_, once, zipped
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.truth import is_none, something, truth
from tapeless.transforms.frontend.effects.effects import effect_parts
from tapeless.transforms.frontend.effects.foreign_calls import record, refuse_file, refuse_outside
from tapeless.transforms.frontend.effects.linear_external_calls import call_outside
from tapeless.transforms.frontend.heap.iterators import Advancing, advancing
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import put_attribute
from tapeless.transforms.frontend.heap.ragged import stretched
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.objects.attributes import has
from tapeless.transforms.frontend.objects.copying import copied, deep_copied
from tapeless.transforms.frontend.objects.dataclasses import replaced
from tapeless.transforms.frontend.objects.derived_arrays import super_of, user_class
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import MUTABLE
from tapeless.transforms.frontend.values.structure import has_symbols
from tapeless.transforms.frontend.values.text import Text
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.numpy.creation import as_array
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.numpy.rounded_size_quotients import rounded_size
from tapeless.transforms.ops.primitives import comparisons_and_rounding
from tapeless.transforms.ops.primitives.dtypes import result_dtype
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.prelude.containers.hashed_containers import Keys, hold_lists
from tapeless.transforms.prelude.containers.known_keys import Found
from tapeless.transforms.prelude.containers.linked_lists import Part, Row, given, still, unsupported
from tapeless.transforms.prelude.containers.ragged_lists import GivenLists, stretch
from tapeless.transforms.prelude.numpy.derived_arrays import DerivedArray
from tapeless.transforms.prelude.numpy.masked_arrays import MaskedArray
from tapeless.transforms.prelude.numpy.python_numbers import rounded_integer
from tapeless.transforms.python_text.literals import is_literal


def _reduce_rolled(x: Any, function: Any) -> Any:
    """Whether all or any in something rolled is true, as an array operation."""
    x = filled(x)
    column = column_of(x)
    return apply(FUNCTIONS[function], x if column is None else column, axis=0)


def _fold_rolled(x: Any, column: Any, ufunc: np.ufunc, start: Any) -> Any:
    """A sum or product of something rolled and `start`, as one array operation."""
    if isinstance(x, Symbol) and type(x.shape[0]) is int and x.shape[0] == 0:
        return start
    dtype = _result_dtype(column, ufunc, start)
    options = {} if dtype.kind not in "iu" and dtype == column.dtype else {"dtype": dtype}
    result = apply(FUNCTIONS[JOINS[ufunc]], column, axis=0, **options)
    result = python_number(result) if of_python(x) else result
    count = column.type.shape[0]
    if ufunc is np.add and not dims.is_given(count):
        trace().sums[result.value()] = count  # Python's 0 if data leaves nothing
        record_types(result.value(), (result.value(), atom(atoms(start))))
    if type(start) is int and start == ufunc.identity:
        return result
    return special_methods.binary("Add" if ufunc is np.add else "Mult", start, result)


def _result_dtype(column: Any, ufunc: np.ufunc, start: Any) -> np.dtype[Any]:
    """The dtype that Python's sums have from the first item on: integers stay as wide as they
    are, where NumPy's become wider."""
    items, first = column.type, as_array(atoms(start)).type
    return result_dtype(ufunc, (first, Type(items.dtype, items.shape[1:])))


#: Which function of NumPy makes one of all.
JOINS: dict[np.ufunc, Any] = {np.add: np.sum, np.multiply: np.prod}


def _sum(hooks: Any, x: Any, start: Any = 0) -> Any:
    if isinstance(x, Lazy):
        return x.sum(hooks, start)
    x = filled(x) if must_roll(x) else x
    column = column_of(x) if must_roll(x) else None
    if column is not None:
        return _fold_rolled(x, column, np.add, start)
    return folded(hooks, functools.partial(special_methods.binary, "Add"), x, start)


def _abs(hooks: Any, x: Any) -> Any:
    return special_methods.called("__abs__", abs, x)


def _parts_of_complex(args: tuple[Any, ...], named: dict[str, Any]) -> Iterator[Any]:
    """The parts of complex(real=x, imag=y) that are named, by position."""
    parts = ("real", "imag")[len(args) :]
    for name in named.keys() - set(parts):
        raise TypeError(f"complex() got an unexpected keyword argument '{name}'")
    yield from (named.get(part, 0.0) for part in parts if named)


def _number(kind: type) -> Any:
    def run(hooks: Any, /, *args: Any, **named: Any) -> Any:
        if kind is complex:
            args, named = (*args, *_parts_of_complex(args, named)), {}
        if named:  # int("ff", base=16)
            return kind(*args, **named)
        x, *more = args or (0,)
        x = (
            special_methods.tested(x)
            if kind is bool
            else special_methods.called(f"__{kind.__name__}__", _identity, x)
        )
        if not isinstance(x, Symbol):
            return x + 1j * more[0] if has_symbols(more) else kind(x, *more)
        if kind is bool:
            return python_number(truth(x))
        value = _single_element(x, kind) if x.type.shape else x.value()
        if kind is not complex and value.type.weak and value.type.dtype.kind == "c":
            return kind(1j)  # which is an error; of NumPy's numbers it is the real part
        if more:
            return _number(complex)(hooks, x) + 1j * more[0]
        if kind is int and value.type.dtype.kind == "f":
            size = rounded_size(comparisons_and_rounding.trunc, value)
            if size is not None:
                return wrap(atom(size))
            value = comparisons_and_rounding.trunc(value)
        target = np.dtype(kind)
        if value.type.dtype != target or not value.type.weak:
            value = cast(value, dtype=target, python=True)  # it adapts to arrays, as Python's do
        return wrap(value)

    return run


def _single_element(x: Symbol, kind: type) -> Any:
    """The element of an array of one; of others NumPy says itself that there are more."""
    try:
        return x.item().value()
    except ShapeError:
        kind(np.zeros(2))
        raise


def _isinstance(hooks: Any, x: Any, kinds: Any) -> Any:
    if isinstance(x, Text):
        return isinstance("", kinds)
    if isinstance(x, ExternalObject):
        return call_outside(isinstance, (x, kinds), {})
    if isinstance(x, StagedList):
        return issubclass(x.stands_for, kinds)
    if isinstance(x, (Part, Row, GivenLists)):
        return issubclass(list, kinds) or isinstance(x, kinds)
    if isinstance(x, Keys):
        return issubclass(x.kind, kinds) or isinstance(x, kinds)
    if isinstance(x, Found):
        return issubclass(dict, kinds)
    if not isinstance(x, Symbol):
        derived = isinstance(x, (DerivedArray, MaskedArray))
        return isinstance(x, kinds) or (derived and issubclass(user_class(type(x)), kinds))
    outcome = issubclass(list, kinds) if x.listing is not None else _is_kind(x, kinds)
    if something(x) is not None and isinstance(None, kinds) != outcome:
        return hooks.is_none(x, outcome)
    _check_set(x)
    return outcome


def _check_set(x: Symbol) -> None:
    """An error where a variable that a function looks at is not set."""
    if x.undefined is not None and not x.undefined.none:
        x.value()


def _is_kind(x: Symbol, kind: Any) -> bool:
    t = x.type
    if t.shape or x.is_array:
        return issubclass(np.ndarray, kind)
    return same_for_all(x, t, lambda of: issubclass(number_class(of), kind))


def _type(hooks: Any, x: Any, *more: Any) -> Any:
    if isinstance(x, StagedList):
        return x.stands_for
    if isinstance(x, (Part, Row, GivenLists)):
        return list
    if isinstance(x, Keys):
        return x.kind
    if isinstance(x, Found):
        return dict
    if isinstance(x, ExternalObject):
        same = call_outside(isinstance, (x, type(x.value)), {})
        return type(x.value) if same else call_outside(type, (x,), {})
    if not isinstance(x, Symbol):
        return str if isinstance(x, Text) else user_class(type(x, *more))
    if something(x) is not None:
        return Either(is_none(x), type(None), class_of(x))
    _check_set(x)
    return class_of(x)


def _print(
    hooks: Any, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    refuse_file(file)
    if file is not None or flush or isinstance(sep, Text) or isinstance(end, Text):
        arguments = {
            "sep": (sep, " "),
            "end": (end, "\n"),
            "file": (file, None),
            "flush": (flush, False),
        }
        record(
            "print", "sys", values, {k: v for k, (v, usual) in arguments.items() if v is not usual}
        )
        return
    shown = (hooks.call(str, v) if _is_object(v) else text_of(v, "s") for v in values)
    shown = (str(v) if isinstance(v, NAMED) and not is_literal(v) else v for v in shown)
    each(functools.partial(_print_texts, sep, end), *shown)


def _print_texts(sep: Any, end: Any, *shown: Any) -> None:
    args: list[Any] = []
    parts = tuple(effect_parts(v, args) for v in shown)
    trace().emit(
        Effect("print", tuple(args), {"parts": parts, "sep": sep, "end": end}, trace().place())
    )


#: What is shown by its name.
NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, np.dtype)


def _is_object(x: Any) -> bool:
    """Whether it is shown by a text of its class, or as where it is in memory."""
    return hasattr(x, "__dict__") and not isinstance(x, (Symbol, Text, Either, *MUTABLE, tuple))


def _list(hooks: Any, x: Any = ()) -> Any:
    x = listed(x)
    if type(x) is StagedList:
        return x.copy()
    if must_roll(x):
        return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: item), False))
    return trace().born(StagedList(x))


def _tuple(hooks: Any, x: Any = ()) -> Any:
    return tuple(x)


def _identity(value: Any) -> Any:
    return value


def _truths(x: Any) -> Any:
    """What numbers do for the truth of the items: the numbers, or their truth."""
    x = filled(x)
    column = column_of(x) if must_roll(x) else None
    if not must_roll(x) or (column is not None and column.ndim == 1):
        return x
    return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: truth(item)), False))


def _any_all(conjunction: bool) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        if isinstance(x, Advancing) and not isinstance(x, Lazy) and x.pushes:
            x = Lazy((x, lambda item: (lambda: True, lambda: item), False))
        if isinstance(x, Lazy) and x.rolls() and not x.spent(leaves=True):
            outcome = met(hooks, x, not conjunction)
            return python_number(
                choose(outcome, lambda: False, lambda: True) if conjunction else outcome
            )
        if must_roll(x):
            x = _truths(x)
        if must_roll(x):
            return python_number(_reduce_rolled(x, np.all if conjunction else np.any))
        for v in x:  # no further than Python goes
            decided = truth(v)
            if isinstance(decided, Symbol):
                rest = [decided, *x.rest()] if isinstance(x, Advancing) else list(x)
                result = short_circuit(
                    tuple(functools.partial(_identity, v) for v in rest), conjunction
                )
                return python_number(truth(result))
            if decided != conjunction:
                return decided
        return conjunction

    return run


def _round(hooks: Any, number: Any, ndigits: Any = None) -> Any:
    x, digits = number, ndigits
    if not isinstance(x, Symbol):
        return special_methods.called("__round__", round, x, digits)
    if x.type.shape:
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if digits is None:
        return wrap(
            cast(comparisons_and_rounding.rint(x.value()), dtype=np.dtype(int), python=True)
        )
    digits = operator.index(digits)
    if x.dtype.kind in "iu":
        return hooks.call(rounded_integer, x, digits)
    real: Any = x
    scale = 10.0 ** abs(digits)
    scaled = real * scale if digits > 0 else real / scale
    many = (
        apply(comparisons_and_rounding.rint, scaled) / scale
        if digits > 0
        else apply(comparisons_and_rounding.rint, scaled)
    )
    rounded = many if digits > 0 else many * scale
    return python_number(rounded) if x.type.weak else rounded


def _pow(hooks: Any, base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return special_methods.binary("Pow", base, exp)
    return pow(*(operator.index(v) if isinstance(v, Symbol) else v for v in (base, exp, mod)))


def _getattr(hooks: Any, obj: Any, name: str, *default: Any) -> Any:
    if not default:
        return hooks.attr(obj, name)
    return choose(has(obj, name), lambda: hooks.attr(obj, name), lambda: default[0])


def _hasattr(hooks: Any, obj: Any, name: str) -> Any:
    return has(obj, name)


def _setattr(hooks: Any, obj: Any, name: str, value: Any) -> None:
    hooks.set_attr(obj, name, value)


def _math_sum(hooks: Any, x: Any) -> Any:
    x = filled(x) if isinstance(x, Iterator) else x
    if not must_roll(x) and not has_symbols(list(x)):
        return math.fsum(x)
    return python_number(_sum(hooks, x, np.float64(0)))


def _refuse(problem: str, hint: str) -> None:
    raise UnsupportedError(problem, hint)


def _prod(hooks: Any, x: Any, *, start: Any = 1) -> Any:
    x = listed(x)
    if must_roll(x):
        x = filled(x)
        column = column_of(x)
        return _fold_rolled(x, x if column is None else column, np.multiply, start)
    return folded(hooks, functools.partial(special_methods.binary, "Mult"), x, start)


def _size(hooks: Any, a: Any, axis: Any = None) -> Any:
    """np.size(a, axis)"""
    if not isinstance(a, Symbol):
        if not has_symbols(a):
            return np.size(a, axis)
        a = apply(FUNCTIONS[np.asarray], a)
    if isinstance(axis, tuple):
        return wrap(apply(FUNCTIONS[np.size], a, axis))
    return a.size if axis is None else a.shape[axis]


def _broadcast_shapes(hooks: Any, *shapes: Any) -> Any:
    if not has_symbols(shapes):
        return np.broadcast_shapes(*shapes)
    joined = broadcast(*(shape_of(atoms(shape)) for shape in shapes))
    return tuple(wrap(atom_of_size(n)) for n in joined)


def _floor(kind: Any) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        if not isinstance(x, Symbol):
            return _FLOORS[kind](x)
        if x.type.shape:
            return _FLOORS[kind](np.zeros(2))  # which says so itself
        size = rounded_size(kind, x.value())
        if size is not None:
            return wrap(atom(size))
        return wrap(cast(kind(x.value()), dtype=np.dtype(int), python=True))

    return run


_FLOORS: dict[Any, Callable[[Any], Any]] = {
    comparisons_and_rounding.floor: math.floor,
    comparisons_and_rounding.ceil: math.ceil,
    comparisons_and_rounding.trunc: math.trunc,
}


def _format_by(function: Any, conversion: str) -> Any:
    def run(hooks: Any, *args: Any) -> Any:
        if len(args) == 1 and (text := text_of(args[0], conversion)) is not args[0]:
            return text
        if args and has_symbols(args[0]):
            return formatted((args[0], conversion, ""))
        if args and special_methods.foreign(args[0]):
            return call_outside(function, args, {})
        return plain_text(function(*args), args)

    return run


def _format(hooks: Any, x: Any, spec: Any = "") -> Any:
    return formatted((x, "", spec))


def _vars(hooks: Any, *objects: Any) -> Any:
    if not objects:
        refuse_outside(vars, (), {})
    return hooks.attr(*objects, "__dict__")


def _operator(kind: str) -> Any:
    """`operator.add` and its like; those with one operand too."""
    return lambda hooks, *operands: (
        special_methods.unary(kind, *operands)
        if len(operands) == 1
        else special_methods.binary(kind, *operands)
    )


FEW = 64  # tuples of itertools that are made while staging


def _hash(hooks: Any, x: Any) -> int:
    return hash(_without_derivative(x))


def _without_derivative(x: Any) -> Any:
    """A number whose hash is asked for, which has no derivative then; or a tuple of such."""
    if isinstance(x, Symbol) and not x.type.shape:
        return x.read_as_number("hash() needs the value")
    return tuple(map(_without_derivative, x)) if type(x) is tuple else x


def _combine_items(make: Callable[..., Any], count: Callable[[int, int], int]) -> Any:
    """What itertools makes of the items of one sequence, as loops if it is much.

    count  how many tuples of `r` items there are
    """

    def combined(hooks: Any, iterable: Any, r: Any) -> Any:
        pool = _pool(hooks, iterable)
        n = _known_length(pool)
        if not isinstance(r, int) or r < 1 or (n is not None and count(n, r) <= FEW):
            return advancing(getattr(itertools, make.__name__)(pool, r))
        return hooks.call(make, pool, r)

    return combined


def _permutations(hooks: Any, iterable: Any, r: Any = None) -> Any:
    pool = _pool(hooks, iterable)
    n = _known_length(pool)
    if r != 2 or (n is not None and math.perm(n, 2) <= FEW):
        return advancing(itertools.permutations(pool, r))
    return hooks.call(combinatorics.pairs_in_any_order, pool)


def _product(hooks: Any, *iterables: Any, repeat: Any = 1) -> Any:
    pools = tuple(_pool(hooks, iterable) for iterable in iterables)
    lengths = [*map(_known_length, pools)]
    few = None not in lengths and math.prod(lengths) ** max(repeat, 1) <= FEW  # type: ignore[arg-type]
    if few or not isinstance(repeat, int) or repeat < 1 or not pools:
        return advancing(itertools.product(*pools, repeat=repeat))
    return hooks.call(combinatorics.product, pools * repeat)


def _pool(hooks: Any, iterable: Any) -> Any:
    """What is chosen from, by its places."""
    has_places = isinstance(iterable, (range, tuple, list, str, Symbol, Sequence))
    return iterable if has_places else hooks.call(list, iterable)


def _known_length(pool: Any) -> int | None:
    """How many items there are, if that is known while staging."""
    if isinstance(pool, StagedList) and pool.tail is not None:
        return None
    if isinstance(pool, Symbol):
        n = pool.type.shape[0] if pool.type.shape else None
        return n if isinstance(n, int) else None
    if isinstance(pool, Sequence):
        return pool.count if isinstance(pool.count, int) else None
    return len(pool)


BUILTINS: dict[Any, Any] = {
    range: range_,
    len: len_,
    zip: once(zipped),
    enumerate: once(enumerate_),
    reversed: once(reversed_),
    sum: _sum,
    max: extremum("max"),
    min: extremum("min"),
    abs: _abs,
    hash: _hash,
    int: _number(int),
    float: _number(float),
    bool: _number(bool),
    complex: _number(complex),
    isinstance: _isinstance,
    type: _type,
    super: lambda hooks, *args: super_of(*args),
    print: _print,
    list: _list,
    collections.deque: new_deque,
    tuple: _tuple,
    map: once(map_),
    filter: filter_,
    any: _any_all(False),
    all: _any_all(True),
    sorted: sorted_,
    round: _round,
    pow: _pow,
    functools.reduce: reduce_,
    itertools.accumulate: accumulate,
    itertools.starmap: starmap,
    itertools.count: count_,
    itertools.combinations: _combine_items(combinatorics.combinations, math.comb),
    itertools.combinations_with_replacement: _combine_items(
        combinatorics.combinations_with_replacement, lambda n, r: math.comb(n + r - 1, r)
    ),
    itertools.permutations: _permutations,
    itertools.product: _product,
    object.__setattr__: lambda hooks, x, name, value: put_attribute(
        x, name, value, object.__setattr__
    ),
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    iter: iter_,
    next: next_,
    vars: _vars,
    copy.copy: copied,
    copy.deepcopy: deep_copied,
    dataclasses.replace: replaced,
    math.fsum: _math_sum,
    math.prod: _prod,
    str: _format_by(str, "s"),
    repr: _format_by(repr, "r"),
    ascii: _format_by(ascii, "a"),
    format: _format,
    math.floor: _floor(comparisons_and_rounding.floor),
    math.ceil: _floor(comparisons_and_rounding.ceil),
    math.trunc: _floor(comparisons_and_rounding.trunc),
    dict.fromkeys: lambda hooks, keys, value=None: dicts_and_sets.from_keys(hooks, keys, value),
    np.shape: lambda hooks, x: (
        x.shape
        if isinstance(x, Symbol)
        else wrap(apply(FUNCTIONS[np.asarray], x)).shape
        if has_symbols(x)
        else np.shape(x)
    ),
    np.ndim: lambda hooks, x: (
        x.ndim
        if isinstance(x, Symbol)
        else np.ndim(x)
        if not has_symbols(x)
        else apply(FUNCTIONS[np.asarray], x).ndim
    ),
    np.size: _size,
    np.shares_memory: shares_memory,
    np.may_share_memory: shares_memory,
    np.broadcast_shapes: _broadcast_shapes,
    np.ndindex: once(ndindex),
    np.ndenumerate: once(ndenumerate),
    unsupported: lambda hooks, problem, hint: _refuse(problem, hint),
    given: lambda hooks, items: given_away(items),
    stretch: lambda hooks, items, first, last: stretched(items, first, last),
    still: lambda hooks, items, result, place: kept_still(items, result, place),
    hold_lists: lambda hooks, result: trace().decisions.as_keyed(result, lists=True),
    operator.iadd: lambda hooks, a, b: hooks.inplace("Add", a, b),
    operator.imul: lambda hooks, a, b: hooks.inplace("Mult", a, b),
    operator.setitem: lambda hooks, a, k, v: hooks.set_item(a, k, v),
    operator.getitem: lambda hooks, a, k: hooks.item(a, k),
    operator.contains: lambda hooks, a, b: hooks.contains(b, a, False),
    **{
        getattr(operator, name): _operator(kind) for kind, name in special_methods.OPERATORS.items()
    },
}
#: Functions that run over what they are given, and over which of their arguments.
OVER_ITEMS = {
    **dict.fromkeys((sum, list, tuple, any, all, sorted, enumerate), slice(1)),
    **dict.fromkeys((itertools.accumulate, math.fsum, math.prod), slice(1)),
    **dict.fromkeys((filter, functools.reduce, itertools.starmap), slice(1, 2)),
    map: slice(1, None),
}
#: Those of them that take all items at once.
AT_ONCE = (sum, list, tuple, sorted, math.fsum, math.prod)
