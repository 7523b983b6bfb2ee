"""Represents the code emitted for one signature, and decides for which calls it may run again."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from tapeless import tree
from tapeless.backends.fork_safe_locks import SHARING
from tapeless.dispatch.container_writeback import Change, refuse_passed, refuse_shared, store
from tapeless.dispatch.memory_requirements import NO_REQUIREMENTS, MemoryRequirements
from tapeless.lazy_import import lazy_module
from tapeless.staging.jax_arrays import ARRAYS, Array, functional, has_functional, plain
from tapeless.staging.pending_arrays import wait_for_all
from tapeless.transforms.core import dims
from tapeless.transforms.core.constants import exactly
from tapeless.transforms.core.language import Block, Effect, statements
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object
from tapeless.transforms.frontend.trace.provenance import of_library, of_ours

if TYPE_CHECKING:
    from tapeless.dispatch import generator_states
    from tapeless.dispatch.asynchronous.hand_over import HandOver
    from tapeless.random import key_reuse as reuse
    from tapeless.transforms.emit import module
    from tapeless.transforms.frontend.staging import parameters as inputs
    from tapeless.transforms.frontend.staging.stage import Staged
    from tapeless.transforms.frontend.trace.recorded_reads import Guard
    from tapeless.transforms.frontend.values.structure import Structure
else:
    generator_states = lazy_module("tapeless.dispatch.generator_states")
    reuse = lazy_module("tapeless.random.key_reuse")
    inputs = lazy_module("tapeless.transforms.frontend.staging.parameters")
    module = lazy_module("tapeless.transforms.emit.module")

NUMBERS = frozenset(
    {float, int, complex, *(t for t in np.sctypeDict.values() if issubclass(t, np.number))}
)
Key = tuple[Any, ...]
Parts = list[tuple[Any, Any]]  # of the identity of a function: a key, and the object behind it
Enter = Callable[[tuple[Any, ...], dict[str, Any]], Any]
OBJECT = "an object of"
MISSED = object()  # what an entry returns for a call of another signature
RELATIONS = {"==": operator.eq, "!=": operator.ne, ">=": operator.ge}


def always_miss(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The entry of what has been called once only."""
    return MISSED


# -- signatures


def leaf_key(x: Any) -> Any:
    """What a program is specialised on: type, rank, axes of length 0 or 1; of flags and sets
    the value; of objects of users' classes the class."""
    kind = type(x)
    if kind in NUMBERS:
        return kind
    if isinstance(x, np.ndarray) and x.dtype.kind in "biufc":
        key = (x.dtype, *[n if n < 2 else 2 for n in x.shape])
        return (Array, *key) if kind in ARRAYS else key
    if isinstance(x, (str, bytes, bool, np.bool_)):
        return (kind, x)
    if is_generator(x):
        return kind
    if on_gpu(x):
        return ("gpu", x.dtype, *[n if n < 2 else 2 for n in x.shape])
    if kind is set or kind is frozenset:
        return (kind, *map(exactly, x))
    if is_plain_object(x):  # which one, the specialisation knows
        return (OBJECT, kind)
    return (kind, bytes(x)) if kind is bytearray else id(x)  # the specialisation keeps x alive


def quick_key(args: tuple[Any, ...]) -> Key | None:
    """The key of a call with numbers and arrays only, without looking for containers."""
    key: list[Any] = []
    for x in args:
        kind = type(x)
        if kind in NUMBERS:
            key.append(kind)
        elif kind is np.ndarray and x.dtype.kind in "biufc":
            key.append((x.dtype, *[n if n < 2 else 2 for n in x.shape]))
        else:
            return None
    return tuple(key)


def call_key(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    ordered: bool = False,
    flatten: Callable[[Any], tuple[list[Any], Any]] = tree.flatten_known,
) -> tuple[Any, Key]:
    """The leaves of the arguments, and the key under which specialisations are kept; `ordered`:
    whether the function sees the order of keywords."""
    key = None if kwargs else quick_key(args)
    if key is not None:
        return args, key
    leaves, structure = flatten((args, kwargs))
    orders = key_orders((args, kwargs if ordered else [kwargs[k] for k in sorted(kwargs)]))
    generators = [id(x) for x in leaves if is_generator(x)]
    alike = tuple(map(generators.index, generators))  # which of them are one
    return leaves, (structure, orders, *map(leaf_key, leaves), *alike[1:])


def key_orders(value: Any) -> Any:
    """The order of keys of all dicts in nested containers: programs may go over them."""
    if isinstance(value, dict):
        inner = (o for v in value.values() if (o := key_orders(v)) is not None)
        return (*value, *inner) if value else None
    if is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, f.name, None) for f in fields(value)]
    if isinstance(value, (list, tuple, deque)):
        orders = [o for v in value if (o := key_orders(v)) is not None]
        return tuple(orders) or None
    return None


class Specialisation:
    """One emitted function, with what it relies on."""

    hand_over: HandOver | None = None  # gives calls to a thread: MISSED where they are made at once
    plan: Any = None  # of vjp and linearize: their second function
    second: Any = None  # the same as a program of its own, on a GPU
    stands_for: Specialisation | None = None  # the one for other objects that has the same code
    changes: tuple[Change, ...] = ()  # of containers of the caller
    result: Structure | None  # how the value is put together, where it is not returned as it is
    captured_names: tuple[str, ...] = ()  # of what is read from outside
    keys: tuple[int, ...] = ()  # leaves with random keys that each call uses
    twice: tuple[tuple[str, str, int], ...] = ()  # reports of keys that a call uses twice
    slow: tuple[tuple[str, str, int], ...] = ()  # reports of loops that are slow
    has_code = True  # not calls that stand for a program
    traced = False  # whether it is for one way through the function
    stretches = False  # whether arrays of one element are stretched whose lengths only a run says
    reorders = False  # whether its code may raise another error first than the program
    reason = ""  # why it was made, where there was one for such arguments
    number = 0  # the later it was made, the higher

    def __init__(
        self,
        run: Callable[..., Any],
        text: str,
        staged: Staged,
        simplified: Block,
        flat: bool,
        keywords: tuple[str, ...] | None,
        returned: Any = None,
    ) -> None:
        self.run, self.text, self.staged = run, text, staged
        self.simplified, self.flat, self.keywords = simplified, flat, keywords
        self.returned = returned  # how leaves become registered classes
        self.enter: Enter = always_miss  # the quick way in
        leaves = list(enumerate(staged.leaves))
        self.static = [(k, v.value) for k, v in leaves if v.static and _may_change(v.value)]
        self.axes = [(k, axis, v.value.shape[axis]) for k, v in leaves for axis in v.axes]
        self.captured = [(c.get, leaf_key(c.array)) for c in staged.captured]
        self.captured_names = tuple(c.name for c in staged.captured)
        self.guards, self.sizes = staged.guards, staged.sizes
        self.traced = staged.traced
        self.memory = MemoryRequirements.of_staged(staged)
        self.result, self.writes, self.held = staged.result, staged.writes, staged.held
        self.outside = staged.outside
        self.twice = staged.keys.twice
        self.slow = tuple((str(loop), loop.file, loop.line) for loop in staged.slow)
        self.keys = tuple(k for k, v in leaves if v.var in staged.keys.inputs)
        self.functional = staged.functional or has_functional(v.value for v in staged.leaves)
        for leaf in staged.leaves:
            if leaf.var is not None:
                leaf.value = None  # the arrays of the first call need not live on
        for c in staged.captured:
            c.array = None
        self.takes_args = not (flat or staged.captured or returned or keywords is None)
        self.is_plain = self.takes_args and not self.functional

    def native_entry(self, missed: Any) -> Callable[..., Any] | None:
        """Machine code that takes the arguments by itself, and returns `missed` for those of other
        types; None if there is none, or if more than types has to be tested."""
        tests = (self.static, self.axes, self.guards, self.captured, self.sizes, self.keys)
        if any(tests) or self.memory is not NO_REQUIREMENTS or not self.is_plain or self.keywords:
            return None
        make = getattr(self.run, "latest_entry", None)
        return None if make is None else make(missed)

    def accepts(self, leaves: Any) -> bool:
        """Whether the function is right for these arguments and what it reads from outside: the
        same as the entry tests."""
        if self.traced and STRICT[0]:
            return False
        if not self.fits(leaves):
            return False
        return self.memory_holds(leaves)

    def fits(self, leaves: Any) -> bool:
        """The same but for where arrays lie in memory."""
        for k, value in self.static:
            if not is_same_leaf(value, leaves[k]):
                return False
        for k, axis, n in self.axes:
            if leaves[k].shape[axis] != n:
                return False
        for g in self.guards:
            if not g.holds():
                return False
        for get, key in self.captured:
            if leaf_key(get()) != key:
                return False
        return not self.sizes or self.sizes_hold(leaves)

    def use_keys(self, leaves: Any) -> None:
        """Notes that a call uses random keys."""
        reuse.use_all(leaves[k] for k in self.keys)

    def inputs(self, leaves: Any) -> Sequence[Any]:
        """What the emitted function works on: the leaves, then what is read from outside."""
        return [*leaves, *(get() for get, _ in self.captured)] if self.captured else leaves

    def memory_holds(self, leaves: Any) -> bool:
        """Whether arrays lie in memory as the program relies on, and may be overwritten."""
        return self.memory is NO_REQUIREMENTS or self.memory.hold(self.inputs(leaves))

    def refuse_overlap(self, leaves: Any) -> None:
        """Refuses arguments that share memory if the program stores to one and reads another."""
        if self.memory.apart:
            self.memory.refuse_overlap(self.inputs(leaves))

    @functools.cached_property
    def prints(self) -> bool:
        """Whether the program prints."""
        inside = statements(self.staged.block)
        return any(isinstance(s, Effect) and s.kind == "print" for s in inside)

    @functools.cached_property
    def compares_lengths(self) -> bool:
        """Whether the program relies on that lengths are equal which run-time values decide."""
        inside = statements(self.staged.block)
        return any(isinstance(s, Effect) and s.params.get("by_data", False) for s in inside)

    @property
    def fully_traced(self) -> bool:
        """Whether each test and loop went the way of a call."""
        return bool(self.traced and self.staged.decisions.traced)

    @functools.cached_property
    def draws(self) -> bool:
        """Whether the program draws random numbers, or calls what may."""
        return generator_states.draws(self.staged.block)

    def sizes_hold(self, leaves: list[Any]) -> bool:
        """Whether the sizes are related as the program relies on."""
        values = self.size_values(leaves)
        return all(_relation_holds(relation, a, b, values) for relation, a, b in self.sizes)

    def size_values(self, leaves: Sequence[Any]) -> dict[dims.Symbol, int]:
        """The sizes of a call."""
        s = self.staged
        values = {}
        for symbol, (k, axis) in s.decisions.homes.items():
            if not isinstance(k, int):
                continue  # of an array from outside, below
            values[symbol] = int(leaves[k]) if axis < 0 else leaves[k].shape[axis]
        for c in s.captured:
            values.update(c.sizes())
        return values

    def unmet_relations(
        self, leaves: Sequence[Any], names: Sequence[str]
    ) -> Iterator[tuple[str, str, str, Any, Any]]:
        """The relations of sizes that do not hold: operator, and both sides as text and value."""
        values = self.size_values(leaves)
        for relation, a, b in self.sizes:
            if not _relation_holds(relation, a, b, values):
                left, right = dims.sides(a, b)
                numbers = (dims.evaluate(n, values) for n in (left, right))
                yield relation, str(left), str(right), *numbers  # type: ignore[misc]

    def relations(self) -> list[str] | None:
        """How sizes are related, as expressions of the inputs (`a0`) and their shapes (`s0`): the
        leaves, then what is read from outside; None if these do not say it."""
        texts = [(_read(a, self.homes), r, _read(b, self.homes)) for r, a, b in self.sizes]
        return None if any(None in text for text in texts) else [*map(" ".join, texts)]  # type: ignore[arg-type]

    @functools.cached_property
    def homes(self) -> dict[dims.Symbol, tuple[int, int]]:
        """Where sizes are found: the number of an input and its axis; -1 is the number itself."""
        places = {
            s: home for s, home in self.staged.decisions.homes.items() if type(home[0]) is int
        }
        for k, c in enumerate(self.staged.captured, len(self.staged.leaves)):
            number = [] if c.var.size is None else [(-1, c.var.size)]
            for axis, size in [*enumerate(c.var.type.shape), *number]:
                places.update(dict.fromkeys(dims.symbols(size), (k, axis)))
        return places

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self.functional:
            return self.value_for(args, kwargs)
        if self.hand_over is not None and (later := self.hand_over(args, kwargs)) is not MISSED:
            return later
        return self.functional_value(args, kwargs)

    def functional_value(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value for arguments with arrays of `tapeless.numpy`, computed now."""
        if self.memory.stored:  # by nobody while others read it
            args, kwargs = wait_for_all((args, kwargs))
        return functional(self.value_for(*plain((args, kwargs))))

    def passed_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """What the emitted function is given for these arguments."""
        extra = [wait_for_all(get()) for get, _ in self.captured]
        return (*self.arguments(args, kwargs), *extra)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The part of this that is not read from outside."""
        if self.keywords is None:  # it takes the leaves
            return tuple(tree.leaves((args, kwargs)))
        return (*args, *[kwargs[name] for name in self.keywords])

    def value_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value for these arguments."""
        return self.called_for((args, kwargs), args, kwargs)

    def called_for(
        self,
        containers: tuple[tuple[Any, ...], dict[str, Any]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        receive: Callable[[Any], Any] | None = None,
    ) -> Any:
        """The value for these arguments.

        containers  the arguments as the caller has them, whose containers are stored to
        receive     what becomes of the results before they go anywhere
        """
        if self.changes:
            refuse_shared(self.changes, containers, self.outside)
        passed = self.passed_arguments(args, kwargs)
        held = [h.get() for h in self.held]
        refuse_passed(held, containers)
        results = self.run(*passed)
        if receive is not None:
            results = receive(results)
        if not self.flat:
            return results if self.returned is None else tree.unflatten(self.returned, results)
        remaining, objects = iter(results), dict[int, Any]()
        assert self.result is not None
        result, new = module.rebuild(self.result, remaining, (), objects), None
        if self.changes:
            result, new = result
        if self.returned is not None:
            result = tree.unflatten(self.returned, result)
        values = [module.rebuild(w.spec, remaining, held, objects) for w in self.writes]
        for write, value in zip(self.writes, values, strict=True):
            write.carry_out(value, held)
        store(self.changes, containers, new)
        return result


def _read(size: dims.Size, homes: dict[dims.Symbol, tuple[int, int]]) -> str | None:
    """A size as an expression of the inputs; None if it is not one."""
    places = {}
    for symbol in dims.symbols(size):
        if symbol not in homes:
            return None
        k, axis = homes[symbol]
        places[symbol] = dims.symbol(f"int(a{k})" if axis < 0 else f"s{k}[{axis}]")
    return str(dims.substitute(size, places.get))


def _relation_holds(relation: str, a: Any, b: Any, values: dict[dims.Symbol, int]) -> bool:
    x, y = dims.evaluate(a, values), dims.evaluate(b, values)
    return x is not None and y is not None and RELATIONS[relation](x, y)


def is_same_leaf(a: Any, b: Any) -> bool:
    """Whether two leaves have the same type and value."""
    if is_plain_object(a):
        return a is b
    if isinstance(a, np.ndarray):
        alike = type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        return alike and a.tobytes() == b.tobytes()
    return type(a) is type(b) and (a is b or a == b)


def _may_change(value: Any) -> bool:
    """Whether a value that the program was made for may be another one in a call with the same
    key."""
    return isinstance(value, np.ndarray) or inputs.is_dynamic(value) or is_plain_object(value)


# -- where specialisations are kept: `grad(f)` written inside a loop stages once


class Cache(dict[Any, list[Specialisation]]):
    """Specialisations of one transformed function, by key; `cached_transformation` keeps
    the function here, too."""

    owner: Any = None
    changing: frozenset[str] = frozenset()  # names of numbers from outside that are inputs
    needed_known: frozenset[str] = frozenset()  # of those that change, but cannot be

    def __init__(self, parts: Parts, relatives: WeakValueDictionary[int, Cache]) -> None:
        """parts      what makes the function the one it is, kept so that ids stay their own
        relatives  the caches of functions of the same code
        """
        super().__init__()
        self.parts, self.relatives = parts, relatives
        self.own_parts = [(x, x) for _, x in parts]  # each in its own place
        relatives[id(self)] = self

    def notice(self, changed: Iterable[Guard]) -> None:
        """Numbers from outside that are not those of an earlier call are inputs from now on."""
        names = {g.name for g in changed if inputs.may_be_input(g)}
        self.changing |= names - self.needed_known

    def keep_known(self, names: frozenset[str]) -> None:
        """Numbers that change are no inputs after all: the code needs them."""
        self.needed_known |= names
        self.changing -= names

    def related_caches(self) -> Iterator[tuple[Cache, list[tuple[Any, Any]]]]:
        """The caches of functions of the same code, which may read other objects or variables:
        with each, all that it was made from, and what is in its place here."""
        for relative in [*self.relatives.values()][::-1][:RELATIVES]:
            if relative is not self:
                pairs = zip(relative.parts, self.parts, strict=True)
                yield relative, [(x, now) for (_, x), (_, now) in pairs]


LIMIT = 256
RELATIVES = 4  # functions of the same code that are tried
_caches: OrderedDict[Key, Cache] = OrderedDict()
_relatives: OrderedDict[Key, WeakValueDictionary[int, Cache]] = OrderedDict()


def shared_cache(kind: Any, fun: Any, options: Key) -> Cache:
    """The cache of a transformation of a function; the same one for functions that are the same."""
    parts = list(identity(fun))
    key = (kind, options, *(part for part, _ in parts))
    with SHARING:
        if key not in _caches:
            of_kind = (kind, options, *(_kind_of_part(part, x) for part, x in parts))
            relatives = _relatives.setdefault(of_kind, WeakValueDictionary())
            _caches[key] = Cache(parts, relatives)
            for kept in (_caches, _relatives):
                if len(kept) > LIMIT:
                    kept.popitem(last=False)
        _caches.move_to_end(key)
        return _caches[key]


def is_replaceable(part: Any) -> bool:
    """Whether functions of the same code may have another one in the place of an object or a
    variable that they read."""
    return isinstance(part, CellType) or is_plain_object(part)


def _kind_of_part(part: Any, x: Any) -> Any:
    return type(x) if is_replaceable(x) else part


def refuse_traces(on: bool) -> None:
    """Turns traces on values into errors, also those that were made; or allows them again."""
    STRICT[0] = on
    with SHARING:
        caches = [*_caches.values()]
    for specialisation in itertools.chain(*(kept for cache in caches for kept in cache.values())):
        if specialisation.traced:
            specialisation.enter = always_miss


def forget() -> None:
    """Empties the caches of all functions."""
    with SHARING:
        for cache in _caches.values():
            cache.clear()
        _caches.clear()
        _relatives.clear()


def cached_transformation(kind: Callable[..., Any], fun: Any, *options: Any) -> Any:
    """The transformed function made for the same function and options before, or a new one."""
    cache = shared_cache(kind, fun, options)
    if cache.owner is None:
        cache.owner = kind(fun, *options)
    return cache.owner


def is_watched(fun: Any) -> bool:
    """Whether all that a function reads from outside is guarded: it is the user's."""
    return isinstance(fun, FunctionType) and not (of_ours(fun) or of_library(fun))


def identity(fun: Any) -> Iterator[tuple[Any, Any]]:
    """What makes a function the one it is, with the objects behind the ids: a lambda is the same
    each time its line is run, as long as it sees the same variables. Objects may be given another
    class."""
    if isinstance(fun, FunctionType) and not fun.__dict__:
        defaults = (*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values())
        yield (fun.__name__, fun.__qualname__, len(defaults)), None
        for part in (fun.__code__, fun.__globals__, *(fun.__closure__ or ()), *defaults):
            yield (id(part), type(part)), part if is_watched(fun) else (part,)
    elif isinstance(fun, MethodType):
        yield (id(fun.__self__), type(fun.__self__)), fun.__self__
        yield from identity(fun.__func__)
    elif isinstance(fun, functools.partial):
        yield (type(fun), len(fun.args), *fun.keywords), None
        for part in (*fun.args, *fun.keywords.values()):
            yield (id(part), type(part)), part if is_watched(fun.func) else (part,)
        yield from identity(fun.func)
    elif hasattr(type(fun), "cache_key"):
        yield fun.cache_key(), None
        yield from identity(fun.fun)
    else:
        yield (id(fun), type(fun)), fun
