"""Python's builtin functions where they meet symbols; without symbols they are Python's own."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, size_atom
from tapeless.transforms.core.language import Effect, Literal
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.branches import branch, choose, short_circuit
from tapeless.transforms.frontend.effects import Template, effect_parts
from tapeless.transforms.frontend.loops import for_loop
from tapeless.transforms.frontend.rolling import Unrollable
from tapeless.transforms.frontend.sequences import Sequence, counted, sequence
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol, apply, atoms, wrap
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.truth import truth
from tapeless.transforms.frontend.values import ContentsLocation, contains_symbol
from tapeless.transforms.ops import elementwise
from tapeless.transforms.ops.shapes import cast
from tapeless.transforms.ops.table import FUNCTIONS

SMALL = 8  # comprehensions over at most so many known items are not rolled


def _rolls(x: Any) -> bool:
    """Whether x must be run over as a rolled sequence."""
    return isinstance(x, (Symbol, Sequence)) or (isinstance(x, StagedList) and x.tail is not None)


def _range(hooks: Any, *args: Any) -> Any:
    if not any(isinstance(a, Symbol) for a in args):
        return range(*args)
    start, stop, step = (
        (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    )
    for a in (start, stop, step):
        if isinstance(a, Symbol) and a.type.dtype.kind not in "iub":
            raise TypeError(f"'{a.type.dtype.name}' object cannot be interpreted as an integer")
    return Sequence(tuple(atom(atoms(a)) for a in (start, stop, step)), lambda k: k, True)  # type: ignore[arg-type]


def _len(hooks: Any, x: Any) -> Any:
    if isinstance(x, Symbol):
        if not x.type.shape:
            raise TypeError("object of type 'float' has no len()")
        return x.shape[0]
    if isinstance(x, StagedList):
        return x.length()
    if isinstance(x, Sequence):
        return wrap(_count(x))
    method = getattr(type(x), "__len__", None)
    return hooks.call(method, x) if hasattr(method, "__code__") else len(x)


def _count(s: Sequence) -> Any:
    return size_atom(s.count)


def _item_of(x: Any) -> tuple[Any, Callable[[Any], Any]]:
    """(length or None, function of the position) of a part of a rolled zip."""
    s = sequence(x)
    if s is not None:
        start, _, step = s.span
        plain = (
            isinstance(start, Literal)
            and start.value == 0
            and isinstance(step, Literal)
            and step.value == 1
        )
        return s.count, (s.item if plain else lambda k: s.item(wrap(start) + k * wrap(step)))
    items = list(x)
    return len(items), lambda k: items[k]


def _zip(hooks: Any, *parts: Any, strict: bool = False) -> Any:
    if not any(_rolls(p) for p in parts):
        return zip(*parts, strict=strict)
    made = [_item_of(p) for p in parts if not isinstance(p, itertools.count)]
    length = made[0][0]
    for n, _ in made[1:]:
        if n != length and not trace().same_size(n, length):
            known = [trace().value(n), trace().value(length)]
            if None in known:
                raise UnsupportedError(
                    "zip over arrays whose lengths cannot be compared while staging",
                    "cut them to one length first",
                )
            shorter, longer = (n, length) if known[0] < known[1] else (length, n)  # type: ignore[operator]
            trace().guard(">=", longer, shorter)
            length = shorter
    return counted(length, lambda k: tuple(item(k) for _, item in made))


def _enumerate(hooks: Any, x: Any, start: Any = 0) -> Any:
    if not _rolls(x):
        return (
            enumerate(x, start)
            if not isinstance(start, Symbol)
            else ((start + k, v) for k, v in enumerate(x))
        )
    n, item = _item_of(x)
    return counted(n, lambda k: (k + start, item(k)))


def _reversed(hooks: Any, x: Any) -> Any:
    if isinstance(x, Sequence):
        n, item = _item_of(x)
        last = wrap(_count(x)) - 1
        start, _, step = (wrap(a) for a in x.span)
        if isinstance(step, int) and step == 1:
            return Sequence((atom(atoms(start + last)), atom(atoms(start - 1)), atom(-1)), x.item)
        return counted(n, lambda k: item(last - k))
    if _rolls(x):
        n, item = _item_of(x)
        last = _len(hooks, x) - 1
        return counted(n, lambda k: item(last - k))
    return reversed(x)


def _reduce_rolled(hooks: Any, x: Any, function: Any) -> Any:
    """A function of all elements of something rolled, as an array operation."""
    if isinstance(x, StagedList):
        x = x.arrays()[0]
    if isinstance(x, Sequence):
        x = comprehension("ListComp", (x, lambda item: (lambda: True, lambda: item), False))
        return _reduce_rolled(hooks, x, function)
    return apply(FUNCTIONS[function], x, axis=0)


def _sum(hooks: Any, x: Any, start: Any = 0) -> Any:
    if isinstance(x, Lazy):
        return x.sum(hooks, start)
    if _rolls(x):
        total = _reduce_rolled(hooks, x, np.sum)
        return total if isinstance(start, int) and start == 0 else start + total
    items = list(x)
    return functools.reduce(operator.add, items, start)


def _extremum(name: str, numpy: Any, op: Any) -> Any:
    native = getattr(builtins, name)

    def run(hooks: Any, *args: Any, key: Any = None, **more: Any) -> Any:
        args = tuple(_listed(a) for a in args)
        if len(args) == 1 and _rolls(args[0]) and key is None:
            return _reduce_rolled(hooks, args[0], numpy)
        items = list(args[0]) if len(args) == 1 else list(args)
        if key is not None:
            if any(contains_symbol(i) for i in items):
                return functools.reduce(
                    lambda a, b: choose(
                        hooks.call(key, b) < hooks.call(key, a)
                        if name == "min"
                        else hooks.call(key, b) > hooks.call(key, a),
                        lambda: b,
                        lambda: a,
                    ),
                    items,
                )
            return native(items, key=lambda v: hooks.call(key, v), **more)
        if not contains_symbol(items):
            return native(items, **more)
        if not items and "default" in more:
            return more["default"]
        return functools.reduce(lambda a, b: _pick(op, a, b), items)

    return run


def _pick(op: Any, a: Any, b: Any) -> Any:
    """max(a, b) as Python: b only if it is truly larger."""
    if not isinstance(a, Symbol) and not isinstance(b, Symbol):
        return b if op(b, a) else a
    return choose(op(b, a), lambda: b, lambda: a)


def _listed(x: Any) -> Any:
    return x.listed() if isinstance(x, Lazy) else x


def _abs(hooks: Any, x: Any) -> Any:
    return abs(x)


def _number(kind: type) -> Any:
    def run(hooks: Any, x: Any = 0, *more: Any) -> Any:
        if not isinstance(x, Symbol):
            return kind(x, *more)
        value = x.item().value() if x.type.shape else x.value()
        if kind is bool:
            return truth(x)
        if kind is int and value.type.dtype.kind == "f":
            value = elementwise.trunc(value)
        target = np.dtype(kind)
        made = value if value.type.dtype == target else cast(value, dtype=target)
        return wrap(made)

    return run


def _isinstance(hooks: Any, x: Any, kinds: Any) -> bool:
    if not isinstance(x, Symbol):
        return isinstance(x, kinds)
    options = kinds if isinstance(kinds, tuple) else (kinds,)
    return any(_is_kind(x, k) for k in options)


def _is_kind(x: Symbol, kind: Any) -> bool:
    t = x.type
    if isinstance(kind, tuple):
        return any(_is_kind(x, k) for k in kind)
    if t.shape or x.is_array:
        return issubclass(np.ndarray, kind)
    python = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[t.dtype.kind]
    if t.weak:
        return issubclass(python, kind)
    return issubclass(t.dtype.type, kind)


def _type(hooks: Any, x: Any, *more: Any) -> Any:
    if not isinstance(x, Symbol):
        return type(x, *more)
    if x.type.shape or x.is_array:
        return np.ndarray
    return (
        {"b": bool, "i": int, "f": float, "c": complex}[x.type.dtype.kind]
        if x.type.weak
        else x.type.dtype.type
    )


def _print(
    hooks: Any, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: bool = False
) -> None:
    if file is not None:
        raise UnsupportedError(
            "print to a file from a transformed function", "print to the standard output"
        )
    args: list[Any] = []
    parts = tuple(effect_parts(v, args) for v in values)
    trace().emit(
        Effect("print", tuple(args), {"parts": parts, "sep": sep, "end": end}, trace().origin)
    )


def _list(hooks: Any, x: Any = ()) -> Any:
    x = _listed(x)
    if isinstance(x, StagedList):
        return x.copy()
    if _rolls(x):
        return comprehension("ListComp", (x, lambda item: (lambda: True, lambda: item), False))
    return trace().born(StagedList(x))


def _tuple(hooks: Any, x: Any = ()) -> Any:
    return tuple(x)


def _map(hooks: Any, f: Any, *parts: Any) -> Any:
    if any(_rolls(p) for p in parts):
        made = _zip(hooks, *parts)
        return counted(made.count, lambda k: hooks.call(f, *made.item(k)))
    return (hooks.call(f, *items) for items in zip(*parts, strict=False))


def _filter(hooks: Any, f: Any, x: Any) -> Any:
    return (v for v in x if (v if f is None else hooks.call(f, v)))


def _any_all(conjunction: bool) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        x = _listed(x)
        if _rolls(x):
            return _reduce_rolled(hooks, x, np.all if conjunction else np.any)
        items = list(x)
        if not items:
            return conjunction
        made = short_circuit(tuple((lambda v=v: v) for v in items), conjunction)
        return truth(made)

    return run


def _sorted(hooks: Any, x: Any, key: Any = None, reverse: bool = False) -> Any:
    items = x if isinstance(x, Symbol) else list(x)
    if isinstance(items, Symbol) or contains_symbol(items):
        if key is not None:
            known = [hooks.call(key, v) for v in items]
            if contains_symbol(known):
                raise UnsupportedError(
                    "sorted() by keys that are known only when the program runs", "use np.argsort"
                )
            order = sorted(range(len(known)), key=lambda k: known[k], reverse=reverse)
            return trace().born(StagedList(items[k] for k in order))
        made = apply(FUNCTIONS[np.sort], apply(FUNCTIONS[np.asarray], items))
        made = made[::-1] if reverse else made
        return (
            made
            if isinstance(items, Symbol)
            else trace().born(StagedList(made[k] for k in range(len(items))))
        )
    called = None if key is None else (lambda v: hooks.call(key, v))
    return trace().born(StagedList(sorted(items, key=called, reverse=reverse)))


def _round(hooks: Any, x: Any, digits: Any = None) -> Any:
    if not isinstance(x, Symbol):
        return round(x, digits)
    if digits is None:
        return wrap(cast(elementwise.rint(x.value()), dtype=np.dtype(int)))
    scale = 10.0**digits
    return apply(elementwise.rint, x * scale) / scale


def _pow(hooks: Any, x: Any, y: Any, mod: Any = None) -> Any:
    return pow(x, y) if mod is None else pow(x, y, mod)


def _reduce(hooks: Any, f: Any, x: Any, *initial: Any) -> Any:
    if _rolls(x):
        n, item = _item_of(x)
        total = [initial[0] if initial else item(0)]
        frame = hooks.frame("reduce")
        frame.total = total[0]

        def body(k: Any) -> None:
            frame.total = hooks.call(f, frame.total, item(k))

        start = 0 if initial else 1
        seq = Sequence((atom(start), atom(atoms(wrap(_size(n)))), atom(1)), lambda k: k)
        for_loop(seq, body, frame, None, "")
        return frame.total
    return functools.reduce(lambda a, b: hooks.call(f, a, b), x, *initial)


def _size(n: Any) -> Any:
    return size_atom(n)


def _accumulate(hooks: Any, x: Any, f: Any = operator.add, *, initial: Any = None) -> Any:
    return itertools.accumulate(list(x), lambda a, b: hooks.call(f, a, b), initial=initial)


def _starmap(hooks: Any, f: Any, x: Any) -> Any:
    return (hooks.call(f, *items) for items in x)


def _getattr(hooks: Any, obj: Any, name: str, *default: Any) -> Any:
    if default and not hasattr(obj, name):
        return default[0]
    return hooks.attr(obj, name)


def _setattr(hooks: Any, obj: Any, name: str, value: Any) -> None:
    hooks.set_attr(obj, name, value)


def _iter(hooks: Any, x: Any, *more: Any) -> Any:
    return iter(x, *more)


def _next(hooks: Any, x: Any, *default: Any) -> Any:
    t = trace()
    if t.rolling:
        raise Unrollable("it advances an iterator")
    return next(x, *default)


def _math_sum(hooks: Any, x: Any) -> Any:
    x = _listed(x)
    return _sum(hooks, x, 0.0) if _rolls(x) or contains_symbol(list(x)) else math.fsum(x)


def _prod(hooks: Any, x: Any, *, start: Any = 1) -> Any:
    x = _listed(x)
    if _rolls(x):
        return _reduce_rolled(hooks, x, np.prod) * start
    return functools.reduce(operator.mul, list(x), start)


def _floor(kind: Any) -> Any:
    def run(hooks: Any, x: Any) -> Any:
        return (
            wrap(cast(kind(x.value()), dtype=np.dtype(int)))
            if isinstance(x, Symbol)
            else _FLOORS[kind](x)
        )

    return run


_FLOORS = {
    elementwise.floor: math.floor,
    elementwise.ceil: math.ceil,
    elementwise.trunc: math.trunc,
}


def _str(hooks: Any, x: Any = "", *more: Any) -> Any:
    return Template(((x, -1, ""),)) if contains_symbol(x) else str(x, *more)


BUILTINS: dict[Any, Any] = {
    range: _range,
    len: _len,
    zip: _zip,
    enumerate: _enumerate,
    reversed: _reversed,
    sum: _sum,
    max: _extremum("max", np.max, operator.gt),
    min: _extremum("min", np.min, operator.lt),
    abs: _abs,
    int: _number(int),
    float: _number(float),
    bool: _number(bool),
    complex: _number(complex),
    isinstance: _isinstance,
    type: _type,
    print: _print,
    list: _list,
    tuple: _tuple,
    map: _map,
    filter: _filter,
    any: _any_all(False),
    all: _any_all(True),
    sorted: _sorted,
    round: _round,
    pow: _pow,
    functools.reduce: _reduce,
    itertools.accumulate: _accumulate,
    itertools.starmap: _starmap,
    getattr: _getattr,
    setattr: _setattr,
    iter: _iter,
    next: _next,
    math.fsum: _math_sum,
    math.prod: _prod,
    str: _str,
    repr: _str,
    math.floor: _floor(elementwise.floor),
    math.ceil: _floor(elementwise.ceil),
    math.trunc: _floor(elementwise.trunc),
    np.shape: lambda hooks, x: (
        x.shape
        if isinstance(x, Symbol)
        else wrap(apply(FUNCTIONS[np.asarray], x)).shape
        if contains_symbol(x)
        else np.shape(x)
    ),
    np.ndim: lambda hooks, x: (
        x.ndim
        if isinstance(x, Symbol)
        else np.ndim(x)
        if not contains_symbol(x)
        else apply(FUNCTIONS[np.asarray], x).ndim
    ),
    np.size: lambda hooks, x, axis=None: (
        (x.size if axis is None else x.shape[axis]) if isinstance(x, Symbol) else np.size(x, axis)
    ),
    operator.iadd: lambda hooks, a, b: hooks.inplace("Add", a, b),
    operator.imul: lambda hooks, a, b: hooks.inplace("Mult", a, b),
    operator.setitem: lambda hooks, a, k, v: hooks.set_item(a, k, v),
    operator.getitem: lambda hooks, a, k: hooks.item(a, k),
}


class Lazy:
    """A generator expression: run through as Python does, unless `sum` can roll it."""

    def __init__(self, made: Any) -> None:
        self.made, self.items = made, None

    def rolls(self) -> bool:
        iterable, _, nested = self.made
        return nested or _rolls(iterable) or (isinstance(iterable, range) and len(iterable) > SMALL)

    def listed(self) -> Any:
        """The elements as a list that may be rolled."""
        rolled = None if self.made[2] else _rolled(self.made[0], self.made[1])
        return rolled if rolled is not None else trace().born(StagedList(_run_through(self.made)))

    def __iter__(self) -> Any:
        if self.items is None:
            self.items = _run_through(self.made)
        return self.items

    def __next__(self) -> Any:
        return next(iter(self))

    def sum(self, hooks: Any, start: Any) -> Any:
        frame = hooks.frame("sum")
        frame.total = start
        self.add(frame, self.made)
        return frame.total

    def add(self, frame: Any, made: Any) -> None:
        iterable, function, nested = made

        def body(item: Any) -> None:
            test, inner = function(item)

            def more() -> None:
                if nested:
                    self.add(frame, inner())
                else:
                    frame.total = frame.total + inner()

            branch(test(), more, lambda: None)

        code = function.__code__
        body.__code__ = body.__code__.replace(
            co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
        )
        for_loop(iterable, body, frame, None, "")


def comprehension(kind: str, made: Any) -> Any:
    iterable, function, nested = made
    if kind == "ListComp" and not nested:
        rolled = _rolled(iterable, function)
        if rolled is not None:
            return rolled
    if kind == "GeneratorExp":
        return Lazy(made)
    items = _run_through(made)
    if kind == "ListComp":
        return trace().born(StagedList(items))
    return trace().born(set(items) if kind == "SetComp" else dict(items))


def _run_through(made: Any) -> Any:
    iterable, function, nested = made
    for item in iterable if not isinstance(iterable, Sequence) else _known_range(iterable):
        test, inner = function(item)
        known = truth(test())
        if isinstance(known, Symbol):
            known = bool(known)
        if known:
            if nested:
                yield from _run_through(inner())
            else:
                yield inner()


def _known_range(s: Sequence) -> Any:
    start, stop, step = (wrap(a) for a in s.span)
    return [
        s.item(k) for k in range(operator.index(start), operator.index(stop), operator.index(step))
    ]


def _rolled(iterable: Any, function: Any) -> Any:
    """The comprehension as a loop that fills a list, where it can be rolled."""
    if not _rolls(iterable) and not (isinstance(iterable, range) and len(iterable) > SMALL):
        return None
    out = trace().born(StagedList())
    t = trace()

    class Holder:
        pass

    def body(item: Any) -> None:
        test, inner = function(item)
        known = truth(test())

        def keep() -> None:
            t.touch(ContentsLocation(out))
            out.append(inner())

        if isinstance(known, Symbol):
            branch(known, keep, lambda: None)
        elif known:
            keep()

    key = (
        "comprehension",
        function.__code__.co_filename,
        function.__code__.co_firstlineno,
        function.__code__.co_name,
    )
    if t.decisions.unroll.get(key[1:]) is not None:
        return None
    body.__code__ = body.__code__.replace(co_filename=key[1], co_firstlineno=key[2])
    for_loop(iterable, body, Holder(), None, "")
    return out
