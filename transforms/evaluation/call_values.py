"""Evaluates variables of a program that is being staged, for the arguments of the call at hand.

Each statement that a wanted value needs is printed as NumPy code for the shapes that it has in this
call, and run once; statements that are printed alike are the same code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapeless.transforms.analysis.free_variables import close, defined_variables
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    outputs,
    statements,
)
from tapeless.transforms.core.random_generators import is_seed
from tapeless.transforms.core.substitution import map_sizes, refresh, retype
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.emit.module import flat_text, write_module
from tapeless.transforms.errors import Signal, TapelessError
from tapeless.transforms.evaluation.shadow_generators import ShadowGenerators
from tapeless.transforms.frontend.trace.observation import Unobservable
from tapeless.transforms.frontend.trace.trace import Trace
from tapeless.transforms.ops.primitives.index_keys import Slot
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.pipelines.array_form import array_form

NAME = "evaluated"
TOLD = (bool, int, float, complex, str, type(None), slice, Slot)  # by their text
MOST_BYTES = 1 << 28  # of values that are kept
NOTHING = contextlib.nullcontext()


class CallValues:
    """The values of variables of a staged run, each computed when it is asked for first.

    run        the staged run
    arguments  the values of its inputs
    """

    def __init__(self, run: Trace, arguments: Mapping[Var, Any]) -> None:
        self.run = run
        self.values: dict[Var, Any] = dict(arguments)
        self.sizes: dict[dims.Symbol, int] = {}
        self.computed: dict[Var, int] = {}  # how many bytes such values have, in order
        self.bytes = 0  # of all of them
        self.shadows = ShadowGenerators()
        self.sown: list[Statement] = []  # seeds that the shadow of NumPy's own generator has
        self.functions: dict[Any, Callable[..., Any]] = {}  # by what they compute, for which types

    def value(self, wanted: Atom) -> Any:
        """The value of an atom in the call; raises Unobservable."""
        if isinstance(wanted, Literal):
            return wanted.value
        pending = [wanted]
        while pending:
            v = pending[-1]
            if self.is_known(v):
                pending.pop()
                continue
            statement = self.definition(v)
            needed = [x for x in self.needs(statement) if not self.is_known(x)]
            if needed:
                pending += needed
            else:
                self.evaluate(statement)
        value = self.values[wanted]
        self.forget()
        return value

    def forget(self) -> None:
        """Drops the values that were computed first, where all of them take much memory; one that
        is needed again is computed again."""
        while self.bytes > MOST_BYTES and len(self.computed) > 1:
            v = next(iter(self.computed))
            self.bytes -= self.computed.pop(v)
            del self.values[v]

    def perform(self, s: Statement) -> None:
        """Carries a statement out for what it does; raises Unobservable."""
        for v in self.needs(s):
            self.value(v)
        self.evaluate(s)

    def give(self, v: Var, value: Any) -> None:
        """Notes the value of a variable that is known from elsewhere."""
        self.values[v] = value
        self.learn(v, value)

    def is_known(self, v: Var) -> bool:
        if v not in self.values and v in self.run.inputs:
            self.values[v] = self.run.inputs[v]
        return v in self.values

    def definition(self, v: Var) -> Statement:
        """The statement that gives a variable."""
        statement = self.run.definitions.get(v) or self.run.call.statement_of.get(v)
        if statement is None or not (_can_be_repeated(statement) or self.is_next_draw(statement)):
            raise Unobservable
        return statement

    def is_next_draw(self, s: Statement) -> bool:
        """Whether a statement draws numbers, and all draws before it are known: they are made in
        the order of the program. Only where every test goes one way is that order known."""
        if not (isinstance(s, Let) and s.op is draw and self.run.tracing):
            return False
        order = self.run.call.draws
        if s not in order:
            return False
        for earlier in order[: order.index(s)]:
            if isinstance(earlier, Let):
                self.value(earlier.outs[0])
            elif earlier not in self.sown:
                self.perform(earlier)
                self.sown.append(earlier)
        return True

    def needs(self, s: Statement) -> Iterator[Var]:
        """The variables that a statement reads, also by lengths."""
        if isinstance(s, Let):
            yield from (a for a in s.args if isinstance(a, Var))
            sizes = sizes_in((*s.params.values(),)) if s.params else frozenset()
            own: tuple[Var, ...] = s.outs
            yield from (symbol.var for symbol in sizes if symbol.var is not None)
        else:
            yield from close((s,), ()).params
            sizes, own = _parameter_sizes(s), tuple(defined_variables(Block((), (s,), ())))
        for symbol in sizes:
            if symbol.var is None and self.size(symbol) is None:
                maker = self.maker(symbol, own)
                if maker not in own:
                    yield maker

    def maker(self, symbol: dims.Symbol, own: tuple[Var, ...]) -> Var:
        """The first variable with an axis of this length; one of its `own` where a statement makes
        the length itself."""
        for v in (*self.run.inputs, *self.run.definitions, *self.run.call.statement_of, *own):
            if isinstance(v.type, Type) and dims.single(symbol) in v.type.shape:
                return v
        raise Unobservable

    def size(self, symbol: dims.Symbol) -> int | None:
        """The length that a symbol stands for in the call; None where it is not known."""
        if symbol.var is not None:
            return int(self.values[symbol.var]) if self.is_known(symbol.var) else None
        return self.sizes.get(symbol, self.run.hints.get(symbol))

    # -- one statement

    def evaluate(self, s: Statement) -> None:
        """Runs a statement whose operands are known."""
        free = (
            [a for a in s.args if isinstance(a, Var)]
            if isinstance(s, Let)
            else close((s,), ()).params
        )
        operands = [self.values[v] for v in free]
        own = _draws(s)
        try:
            function = self.function(s, free)
            with np.errstate(all="ignore"), self.shadows.used() if own else NOTHING:
                operands = [self.shadows.copy_of(x) if own else x for x in operands]
                results = function(*(list(x) if isinstance(x, list) else x for x in operands))
        except (Signal, TapelessError):
            raise
        except Exception:  # noqa: BLE001  (any, of a side that is not taken, say)
            raise Unobservable from None
        for v, x in zip(outputs(s), results, strict=True):
            self.give(v, x)
            if not own:  # what is drawn cannot be drawn again
                self.computed[v] = getattr(x, "nbytes", 0)
                self.bytes += self.computed[v]

    def learn(self, v: Var, x: Any) -> None:
        """Notes the lengths that the shape of a value tells."""
        if isinstance(v.type, Type):
            for n, length in zip(v.type.shape, np.shape(x), strict=False):
                for symbol in dims.symbols(n):
                    if n == dims.single(symbol) and self.size(symbol) is None:
                        self.sizes[symbol] = length

    def function(self, s: Statement, free: Sequence[Var]) -> Callable[..., Any]:
        """The statement as a function of the variables that it reads."""
        kinds = tuple(self.kind(v) for v in free)
        if not isinstance(s, Let):
            params = tuple(Var(k, f"a{i}") for i, k in enumerate(kinds))
            new: dict[Any, Any] = dict(zip(free, params, strict=True))
            new |= {
                x: n for x in _all_sizes(s) if x.var is None and (n := self.size(x)) is not None
            }
            block, _ = refresh(Block((), (s,), tuple(outputs(s))), new)
            return _compile(Block(params, block.body, block.results))
        lengths = self.lengths(s)
        parameters = map_sizes(s.params, lengths)
        places = {v: k for k, v in enumerate(free)}
        args = tuple(places[a] if isinstance(a, Var) else a for a in s.args)
        key = (s.op, args, kinds, repr(parameters))
        if key in self.functions:
            return self.functions[key]
        params = tuple(Var(k, f"a{i}") for i, k in enumerate(kinds))
        outs = tuple(Var(retype(v.type, lengths), "out") for v in s.outs)
        atoms = tuple(params[a] if isinstance(a, int) else a for a in args)
        body = (Let(outs, s.op, atoms, parameters, s.origin),)
        function = _compile(Block(params, body, outs))
        if all(map(_is_told, parameters.values())):
            self.functions[key] = function
        return function

    def lengths(self, s: Let) -> dict[Any, Any]:
        """The lengths in the parameters and results of an operation, as far as they are known."""
        length_of: dict[Any, Any] = {}
        for symbol in sizes_in((*s.params.values(), *(v.type for v in s.outs))):
            n = self.size(symbol)
            if n is not None:
                length_of[symbol if symbol.var is None else symbol.var] = n
        return length_of

    def kind(self, v: Var) -> Any:
        """The type of a variable, with the lengths that its value has."""
        if not isinstance(v.type, Type) or not v.type.shape:
            return v.type
        return v.type.with_shape(np.shape(self.values[v]))


def _draws(s: Statement) -> bool:
    return is_seed(s) or (isinstance(s, Let) and s.op is draw)


def _parameter_sizes(s: Statement) -> frozenset[dims.Symbol]:
    """The named sizes in the parameters of operations."""
    lets = (t for t in statements(Block((), (s,), ())) if isinstance(t, Let))
    return frozenset().union(*(sizes_in((*t.params.values(),)) for t in lets))


def _all_sizes(s: Statement) -> frozenset[dims.Symbol]:
    """All named sizes in a statement: of parameters, and of types."""
    return _parameter_sizes(s) | sizes_in([v.type for v in defined_variables(Block((), (s,), ()))])


def _is_told(parameter: Any) -> bool:
    """Whether its text tells a parameter of an operation from all others."""
    if isinstance(parameter, tuple):
        return all(map(_is_told, parameter))
    return type(parameter) in TOLD or isinstance(parameter, (np.dtype, Type))


def _can_be_repeated(s: Statement) -> bool:
    """Whether a statement does nothing but compute."""
    if isinstance(s, Let):
        return s.op.pure
    inside = statements(Block((), (s,), ()))
    return all(
        t.op.pure
        if isinstance(t, Let)
        else not isinstance(t, Effect) or t.kind in ("check", "raise", "blank")
        for t in inside
    )


def _compile(block: Block) -> Callable[..., Any]:
    """A block as a function of its parameters that returns a tuple."""
    plain = len(block.body) == 1 and isinstance(block.body[0], Let)
    block = block if plain else array_form(block, len(block.results))
    names = [v.name for v in block.params]
    text = write_module(
        NAME, block, names, list(zip(block.params, names, strict=True)), flat_text, ""
    )
    values: dict[str, Any] = {"__name__": NAME}
    exec(compile(text, f"<{NAME}>", "exec", dont_inherit=True), values)
    return values[NAME]  # type: ignore[no-any-return]
