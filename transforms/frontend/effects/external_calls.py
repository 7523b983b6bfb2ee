"""Stages calls of functions that have no rule, where a program is traced on the values of a call:
the program calls them with its own values.

find_peaks(x)    becomes      find_peaks(x)      with a parameter find_peaks that does it
(2.0 * A).T @ x  becomes      matmul(x)          with one that makes the matrix again, each time

The types of what they give are those that they give in the call at hand; what gives others takes
another way (`trace/observation.py`).
"""

from __future__ import annotations

import builtins
import functools
import operator
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.core.traced_calls import OTHER_WAY
from tapeless.transforms.core.user_names import short_name
from tapeless.transforms.errors import TapelessError, UnsupportedError
from tapeless.transforms.frontend.arrays.external_objects import ExternalObject
from tapeless.transforms.frontend.arrays.foreign_arrays import arrays_in, has_foreign, is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.effects.external_arguments import (
    CONTAINERS,
    Recipe,
    are_same,
    fill_holes,
    refuse_function_of_program,
    with_holes,
)
from tapeless.transforms.frontend.effects.python_generators import generator_of, note_state
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.observation import Unobservable
from tapeless.transforms.frontend.trace.provenance import qualified_name
from tapeless.transforms.frontend.trace.recorded_reads import Captured, Guard, is_constant
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.text import ExternalText
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, FOR_EACH, callback, outside
from tapeless.transforms.ops.primitives.identities import stopped

#: What errors say of a store to an array that nobody may store to.
READ_ONLY = re.compile("read-only|read-write")
NUMBERS = (float, int, complex, np.number, np.bool)


class ExternalCall:
    """What an emitted program calls in the place of a function without a rule.

    function  the function
    args      its arguments, with holes for values of the program
    form      what it gives in the call at hand: for each leaf its type, shape and dtype
    depends   whether it is given values of the program
    """

    shape = ()  # it stands among the arrays that a program reads from outside

    def __init__(self, function: Any, args: Any, depends: bool = True) -> None:
        self.function, self.args, self.depends = function, args, depends
        self.form: Any = None
        self.__name__ = _name(function, args[0])

    def __call__(self, *values: Any, shape: Any = None) -> Any:
        try:
            leaves, form = self.call_and_flatten([_frozen(v) for v in values])
        except Exception as e:
            if READ_ONLY.search(str(e)):
                raise _storing(self.__name__) from e
            raise RuntimeError(f"{OTHER_WAY}{self.__name__} raises {type(e).__name__}") from e
        if self.form is not None and form != self.form:
            raise RuntimeError(f"{OTHER_WAY}{self.__name__} gives another type or shape")
        leaves = [_own(x) for x in leaves]
        return leaves[0] if len(leaves) == 1 else tuple(leaves)

    def call_and_flatten(self, values: list[Any]) -> tuple[list[Any], Any]:
        """The numbers and arrays that the function gives, and how they are put together."""
        leaves: list[Any] = []
        form = form_of(self.result(values), leaves, self.depends)
        return leaves, form

    def result(self, values: list[Any]) -> Any:
        args, kwargs = fill_holes(self.args, values)
        return self.function(*args, **kwargs)

    def does_the_same_as(self, other: ExternalCall) -> bool:
        """Whether another one calls the same function with the same objects."""
        same_function = self.function is other.function and self.form == other.form
        return same_function and are_same(self.args, other.args)


def _name(function: Any, args: Any) -> str:
    """What a call is named after: the function, and the object that it asks, if that has a name."""
    name = str(getattr(function, "__name__", type(function).__name__)).strip("<>_")
    if generator_of(function, args) is not None:
        return f"random_{name}"  # as the module is called whose function it is
    asked = trace().paths.get(id(args[0])) if args and is_foreign(args[0]) else None
    if asked is not None:
        return f"{short_name(asked)}_{name}"
    return f"python_{name}" if hasattr(builtins, name) else name  # which emitted code calls, too


def external_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], pure: bool = True) -> Any:
    """The result of a call, which the program makes; raises NeedStatic where the call at hand does
    not give the values, and UnsupportedError for results that depend on them and are neither
    numbers, nor arrays, nor objects of which such are asked."""
    if "overwrite_input" in kwargs:  # NumPy's word for what may be done, and need not
        kwargs = kwargs | {"overwrite_input": False}
    run, foreign = trace(), has_foreign((args, kwargs))
    atoms: list[Atom] = []
    for function in (f, getattr(f, "__self__", None)):
        refuse_function_of_program(function)
    arguments = with_holes((args, kwargs), atoms)
    call = ExternalCall(f, arguments, bool(atoms))
    values = [observed_value(a, call.__name__) for a in atoms]
    generator = generator_of(f, args)
    note_state(generator)
    copies = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
    before = None if pure else np.random.get_state()
    try:
        result = call.result(copies)
    except TapelessError:
        raise
    except Exception as e:
        _rely_on_agreement(Raises(call, type(e)), atoms, f"{call.__name__} raises an error")
        raise
    finally:
        if before is not None:  # the program draws, staging does not
            np.random.set_state(before)
    if pure and is_foreign(result):
        _refuse_stores(call.__name__, values, copies, arrays_in(result))
        run.call.recipes[id(result)] = (result, Recipe(call, atoms, run.blocks[-1]))
        return result
    leaves: list[Any] = []
    call.form = form_of(result, leaves, call.depends)
    _refuse_stores(call.__name__, values, copies, leaves)
    parts = CallResultParts(call, atoms, result)
    if not leaves or (f is getattr and not atoms and not any(map(np.ndim, leaves))):
        _rely_on(call, f, atoms, result, pure and not (result is None and foreign))
        return _rebuilt(call.form, iter(leaves), parts)
    if call.form != (float,):
        run.call.relies_on_results = True
    run.note(f"{qualified_name(f)} has no rule: the program calls it")
    arrays = [np.asarray(x) for x in leaves]
    how = {
        "sizes": tuple(n for x in arrays for n in x.shape),
        "kinds": tuple((x.dtype, x.ndim) for x in arrays),
        "method": None if generator is None else FOR_EACH,
        "name": call.__name__,
    }
    operands = (
        map(_stop_derivative, atoms) if f is len or all(_is_truth(x) for x in leaves) else atoms
    )
    outs = run.bind(callback if pure else outside, (parameter(call), *operands), how)
    if run.call.values is not None and len(run.blocks) == 1:
        for v, x in zip(outs, leaves, strict=True):
            if isinstance(v, Var):
                run.call.values.give(v, x)
    symbols = [wrap(v) for v in outs]
    if foreign and not all(map(_is_new, leaves, call.call_and_flatten(copies)[0])):
        for symbol in symbols:  # a store would be one to an object
            if isinstance(symbol, Symbol):
                symbol.read_only = True
    for symbol, x in zip(symbols, leaves, strict=True):
        if isinstance(x, np.ndarray) and not x.flags.writeable and isinstance(symbol, Symbol):
            symbol.read_only = True
    return _rebuilt(call.form, iter(symbols), parts)


def seed_now(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Sets a generator of Python's `random` as the program will, so that staging draws on as it."""
    atoms: list[Atom] = []
    arguments = with_holes((args, kwargs), atoms)
    note_state(f.__self__)
    values = [observed_value(a, f.__name__) for a in atoms]
    ExternalCall(f, arguments).result(values)


def _is_truth(value: Any) -> bool:
    return bool(np.asarray(value).dtype.kind == "b")


def _stop_derivative(a: Atom) -> Any:
    """An operand of a call that gives truth or a length, which have no derivative."""
    differentiable = isinstance(a, Var) and a.type.differentiable
    return trace().bind(stopped, (a,), {})[0] if differentiable else a


def _rely_on(call: ExternalCall, f: Any, atoms: list[Atom], result: Any, pure: bool) -> None:
    """Notes that a call gives no numbers: the program is right where it gives the same."""
    run = trace()
    if not pure or (result is None and any(a.type.shape for a in atoms)):
        raise UnsupportedError(
            f"{qualified_name(f)} gives no value, and is called for what it changes outside",
            "call it outside of the function, or by tapeless.debug.callback",
        )
    why = f"{call.__name__} has no rule, and gives no number"
    if result is None:
        for a in atoms:  # it is right for these numbers
            run.require(a, why)
    elif atoms and call.form[0] not in ("text", "object"):
        _rely_on_agreement(Agrees(call), atoms, why)
    if not atoms:
        guard = Guard(call.__name__, lambda: call.result([]), result)
        run.reads["guard", call.__name__, id(call), 0] = guard


class Agrees:
    """Whether a call gives what it gave in the call at hand, where that is no numbers."""

    def __init__(self, call: ExternalCall) -> None:
        self.call, self.__name__ = call, f"{call.__name__}_agrees"

    def __call__(self, *values: Any) -> np.bool:
        return np.bool(self.call.call_and_flatten([*values])[1] == self.call.form)


class Raises:
    """Whether a call raises an error, as in the call at hand."""

    def __init__(self, call: ExternalCall, error: type[Exception]) -> None:
        self.call, self.error, self.__name__ = call, error, f"{call.__name__}_raises"

    def __call__(self, *values: Any) -> np.bool:
        try:
            self.call.result([*values])
        except self.error:
            return np.True_
        return np.False_


def _rely_on_agreement(agrees: Any, atoms: list[Atom], why: str) -> None:
    """Lets the program test that a call does what it did in the call at hand."""
    test = external_call(agrees, tuple(map(wrap, atoms)), {})
    trace().require(test.value(), why)


class Says:
    """Whether a text says what it says in the call at hand."""

    def __init__(self, expected: str) -> None:
        self.expected, self.__name__ = expected, "text_is"

    def __call__(self, text: str) -> np.bool:
        return np.bool(text == self.expected)


def _read(text: ExternalText) -> str:
    """What a text says in the call at hand, which the program guards."""
    why = "Python needs to know what a text says"
    atoms = [v.value() for v in text.values]
    said = text.call([observed_value(a, why) for a in atoms])
    trace().require(external_call(Says(said), (text,), {}).value(), why)
    return said


class CallResultParts:
    """Texts and objects in what a call gives: the program makes them again where it uses them."""

    def __init__(self, call: ExternalCall, atoms: list[Atom], result: Any) -> None:
        self.call, self.atoms, self.result = call, atoms, result

    def text(self, path: tuple[Any, ...]) -> ExternalText:
        return ExternalText(self._maker(path).result, tuple(map(wrap, self.atoms)), _read)

    def object(self, path: tuple[Any, ...]) -> ExternalObject:
        run = trace()
        obj = ExternalObject(_item(self.result, path))
        run.call.recipes[id(obj)] = (obj, Recipe(self._maker(path), self.atoms, run.blocks[-1]))
        return obj

    def _maker(self, path: tuple[Any, ...]) -> ExternalCall:
        call, f = self.call, self.call.function
        if not path:
            return call

        def part(*args: Any, **kwargs: Any) -> Any:
            return _item(f(*args, **kwargs), path)

        return ExternalCall(part, call.args)


def _item(result: Any, path: tuple[Any, ...]) -> Any:
    return functools.reduce(operator.getitem, path, result)


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
    recipe = trace().call.recipes.get(id(obj))
    return recipe is not None and bool(recipe[1].atoms)


def _is_new(result: Any, next_result: Any) -> bool:
    """Whether a call makes an array, rather than giving one that an object has."""
    arrays = isinstance(result, np.ndarray) and isinstance(next_result, np.ndarray)
    return not (arrays and np.may_share_memory(result, next_result))


def _own(value: Any) -> Any:
    """An array that the program may write to."""
    read_only = isinstance(value, np.ndarray) and not value.flags.writeable
    return value.copy() if read_only else value


def _frozen(value: Any) -> Any:
    """An array that the function can only read."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def observed_value(a: Atom, name: str) -> Any:
    values = trace().call.values
    if isinstance(a, Literal):
        return a.value
    try:
        if values is not None:
            return values.value(a)
    except Unobservable:
        pass
    raise NeedStatic(a, f"{name} has no rule, and needs this value")


def _storing(name: str) -> UnsupportedError:
    return UnsupportedError(f"{name} has no rule, and stores to an argument", "copy it first")


def _refuse_stores(name: str, values: list[Any], copies: list[Any], leaves: list[Any]) -> None:
    """Refuses functions that store to their arguments, or return views of them."""
    arrays = [(v, x) for v, x in zip(values, copies, strict=True) if isinstance(x, np.ndarray)]
    if any(v.tobytes() != x.tobytes() for v, x in arrays):
        raise _storing(name)
    results = [x for x in leaves if isinstance(x, np.ndarray)]
    if any(np.may_share_memory(x, result) for _, x in arrays for result in results):
        raise UnsupportedError(
            f"{name} has no rule, and gives a view of an argument", "copy what it gives"
        )


# -- results


def form_of(value: Any, leaves: list[Any], depends: bool = False) -> Any:
    """How a result is put together; its numbers and arrays go to `leaves`. `depends`: it is made
    of values of the program, so that other calls give other texts and objects."""
    if isinstance(value, np.ndarray) and not is_foreign(value) and value.dtype.kind in "biufc":
        leaves.append(value)
        return (np.ndarray, value.dtype, value.shape)
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        leaves.append(value)
        return (type(value),)
    if type(value) in CONTAINERS or hasattr(value, "_fields"):
        return (type(value), *(form_of(v, leaves, depends) for v in value))
    if _is_dictionary(type(value)) and all(map(is_constant, value)):
        parts = (form_of(v, leaves, depends) for v in value.values())
        return (type(value), tuple(value), *parts)
    if depends and type(value) is str:
        return ("text",)
    if is_constant(value) and not (depends and type(value) is bytes):
        return ("constant", value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        raise UnsupportedError(
            "an array of Python objects is made of what the program asks a library",
            "make it one of numbers: .astype(float)",
        )
    if depends and _never_changes(value):
        return ("object", type(value))
    raise UnsupportedError(
        f"an object of type {type(value).__module__}.{type(value).__qualname__} is made of values "
        "of the program",
        "make it outside of the function, or let the function return arrays",
    )


def _is_dictionary(kind: Any) -> bool:
    """Whether a class is that of dictionaries, or of results of SciPy (attributes are items)."""
    return kind is dict or (issubclass(kind, dict) and kind.__setattr__ is dict.__setitem__)


def _never_changes(value: Any) -> bool:
    """Whether an object is known by what it holds, as bytes and fractions are."""
    by_value: Any = type(value).__hash__
    return by_value is not None and by_value is not object.__hash__


def _rebuilt(
    form: Any, symbols: Iterator[Any], parts: CallResultParts, path: tuple[Any, ...] = ()
) -> Any:
    kind = form[0]
    if kind == "constant":
        return form[1]
    if kind == "text":
        return parts.text(path)
    if kind == "object":
        return parts.object(path)
    of_items = isinstance(kind, type) and _is_dictionary(kind)
    if not (of_items or kind in CONTAINERS or hasattr(kind, "_fields")):
        return next(symbols)
    forms, keys = (form[2:], form[1]) if of_items else (form[1:], range(len(form) - 1))
    items = [_rebuilt(f, symbols, parts, (*path, k)) for f, k in zip(forms, keys, strict=True)]
    if of_items:
        result = dict.__new__(kind)
        dict.update(result, zip(keys, items, strict=True))
        return trace().born(result)
    if kind is list:
        return trace().born(StagedList(items))
    return kind(*items) if hasattr(kind, "_fields") else tuple(items)
