"""Stages calls of clocks and of Python's `random`: their results are numbers of known types.

start = time.perf_counter()      becomes      the same, when the program runs
random.shuffle(items)            becomes      places = shuffle(len(items)), and the items by places
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.effects.external_arguments import with_holes
from tapeless.transforms.frontend.effects.external_calls import (
    ExternalCall,
    external_call,
    parameter,
)
from tapeless.transforms.frontend.effects.python_generators import generator_of
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.callbacks import FOR_EACH, outside
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.prelude.containers import random_order

INT = np.dtype(int)
CLOCKS: dict[Any, type] = {
    getattr(time, name + suffix): kind
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for suffix, kind in (("", float), ("_ns", int))
    if hasattr(time, name + suffix)
}
#: Methods of generators of Python's `random` that give one number.
DRAWS: dict[str, type] = {
    **dict.fromkeys(("random", "uniform", "triangular", "betavariate", "expovariate"), float),
    **dict.fromkeys(("gammavariate", "gauss", "lognormvariate", "normalvariate"), float),
    **dict.fromkeys(("vonmisesvariate", "paretovariate", "weibullvariate"), float),
    **dict.fromkeys(("randint", "randrange"), int),
}
SEQUENCES = (list, tuple, range, str, StagedList)
NO_READING = object()


def reading(hooks: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a clock gives, or a generator draws, when the program runs; NO_READING of others."""
    generator = generator_of(f, args)
    if type(generator) is random.Random and not trace().birth(generator):
        if f.__name__ in DRAWS and not trace().observing:
            return _number(f, DRAWS[f.__name__], args, kwargs)
        if f.__name__ in ORDERS:
            rest = args if getattr(f, "__self__", None) is generator else args[1:]
            return _in_random_order(hooks, generator, f.__name__, rest, kwargs)
    if f in CLOCKS and not trace().observing:
        return _number(f, CLOCKS[f], args, kwargs)
    return NO_READING


def _number(f: Any, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return wrap(cast(_record_call(f, (kind,), args, kwargs, ()), dtype=np.dtype(kind), python=True))


def _record_call(
    f: Any, form: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: tuple[Size, ...]
) -> Any:
    """A call that gives numbers of the type and the sizes that `form` says."""
    run = trace()
    operands: list[Any] = []
    call = ExternalCall(f, with_holes((args, kwargs), operands), bool(operands))
    call.form = form if all(isinstance(n, int) for n in sizes) else None
    how = {
        "sizes": sizes,
        "kinds": ((np.dtype(form[0]) if not sizes else INT, len(sizes)),),
        "method": None if f in CLOCKS else FOR_EACH,
        "name": call.__name__,
    }
    return run.bind(outside, (parameter(call), *operands), how)[0]


# -- items in the order of places that are drawn


def _in_random_order(
    hooks: Any, generator: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    draw, settle = ORDERS[name]
    if not args or not _is_sequence(args[0]):
        return NO_READING
    items, *rest = args
    n = hooks.call(len, items)
    if not isinstance(n, Symbol) and n == 0:  # which draws nothing
        return getattr(generator, name)(items, *rest, **kwargs)
    return settle(hooks, items, _draw_places(draw, (generator, n, *rest), kwargs))


def _is_sequence(items: Any) -> bool:
    has_items = own_attribute(items, "is_range") or getattr(items, "shape", ())
    return isinstance(items, SEQUENCES) or bool(has_items)


def _draw_places(draw: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The places that a function draws."""
    if trace().observing:
        return external_call(draw, args, kwargs, pure=False)
    if draw is choice:
        return _number(draw, int, args, kwargs)
    count = args[1] if draw is shuffle else kwargs.get("k", args[-1] if draw is sample else 1)
    length = size_of(count.value()) if isinstance(count, Symbol) else count
    return wrap(_record_call(draw, (np.ndarray, INT, (length,)), args, kwargs, (length,)))


def choice(generator: random.Random, n: int) -> int:
    """A place of n."""
    return generator.choice(range(n))


def shuffle(generator: random.Random, n: int) -> Any:
    """All n places."""
    places = list(range(n))
    generator.shuffle(places)
    return np.array(places)


def sample(generator: random.Random, n: int, k: int) -> Any:
    """k different places of n."""
    return np.array(generator.sample(range(n), k), INT)


def choices(generator: random.Random, n: int, *args: Any, **kwargs: Any) -> Any:
    """Places of n, each drawn by itself."""
    return np.array(generator.choices(range(n), *args, **kwargs), INT)


def _rearrange(hooks: Any, items: Any, places: Any) -> None:
    hooks.call(random_order.rearrange, items, places)


def _pick(hooks: Any, items: Any, places: Any) -> Any:
    return hooks.call(random_order.pick, items, places)


def _pick_one(hooks: Any, items: Any, place: Any) -> Any:
    return hooks.call(random_order.pick_one, items, place)


ORDERS: dict[str, tuple[Any, Any]] = {
    "choice": (choice, _pick_one),
    "shuffle": (shuffle, _rearrange),
    "sample": (sample, _pick),
    "choices": (choices, _pick),
}


def shuffle_list(hooks: Any, f: Any, items: Any) -> None:
    """What `shuffle` of a generator of NumPy's does with a list: the order of `permutation`."""
    places = hooks.call(f.__self__.permutation, hooks.call(len, items))
    hooks.call(random_order.rearrange, items, places)
