"""Makes what goes wrong first in a program a value: a number of a message, carried through it.

    y = log(x)      becomes      y = log(x)
                                 failed = any(isnan(y)) and not any(isnan(x))
                                 code = -1 if failed and code == 0 else code

The source of the method is JAX's checkify: a functional error value that branches return, loops
carry and calls give back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tapeless.transforms.checks.conditions import INDEX, INTEGER, Failure, record_checked
from tapeless.transforms.core.builder import atom, current, size_of, var_size
from tapeless.transforms.core.dims import symbols
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    Function,
    If,
    Let,
    Literal,
    Origin,
    Statement,
    Type,
    Var,
    While,
    statements,
)
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.primitives.callbacks import outside
from tapeless.transforms.ops.primitives.function_calls import acts, is_call
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to
from tapeless.transforms.optimize.inline_calls import Closed

State = tuple[Atom, ...]  # the code, and the two numbers of its message where they are needed
NAMES = ("code", "wrong_index", "axis_size")


class FirstFailure:
    """Checks statements, and keeps the messages: code -1 is that of the first one.

    kinds  what is checked: of "nan", "division" and "index"
    note   the name of what the program calls where a check of the user's fails: it gives the code
    """

    def __init__(self, kinds: frozenset[str], note: str) -> None:
        self.kinds, self.note = kinds, note
        self.messages: list[str] = []
        self.functions: dict[Function, Function] = {}

    def start(self) -> State:
        """Nothing has failed."""
        return (atom(np.int64(0)),) * (3 if INDEX in self.kinds else 1)

    def statements(self, body: Iterable[Statement], state: State) -> State:
        """Records statements and their checks; the state after them."""
        for s in body:
            current().origin = s.origin or current().origin
            match s:
                case Let() if is_call(s):
                    state = self.call(s, state)
                case Let():
                    state = self.let(s, state)
                case If():
                    state = self.branch(s, state)
                case For():
                    state = self.loop(s, state)
                case While():
                    state = self.while_(s, state)
                case Effect():
                    current().emit(s)
                case _:
                    raise TypeError(s)
        return state

    def let(self, s: Let, state: State) -> State:
        if self.notes(s):
            return self.tell(s, state)
        if isinstance(s.op, Closed) and any(map(self.notes, statements(s.op.block))):
            raise UnsupportedError(
                f"{s.op.name.removeprefix('@')} has a rule of its own, and calls `check`",
                "check what it is given, and what it returns, where it is called",
                None if s.origin is None else (s.origin.file, s.origin.line, 0, 0),
            )
        for failure in record_checked(s, self.kinds):
            state = self.note_failure(failure, s.origin, state)
        return state

    def notes(self, s: Statement) -> bool:
        """Whether a statement is carried out where a check of the user's has failed."""
        return isinstance(s, Let) and s.op is outside and s.params["name"] == self.note

    def tell(self, s: Let, state: State) -> State:
        """The state after a failed check, which is told if it is the first one."""
        number = Var(s.outs[0].type, "code")
        taken = {**s.params, "name": "note"}  # which a check around does not take for its own
        call = Block((), (Let((number,), s.op, s.args, taken, s.origin),), (number,))
        untold = Block((), (), (atom(np.int64(0)),))
        first = FUNCTIONS[np.equal](state[0], atom(0))
        current().emit(If(s.outs, first, call, untold, origin=s.origin))
        return self.join(state, s.outs)

    def note_failure(self, failure: Failure, origin: Origin | None, state: State) -> State:
        self.messages.append(failure.message + _place(origin))
        code = np.int64(-len(self.messages))
        numbers = [cast_to(a, INTEGER) for a in failure.numbers]
        failed = [select(failure.when, atom(code), atom(np.int64(0))), *numbers]
        return self.join(state, tuple(failed))

    def join(self, state: State, then: State) -> State:
        """The state after something that may have failed."""
        if isinstance(state[0], Literal):  # nothing can have failed
            return (*then, *state[len(then) :])
        unset = FUNCTIONS[np.equal](state[0], atom(0))
        numbers = [select(unset, b, a) for a, b in zip(state, then, strict=False)]
        for v, name in zip(numbers, NAMES, strict=False):
            v.name = v.name or name
        return (*numbers, *state[len(then) :])

    def block(self, block: Block, state: State) -> tuple[list[Statement], State]:
        with current().block() as body:
            state = self.statements(block.body, state)
        return body, state

    def branch(self, s: If, state: State) -> State:
        (then, a), (orelse, b) = self.block(s.then, state), self.block(s.orelse, state)
        if a == state == b:
            current().emit(
                replace(s, then=_with_state(s.then, then), orelse=_with_state(s.orelse, orelse))
            )
            return state
        outs = self.variables()
        blocks = {"then": _with_state(s.then, then, a), "orelse": _with_state(s.orelse, orelse, b)}
        current().emit(replace(s, outs=(*s.outs, *outs), **blocks))  # type: ignore[arg-type]
        return outs

    def loop(self, s: For, state: State) -> State:
        params = self.variables()
        with _range(s):
            body, after = self.block(s.body, params)
        if after == params:
            current().emit(replace(s, body=_with_state(s.body, body)))
            return state
        outs = self.variables()
        block = replace(_with_state(s.body, body, after), params=(*s.body.params, *params))
        inits = (*s.inits, *state)
        current().emit(replace(s, outs=(*s.outs, *outs), inits=inits, body=block, each=False))
        return outs

    def while_(self, s: While, state: State) -> State:
        """A loop whose test is checked, too, by copies of it where a pass begins and where the loop
        has ended, for a test gives nothing but its truth value; where it fails the loop ends."""
        test, (failed, *_) = self.block(s.test, self.start())
        copies = isinstance(failed, Var) and not acts(s.test)
        params = self.variables()
        with current().block() as body:
            after = self.copy_of_test(s.test, s.body.params, params) if copies else params
            after = self.statements(s.body.body, after)
        if after == params:
            current().emit(
                replace(s, test=_with_state(s.test, test), body=_with_state(s.body, body))
            )
            return state
        outs, unread = self.variables(), self.variables()
        goes_on = s.test.results
        with current().block() as more:
            if copies:
                right = FUNCTIONS[np.equal](failed, atom(0))
                goes_on = (FUNCTIONS[np.logical_and](goes_on[0], right),)
        tested = Block((*s.test.params, *unread), (*test, *more), goes_on)
        carried = replace(_with_state(s.body, body, after), params=(*s.body.params, *params))
        inits = (*s.inits, *state)
        current().emit(replace(s, outs=(*s.outs, *outs), inits=inits, test=tested, body=carried))
        return self.copy_of_test(s.test, s.outs, outs) if copies else outs

    def copy_of_test(self, test: Block, values: tuple[Var, ...], state: State) -> State:
        """The state after a copy of a test for these values."""
        new: dict[Var, Atom] = dict(zip(test.params, values, strict=True))
        return self.statements(refresh(replace(test, params=()), new)[0].body, state)

    def call(self, s: Let, state: State) -> State:
        function, outs = self.function(s.params["function"]), self.variables()
        params = {**s.params, "function": function}
        current().emit(Let((*s.outs, *outs), s.op, s.args, params, s.origin))
        return self.join(state, outs)

    def function(self, function: Function) -> Function:
        """The function whose last results are the state after it."""
        if function not in self.functions:
            blocks: list[Block] = []
            self.functions[function] = Function(function.name, lambda: blocks[0])  # it may recur
            body, state = self.block(function.block, self.start())
            blocks.append(_with_state(function.block, body, state))
        return self.functions[function]

    def variables(self) -> tuple[Var, ...]:
        return tuple(Var(Type(INTEGER), name) for name in NAMES[: len(self.start())])


def _with_state(block: Block, body: list[Statement], state: State = ()) -> Block:
    return Block(block.params, tuple(body), (*block.results, *state))


def _place(origin: Origin | None) -> str:
    """The user's line, as messages say it."""
    if origin is None:
        return ""
    name = origin.function.rpartition("<locals>.")[2]
    function = f", in {name}" if name else ""
    place = f' ("{origin.file}", line {origin.line}{function})'
    return place.replace("{", "{{").replace("}", "}}")  # for str.format


@contextmanager
def _range(s: For) -> Iterator[None]:
    """The staged run knows the least and the greatest value of a loop's index."""
    bounds = getattr(current(), "bounds", None)
    step = s.step.value if isinstance(s.step, Literal) else 0
    if bounds is None or step not in (1, -1):
        yield
        return
    (symbol,) = symbols(var_size(s.index))
    first, last = size_of(s.start), size_of(s.stop) - step
    before = bounds.get(symbol)
    bounds[symbol] = (first, last) if step > 0 else (last, first)
    try:
        yield
    finally:
        bounds.pop(symbol) if before is None else bounds.update({symbol: before})
