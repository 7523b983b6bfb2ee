"""Defines symbols: what user code computes with during a staged run, in the place of arrays and
numbers.
"""

from __future__ import annotations

import functools
import inspect
import types
from contextlib import suppress
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size, defining_statement
from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays import memory_order as orders
from tapeless.transforms.frontend.arrays import promotions, view_chains, view_or_copy
from tapeless.transforms.frontend.arrays.array_flags import ArrayFlags
from tapeless.transforms.frontend.arrays.concretization import Unknown
from tapeless.transforms.frontend.arrays.external_objects import NamedMethod
from tapeless.transforms.frontend.arrays.foreign_arrays import refuse_foreign
from tapeless.transforms.frontend.arrays.functional_updates import At
from tapeless.transforms.frontend.arrays.numpy_scalars import call_with_numpy_numbers, python_number
from tapeless.transforms.frontend.arrays.operators import following
from tapeless.transforms.frontend.trace.cells import Value
from tapeless.transforms.frontend.trace.dependence import need_integers
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.readers import ConstantArray
from tapeless.transforms.frontend.trace.recorded_reads import Captured
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS, METHODS, WRITERS, full_name
from tapeless.transforms.ops.numpy import creation, indexing
from tapeless.transforms.ops.numpy.cast_rules import as_elements, cast_for_store, check
from tapeless.transforms.ops.numpy.stretched_values import stretch_value
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.boolean_keys import (
    is_truth,
    mask_of_part,
    truth_of,
)
from tapeless.transforms.ops.primitives.index_keys import is_element, result_shape
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import cast

#: Methods of arrays that have no rule and change nothing.
READING = frozenset(["tobytes", "dumps", "byteswap"])


class Symbol(Unknown):
    """An array or scalar whose value is known only when the program runs."""

    __slots__ = ()
    __array_priority__ = 1e6

    def apply_rule(self, rule: Any, *args: Any) -> Any:
        return apply(rule, *args)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        dividend: Any = self
        return dividend // other, dividend % other

    # -- what NumPy arrays say of themselves

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.type.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(wrap(atom_of_size(s)) for s in self.type.shape)

    @property
    def ndim(self) -> int:
        return self.type.ndim

    @property
    def size(self) -> Any:
        return wrap(atom_of_size(dims.product(self.type.shape)))

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's)
        return apply(FUNCTIONS[np.transpose], self)

    @property
    def mT(self) -> Any:  # noqa: N802 (NumPy's)
        return apply(FUNCTIONS[np.matrix_transpose], self)

    @property
    def real(self) -> Any:
        if self.dtype.kind == "c":
            return apply(FUNCTIONS[np.real], self)
        return self

    @property
    def imag(self) -> Any:
        if self.type.weak and self.dtype.kind != "c":
            return 0.0 if self.dtype.kind == "f" else 0
        return apply(FUNCTIONS[np.imag], self)

    @property
    def flat(self) -> Any:
        flat_view = shapes.flatten(self.value())
        return view_of(
            self, ((shapes.reshape, (), {"shape": flat_view.type.shape}),), flat_view.type
        )

    @property
    def device(self) -> str:
        """Where NumPy's arrays are, as the array API standard asks."""
        return np.empty(0).device  # type: ignore[no-any-return,unused-ignore]

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[Any, ...]:
        steps = orders.element_strides(self)
        return tuple(wrap(atom_of_size(step * self.itemsize)) for step in steps)

    @property
    def flags(self) -> ArrayFlags:
        return ArrayFlags(self)

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    @property
    def at(self) -> At:
        return At(self)

    def item(self, *args: Any) -> Any:
        if args:
            key = args[0] if len(args) == 1 else args
            return (self if isinstance(key, tuple) else self.flat)[key].item()
        number = apply(FUNCTIONS[np.reshape], self, ()) if self.type.shape else self
        if isinstance(number, Symbol) and number.dtype == np.uint64:  # int() says what is too large
            return wrap(shapes.cast(number.value(), dtype=np.dtype(int), python=True))
        return python_number(number)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy() if self.mutable else self

    def view(self, dtype: Any = None, type: Any = None) -> Any:  # noqa: A002 (NumPy's)
        if self.type.weak and not self.mutable:
            raise AttributeError("Python's numbers have no attribute 'view'")
        kind = dtype if type is None and is_class_of_arrays(dtype) else type
        if kind not in (None, np.ndarray):
            raise UnsupportedError(
                f"a view as {kind.__name__}", "work with plain arrays, which np.asarray gives"
            )
        if dtype is None or dtype is kind:
            return view_of(self, (), self.type) if self.mutable else self
        return call_numpy(METHODS["view"], (self, dtype), {})

    def fill(self, value: Any) -> None:
        if np.ndim(value) if not isinstance(value, Symbol) else value.type.shape:
            raise ValueError("setting an array element with a sequence.")
        self[...] = value

    def setflags(self, write: bool = True) -> None:
        if write and self.frozen:
            raise UnsupportedError(
                "a read-only array is made writeable", "work on a copy of it: x.copy()"
            )
        self.read_only = not write

    def tolist(self) -> Any:
        return [e.tolist() for e in self] if self.type.shape else self.item()

    def sort(self, axis: int = -1, *args: Any, **options: Any) -> None:
        self[...] = apply(FUNCTIONS[np.sort], self, axis, *args, **options)

    def partition(self, kth: Any, axis: int = -1, *args: Any, **options: Any) -> None:
        self[...] = apply(FUNCTIONS[np.partition], self, kth, axis, *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return BoundRule(self, name)
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
        if name in READING and trace().observing:
            return types.MethodType(NamedMethod(name), self)
        raise UnsupportedError(
            f"the array method or attribute .{name} has no rule",
            "use a NumPy function that has one (docs/numpy.md), or wrap the code in custom_vjp",
        )

    def __contains__(self, item: Any) -> Any:
        return bool(apply(FUNCTIONS[np.any], self == item))

    # -- indexing

    def __delitem__(self, key: Any) -> None:
        if self.mutable:
            raise ValueError("cannot delete array elements")
        raise TypeError(f"'{self.class_name()}' object does not support item deletion")

    def class_name(self) -> str:
        """The name of the class of an array or number, in the words of Python's errors."""
        if self.mutable:
            return "numpy.ndarray"
        dtype = self.type.dtype
        return type(dtype.type(0).item()).__name__ if self.type.weak else f"numpy.{dtype.name}"

    def __getitem__(self, key: Any) -> Any:
        if (parts := mask_of_part(key)) is not None:
            part, mask = parts
            return self[part][mask]
        entries = key if isinstance(key, tuple) else (key,)
        plain = all(e is None or e is Ellipsis or is_truth(atoms(e)) for e in entries)
        if not self.type.shape and not plain:
            raise IndexError("invalid index to scalar variable.")
        if not self.type.shape and entries == (Ellipsis,):
            return view_of(self, (), self.type) if self.mutable else self
        if self.parent is not None:  # an element of a part is one of the base
            template, rest = indexing.normalize(atoms(key), self.type.ndim)
            indexing.check_bounds(self.value, self.type.shape, template)
            (_, places, params), *others = self.place(template, rest)
            if not others and is_element(params["key"], places, self.parent.type.ndim):
                return wrap(indexing.index(self.parent.value(), *places, **params))
        return following(apply(indexing.get, self, key), self)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.mutable:
            raise TypeError(f"'{self.class_name()}' object does not support item assignment")
        if (parts := mask_of_part(key)) is not None:
            part, mask = parts
            self[part][mask] = value
            return
        if (decided_mask := truth_of(atoms(key), self.type.ndim)) is not None:
            self.store_where(*decided_mask, value)
            return
        base = self.value()
        template, rest = indexing.normalize(atoms(key), base.type.ndim)
        indexing.check_bounds(lambda: base, base.type.shape, template)
        empty = value is None and base.type.dtype.kind in "fc"  # nan, as NumPy has it
        held = np.nan if empty else atoms(value)
        several = [a.type.dtype.kind for a in rest if a.type.shape]
        an_array = isinstance(value, np.ndarray) or (isinstance(value, Symbol) and value.mutable)
        if "b" not in several and not an_array:
            held = as_elements(held, base.type.dtype, numpys=not several)
        new = cast_for_store(held, base.type.dtype)
        if not base.type.shape:
            self.write(
                new if new.type.dtype == base.type.dtype else cast(new, dtype=base.type.dtype)
            )
            return
        new = stretch_value(new, base, template, tuple(rest))
        if self.parent is not None and not self.frozen:
            (_, places, params), *others = self.place(template, rest)
            shape = result_shape(base.type.shape, template, rest)
            turned = view_chains.turned_back(new, shape, others)
            if turned is not None:
                root = self.parent.value()
                self.parent.write(indexing.update(root, turned, *places, **params))
                return
        self.write(indexing.update(base, new, *rest, key=template))

    def store_where(self, truth: Any, place: int, rest: list[Any], value: Any) -> None:
        """Stores to what is beside a truth value in a key; it has an axis of its own there, which
        values may have, too."""
        key = tuple(rest)
        chosen = self[key]
        before = (slice(None),) * place
        if atom(atoms(chosen)).type.ndim < as_array(atoms(value)).type.ndim:
            row = Symbol(indexing.get(atom(atoms(chosen)), (*before, None)))
            row[(*before, wrap(shapes.reshape(as_array(truth), shape=(1,))))] = value
            self[key] = row[(*before, 0)]
        elif isinstance(truth, Var):
            self[key] = apply(FUNCTIONS[np.where], truth, value, chosen)
        elif truth:
            self[key] = value

    def place(self, key: Any, rest: Any) -> view_chains.Chain:
        """The views that lead from the base of a view to what a key names; the first picks."""
        assert self.parent is not None
        step, base = (indexing.index, rest, {"key": key}), self.parent.type
        return view_chains.picked_first(
            view_chains.merge_steps((*self.chain, step), base.shape), base.ndim
        )

    # -- NumPy's own dispatch: functions and ufuncs that unrewritten code calls

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return call_numpy(ufunc, inputs, kwargs)
        return call_numpy(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_numpy(func, args, kwargs)


class BoundRule:
    """A method of a symbol, such as `x.sum`."""

    def __init__(self, symbol: Symbol, name: str) -> None:
        self.symbol, self.name = symbol, name

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        result = call_numpy(METHODS[self.name], (self.symbol, *args), kwargs)
        if self.name == "copy" and not args and not kwargs and self.symbol.mutable:
            result = _array_without_axes(result, None, np.copy)
            orders.lay_out(METHODS["copy"], (self.symbol,), {}, result)  # np.copy keeps the order
        return following(result, self.symbol)


def is_class_of_arrays(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, np.ndarray)


def wrap(value: Any) -> Any:
    """Atoms become symbols, or Python and NumPy scalars where they are literal."""
    if isinstance(value, Literal):
        return value.value
    if isinstance(value, Var):
        return Symbol(value)
    if isinstance(value, (tuple, list)):
        items = [wrap(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def atoms(value: Any, memo: dict[int, Atom] | None = None) -> Any:
    """Symbols and arrays become atoms, also inside lists, tuples, dicts and slices."""
    if isinstance(value, Symbol):
        return value.value() if memo is None or id(value) not in memo else memo[id(value)]
    if isinstance(value, np.ndarray):
        return constant(value)
    if isinstance(value, range):
        return constant(np.array(value))
    if hasattr(type(value), "as_atom"):
        return value.as_atom()
    if isinstance(value, (list, tuple)):
        items = [atoms(v, memo) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: atoms(v, memo) for k, v in value.items()}
    if isinstance(value, slice):
        return slice(atoms(value.start), atoms(value.stop), atoms(value.step))
    return value


def constant(array: np.ndarray[Any, Any], name: str = "") -> Atom:
    """An array made while staging: written out if it is small, an input of the program if not."""
    t = trace()
    refuse_foreign(array, "x")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"arrays of dtype {array.dtype} cannot be staged")
    if not array.shape:
        return atom(array[()])
    if array.size <= 32:
        elements = map(atom, array.ravel().tolist())
        array_atom: Atom = creation.array(*elements, shape=array.shape, dtype=array.dtype)
        return array_atom
    key = ("array", id(array))
    if key not in t.reads:
        name = name or "constant"
        var = Var(Type(array.dtype, tuple(array.shape)), name)
        t.reads[key] = (
            Captured(name, ConstantArray(array), var, array),
            Symbol(var, is_array=True),
        )
        t.inputs[var] = array
    return t.reads[key][1].value()  # type: ignore[no-any-return]


def apply(rule: Any, *args: Any, **kwargs: Any) -> Any:
    """Runs a rule on symbols; results that are views of an argument stay connected to it."""
    parents = [a for a in args if isinstance(a, Symbol) and a.mutable]
    values = [p.value() for p in parents]
    memo = {id(p): v for p, v in zip(parents, values, strict=True)}
    result = rule(*[atoms(a, memo) for a in args], **atoms(kwargs, memo))
    if not _gives_views(rule, kwargs):
        symbol = wrap(_of_its_own(result))
        if any(result is v for v in values) and isinstance(symbol, Symbol) and symbol.mutable:
            symbol.cell.made = None  # type: ignore[union-attr]  # m * 1 is not m
        return symbol
    symbol_of: dict[Atom, Value] = dict(zip(values[::-1], parents[::-1], strict=True))
    for p in parents:
        if p.parent is not None and p.parent.cell is not None:
            symbol_of.setdefault(p.parent.cell.atom, p.parent)
    if isinstance(result, (tuple, list)):
        return type(result)(_wrap_view(part, symbol_of, rule) for part in result)
    symbol = _wrap_view(result, symbol_of, rule, _gives_arrays(rule, args))
    if rule is FUNCTIONS[np.imag] and isinstance(symbol, Symbol) and not np.iscomplexobj(args[0]):
        symbol.read_only = True
    return symbol


def opposite(test: Any) -> Any:
    """not test, of a symbol or a truth value of Python's."""
    return apply(FUNCTIONS[np.logical_not], test) if isinstance(test, Symbol) else not test


def _of_its_own(result: Any) -> Any:
    """What a function made that gives no views: m[0] * 1 is no part of m, nor are its parts."""
    if not isinstance(result, Var) or not result.type.shape:
        return result
    let = defining_statement(result)
    return result if let is None or not let.op.view else shapes.copy(result)


def _gives_arrays(rule: Any, args: tuple[Any, ...]) -> bool:
    """Whether what has no axes is an array, and no number: an element of one is a number, unless
    the key has an ellipsis."""
    if rule is not indexing.get:
        return True
    entries = args[1] if isinstance(args[1], tuple) else args[1:]
    return any(e is Ellipsis for e in entries)


def _gives_views(rule: Any, kwargs: dict[str, Any]) -> bool:
    copy = kwargs.get("copy", rule not in view_or_copy.VIEWS and rule not in view_or_copy.PERHAPS)
    return copy is not True


def _wrap_view(result: Any, symbol_of: dict[Atom, Value], rule: Any, an_array: bool = True) -> Any:
    """What a function that gives views made: a part of an argument, or an array of its own."""
    if not isinstance(result, Var):
        return wrap(result)
    steps = view_or_copy.path(result, symbol_of)
    if not result.type.shape and (steps is None or not an_array):
        return wrap(result)
    symbol = (
        Symbol(result) if steps is None else _part_of(symbol_of[steps[0]], result, steps[1], rule)
    )
    if rule in view_or_copy.READ_ONLY:
        symbol = view_of(symbol, (), result.type)
        symbol.read_only = True
        symbol.viewed_whole = rule is FUNCTIONS[np.broadcast_arrays]  # of one shape: the argument
    return symbol


def _part_of(source: Any, view: Var, lets: list[Let], rule: Any) -> Symbol:
    is_view, orders = view_or_copy.verdict(rule, view, lets)
    if is_view:
        chain = tuple((s.op, s.args[1:], s.params) for s in lets)
        symbol = view_of(source, chain, view.type) if lets else source
        symbol.viewed_whole |= not lets and rule not in view_or_copy.SAME_ARRAY
        symbol.read_only |= view_or_copy.is_read_only_part(rule, lets)
    else:
        symbol = Symbol(view, is_array=True)
        if is_view is None:
            trace().memory.share(symbol.cell, source.memory())
    trace().memory.rely(orders, symbol.memory() | source.memory())
    return symbol


def view_of(parent: Value, chain: view_chains.Chain, kind: Type) -> Symbol:
    """A view of the array at the root."""
    read_only = parent.read_only
    if parent.parent is not None:
        parent, chain = parent.parent, (*parent.chain, *chain)
    chain = view_chains.merge_steps(chain, parent.type.shape)
    symbol = Symbol(None, parent, chain, is_array=not kind.shape, kind=kind)
    symbol.read_only = read_only
    return symbol


def _as_line(a: Any) -> Any:
    """A range of integers that are known when the program runs, as an array."""
    if not own_attribute(a, "is_range"):
        return a
    return apply(FUNCTIONS[np.arange], a.start, a.stop, a.step)


#: How libraries that also know NumPy 1 write whether an array is copied.
COPY_MODES = {
    np._CopyMode.ALWAYS: True,
    np._CopyMode.IF_NEEDED: None,
    np._CopyMode.NEVER: False,
}


def call_numpy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function, ufunc or method, on symbols; refuses by name what has no rule."""
    if any(own_attribute(a, "is_range") for a in args):
        args = tuple(map(_as_line, args))
    if kwargs.get("device", "") in (None, "cpu"):  # all that NumPy knows
        kwargs = {k: v for k, v in kwargs.items() if k != "device"}
    if "copy" in kwargs:
        kwargs["copy"] = COPY_MODES.get(kwargs["copy"], kwargs["copy"])
    out = kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if out is None and isinstance(func, np.ufunc) and len(args) == func.nin + 1:
        args, out = args[:-1], args[-1]
    if func.__hash__ and func in WRITERS:
        return _overwrite(WRITERS[func], *args, **kwargs)
    func, args, kwargs = orders.with_known_order(func, args, kwargs)
    rule = _rule_of(func, (*args, *kwargs.values()))
    place = _place_of_out(rule)
    if out is None and place is not None and len(args) > place:
        args, out = (*args[:place], None, *args[place + 1 :]), args[place]
    if out is not None and not _fills_out(func):
        out = None
    if isinstance(func, np.ufunc):
        if func.nin == 2:
            promotions.check(func.__name__, args, func is not np.matmul)
        where, casting = kwargs.pop("where", True), kwargs.pop("casting", "same_kind")
        if where is not True:
            args = tuple(_harmless(func, where, x) for x in args)
            return _only_where(func, where, apply(rule, *args, **kwargs), out, casting)
        if out is None:
            result = call_with_numpy_numbers(func, lambda *a: apply(rule, *a, **kwargs), *args)
            return following(result, *args)
    join = getattr(args[0], "stack_elements", None) if args else None
    result = None if join is None else join(func, *args[1:], **kwargs)
    if result is None:
        result = call_with_numpy_numbers(func, lambda *a: apply(rule, *a, **kwargs), *args)
    if func.__hash__ and func in GIVES_ARRAYS and not isinstance(result, tuple):
        result = _array_without_axes(result, args[0] if args else None, func)
    if func is np.broadcast_arrays:
        result = type(result)(_array_without_axes(part, None, func) for part in result)
    orders.lay_out(func, args, kwargs, result)
    if func is np.nan_to_num and kwargs.get("copy") is False:
        out = args[0]
    if isinstance(out, Symbol) and (isinstance(func, np.ufunc) or func is np.clip):
        _check_out(func, result, out, casting if isinstance(func, np.ufunc) else "same_kind")
    return result if out is None else _store_out(out, result)


def _check_out(func: Any, result: Any, out: Symbol, casting: str) -> None:
    check(atom(atoms(result)).type, out.dtype, casting, f"ufunc '{func.__name__}' output")


#: Functions that give arrays, where others give numbers for what has no axes.
GIVES_ARRAYS = frozenset(
    {np.zeros, np.ones, np.empty, np.full, np.array, np.asarray, np.asanyarray}
    | {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy}
    | {np.where, np.tensordot, np.linalg.tensordot, np.piecewise, np.i0, np.cross}
)


def _array_without_axes(result: Any, source: Any, func: Any) -> Any:
    """What such a function gives, which can be stored into also if it has no axes."""
    value = atom(atoms(result))
    if value.type.shape:
        return result
    same = func in (np.asarray, np.asanyarray) and isinstance(source, Symbol)
    if same and source.is_array and source.value() is value:
        return source
    return Symbol(value, is_array=True)


@functools.cache
def _fills_out(func: Any) -> bool:
    """Whether a function fills `out`: some transforms of NumPy 2 take it and give a new array."""
    if func not in (np.fft.ifft2, np.fft.irfft2, np.fft.hfft):
        return True
    out = np.zeros((2, 2), complex if func is np.fft.ifft2 else float)
    func(np.ones((2, 2)), 2 if func is np.fft.hfft else (2, 2), out=out)
    return bool(np.any(out))


@functools.cache
def _place_of_out(rule: Any) -> int | None:
    """Where a function that is not a ufunc takes out= by position."""
    parameters = inspect.signature(rule).parameters
    position = parameters.get("out")
    if position is None or position.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(parameters).index("out")


def _rule_of(func: Any, args: tuple[Any, ...]) -> Any:
    rule = FUNCTIONS.get(func) if func.__hash__ else None
    if rule is None and func in METHODS.values():
        return func
    if rule is None:
        need_integers(full_name(func), args)
        raise UnsupportedError(
            f"{full_name(func)} has no rule",
            "write it with functions that have one (docs/numpy.md), "
            "or give its derivative with custom_vjp",
        )
    return rule


def _harmless(ufunc: np.ufunc, where: Any, operand: Any) -> Any:
    """An operand with numbers that a ufunc does not warn of where it is not to be computed."""
    plain = not isinstance(operand, Symbol) or operand.dtype.kind not in "fc"
    if plain or (np.ndim(where) and operand.type.ndim < where.ndim):
        return operand
    number = np.zeros((), operand.dtype) + _neutral_number(ufunc)
    return apply(FUNCTIONS[np.where], where, operand, number)


@functools.cache
def _neutral_number(ufunc: np.ufunc) -> float:
    """A number that a ufunc takes, also as each of two."""
    for number in (1.0, 0.5):
        with np.errstate(all="raise"), suppress(FloatingPointError):
            if np.isfinite(ufunc(*[number] * ufunc.nin)):
                return number
    return 0.0


def _only_where(ufunc: np.ufunc, where: Any, result: Any, out: Any, casting: str) -> Any:
    """Stores what a ufunc made where a mask is true; without `out` other elements are undefined in
    NumPy, and 0 here."""
    if out is None:
        return apply(FUNCTIONS[np.where], where, result, np.zeros((), result.dtype))
    _check_out(ufunc, result, out, casting)
    return _store_out(out, apply(FUNCTIONS[np.where], where, result, out))


def _store_out(out: Any, result: Any) -> Any:
    if not isinstance(out, Symbol):
        raise UnsupportedError(
            "out= must be an array of this program", "use np.empty for it inside the function"
        )
    out[...] = result
    return out


def _overwrite(rule: Any, target: Any, *args: Any, **kwargs: Any) -> None:
    if not isinstance(target, Symbol):
        raise UnsupportedError(
            "an array that was made outside of the program is overwritten", "copy it first"
        )
    target.write(rule(target.value(), *atoms(args), **atoms(kwargs)))
