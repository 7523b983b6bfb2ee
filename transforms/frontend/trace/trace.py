"""A staged run: the open blocks, what may be undone, and the facts about sizes it relied on."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import Builder, atom_of_size
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, Effect, Let, Statement, Var, outputs
from tapeless.transforms.core.size_inequalities import least_in_loops
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.errors import EscapeError, Signal, UnsupportedError
from tapeless.transforms.frontend.trace.lent_arrays import Loans
from tapeless.transforms.frontend.trace.observation import Guarded, KnownValues, observed
from tapeless.transforms.ops.primitives.identities import python_number
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.optimize.outline import Stretch
from tapeless.transforms.random_keys.key_events import Notes


class CannotRoll(Signal):
    """A loop body has no stable types, or does what is done once; the loop must be unrolled. `hint`
    says how it could be rolled, where that is known."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


class Location:
    """What Python code can overwrite: a variable, a list, an attribute, the value of an array."""

    key: tuple[Any, ...]
    birth: int = 0
    name: str = ""
    owner: str = ""  # of an attribute: the class of the object
    refusable: bool = False  # it may hold why it must not be read

    def get(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        raise NotImplementedError

    def holds(self, old: Any) -> bool:
        """Whether it has what it had, the very same."""
        return same(self.get(), old)

    def rely(self, old: Any) -> None:
        """The program relies on it that this is there before a call: it leaves it as it was."""


def same(a: Any, b: Any) -> bool:
    """Whether nobody can tell two values apart."""
    return a is b or (type(a) is type(b) and type(a) in (bool, int, str) and a == b)


class Journal:
    """The locations that one block overwrote, with what they held before."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.old: dict[tuple[Any, ...], tuple[Location, Any]] = {}

    def note(self, location: Location) -> None:
        """Keeps what an older location holds, the first time that it is overwritten."""
        if location.key not in self.old and location.birth <= self.serial:
            self.old[location.key] = (location, location.get())

    def changed(self) -> list[tuple[Location, Any]]:
        """Those that hold something else now: a stack from which is taken what was put on it is
        as it was. That the others are so before a call is relied on, for nothing is written."""
        changed = []
        for loc, old in self.old.values():
            if loc.holds(old):
                loc.rely(old)
            else:
                changed.append((loc, old))
        return changed


class Trace(Builder):
    """Records the core program of one staged run.

    hints    the sizes and integers that the inputs have in the call that is being staged
    guards   facts about input sizes that the program relies on: (relation, a, b)
    call_values  the values of variables in this call, where the program is traced on them
    unroll   loops (by source position) that must not be rolled
    """

    def __init__(self, decisions: Any = None) -> None:
        super().__init__()
        self.journals: list[Journal] = [Journal(0)]
        self.watchers: list[Journal] = []  # beside them
        self.hints: dict[Symbol, int] = {}
        self.namesakes: dict[Var, Var] = {}  # what gets the name that a variable gets first
        self.guards: list[tuple[str, Size, Size]] = []
        self.decisions = decisions
        self.exact = decisions is not None and decisions.exact  # carry references, not arrays
        self.identities = decisions is not None and decisions.identities  # and not what is in them
        self.notes: list[str] = []
        self.unrolled: dict[tuple[str, int, str], SlowCode] = {}  # by place: into many passes
        self.legend: list[str] = []
        self.parents: dict[Var, Any] = {}
        self.can_be_known: dict[Var, bool | None] = {}  # what was asked already
        self.births: dict[int, tuple[int, Any]] = {}
        self.generators: dict[int, tuple[Var, Any]] = {}  # that draw when the program runs
        self.serials = itertools.count(1)
        self.advanced: list[Any] | None = None  # iterators of the program, while one is run out
        self.reads: dict[Any, Any] = {}
        self.paths: dict[int, str] = {}  # how objects from outside were read, by their ids
        self.poisoned: dict[Any, str] = {}
        # the types in Python of numbers of which data says what type they have
        self.number_types: dict[Var, frozenset[Any]] = {}
        self.sums: dict[Atom, Size] = {}  # of how many items, as data says
        self.memories: dict[Any, set[Any]] = {}  # of cells that may be in the memory of others
        self.sharers: dict[Any, set[Any]] = {}  # the cells that may be in a memory, or hold it
        self.apart: dict[Any, set[Any]] = {}  # cells that share none of it with another after all
        self.held: dict[Any, set[Any]] = {}  # the memory that lists hold on to
        self.either: dict[Any, set[Any]] = {}  # of lists: what may be one of them, by data
        self.overwritten: set[Any] = set()  # memory that a store may have changed
        self.tangents: set[Any] = set()  # inputs that the user's function does not get
        self.inputs: dict[Var, Any] = {}  # the arrays of this call
        # new arrays in an order that the user chose: that, or the array whose order they have
        self.laid_out: dict[Var, tuple[str, Any]] = {}
        self.flows: dict[Var, tuple[Any, ...]] = {}  # of what loops carry: what it may be
        self.asked: set[Var] = set()  # of these: those whose memory order was asked for
        self.pending: dict[Any, set[Any]] = {}  # by memory: orders of inputs that stores rely on
        self.orders: set[Any] = set()  # orders of inputs that the program relies on
        self.tests: list[Any] = []  # what the branches that are open now depend on
        self.entered: dict[Any, list[Any]] = {}  # the calls that each function is in now
        self.repeated: Counter[Any] = Counter()  # how often each has called itself
        self.undecided: Counter[Any] = Counter()  # its calls of itself under tests on data
        self.stretches: list[Stretch] = []  # what calls of functions recorded
        self.recursions: list[Any] = []  # the functions that are being staged to be called by name
        self.equal_sizes: dict[frozenset[Size], Size] = {}  # which of two found equal is taken
        self.joined: set[Size] = set()  # sizes that differ from pass to pass, or by branch
        self.handlers: list[Any] = []  # the open try statements
        self.attempts: list[Any] = []  # their runs
        self.probes = 0  # those runs that only look for tests
        self.tails: list[Any] = []  # lists that are filled by rolled loops
        self.bounds: dict[
            Symbol, tuple[Size, Size]
        ] = {}  # least and largest values of loop indices
        self.idle: Any = None  # the outermost open loop that does nothing with symbols
        self.futile: Counter[Any] = Counter()  # how often in a row each loop could not be rolled
        self.passes = 0  # those that it made, with those of the loops inside
        self.arms = 0  # how many sides of tests have been staged
        self.depths = 0  # in how many other sides each of them was, summed up
        self.rolling = 0  # how many loops are being rolled now
        self.misses: list[Any] = []  # calls of functions under functools.cache that were made
        self.absences: dict[Any, Any] = {}  # attributes that code asked for before they were set
        self.checked: dict[Any, Any] = {}  # flags of unset variables: the block that raises
        # truth values, and which flags are true where they are true, or false
        self.means: dict[tuple[Any, bool], frozenset[Any]] = {}
        self.uneven: dict[int, tuple[Any, Any]] = {}  # lists that hold as many objects as data says
        self.shared: set[Any] = set()  # lists filled by loops whose elements may be in others, too
        self.twice: list[Any] = []  # of such a list: an element is at the second place, too
        self.makings: dict[int, tuple[Any, Any]] = {}  # dicts and sets, and where they are made
        self.stored: dict[Any, list[Any]] = {}  # by each loop, when it was last staged
        self.read_only: dict[int, Any] = {}  # containers that hold what one of others does
        self.loans = Loans()
        self.sides: list[tuple[int, int]] = []  # the tests around, and which side of each
        self.ended: set[int] = set()  # frames of calls of our own code
        self.run_over: list[Any] = []  # by loops that are being staged
        self.stored_in: Any = None  # the frame of the outermost of those loops
        self.outermost = 0  # when the outermost loop began
        self.began: list[int] = []  # when the passes began that are staged
        self.labels: dict[int, tuple[Any, Any, Any]] = {}  # the index of one of several constants
        self.kin: dict[int, tuple[Any, dict[int, Any]]] = {}  # containers, and what each may be
        self.unneeded: dict[int, tuple[Any, Any]] = {}  # those that a loop was staged without
        # containers that were put into lists which loops fill, or were taken from them
        self.elements: dict[int, Any] = {}
        # what calls of functions under functools.cache gave, and in which block
        self.remembered: dict[Any, tuple[Any, Any]] = {}
        self.opened: list[int] = []  # the objects that are being taken apart, each in another
        self.functional = False  # whether functions of tapeless.numpy were called
        self.keys = Notes()  # which random keys are made and used where
        self.call_values: KnownValues | None = None  # of a run that is traced on them
        self.constants: KnownValues | None = None  # what is computed of constants only
        self.statement_of: dict[Var, Statement] = {}  # of such a run: what branches and loops give
        self.outer_map: Any = None  # the mapped function that a call is of, if it is of one
        self.draws: list[Let] = []  # of such a run, in order
        self.relies_on_results = False  # whether what such a run calls must give what it gave
        self.fixed: dict[Var, Guarded] = {}  # of such a run: values that are guarded
        self.recipes: dict[int, tuple[Any, Any]] = {}  # of such a run: objects that it makes again

    @property
    def observing(self) -> bool:
        """Whether values of the call at hand are read where Python needs them."""
        return self.call_values is not None

    @property
    def tracing(self) -> bool:
        """Whether all tests and loops go the way that they go in the call at hand."""
        return self.observing and self.decisions.traced

    def require(self, value: Atom, why: str, hint: str = "") -> Any:
        return observed(self, value, why, hint)

    def stands_for_others(self, obj: Any) -> bool:
        """Whether which object of the user's program it is depends on data."""
        element = self.elements.get(id(obj))
        taken = element is not None and element.present
        return taken or bool(self.kin.get(id(obj), (None, {}))[1])

    def ask_identity(self, *values: Any) -> None:
        """Must be called before objects are hashed, or compared by which they are."""
        for value in values:
            if isinstance(value, tuple):
                self.ask_identity(*value)
            elif hashed_by_identity(value) and self.stands_for_others(value):
                self.undecided_identity("container")

    def undecided_identity(self, what: str) -> NoReturn:
        if self.rolling:
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
        a = key.value() if hasattr(key, "cell") and not key.type.shape else key
        if kept and isinstance(a, Var) and a.type.differentiable:
            (a,) = self.bind(
                python_number, (a,), {"reader": "a dictionary or set keeps it as a key"}
            )
        return self.require(a, "an index or a key is needed") if isinstance(a, Var) else key

    def emit(self, statement: Statement) -> None:
        super().emit(statement)
        if not self.observing:
            pass
        elif not isinstance(statement, Let):
            self.statement_of.update(dict.fromkeys(outputs(statement), statement))
        elif statement.op is draw:
            self.draws.append(statement)
        if self.keys.pending:
            self.keys.attach(statement, self.blocks[-1])

    def let(
        self, outs: tuple[Var, ...], op: Any, args: tuple[Atom, ...], params: Mapping[str, Any]
    ) -> None:
        for handler in self.handlers:
            handler.before(Let(outs, op, args, dict(params)))
        super().let(outs, op, args, params)

    def place(self) -> Any:
        """The user's line that is run now."""
        return self.origin

    def enter(self, method: Any, *args: Any) -> Any:
        """Calls a function of the user."""
        return method(*args)

    # -- names

    def namesake(self, variable: Var, a: Any) -> None:
        """`made` stands for `a`: it has its name, or they get theirs together."""
        if isinstance(a, Var):
            variable.name = a.name
            self.namesakes[variable] = a

    def changes(self, name: str) -> bool:
        """Whether a number from outside of this name is an input of the program."""
        d = self.decisions
        return d is not None and name in d.changing and name not in d.contents

    # -- sizes

    def value(self, size: Size) -> int | None:
        return dims.evaluate(size, self.hints)

    def guard(self, relation: str, a: Size, b: Size) -> None:
        if (relation, a, b) not in self.guards:
            self.guards.append((relation, a, b))

    def same_size(self, a: Size, b: Size) -> bool:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        difference = self.value(a - b)
        if difference is not None:  # also where loop indices cancel
            self.guard("==" if difference == 0 else "!=", a - b, 0)
            return difference == 0
        x, y = self.value(a), self.value(b)
        if x is None or y is None:
            if any(self.is_over(s.var) for s in dims.symbols(a) | dims.symbols(b)):
                return True  # what a list kept is as long as it was then
            self.undecided_error(ValueError)
            sizes = atom_of_size(a), atom_of_size(b)
            self.emit(Effect("check", sizes, {"by_data": True}, self.origin))
            return True
        self.guard("==" if x == y else "!=", a, b)
        return x == y

    def is_over(self, v: Var | None) -> bool:
        """Whether the block in which an integer was computed has ended."""
        let = None if v is None else self.definitions.get(v)
        return let is not None and not any(let in block for block in self.blocks)

    def may_fit(self, a: Size, b: Size) -> bool:
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.same_size(a, b)
        self.undecided_error(ValueError)
        named = dims.symbols(a) | dims.symbols(b)
        if all(s.given or s.var is not None for s in named):  # a mask does not say how many it has
            sizes = atom_of_size(a), atom_of_size(b)
            self.emit(Effect("check", sizes, {"by_data": True}, self.origin))
        return True

    def in_bounds(self, index: int, size: Size) -> bool:
        if self.handler(IndexError) is None:
            return True
        n, least = self.value(size), max(index + 1, -index)
        if n is None:
            self.undecided_error(IndexError)
            return True
        self.guard(">=", *((size, least) if n >= least else (least - 1, size)))
        return n >= least

    def is_one(self, size: Size, other: Size) -> bool:
        """An axis that happens to have length one in this call: its origins are made static."""
        if isinstance(size, int) or self.value(size) != 1 or self.value(other) == 1:
            return False
        self.decisions.fix_sizes(dims.symbols(size))
        return True

    def lacks_extent(self, size: Size) -> bool:
        """An axis of length one, also where only this call says so."""
        return size == 1 or (self.value(size) is not None and self.same_size(size, 1))

    def is_sure(self, a: Size, b: Size) -> bool:
        """Lengths of inputs are known better than what data says."""
        homes = self.decisions.homes
        return dims.symbols(a) <= homes.keys() or not dims.symbols(b) <= homes.keys()

    def extreme(self, size: Size, largest: bool) -> Size:
        """A bound of an expression in loop indices, in terms of sizes of inputs."""
        return least_in_loops(size, self.bounds.get, -1 if largest else 1)  # type: ignore[arg-type]

    def not_negative(self, size: Size) -> bool:
        """Whether this call shows that a size is not negative; then others are to show it, too."""
        least = self.extreme(size, False)
        lower_bound = self.value(least)
        if lower_bound is None or lower_bound < 0:
            return False
        if not dims.at_least(least, 0):
            self.guard(">=", least, 0)
        return True

    def length(self, low: Size, high: Size) -> Size:
        """max(high - low, 0), without the maximum where this call shows that it is not needed."""
        size = high - low
        return size if self.not_negative(size) else dims.maximum(size, 0)

    def at_least(self, a: Size, b: Size) -> Ternary:
        """Also where this call shows it, for all passes of the loops around; a guard says so."""
        answer = super().at_least(a, b)
        if answer is not Ternary.UNKNOWN:
            return answer
        least, most = (self.extreme(a - b, largest) for largest in (False, True))
        low, high = self.value(least), self.value(most)
        if low is not None and low >= 0:
            self.guard(">=", *((a, b) if least == a - b else (least, 0)))
            return Ternary.TRUE
        if high is not None and high < 0:
            self.guard(">=", *((b, a + 1) if most == a - b else (-most, 1)))
            return Ternary.FALSE
        return answer

    def equals(self, a: Size, b: Size) -> Ternary:
        answer = super().equals(a, b)
        difference = self.value(a - b)
        if answer is not Ternary.UNKNOWN or difference is None:
            return answer
        self.guard("!=" if difference else "==", a, b)
        return Ternary(int(difference == 0))

    def clamp(self, bound: Size, n: Size) -> Size | None:
        least, most = self.extreme(bound, False), self.extreme(bound, True)
        if least != bound or most != bound:
            length, low, high = self.value(n), self.value(least), self.value(most)
            if length is None or low is None or high is None:
                return None
            if high < 0 <= length + low:  # from the end
                self.guard(">=", -most, 1)
                self.guard(">=", n + least, 0)
                return n + bound
            if low < 0 or high > length:
                return None
            self.guard(">=", least, 0)
            self.guard(">=", n, most)
            return bound
        b, length = self.value(bound), self.value(n)
        if b is None or length is None:
            return None
        if 0 <= b <= length:
            self.guard(">=", bound, 0)
            self.guard(">=", n, bound)
            return bound
        if b > length:
            self.guard(">=", bound, n)
            return n
        if -b <= length:  # from the end
            self.guard(">=", -bound, 1)
            self.guard(">=", n + bound, 0)
            return n + bound
        return None

    # -- undoing

    def touch(self, location: Location) -> None:
        """Must be called before a location is overwritten."""
        self.journals[-1].note(location)
        for journal in self.watchers:
            journal.note(location)

    @contextmanager
    def watching(self) -> Iterator[Journal]:
        """Writes inside to what is older are journalled once more."""
        journal = Journal(next(self.serials))
        self.watchers.append(journal)
        try:
            yield journal
        finally:
            self.watchers.remove(journal)

    def note_advanced(self, iterator: Any) -> None:
        if self.advanced is not None:  # nobody else holds it when a loop has left it
            self.advanced.append(iterator)

    def wrote(self, key: Any) -> bool:
        """Whether the program itself put there what a location holds."""
        return any(key in journal.old for journal in self.journals)

    def only_once(self, what: str, hint: str, birth: int = 0) -> None:
        """Refuses what is done once and in order, to something as old as `birth`, in statements
        that are staged again or may not be run: rolled loops, and sides of tests on data."""
        if not self.is_done_again(birth):
            return
        if self.rolling:
            raise CannotRoll(f"it {what}")
        raise UnsupportedError(f"a side of a test on data {what}", hint)

    def is_done_again(self, birth: int) -> bool:
        """Whether statements are staged again, or may not be run, that something is older than."""
        return len(self.journals) > 1 and self.journals[-1].serial >= birth

    def born(self, obj: Any) -> Any:
        """Remember that a mutable object was made now, by the program."""
        self.births[id(obj)] = (next(self.serials), obj)
        return obj

    def as_old(self, part: Any, older: Any) -> Any:
        """A part that an object was made with."""
        self.births.setdefault(id(part), (self.birth(older), part))
        return part

    def birth(self, obj: Any) -> int:
        return self.births.get(id(obj), (0, None))[0]

    @contextmanager
    def recording(self) -> Iterator[Journal]:
        """Writes inside are journalled; the caller may roll them back, an error does so here."""
        journal = Journal(next(self.serials))
        self.journals.append(journal)
        try:
            yield journal
        except BaseException:
            self.rollback(journal)
            raise
        finally:
            self.journals.pop()

    @contextmanager
    def undone_by_errors(self) -> Iterator[None]:
        """Writes inside are journalled with those around; an error undoes them, and only them."""
        journal = self.journals[-1]
        before, journal.old = journal.old, {}
        try:
            yield
        except BaseException:
            self.rollback(journal)
            journal.old.clear()
            raise
        finally:
            journal.old = before | {k: v for k, v in journal.old.items() if k not in before}

    @staticmethod
    def rollback(journal: Journal) -> None:
        for location, old in reversed(journal.old.values()):
            location.set(old)

    # -- what except clauses catch

    @property
    def depth(self) -> int:
        """How many sides of tests and loops what is staged now is in."""
        return len(self.journals) - self.probes

    def handler(self, kind: type[BaseException]) -> Any:
        """The innermost open try statement that catches such an error."""
        return next((h for h in reversed(self.handlers) if issubclass(kind, h.kinds())), None)

    def decides(self, error: Exception, fails: Callable[[], Atom]) -> bool:
        handler = self.handler(type(error))
        if handler is None:
            return False
        if handler.attempt is None:
            self.undecided_error(type(error))
        handler.decide(error, fails)
        return True

    def undecided_error(self, kind: type[BaseException]) -> None:
        """An operation may raise when the program runs: refused where that is caught."""
        if self.handler(kind) is not None:
            raise UnsupportedError(
                f"whether this raises {kind.__name__} is known only when the program runs, "
                "and an except clause catches it",
                "test for it with if and else",
            )

    # -- aliases that are only known to be possible

    def memory(self, cell: Any) -> set[Any]:
        """What may be the memory of a cell: cells that were made apart from all others."""
        return self.memories.get(cell) or {cell}

    def share(self, cell: Any, memory: Iterable[Any]) -> None:
        """`cell` may also be in this memory."""
        mine = self.memories.setdefault(cell, {cell})
        mine.update(memory)
        for m in mine:
            self.sharers.setdefault(m, set()).add(cell)

    def are_apart(self, a: Any, b: Any) -> bool:
        """Whether two cells share no memory."""
        return b in self.apart.get(a, ()) or not self.memory(a) & self.memory(b)

    def keep_apart(self, a: Any, b: Any) -> None:
        """Two cells that seem to share memory do not."""
        self.apart.setdefault(a, set()).add(b)
        self.apart.setdefault(b, set()).add(a)

    def link(self, value: Any, source: Any) -> None:
        """`made` may be what `source` is."""
        if value is not source:
            self.share(value, self.memory(source))

    def hold(self, holder: Any, memory: Iterable[Any]) -> None:
        """A list has elements in this memory: it shows what is stored there."""
        mine = self.held.setdefault(holder, {holder})
        mine.update(memory)
        for m in memory:
            self.loans.sides.setdefault((holder, m), set()).add(tuple(self.sides))
        for m in mine:
            self.sharers.setdefault(m, set()).add(holder)

    def apart_by_tests(self, holder: Any, memory: Any) -> bool:
        """Whether a list got this on the other side of a test."""
        now = {(test, 1 - side) for test, side in self.sides}
        return all(
            not now.isdisjoint(path) for path in self.loans.sides.get((holder, memory), [()])
        )

    def holding(self, holder: Any) -> set[Any]:
        """The memory that the elements of a list may be in."""
        return self.held.setdefault(holder, {holder})

    def written(self, cell: Any) -> None:
        memory = self.memory(cell)
        self.overwritten |= memory
        for m in {cell, *memory}:
            self.orders |= self.pending.get(m, set())
        others = {other for m in memory for other in (m, *self.sharers.get(m, ()))}
        for other in others - self.apart.get(cell, set()) - {cell}:
            self.poisoned[other] = self.blame(cell)

    def may_be(self, value: Any, holders: Iterable[Any]) -> None:
        """An array stands for one of several lists."""
        self.share(value, holders)
        for holder in holders:
            self.either.setdefault(holder, set()).add(value)

    def changed_list(self, holder: Any) -> None:
        """What may be this list, by data, is out of date."""
        for other in self.either.get(holder, ()):
            self.poisoned[other] = self.blame(holder)

    def changed_inside(self, holder: Any) -> None:
        """An element of a list was changed in place: so was what the list holds."""
        for m in self.holding(holder) - {holder}:
            for other in {m, *self.sharers.get(m, ())} - {holder}:
                self.poisoned[other] = self.blame(holder)

    def rely(self, orders: set[Any], memory: Iterable[Any]) -> None:
        """What a store to one of these cells means depends on the orders of inputs."""
        for cell in memory if orders else ():
            for m in (cell, *self.memory(cell)):
                self.pending.setdefault(m, set()).update(orders)

    def blame(self, cell: Any) -> str:
        """What was overwritten where, as errors say it."""
        name = getattr(cell.atom, "name", "")
        line = f", which line {self.origin.line} overwrites" if self.origin else ""
        return f"may share memory with {repr(name) if name else 'an array'}{line}"

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
