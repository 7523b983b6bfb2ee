"""Records a staged run: the core program, what may be undone, and what it relies on."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tapeless.transforms.core import builder
from tapeless.transforms.core.language import Atom, Let, Statement, Var, outputs
from tapeless.transforms.core.random_generators import is_seed
from tapeless.transforms.errors import EscapeError, Signal, UnsupportedError
from tapeless.transforms.frontend.trace.comparison_reads import compared_parts
from tapeless.transforms.frontend.trace.journals import Journals
from tapeless.transforms.frontend.trace.observation import constant_value, observe
from tapeless.transforms.frontend.trace.own_attributes import is_own_class, own_attribute
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object
from tapeless.transforms.frontend.trace.readers import ContentsOf, ObjectItself
from tapeless.transforms.frontend.trace.recorded_reads import KnownAddress
from tapeless.transforms.frontend.trace.run_state import (
    CallAtHand,
    Containers,
    Flags,
    Loops,
    UserCalls,
)
from tapeless.transforms.frontend.trace.shared_memory import MemoryOrders, SharedMemory
from tapeless.transforms.frontend.trace.size_guards import SizeGuards
from tapeless.transforms.ops.numpy.stretched_values import fit_operands
from tapeless.transforms.ops.primitives.identities import known_number, python_number
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.random_keys.key_events import Notes


class CannotRoll(Signal):
    """A loop body has no stable types, or does what is done once; the loop must be unrolled. `hint`
    says how it could be rolled, where that is known."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


class Trace(SizeGuards, Journals):
    """Records the core program of one staged run.

    decisions   what earlier attempts at staging found must be known
    memory      which arrays and lists may share memory
    orders      how arrays lie in memory
    containers  lists, dicts and sets of Python's
    calls       of the user's functions
    loops       that are being staged
    flags       which say whether something is set
    call        the call that the run is traced on, if it is
    """

    def __init__(self, decisions: Any = None) -> None:
        SizeGuards.__init__(self, decisions)
        Journals.__init__(self)
        self.exact = decisions is not None and decisions.exact  # carry references, not arrays
        self.identities = decisions is not None and decisions.identities  # and not what is in them
        self.orders = MemoryOrders()
        self.memory = SharedMemory(self.orders, lambda: self.sides, lambda: self.origin)
        self.containers, self.calls, self.loops = Containers(), UserCalls(), Loops()
        self.flags, self.call = Flags(), CallAtHand()
        self.keys = Notes()  # which random keys are made and used where

        # what is recorded
        self.inputs: dict[Var, Any] = {}  # the arrays of this call
        self.tangents: set[Any] = set()  # inputs that the user's function does not get
        self.parents: dict[Var, Any] = {}
        self.namesakes: dict[Var, Var] = {}  # what gets the name that a variable gets first
        self.number_types: dict[Var, frozenset[Any]] = {}  # those of Python that it may have
        self.generators: dict[int, tuple[Var, Any]] = {}  # that draw when the program runs
        self.notes: list[str] = []
        self.legend: list[str] = []

        # what was read from outside
        self.reads: dict[Any, Any] = {}
        self.paths: dict[int, str] = {}  # how objects from outside were read, by their ids
        self.matrices: dict[int, Any] = {}  # what stands for those of np.matrix, by their ids

        # where the run is now
        self.tests: list[Any] = []  # what the branches that are open now depend on
        self.sides: list[tuple[int, int]] = []  # the tests around, and which side of each
        self.test_of_sides: dict[int, Any] = {}  # by their numbers
        self.arms = 0  # how many sides of tests have been staged
        self.depths = 0  # in how many other sides each of them was, summed up
        self.can_be_known: dict[Var, bool | None] = {}  # what was asked already
        self.advanced: list[Any] | None = None  # iterators of the program, while one is run out
        self.ended: set[int] = set()  # frames of calls of our own code
        self.opened: list[int] = []  # the objects that are being taken apart, each in another
        self.lists_here: Counter[Any] = Counter()  # that were put into stacks, by line and name
        self.functional = False  # whether functions of tapeless.numpy were called
        self.outer_map: Any = None  # the mapped function that a call is of, if it is of one

    @property
    def observing(self) -> bool:
        """Whether values of the call at hand are read where Python needs them."""
        return self.call.values is not None

    @property
    def tracing(self) -> bool:
        """Whether all tests and loops go the way that they go in the call at hand."""
        return self.observing and self.decisions.traced

    def require(self, value: Atom, why: str, hint: str = "") -> Any:
        return observe(self, value, why, hint)

    def constant_value(self, a: Atom) -> Any:
        return constant_value(self, a)

    def ask_identity(self, *values: Any) -> None:
        """Must be called before objects are hashed, or compared by which they are."""
        undecided = self.containers.stands_for_others
        self.ask_compared(*values)
        for value in values:
            if isinstance(value, tuple):
                self.ask_identity(*value)
            elif hashed_by_identity(value) and undecided(value):
                self.undecided_identity("container")

    def ask_address(self, *values: Any) -> None:
        """Must be called where a program is told where objects are in memory."""
        self.ask_compared(*values, arrays=False)
        for value in values:
            if own_attribute(value, "tail") is not None:  # it holds what the program computes
                continue
            if isinstance(value, (list, tuple)):
                self.ask_address(*value)
            elif isinstance(value, dict):
                self.ask_address(*value, *value.values())
            elif is_plain_object(value) and not self.birth(value):
                self.reads["address", id(value)] = KnownAddress(
                    "where it is", ObjectItself(value), value
                )

    def ask_compared(self, *values: Any, arrays: bool = True) -> None:
        """Must be called where Python compares or hashes objects by code that nobody sees."""
        for key, guard in compared_parts(values, self.is_written):
            if arrays or not isinstance(guard.get, ContentsOf):
                self.reads.setdefault(key, guard)

    def is_written(self, obj: Any, name: str) -> bool:
        """Whether the program itself gave an attribute the value that it has."""
        key = ("attribute", id(obj), name)
        return bool(self.birth(obj)) or any(key in journal.old for journal in self.journals)

    def undecided_identity(self, what: str) -> NoReturn:
        if self.loops.rolling:
            raise CannotRoll(f"it asks whether two variables hold one {what}")
        raise UnsupportedError(
            f"whether two variables hold one {what} depends on data",
            "keep a number or flag beside them that says so, and compare that",
        )

    def key_of(self, key: Any, kept: bool = False) -> Any:
        """An index or key of a container of Python's, as a program has it that is traced; `kept`:
        the container gives it back, so that it must have no derivative."""
        if not self.tracing:
            self.ask_identity(key)
            return key
        if isinstance(key, slice):
            return slice(*map(self.key_of, (key.start, key.stop, key.step)))
        if isinstance(key, tuple):
            parts = [self.key_of(k, kept) for k in key]
            return type(key)(*parts) if hasattr(key, "_fields") else tuple(parts)
        a = (
            key.value()
            if is_own_class(type(key)) and hasattr(key, "cell") and not key.type.shape
            else key
        )
        if kept and isinstance(a, Var) and a.type.differentiable:
            (a,) = self.bind(
                python_number, (a,), {"reader": "a dictionary or set keeps it as a key"}
            )
        return self.require(a, "an index or a key is needed") if isinstance(a, Var) else key

    def emit(self, statement: Statement) -> None:
        super().emit(statement)
        if not self.observing:
            pass
        elif is_seed(statement):
            self.call.draws.append(statement)
        elif not isinstance(statement, Let):
            self.call.statement_of.update(dict.fromkeys(outputs(statement), statement))
        elif statement.op is draw:
            self.call.draws.append(statement)
        if self.keys.pending:
            self.keys.attach(statement, self.blocks[-1])

    def bind(self, op: Any, args: tuple[Any, ...], params: dict[str, Any]) -> tuple[Atom, ...]:
        operands = fit_operands(args) if op.elementwise else args
        if operands is not args:
            self.handlers.refuse_undecided(ValueError)
        if any(type(value) is Var for value in params.values()):
            params = {k: known_number(v, f"{k} must be known") for k, v in params.items()}
        return super().bind(op, operands, params)

    def let(
        self, outs: tuple[Var, ...], op: Any, args: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> None:
        for handler in self.handlers.open:
            handler.raise_failures(Let(outs, op, args, dict(params)))
        super().let(outs, op, args, params)

    def place(self) -> Any:
        """The user's line that is run now."""
        return self.origin

    def next_list(self, name: str = "") -> tuple[Any, str, int]:
        """What tells a list that is put into stacks from others, in each staged run: the line, the
        name, and how many of these have been before."""
        here = self.place(), name
        self.lists_here[here] += 1
        return (*here, self.lists_here[here])

    def enter(self, method: Any, *args: Any) -> Any:
        """Calls a function of the user."""
        return method(*args)

    def decides(self, error: Exception, fails: Callable[[], Atom]) -> bool:
        return self.handlers.decides(error, fails)

    @property
    def depth(self) -> int:
        """How many sides of tests and loops what is staged now is in."""
        return len(self.journals) - self.handlers.probes

    def only_once(self, what: str, hint: str, birth: int = 0) -> None:
        """Refuses what is done once and in order, to something as old as `birth`, in statements
        that are staged again or may not be run: rolled loops, and sides of tests on data."""
        if not self.is_done_again(birth):
            return
        if self.loops.rolling:
            raise CannotRoll(f"it {what}")
        raise UnsupportedError(f"a side of a test on data {what}", hint)

    def note_advanced(self, iterator: Any) -> None:
        if self.advanced is not None:  # nobody else holds it when a loop has left it
            self.advanced.append(iterator)

    def namesake(self, variable: Var, a: Any) -> None:
        """`variable` stands for `a`: it has its name, or they get theirs together."""
        if isinstance(a, Var):
            variable.name = a.name
            self.namesakes[variable] = a

    def changes(self, name: str) -> bool:
        """Whether a number from outside of this name is an input of the program."""
        d = self.decisions
        return d is not None and name in d.changing and name not in d.contents

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def hashed_by_identity(value: Any) -> bool:
    """Whether an object is a key as the object that it is, and not by what it holds."""
    cls: Any = type(value)
    return bool(cls.__hash__ is object.__hash__)


def trace() -> Trace:
    if not builder.active():
        ending = sys.exception()
        if isinstance(ending, GeneratorExit):  # Python ends one that a run left suspended
            raise ending
        raise EscapeError(
            "a value of a staged run is used after the run has ended",
            "return it from the function instead of keeping it in an outer object",
        )
    return builder.current()  # type: ignore[return-value]
