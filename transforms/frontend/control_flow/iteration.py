"""Stages the builtin functions that make iterators, where they meet symbols."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.language import Literal
from tapeless.transforms.errors import Signal, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, atoms, wrap
from tapeless.transforms.frontend.control_flow import combinatorics
from tapeless.transforms.frontend.control_flow.branches import branch, choose, for_each_option
from tapeless.transforms.frontend.control_flow.comprehensions import (
    Lazy,
    Undecided,
    each_item,
    filter_items,
    must_roll,
    undone_if_undecided,
)
from tapeless.transforms.frontend.control_flow.known_items import in_arrays
from tapeless.transforms.frontend.control_flow.loop_ranges import (
    Sequence,
    indexed_sequence,
    sequence,
)
from tapeless.transforms.frontend.control_flow.loops import for_loop
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.effects.effects import raise_
from tapeless.transforms.frontend.heap.iterators import (
    Advancing,
    CountIterator,
    Once,
    refuse_outer_iterators,
)
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.objects.attributes import watch_class
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import as_either
from tapeless.transforms.frontend.values.container_aliases import require_current
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.ops.numpy.run_time_errors import raise_where
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal


def range_(hooks: Any, *args: Any) -> Any:
    if not any(isinstance(a, Symbol) for a in args):
        return range(*args)
    start, stop, step = (
        (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    )
    for a in (start, stop, step):
        if isinstance(a, Symbol) and a.type.dtype.kind not in "iub":
            raise TypeError(f"'{a.type.dtype.name}' object cannot be interpreted as an integer")
        if isinstance(a, Symbol) and a.type.dtype.kind == "b" and not a.type.weak:
            raise TypeError("'numpy.bool' object cannot be interpreted as an integer")
    return Sequence(tuple(atom(atoms(a)) for a in (start, stop, step)), lambda k: k, True)  # type: ignore[arg-type]


def len_(hooks: Any, x: Any) -> Any:
    if isinstance(x, Symbol):
        if not x.type.shape:
            raise TypeError("object of type 'float' has no len()")
        if x.listing is not None:
            x.value()  # it may have been made longer or shorter under another name
        return x.shape[0]
    if isinstance(x, StagedList):
        require_current(x)
        return x.length()
    if isinstance(x, Sequence):
        if x.is_range and isinstance(x.step, Symbol):
            raise_where(equal(x.step.value(), 0), ValueError, "range() arg 3 must not be zero")
            return hooks.call(max, -((x.start - x.stop) // x.step), 0)
        return wrap(_count(x))
    if isinstance(x, ChosenText):
        return for_each_option(len, as_either(x))
    method = getattr(type(x), "__len__", None)
    entered = hasattr(method, "__code__") and not isinstance(x, Text)
    if entered:
        watch_class(type(x), "__len__")
    return hooks.call(method, x) if entered else len(x)


def _count(s: Sequence) -> Any:
    return atom_of_size(s.count)


def item_of(hooks: Any, x: Any) -> tuple[Any, Callable[[Any], Any]]:
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
    if isinstance(x, CountIterator):
        first, x.left = x.count, True
        return None, lambda k: first + k * x.step
    if isinstance(x, list):  # which may be stored to meanwhile
        return len(x), lambda k: hooks.item(x, k)
    items = list(x)
    return len(items), lambda k: hooks.item(items, k)


def zip_(hooks: Any, *parts: Any, strict: bool = False) -> Any:
    if not any(map(_is_advanced, parts)):
        parts = tuple(map(in_arrays, parts))
    if _run_through(parts):
        return zip(*parts, strict=strict)
    items = [item_of(hooks, p) for p in parts]
    length, run = next(n for n, _ in items if n is not None), trace()
    for k, (n, _) in enumerate(items, 1):
        if n is None:
            continue
        compared = run.value(n) is not None and run.value(length) is not None
        if n == length or ((strict or compared) and run.same_size(n, length)):
            continue
        if strict:
            raise ValueError(f"zip() argument {k} is not as long as argument 1")
        length = _shorter(n, length)
    return indexed_sequence(length, lambda k: tuple(item(k) for _, item in items), parts)


def _shorter(a: dims.Size, b: dims.Size) -> dims.Size:
    x, y = trace().value(a), trace().value(b)
    if x is None or y is None:  # run-time values say which
        return dims.minimum(a, b)
    shorter, longer = (a, b) if x < y else (b, a)
    trace().guard(">=", longer, shorter)
    return shorter


def _run_through(parts: tuple[Any, ...]) -> bool:
    """Whether to take items one by one as Python does: an iterator may have no end, and is left
    where the shortest of the others ends."""
    return any(map(_is_advanced, parts)) or not any(map(must_roll, parts))


def _is_advanced(part: Any) -> bool:
    return isinstance(part, Iterator) and not isinstance(part, CountIterator)


def enumerate_(hooks: Any, iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, Advancing) and iterable.pushes:
        return hooks.call(combinatorics.numbered, iterable, start)
    iterable = in_arrays(iterable)
    if not must_roll(iterable):
        pairs = enumerate(iterable)
        plain = not isinstance(start, Symbol)
        return enumerate(iterable, start) if plain else ((start + k, v) for k, v in pairs)
    n, item = item_of(hooks, iterable)
    return indexed_sequence(n, lambda k: (k + start, item(k)), (iterable,))


def reversed_(hooks: Any, x: Any) -> Any:
    if isinstance(x, Sequence) and x.is_range:
        return x[::-1]
    x = in_arrays(x)
    if must_roll(x):
        n, item = item_of(hooks, x)
        last = len_(hooks, x) - 1
        return indexed_sequence(n, lambda k: item(last - k), (x,))
    return reversed(x)


def map_(hooks: Any, f: Any, *parts: Any) -> Any:
    if len(parts) == 1 and isinstance(parts[0], Advancing) and parts[0].pushes:
        return hooks.call(combinatorics.mapped, f, *parts)
    zipped = zip_(hooks, *parts)
    if isinstance(zipped, Sequence):
        return indexed_sequence(zipped.count, lambda k: hooks.call(f, *zipped.item(k)), (zipped,))
    return itertools.starmap(functools.partial(hooks.call, f), zipped)


def filter_(hooks: Any, f: Any, x: Any) -> Any:
    test = bool if f is None else f
    return filter_items(x, lambda v: hooks.call(test, v), getattr(f, "__code__", None))


def reduce_(hooks: Any, f: Any, x: Any, *initial: Any) -> Any:
    return fold(hooks, lambda a, b: hooks.call(f, a, b), x, *initial)


def fold(hooks: Any, combine: Callable[[Any, Any], Any], x: Any, *initial: Any) -> Any:
    """functools.reduce by a function of ours; a loop where x is rolled."""
    if isinstance(x, Lazy) and x.pushes and not initial:
        x = x.to_list(True)
    if must_roll(x):
        n, item = item_of(hooks, x)
        if not initial:
            _require_first(hooks, x)
        total = [initial[0] if initial else item(0)]
        frame = hooks.frame("reduce")
        frame.total = total[0]

        def body(k: Any) -> None:
            frame.total = combine(frame.total, item(k))

        start = 0 if initial else 1
        seq = Sequence((atom(start), atom_of_size(n), atom(1)), lambda k: k)
        for_loop(seq, body, frame, None, "")
        return frame.total
    if initial and isinstance(x, Advancing) and x.pushes:
        frame = hooks.frame("reduce")
        (frame.total,) = initial

        def take(item: Any) -> None:
            frame.total = combine(frame.total, item)

        for_loop(x, take, frame, None, "")
        return frame.total
    return functools.reduce(combine, x, *initial)


def _require_first(hooks: Any, x: Any) -> None:
    """TypeError where there is nothing to begin a reduction with."""
    message = "reduce() of empty iterable with no initial value"
    branch(len_(hooks, x) == 0, lambda: raise_(TypeError(message)), lambda: None)


def accumulate(hooks: Any, iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    if must_roll(iterable) or (isinstance(iterable, Lazy) and iterable.pushes):
        return hooks.call(combinatorics.accumulated, iterable, func, initial)
    items = list(iterable)
    return itertools.accumulate(items, lambda a, b: hooks.call(func, a, b), initial=initial)


def starmap(hooks: Any, f: Any, x: Any) -> Any:
    return itertools.starmap(functools.partial(hooks.call, f), x)


def next_(hooks: Any, x: Any, *default: Any) -> Any:
    if isinstance(x, Lazy) and not x.started:
        return _first_item(hooks, x, *default)
    if isinstance(x, Once):
        return x.item(*default)
    if special_methods.special(x, "__next__"):
        return next(special_methods.given_by(x), *default)
    if isinstance(x, Symbol) and x.type.shape:
        raise UnsupportedError(
            "next() of an array, which is no iterator, or of x.flat, which is none here",
            "make one first: it = iter(x.flat)",
        )
    return next(refuse_outer_iterators(x), *default)


def _first_item(hooks: Any, x: Lazy, *default: Any) -> Any:
    """The first item of a generator expression; a loop that ends there, where data say which."""
    if not x.must_roll():
        x.ask()
        try:
            with undone_if_undecided(x.made[0]):
                first = next(x.source, *default)
            x.started = True
            return first
        except Undecided:
            pass  # a loop over the same items finds it
    generators = x.from_the_first()
    x.spent(leaves=True)
    if default:
        return _find_first(hooks, generators, *default).item
    try:
        frame = _find_first(hooks, generators)
    except NoNumber:
        frame = _find_first(hooks, generators, None)
    return choose(frame.found, lambda: frame.item, lambda: raise_(StopIteration()))


class NoNumber(Signal):
    """A variable without a value before a loop may only get a number or an array in it."""


def _find_first(hooks: Any, generators: Any, *default: Any) -> Any:
    frame = hooks.frame("next")
    frame.found = False
    if default:
        (frame.item,) = default

    def keep(item: Any) -> None:
        if not default and not isinstance(item, (Symbol, int, float, complex)):
            raise NoNumber
        frame.item, frame.found = item, True

    each_item(generators, keep, frame, "found")
    return frame


def any_item_is(hooks: Any, x: Lazy, wanted: bool) -> Any:
    """Whether an item of a generator expression is true, or false; a loop that ends there."""
    frame = hooks.frame("met")
    frame.found = False

    def note() -> None:
        frame.found = True

    def look(item: Any) -> None:
        sides = (note, lambda: None) if wanted else (lambda: None, note)
        branch(truth(item), *sides)

    each_item(x.made, look, frame, "found")
    return frame.found


def count_(hooks: Any, start: Any = 0, step: Any = 1) -> Any:
    return CountIterator(start, step)
