"""Stages calls of functions that have no rule, where a program is traced on the values of a call:
the program calls them with its own values.

LAPLACE @ x      becomes      matmul(x)          with a parameter matmul that does it

The types of what they give are those that they give in the call at hand; what gives others takes
another way (`trace/observation.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Literal, Var
from tapeless.transforms.core.traced_calls import OTHER_WAY
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import is_foreign
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.observation import Unobservable
from tapeless.transforms.frontend.trace.provenance import qualified
from tapeless.transforms.frontend.trace.recorded_reads import Captured, is_constant
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, callback, outside
from tapeless.transforms.ops.primitives.linear_calls import linear_call

CONTAINERS = (list, tuple)


@dataclass(frozen=True)
class Hole:
    """The place of a value of the program in the arguments of a call."""

    number: int


class ExternalCall:
    """What an emitted program calls in the place of a function without a rule.

    function  the function
    args      its arguments, with holes for values of the program
    form      what it gives in the call at hand: for each leaf its type, shape and dtype
    """

    shape = ()  # it stands among the arrays that a program reads from outside

    def __init__(self, function: Any, args: Any, form: Any = None) -> None:
        self.function, self.args, self.form = function, args, form
        self.__name__ = getattr(function, "__name__", type(function).__name__).strip("<>_")

    def __call__(self, *values: Any, shape: Any = None) -> Any:
        leaves, form = self.called([_frozen(v) for v in values])
        if self.form is not None and form != self.form:
            raise RuntimeError(f"{OTHER_WAY}{self.__name__} gives another type or shape")
        return leaves[0] if len(leaves) == 1 else tuple(leaves)

    def called(self, values: list[Any]) -> tuple[list[Any], Any]:
        """The numbers and arrays that the function gives, and how they are put together."""
        args, kwargs = _filled(self.args, values)
        leaves: list[Any] = []
        form = _form(self.function(*args, **kwargs), leaves)
        return leaves, form


def external_call(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], pure: bool = True) -> Any:
    """The result of a call, which the program makes; raises NeedStatic where the call at hand does
    not give the values, and UnsupportedError for results that are no numbers or arrays."""
    run = trace()
    if (both := _linear(f, args, kwargs)) is not None:
        return _call_linear(both, f, args[1])
    atoms: list[Atom] = []
    call = ExternalCall(f, _with_holes((args, kwargs), atoms))
    values = [_observed(a, call.__name__) for a in atoms]
    copies = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
    leaves, call.form = call.called(copies)
    _refuse_stores(call.__name__, values, copies, leaves)
    if not leaves:
        if not pure or any(a.type.shape for a in atoms):
            raise UnsupportedError(
                f"{qualified(f)} is called with values of the program, and gives none",
                "call it outside of the function, or by tapeless.debug.callback",
            )
        for a in atoms:  # what it gives is right for these numbers
            run.require(a, f"{call.__name__} has no rule, and gives no number")
        return _rebuilt(call.form, iter(()))
    if call.form != (float,):
        run.relies_on_results = True
    var = _parameter(call)
    run.note(f"{qualified(f)} has no rule: the program calls it")
    arrays = [np.asarray(x) for x in leaves]
    how = {
        "sizes": tuple(n for x in arrays for n in x.shape),
        "kinds": tuple((x.dtype, x.ndim) for x in arrays),
        "method": None,
        "name": call.__name__,
    }
    outs = run.bind(callback if pure else outside, (var, *atoms), how)
    if run.call_values is not None and len(run.blocks) == 1:
        for v, x in zip(outs, leaves, strict=True):
            if isinstance(v, Var):
                run.call_values.give(v, x)
    symbols = iter([wrap(v) for v in outs])
    return _rebuilt(call.form, symbols)


def _parameter(call: ExternalCall) -> Var:
    """A call as a parameter of the program."""
    run, var = trace(), Var(CALLABLE, call.__name__)
    run.reads["external", id(call)] = (Captured(var.name, lambda: call, var, call), call)
    run.inputs[var] = call
    return var


# -- products with matrices of other libraries, and systems of such matrices, have derivatives


def _linear(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """What a call does to an array, where that is linear, and the transpose of it; else None."""
    if kwargs or len(args) != 2 or not is_foreign(args[0]) or not isinstance(args[1], Symbol):
        return None
    matrix, kinds = args[0], (getattr(args[0], "dtype", None), args[1].type.dtype)
    real = all(k is not None and np.dtype(k).kind in "biuf" for k in kinds)
    if not real or not hasattr(matrix, "T") or kinds[1].kind != "f":
        return None
    name = getattr(f, "__name__", "")
    if f is operator.matmul or name == "dot":
        return (lambda x: matrix @ x), (lambda x: matrix.T @ x)
    if name == "spsolve" and str(f.__module__).startswith("scipy.sparse"):
        return (lambda x: f(matrix, x)), (lambda x: f(matrix.T, x))
    return None


def _call_linear(both: tuple[Any, Any], f: Any, x: Symbol) -> Any:
    """A call that is linear in an array; `both`: what it does, and the transpose of that."""
    forward, back = both
    run, name = trace(), getattr(f, "__name__", "product")
    value = forward(_observed(x.value(), name))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        raise UnsupportedError(f"{qualified(f)} gives no array of NumPy", "make it one outside")
    run.relies_on_results = True
    run.note(f"{qualified(f)} has no rule: the program calls it")
    array: Any = ((Hole(0),), {})
    calls = [ExternalCall(forward, array, _form(value, [])), ExternalCall(back, array)]
    for call, what in zip(calls, (name, f"{name}_transposed"), strict=True):
        call.__name__ = what
    functions = map(_parameter, calls)
    out = linear_call(*functions, x.value(), sizes=value.shape, dtype=value.dtype)
    if run.call_values is not None and len(run.blocks) == 1:
        run.call_values.give(out, value)
    return wrap(out)


def _frozen(value: Any) -> Any:
    """An array that the function can only read."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _observed(a: Atom, name: str) -> Any:
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


def _with_holes(value: Any, atoms: list[Atom]) -> Any:
    if isinstance(value, Symbol):
        atoms.append(value.value())
        return Hole(len(atoms) - 1)
    if type(value) is dict:
        return {k: _with_holes(v, atoms) for k, v in value.items()}
    if isinstance(value, (StagedList, list)):
        return [_with_holes(v, atoms) for v in value]
    if isinstance(value, tuple):
        parts = [_with_holes(v, atoms) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _filled(value: Any, values: list[Any]) -> Any:
    if isinstance(value, Hole):
        return values[value.number]
    if type(value) is dict:
        return {k: _filled(v, values) for k, v in value.items()}
    if type(value) is list:
        return [_filled(v, values) for v in value]
    if isinstance(value, tuple):
        parts = [_filled(v, values) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _form(value: Any, leaves: list[Any]) -> Any:
    """How a result is put together; its numbers and arrays go to `leaves`."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        leaves.append(value)
        return (np.ndarray, value.dtype, value.shape)
    if isinstance(value, (float, int, complex, np.number)) and not isinstance(value, bool):
        leaves.append(value)
        return (type(value),)
    if type(value) in CONTAINERS:
        return (type(value), *(_form(v, leaves) for v in value))
    if hasattr(value, "_fields"):
        return (type(value), *(_form(v, leaves) for v in value))
    if type(value) is dict and all(map(is_constant, value)):
        return (dict, tuple(value), *(_form(v, leaves) for v in value.values()))
    if is_constant(value):
        return ("constant", value)
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
