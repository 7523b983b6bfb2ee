"""Stages functions that call themselves to a depth that is known only when the program runs.

They are staged once, as a function of the program that calls itself by name:

    def f(x):                      def f(x):
        if x < 1:                      return x if x < 1 else x * f(x / 2)
            return x       stays
        return x * f(x / 2)        ... f(x0) ...

What a call returns is found first where no call is made, then with calls until it settles.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.analysis.free_variables import close, missing_sizes
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Function,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.substitution import refresh, retype
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.errors import StructureError, UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branch_side import appending_to, final_structure
from tapeless.transforms.frontend.effects.effects import Unreachable
from tapeless.transforms.frontend.trace.cells import CellLocation
from tapeless.transforms.frontend.trace.journals import Journal, Location
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.identity import NUMBERS, is_same
from tapeless.transforms.frontend.values.join import convert, join, join_types
from tapeless.transforms.frontend.values.structure import (
    Structure,
    flatten,
    require_defined,
    unflatten,
)
from tapeless.transforms.ops.primitives.function_calls import CALLS, acts, enter, is_call

ROUNDS = 12


class Recursion:
    """A recursive function while it is staged.

    given      how its arguments are built, and the values of what it changes outside
    kinds      the type of each leaf of them; None for a number that is the same in each call
    returned   how its result and the changed values are built; None before a pass has ended
    written    the arrays among the arguments that it overwrites
    apart      whether what the first call gives twice is two things in another
    locations  what it changes outside, such as nonlocal variables
    """

    def __init__(self, f: types.FunctionType, run: Callable[..., Any], args: Any) -> None:
        self.name, self.f, self.run = f.__name__, f, run
        self.args, self.form = args, form(args, blind=True)
        self.locations: dict[Any, Location] = {}
        self.given = self.arguments_with_locations(args)
        self.kinds: list[Any] = [_kind(value, a) for value, a in _leaves(self.given)]
        self.returned: Structure | None = None
        self.result_kinds: list[Any] = []
        self.lengths: set[Size] = set()  # those that differ from call to call
        self.written: set[int] = set()
        self.apart = False
        self.changed = False
        self.function = Function(short_name(f), lambda: Block((), (), ()))
        self.pure = True

    def arguments_with_locations(self, args: Any) -> Structure:
        """Arguments, and behind them the present values of what is changed outside."""
        return _with_locations(require_defined(flatten(args)), self.locations.values())

    # -- calls

    def enter(self, args: Any, free: tuple[Atom, ...] = ()) -> Any:
        """Records a call, from outside or from inside."""
        inputs = self.arguments_with_locations(args)
        values = list(_leaves(inputs))
        self.widen(inputs, [a for _, a in values])
        if self.returned is None:
            raise Unreachable
        pairs = [(a, kind) for (_, a), kind in zip(values, self.kinds, strict=True)]
        arguments = [convert(a, kind) for a, kind in pairs if kind is not None]
        sizes = self.sizes([(a, kind) for a, kind in pairs if kind is not None])
        outs = tuple(Var(retype(kind, sizes)) for kind in self.result_kinds)
        enter(self.function, (*arguments, *free), outs, self.pure)
        results = [_symbol_like(v, x) for v, (x, _) in zip(outs, self.results(), strict=True)]
        self.link([x for x, _ in values], results)
        count = len(list(self.returned.leaves()))
        for k, symbol in zip(sorted(self.written), results[count:], strict=True):
            self.overwrite(values[k][0], symbol)
        result, *written = _parts(self.returned, iter(results[:count]))
        for location, value in zip(self.locations.values(), written, strict=True):
            trace().touch(location)
            location.set(value.value() if isinstance(location, CellLocation) else value)
        return result

    def link(self, arguments: list[Any], outputs: list[Symbol]) -> None:
        """Results may share memory with arguments."""
        arrays = [x for x in arguments if isinstance(x, Symbol) and x.mutable]
        cells = {id(loc.cell) for loc in self.locations.values() if isinstance(loc, CellLocation)}
        if any(id(x.base_cell()) in cells for x in arrays):
            raise UnsupportedError(
                f"{self.name} overwrites an array that it also gets as an argument",
                "use the argument only",
            )
        for symbol in outputs:
            if isinstance(symbol.value().type, StackType):
                continue
            for x in arrays if symbol.mutable else ():
                trace().memory.link(symbol.base_cell(), x.base_cell())

    def results(self) -> Iterator[tuple[Any, Atom]]:
        """Values and atoms of the results: what is returned, then what was overwritten."""
        assert self.returned is not None
        yield from _leaves(self.returned)
        leaves = list(_leaves(self.given))
        yield from (leaves[k] for k in sorted(self.written))

    def overwrite(self, target: Any, new: Symbol) -> None:
        if not isinstance(target, Symbol):
            raise UnsupportedError(
                f"{self.name} overwrites an array that was made outside of the program",
                "copy it first",
            )
        if target.listing is not None:
            raise UnsupportedError(
                f"{self.name} calls itself to a depth that depends on the contents of arrays, and "
                "stores to a list that a loop filled",
                "make it an array with np.array first",
            )
        target.write(convert(new.value(), target.type))

    def sizes(self, args: list[tuple[Atom, Type]]) -> dict[Any, Any]:
        """What the sizes in the types of the results are for a call with these arguments."""
        new: dict[Any, Any] = {}
        for a, kind in args:
            shapes = ((), ()) if isinstance(kind, StackType) else (kind.shape, a.type.shape)
            for own, size in zip(*shapes, strict=True):
                if own != size and not isinstance(own, int):
                    new |= {s: size for s in dims.symbols(own) if own == dims.single(s)}
        sizes = set().union(*(sizes_in(kind) for _, kind in args))
        for symbol in sizes_in(tuple(self.result_kinds)) - sizes - set(trace().hints):
            new[symbol] = dims.symbol(symbol.name, symbol.lower)
        return new

    def widen(self, structure: Structure, atoms: list[Atom]) -> None:
        """The parameters take what this call gives, too: numbers that differ are known no more."""
        self.join(self.given, structure)
        self.tell_apart(structure)
        for k, (old, a) in enumerate(zip(list(_leaves(self.given)), atoms, strict=True)):
            kind = self.kinds[k]
            if kind is None and old[1] == a:
                continue
            common = join_types(old[1].type if kind is None else kind, a.type, self.lengths)
            if kind is None or common != kind:
                self.kinds[k], self.changed = common, True

    def tell_apart(self, structure: Structure) -> None:
        """What the first call gives twice is two parameters, if another call gives two arrays."""
        first: dict[int, Any] = {}
        pairs = zip(self.given.leaf_values(), structure.leaf_values(), strict=True)
        if not self.apart and any(first.setdefault(id(a), b) is not b for a, b in pairs):
            self.apart = self.changed = True
        if self.apart and self.written:
            raise UnsupportedError(
                f"{self.name} gets one array twice in one call, and two in another, and stores to "
                "an array",
                "pass a copy: x.copy()",
            )

    def join(self, structure: Structure, new: Structure) -> None:
        """Refuses what is built otherwise than before."""
        try:
            for a, b in zip(structure.children, new.children, strict=True):
                join(a, b, lambda x, y: x.value)
        except StructureError as e:
            raise StructureError(
                f"{self.name} calls itself to a depth that depends on the contents of arrays, and "
                f"takes, returns or changes something that is not always built alike: {e.problem}",
                "give it the same kinds of values in each call, and return what it makes",
            ) from None

    # -- staging

    def settle(self) -> None:
        """Stages the body until calls take and give what was thought."""
        for _ in range(ROUNDS):
            self.changed = False
            block = self.attempt()
            if self.more_outside():
                self.start()
            if block is not None and not self.changed:
                self.function.block = block
                return
        raise UnsupportedError(
            f"the types that {self.name} is called with and returns do not settle",
            "give its arguments and results the same types in each call",
        )

    def more_outside(self) -> bool:
        """Whether it changes more than was thought."""
        return len(self.given.children) < len(self.locations) + 1

    def start(self) -> None:
        """Starts again with more that is changed outside."""
        before = self.kinds
        self.given = self.arguments_with_locations(self.args)
        kinds = [_kind(value, a) for value, a in _leaves(self.given)]
        self.kinds = [*before, *kinds[len(before) :]]
        self.returned, self.result_kinds = None, []

    def attempt(self) -> Block | None:
        """Stages the body once; None if what it returns is another than was thought."""
        t = trace()
        values = list(_leaves(self.given))
        params = [
            None if kind is None else Var(kind, a.name if isinstance(a, Var) else "")
            for kind, (_, a) in zip(self.kinds, values, strict=True)
        ]
        new = self.arguments(values, params)
        (args, kwargs), *old_values = _parts(self.given, iter(new))
        for p, (_, a) in zip(params, values, strict=True):
            if p is not None:
                t.parents[p] = ("if", None, (a,))
        lengths = [(tail, len(tail.log)) for tail in t.containers.tails]
        with t.recording() as journal, t.block() as statements:
            for location, value in zip(self.locations.values(), old_values, strict=True):
                trace().touch(location)
                location.set(value.value() if isinstance(location, CellLocation) else value)
            try:
                value = self.run(*args, **kwargs)
            except Unreachable:
                t.rollback(journal)
                if self.returned is not None or self.changed:
                    return None
                raise UnsupportedError(
                    f"{self.name} calls itself in every case, and never returns",
                    "return without a call in one of them",
                ) from None
            self.refuse_growth(lengths)
            written = self.overwritten(journal, new)
            returned = _with_locations(require_defined(flatten(value)), self.locations.values())
            arrays = [new[k].present() for k in written]
        t.rollback(journal)
        if self.more_outside():
            return None
        results = self.settle_results(returned, written, arrays)
        if results is None or self.changed:
            return None
        with appending_to(statements):
            results = [convert(a, kind) for a, kind in zip(results, self.result_kinds, strict=True)]
        inputs = tuple(p for p in params if p is not None)
        return Block(inputs, tuple(statements), tuple(results))

    def refuse_growth(self, before: list[tuple[Any, int]]) -> None:
        """How long a list is after the calls depends on data."""
        if any(len(tail.log) > count for tail, count in before):
            raise UnsupportedError(
                f"{self.name} calls itself to a depth that depends on the contents of arrays, and "
                "a list from outside grows or shrinks in it",
                "return what the call makes",
            )

    def arguments(self, values: list[tuple[Any, Atom]], params: list[Var | None]) -> list[Any]:
        """What the body gets: a new symbol for each argument, one for what is always the same."""
        symbols: dict[int, Symbol] = {}
        new = []
        for (value, _), p in zip(values, params, strict=True):
            if p is None:
                new.append(value)
            else:
                symbol = _symbol_like(p, value)
                new.append(symbol if self.apart else symbols.setdefault(id(value), symbol))
        return new

    def overwritten(self, journal: Journal, new: list[Any]) -> list[int]:
        """The positions of the arrays that the body stored into; notes what else it changed."""
        symbols = [(k, x) for k, x in enumerate(new) if isinstance(x, Symbol)]
        cells = {id(x.base_cell()): k for k, x in reversed(symbols)}
        positions = set(self.written)
        for key, (location, _) in journal.old.items():
            if isinstance(location, CellLocation) and id(location.cell) in cells:
                positions.add(cells[id(location.cell)])
            elif key not in self.locations:
                self.locations[key] = location
                self.changed = True
        return sorted(positions)

    def settle_results(
        self, returned: Structure, written: list[int], arrays: list[Atom]
    ) -> list[Atom] | None:
        """The results, unless the calls inside took them for something else."""
        if self.returned is not None:
            self.join(self.returned, returned)
        results = [*returned.leaves(), *arrays]
        old_kinds = self.result_kinds if len(self.result_kinds) == len(results) else []
        kinds = [
            join_types(old, a.type, self.lengths) if old is not None else a.type
            for old, a in zip(old_kinds or [None] * len(results), results, strict=True)
        ]
        same = self.returned is not None and kinds == old_kinds and set(written) == self.written
        self.returned, self.result_kinds, self.written = returned, kinds, set(written)
        return results if same else None

    def close_over_free(self) -> tuple[Atom, ...]:
        """Gives the function what it reads from around it as parameters; returns the arguments."""
        block = self.function.block
        self.pure = not acts(block)
        results = close(block.body, block.results)
        extra = [v for v in results.params if v not in block.params]
        lengths = missing_sizes(results, [*block.params, *extra], set(trace().hints))
        more = (*extra, *lengths.values())
        block = _with_arguments(block, self.function, more, self.pure)
        block = replace(block, params=(*block.params, *extra))
        sizes: dict[Any, Any] = {symbol: n.size for symbol, n in lengths.items()}
        fresh, new = refresh(block, sizes)
        trace().keys.rename(new)
        fresh = replace(fresh, params=(*fresh.params, *lengths.values()))
        self.function.block = fresh
        return (*extra, *(atom_of_size(dims.single(symbol)) for symbol in lengths))


def _leaves(spec: Structure) -> Iterator[tuple[Any, Atom]]:
    return zip(spec.leaf_values(), spec.leaves(), strict=True)


def _symbol_like(v: Var, value: Any) -> Symbol:
    """A symbol for what stands where a value does: an array, or one in the place of a list."""
    symbol = Symbol(v, is_array=_is_array(value))
    symbol.listing = own_attribute(value, "listing")
    return symbol


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, Symbol) and value.is_array)


def _kind(value: Any, a: Atom) -> Type | None:
    """The type of a parameter; None for a number that is known."""
    return None if isinstance(value, NUMBERS) else a.type


def _with_locations(spec: Structure, locations: Iterable[Location]) -> Structure:
    parts = (spec, *(final_structure(location, part=flatten) for location in locations))
    return Structure(tuple, None, tuple(range(len(parts))), parts)


def _parts(spec: Structure, leaves: Iterator[Any]) -> list[Any]:
    return [_rebuilt(c, leaves) for c in spec.children]


def _rebuilt(spec: Structure, leaves: Iterator[Any]) -> Any:
    """The value that a spec describes, with other leaves."""
    if spec.kind == "leaf":
        return next(leaves)
    if spec.kind == "static":
        return spec.value
    return unflatten(spec, [_rebuilt(c, leaves) for c in spec.children])


def short_name(f: types.FunctionType) -> str:
    """A name for a function of the program: that of the class for methods like `__call__`."""
    *_, owner, name = ["", *f.__qualname__.split(".")]
    if name.startswith("__"):
        name = owner.lower()
    return name if name.isidentifier() else "function"


def form(value: Any, blind: bool = False) -> Any:
    """How an argument is built, with the numbers in it that are known unless it is `blind`."""
    if isinstance(value, Symbol):
        return ("array", value.type.ndim)
    if isinstance(value, NUMBERS):
        return ("array", 0) if blind else ("number", type(value), repr(value))
    if isinstance(value, np.ndarray):
        return ("array", value.ndim)
    staged = own_attribute(value, "tail") is not None and isinstance(value.length(), Symbol)
    if staged and trace().observing:  # each call would give it another known length
        raise UnsupportedError(
            "a list that a loop filled is given to a function that calls itself to a depth that "
            "run-time values decide",
            "give it an array: np.array(...) of the list",
        )
    if isinstance(value, (list, tuple)):
        return (type(value), *(form(v, blind) for v in value))
    if isinstance(value, dict):
        return (type(value), *((k, form(v, blind)) for k, v in value.items()))
    return value if isinstance(value, (str, bytes, type(None))) else id(value)


def _with_arguments(block: Block, function: Function, more: tuple[Atom, ...], pure: bool) -> Block:
    """The block with more arguments in its calls of a function."""

    def rewrite_block(b: Block) -> Block:
        return replace(b, body=tuple(map(with_more_arguments, b.body)))

    def with_more_arguments(s: Statement) -> Statement:
        if isinstance(s, Let) and is_call(s) and s.params["function"] is function:
            return replace(s, args=(*s.args, *more), op=CALLS[pure])
        return with_blocks(s, rewrite_block)

    return rewrite_block(block)


def call_recursive(f: types.FunctionType, run: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A call of a function that is known to call itself to a depth that run-time values decide."""
    t = trace()
    bound = inspect.signature(f, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = (bound.args, bound.kwargs)
    for k, open_ in enumerate(t.calls.recursions):
        if is_same(open_.f, f) and open_.form == form(arguments, blind=True):
            if k + 1 < len(t.calls.recursions):
                caller = t.calls.recursions[-1].name
                raise UnsupportedError(
                    f"{f.__name__} is called by {caller}, which calls itself to a depth that "
                    "depends on the contents of arrays",
                    "write one of them as a loop",
                )
            return open_.enter(arguments)
    recursion = Recursion(f, run, arguments)
    t.calls.recursions.append(recursion)
    t.loops.rolling, rolling = [], t.loops.rolling
    try:
        recursion.settle()
    finally:
        t.calls.recursions.pop()
        t.loops.rolling = rolling
    return recursion.enter(arguments, recursion.close_over_free())
