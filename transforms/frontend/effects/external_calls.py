"""Stages calls of functions that have no rule, where a program is traced on the values of a call:
the program calls them with its own values.

find_peaks(x)    becomes      find_peaks(x)      with a parameter find_peaks that does it
(2.0 * A).T @ x  becomes      matmul(x)          with one that makes the matrix again, each time

The types of what they give are those that they give in the call at hand; what gives others takes
another way (`trace/observation.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Literal, Statement, Var
from tapeless.transforms.core.traced_calls import OTHER_WAY
from tapeless.transforms.core.user_names import short_name
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import arrays_in, has_foreign, is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.observation import Unobservable
from tapeless.transforms.frontend.trace.provenance import qualified
from tapeless.transforms.frontend.trace.recorded_reads import Captured, Guard, is_constant
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, callback, outside

CONTAINERS = (list, tuple)
NUMBERS = (float, int, complex, np.number, np.bool)


@dataclass(frozen=True)
class Hole:
    """The place of a value of the program in the arguments of a call."""

    number: int


@dataclass(frozen=True)
class Remade:
    """The place of an object that a call makes of values of the program, from the `first` on."""

    call: ExternalCall
    first: int


@dataclass(frozen=True)
class Recipe:
    """How an object is made that is no number or array, and of what."""

    call: ExternalCall
    atoms: list[Atom]
    block: list[Statement]


class ExternalCall:
    """What an emitted program calls in the place of a function without a rule.

    function  the function
    args      its arguments, with holes for values of the program
    form      what it gives in the call at hand: for each leaf its type, shape and dtype
    """

    shape = ()  # it stands among the arrays that a program reads from outside

    def __init__(self, function: Any, args: Any, form: Any = None) -> None:
        self.function, self.args, self.form = function, args, form
        self.__name__ = _name(function, args[0])

    def __call__(self, *values: Any, shape: Any = None) -> Any:
        leaves, form = self.called([_frozen(v) for v in values])
        if self.form is not None and form != self.form:
            raise RuntimeError(f"{OTHER_WAY}{self.__name__} gives another type or shape")
        return leaves[0] if len(leaves) == 1 else tuple(leaves)

    def called(self, values: list[Any]) -> tuple[list[Any], Any]:
        """The numbers and arrays that the function gives, and how they are put together."""
        leaves: list[Any] = []
        form = form_of(self.result(values), leaves)
        return leaves, form

    def result(self, values: list[Any]) -> Any:
        args, kwargs = _filled(self.args, values)
        return self.function(*args, **kwargs)

    def does_the_same_as(self, other: ExternalCall) -> bool:
        """Whether another one calls the same function with the same objects."""
        same_function = self.function is other.function and self.form == other.form
        return same_function and _are_same(self.args, other.args)


def _name(function: Any, args: Any) -> str:
    """What a call is named after: the function, and the object that it asks, if that has a name."""
    name = str(getattr(function, "__name__", type(function).__name__)).strip("<>_")
    asked = trace().paths.get(id(args[0])) if args and is_foreign(args[0]) else None
    return name if asked is None else f"{short_name(asked)}_{name}"


def external_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], pure: bool = True) -> Any:
    """The result of a call, which the program makes; raises NeedStatic where the call at hand does
    not give the values, and UnsupportedError for results that depend on them and are neither
    numbers, nor arrays, nor objects of which such are asked."""
    run, foreign = trace(), has_foreign((args, kwargs))
    atoms: list[Atom] = []
    call = ExternalCall(f, with_holes((args, kwargs), atoms))
    values = [observed_value(a, call.__name__) for a in atoms]
    copies = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
    result = call.result(copies)
    if pure and is_foreign(result):
        _refuse_stores(call.__name__, values, copies, arrays_in(result))
        run.recipes[id(result)] = (result, Recipe(call, atoms, run.blocks[-1]))
        return result
    leaves: list[Any] = []
    call.form = form_of(result, leaves)
    _refuse_stores(call.__name__, values, copies, leaves)
    if not leaves or (f is getattr and not atoms and not any(map(np.ndim, leaves))):
        _rely_on(call, f, atoms, result, pure and not (result is None and foreign))
        return _rebuilt(call.form, iter(leaves))
    if call.form != (float,):
        run.relies_on_results = True
    run.note(f"{qualified(f)} has no rule: the program calls it")
    arrays = [np.asarray(x) for x in leaves]
    how = {
        "sizes": tuple(n for x in arrays for n in x.shape),
        "kinds": tuple((x.dtype, x.ndim) for x in arrays),
        "method": None,
        "name": call.__name__,
    }
    outs = run.bind(callback if pure else outside, (parameter(call), *atoms), how)
    if run.call_values is not None and len(run.blocks) == 1:
        for v, x in zip(outs, leaves, strict=True):
            if isinstance(v, Var):
                run.call_values.give(v, x)
    symbols = [wrap(v) for v in outs]
    if foreign and not all(map(_is_new, leaves, call.called(copies)[0])):
        for symbol in symbols:  # a store would be one to an object
            if isinstance(symbol, Symbol):
                symbol.read_only = True
    return _rebuilt(call.form, iter(symbols))


def _rely_on(call: ExternalCall, f: Any, atoms: list[Atom], result: Any, pure: bool) -> None:
    """Notes that a call gives no numbers: the program is right where it gives the same."""
    run = trace()
    if not pure or any(a.type.shape for a in atoms):
        raise UnsupportedError(
            f"{qualified(f)} is called with values that are known when the program runs, and gives "
            "none",
            "call it outside of the function, or by tapeless.debug.callback",
        )
    for a in atoms:  # it is right for these numbers
        run.require(a, f"{call.__name__} has no rule, and gives no number")
    if not atoms:
        guard = Guard(call.__name__, lambda: call.result([]), result)
        run.reads["guard", call.__name__, id(call), 0] = guard


def parameter(call: ExternalCall) -> Var:
    """A call as a parameter of the program; one for all that do the same."""
    run = trace()
    for var, earlier in run.inputs.items():
        if isinstance(earlier, ExternalCall) and call.does_the_same_as(earlier):
            return var
    var = Var(CALLABLE, call.__name__)
    run.reads["external", id(call)] = (Captured(var.name, lambda: call, var, call), call)
    run.inputs[var] = call
    return var


def depends_on_values(obj: Any) -> bool:
    """Whether the program makes an object of its values."""
    recipe = trace().recipes.get(id(obj))
    return recipe is not None and bool(recipe[1].atoms)


def _is_new(result: Any, next_result: Any) -> bool:
    """Whether a call makes an array, rather than giving one that an object has."""
    arrays = isinstance(result, np.ndarray) and isinstance(next_result, np.ndarray)
    return not (arrays and np.may_share_memory(result, next_result))


def _frozen(value: Any) -> Any:
    """An array that the function can only read."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def observed_value(a: Atom, name: str) -> Any:
    values = trace().call_values
    if isinstance(a, Literal):
        return a.value
    try:
        if values is not None:
            return values.value(a)
    except Unobservable:
        pass
    raise NeedStatic(a, f"{name} has no rule, and needs this value")


def _refuse_stores(name: str, values: list[Any], copies: list[Any], leaves: list[Any]) -> None:
    """Refuses functions that store to their arguments, or return views of them."""
    arrays = [(v, x) for v, x in zip(values, copies, strict=True) if isinstance(x, np.ndarray)]
    if any(v.tobytes() != x.tobytes() for v, x in arrays):
        raise UnsupportedError(f"{name} has no rule, and stores to an argument", "copy it first")
    results = [x for x in leaves if isinstance(x, np.ndarray)]
    if any(np.may_share_memory(x, result) for _, x in arrays for result in results):
        raise UnsupportedError(
            f"{name} has no rule, and gives a view of an argument", "copy what it gives"
        )


# -- arguments and results


def with_holes(value: Any, atoms: list[Atom]) -> Any:
    if isinstance(value, Symbol):
        atoms.append(value.value())
        return Hole(len(atoms) - 1)
    if (remade := trace().recipes.get(id(value))) is not None:
        _, recipe = remade
        if recipe.atoms and not any(b is recipe.block for b in trace().blocks):
            raise UnsupportedError(
                f"what {recipe.call.__name__} makes in a loop or branch is used after it",
                "make it where it is used",
            )
        atoms += recipe.atoms
        return Remade(recipe.call, len(atoms) - len(recipe.atoms))
    if type(value) is dict:
        return {k: with_holes(v, atoms) for k, v in value.items()}
    if isinstance(value, (StagedList, list)):
        return [with_holes(v, atoms) for v in value]
    if isinstance(value, tuple):
        parts = [with_holes(v, atoms) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _filled(value: Any, values: list[Any]) -> Any:
    if isinstance(value, Hole):
        return values[value.number]
    if isinstance(value, Remade):
        return value.call.result(values[value.first :])
    if type(value) is dict:
        return {k: _filled(v, values) for k, v in value.items()}
    if type(value) is list:
        return [_filled(v, values) for v in value]
    if isinstance(value, tuple):
        parts = [_filled(v, values) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _are_same(a: Any, b: Any) -> bool:
    """Whether arguments with holes are the same objects, or equal constants."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Remade):
        return a.first == b.first and a.call.does_the_same_as(b.call)
    if type(a) is dict:
        return [*a] == [*b] and all(map(_are_same, a.values(), b.values()))
    if isinstance(a, CONTAINERS):
        return len(a) == len(b) and all(map(_are_same, a, b))
    return isinstance(a, (Hole, str, int, float, type(None))) and repr(a) == repr(b)


def form_of(value: Any, leaves: list[Any]) -> Any:
    """How a result is put together; its numbers and arrays go to `leaves`."""
    if isinstance(value, np.ndarray) and not is_foreign(value) and value.dtype.kind in "biufc":
        leaves.append(value)
        return (np.ndarray, value.dtype, value.shape)
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        leaves.append(value)
        return (type(value),)
    if type(value) in CONTAINERS:
        return (type(value), *(form_of(v, leaves) for v in value))
    if hasattr(value, "_fields"):
        return (type(value), *(form_of(v, leaves) for v in value))
    if type(value) is dict and all(map(is_constant, value)):
        return (dict, tuple(value), *(form_of(v, leaves) for v in value.values()))
    if is_constant(value):
        return ("constant", value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        raise UnsupportedError(
            "an array of Python objects is made of what the program asks a library",
            "make it one of numbers: .astype(float)",
        )
    raise UnsupportedError(
        f"an object of type {type(value).__module__}.{type(value).__qualname__} is made of values "
        "of the program",
        "make it outside of the function, or let the function return arrays",
    )


def _rebuilt(form: Any, symbols: Iterator[Any]) -> Any:
    kind = form[0]
    if kind == "constant":
        return form[1]
    if kind is dict:
        values = [_rebuilt(f, symbols) for f in form[2:]]
        return trace().born(dict(zip(form[1], values, strict=True)))
    if kind is np.ndarray or not (kind in CONTAINERS or hasattr(kind, "_fields")):
        return next(symbols)
    parts = [_rebuilt(f, symbols) for f in form[1:]]
    if kind is list:
        return trace().born(StagedList(parts))
    return kind(*parts) if hasattr(kind, "_fields") else tuple(parts)
