"""Stages the body of a loop once, with the variables that it writes as block arguments, until their
types no longer change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from tapeless.transforms.analysis.free_variables import defined_variables
from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.builder import NeedStatic, atom, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Literal,
    StackType,
    Statement,
    Var,
    free_variables,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import (
    AliasError,
    ShapeError,
    Signal,
    StructureError,
    TapelessError,
    UndefinedError,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.memory_layout import Layouts
from tapeless.transforms.frontend.arrays.number_types import record_types
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branch_side import final_structure
from tapeless.transforms.frontend.control_flow.constant_choices import Labels, has_labels
from tapeless.transforms.frontend.control_flow.definite_assignment import SetLocation, not_yet
from tapeless.transforms.frontend.control_flow.emit_loop import (
    LoopEmitter,
    NothingSymbolic,
    StagedPass,
)
from tapeless.transforms.frontend.control_flow.lists_by_branch import as_array, stays_in_stacks
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.optional_values import Maybes, with_presence_flags
from tapeless.transforms.frontend.control_flow.rotating_buffers import Rotating
from tapeless.transforms.frontend.control_flow.truth import truth, undefined_flag
from tapeless.transforms.frontend.effects.effects import Unreachable
from tapeless.transforms.frontend.effects.try_attempts import Fork
from tapeless.transforms.frontend.heap.absent_attributes import asked_in_vain, maybe_set
from tapeless.transforms.frontend.heap.alias_sets import Aliases
from tapeless.transforms.frontend.heap.frames import FrameLocation
from tapeless.transforms.frontend.heap.list_columns import may_be_list
from tapeless.transforms.frontend.heap.list_growth import Growth
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.heap.references import LoopReferences, references_that_escape
from tapeless.transforms.frontend.source.tree_building import RESULT
from tapeless.transforms.frontend.trace.cells import CellLocation, MaybeUndefined
from tapeless.transforms.frontend.trace.dependence import depends_on
from tapeless.transforms.frontend.trace.journals import Journal, Location
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.attribute_names import is_program_object
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import LoopAliases, stale_reason
from tapeless.transforms.frontend.values.identity import Variables
from tapeless.transforms.frontend.values.join import LoopLengths, convert, join, join_types
from tapeless.transforms.frontend.values.list_elements import refuse_changed_elements
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    EnumCoded,
    Incompatible,
    Structure,
    is_in_stacks,
    leaf_names,
    list_of_array,
    loop_copy_of,
)

FAILURES = (
    CannotRoll,
    NothingSymbolic,
    NeedStatic,
    StructureError,
    AliasError,
    UndefinedError,
    Unreachable,
)


@dataclass(eq=False)
class LoopFixpoint:
    """Stages the body of a loop once: what it writes is found by staging it, becomes carries, and
    the types of the carries are joined to a fixed point."""

    seq: Sequence | None  # None: a while loop, with a test
    body: Callable[..., Any]
    frame: Any
    stop: str | None
    name: str
    key: Any
    test: Callable[[], Any] | None = None
    locations: dict[Any, Location] = field(default_factory=dict)
    types: dict[Any, list[Any]] = field(default_factory=dict)
    first: dict[Any, Structure] = field(default_factory=dict)  # what a pass left in new locations
    lengths: LoopLengths = field(default_factory=LoopLengths)  # those that differ from pass to pass
    params: set[Var] = field(default_factory=set)
    late: list[tuple[Location, Structure]] = field(default_factory=list)
    renewed: list[tuple[Location, Any]] = field(default_factory=list)  # what is there from now on
    lists: Growth = field(default_factory=Growth)
    aliases: Aliases = field(default_factory=Aliases)
    moving: LoopReferences = field(default_factory=LoopReferences)
    rotating: Rotating = field(default_factory=Rotating)
    labels: Labels = field(default_factory=Labels)
    maybes: Maybes = field(default_factory=Maybes)
    moved: set[Any] = field(default_factory=set)  # what turned out to move in this pass
    standing: LoopAliases = field(default_factory=LoopAliases)
    by_contents: set[Any] = field(default_factory=set)  # those that get containers of a pass
    started: int = 0
    stale_before: dict[Any, str] = field(
        default_factory=dict
    )  # what is out of date before the loop

    def __post_init__(self) -> None:
        self.lengths.loop = self.key

    def run(self) -> None:
        t = trace()
        stale, notes, unrolled = dict(t.memory.stale), list(t.notes), dict(t.loops.unrolled)
        with t.recording() as journal:
            start = len(t.blocks[-1])
            self.recall()
            t.loops.rolling.append(self.key)
            try:
                self.settle()
            except (Exception, Signal) as e:
                if not _of_this_way(e) and not (t.observing and isinstance(e, UnsupportedError)):
                    raise
                t.rollback(journal)
                del t.blocks[-1][start:]
                t.memory.stale, t.notes, t.loops.unrolled = stale, notes, unrolled
                self.lists.forget()
                outer = isinstance(e, NeedStatic) and not depends_on(e.atom, self.params)
                if outer and not isinstance(e, Fork):
                    raise
                if isinstance(e, (CannotRoll, NothingSymbolic)):
                    raise
                why = getattr(e, "problem", str(e)) or "it always raises"
                raise CannotRoll(why, getattr(e, "hint", "")) from e
            finally:
                t.loops.rolling.pop()
            written = [(loc, loc.get()) for loc, _ in journal.old.values()]
            t.rollback(journal)
        for loc, value in written:
            t.touch(loc)
            loc.set(value)

    def recall(self) -> None:
        """Begins with what this loop wrote when a pass of the loops around it was staged before:
        each attempt at those would double the attempts at this one. What was made in such a pass
        is gone, and what was written in another call of the function is not its."""
        t = trace()
        if not t.loops.began:
            t.loops.outermost = next(t.serials)
            if isinstance(self.frame, Variables) and t.loops.stored_in is not self.frame:
                if t.loops.stored_in is not None:
                    t.loops.stored.clear()
                t.loops.stored_in = self.frame
            return
        frame, before = t.loops.stored.get(self.key, (None, ()))
        for loc in before:
            same_call = frame is self.frame and t.loops.outlasts_pass(loc.birth)
            if loc.birth < t.loops.outermost or same_call:
                self.locations[loc.key] = loc

    def settle(self) -> None:
        """Stages passes until the types, lists and aliases at the start of one hold at its end."""
        t = trace()
        stale = self.stale_before = dict(t.memory.stale)
        self.started = next(t.serials)
        self.labels.began = self.started
        overwritten: dict[Any, str] = {}  # in a pass, and so at the start of the next
        for _ in range(12):
            t.memory.stale = dict(stale)
            entries = self.entries()
            t.memory.stale |= overwritten
            self.aliases.began = next(t.serials)
            staged = self.attempt(entries)
            before = len(overwritten)
            overwritten = {
                c: why
                for c, why in t.memory.stale.items()
                if c not in stale and (c.birth < self.started or c in self.lists.stacks)
            }
            if len(overwritten) == before and staged is not None:
                t.loops.stored[self.key] = (self.frame, list(self.locations.values()))
                emitter = LoopEmitter(self.seq, staged, self.aliases, self.standing)
                self.rotating.find(staged, self.aliases)
                emitter.collect(self.locations, self.key)
                self.rotating.count(staged, emitter)
                self.labels.explain(self.locations)
                t.origin = t.place() or t.origin  # the line of the loop
                emitter.emit(self.key)
                self.lists.measure(self.key, self.count(), self.journal)
                emitter.set_variables()
                self.rotating.place(staged, emitter, self.locations)
                return
        raise CannotRoll("the types of its variables do not settle")

    def count(self) -> Size | None:
        """How many passes are made; None if run-time values say so."""
        return None if self.seq is None or self.stop is not None else self.seq.count

    def entries(self) -> dict[Any, Structure]:
        for loc in list(self.locations.values()):
            if undefined_flag(loc.get()) is not None:
                self.tell(loc, loc.get().undefined)
        specs = {k: self.structure(loc) for k, loc in self.locations.items()}
        specs = {k: self.rotating.spec(k, spec) for k, spec in specs.items()}
        structures = {k: self.moving.spec(k, spec) for k, spec in specs.items()}
        structures = {k: self.labels.spec(k, spec) for k, spec in structures.items()}
        return {k: self.maybes.spec(k, spec) for k, spec in structures.items()}

    def structure(self, loc: Location) -> Structure:
        """What a location holds."""
        return final_structure(loc, contents=loc.key in self.by_contents)

    def tell(self, loc: Location, absence: MaybeUndefined) -> bool:
        """Whether a variable is set goes along, too; True if that is news."""
        flag = SetLocation(loc, absence.none)
        return self.locations.setdefault(flag.key, flag) is flag

    def attempt(self, entries: dict[Any, Structure]) -> StagedPass | None:
        """Stages one pass; None if it must be staged again."""
        t = trace()
        staged = StagedPass(entries, self.parameters(entries), self.index())
        self.lists.mark()
        self.standing.begin()
        t.loops.began.append(self.aliases.began)
        t.loops.started.append(self.started)
        remembered, misses, settled = dict(t.calls.remembered), len(t.calls.misses), None
        try:
            settled = self.stage_pass(entries, staged)
            return settled
        finally:
            t.loops.began.pop()
            t.loops.started.pop()
            if settled is None:  # the calls of this attempt are none of the program
                t.calls.remembered = remembered
                del t.calls.misses[misses:]

    def stage_pass(self, entries: dict[Any, Structure], staged: StagedPass) -> StagedPass | None:
        t = trace()
        before = {*t.memory.held}
        with t.recording() as journal, t.block() as staged.statements:
            self.journal = journal
            self.enter(staged, journal)
            self.stage(staged)
            self.require_equal_calls()
            refuse_changed_elements(journal)
            if t.exact and self.exchanges(entries, journal):
                return None
            news = [self.finish(k, loc, staged) for k, (loc, _) in journal.old.items()]
            news += [self.compare(key, loc, staged) for key, (loc, _) in staged.finals.items()]
            news.append(self.aliases.end({k: spec for k, (_, spec) in staged.finals.items()}))
        inner = t.memory.held.keys() - before
        t.rollback(journal)
        self.lists.forget()
        with self.before_the_loop():
            news += [self.lists.note(), self.lists.start(), self.start_late()]
        news.append(self.standing.has_news())
        if any(news):
            for holder in inner:  # of lists that this attempt made
                del t.memory.held[holder]
            t.memory.loans.given_back -= inner
            for held in t.memory.held.values():  # and of arrays that it made
                held -= {m for m in held if m.birth > self.aliases.began}
            return None
        for key in self.locations:
            staged.results.setdefault(key, list(staged.params[key]))
        return staged

    @contextmanager
    def before_the_loop(self) -> Iterator[None]:
        """What is read here is read ahead of the loop: what a pass overwrites is there still."""
        memory = trace().memory
        stale, memory.stale = memory.stale, dict(self.stale_before)
        try:
            yield
        finally:
            memory.stale = stale

    def varies(self, value: Atom) -> bool:
        """Whether it may be another one in the next pass."""
        return depends_on(value, self.params)

    def require_equal_calls(self) -> None:
        """A function under functools.cache is called in the first pass only: it must give what it
        would give in each."""
        began = self.aliases.began
        if any(miss.is_stale_in_passes(began, self.varies) for miss in trace().calls.misses):
            raise CannotRoll("a function under functools.cache keeps what its first pass computes")

    def exchanges(self, entries: dict[Any, Structure], journal: Journal) -> bool:
        """Whether variables turn out to have exchanged their arrays."""
        finals = {k: (loc, self.structure(loc)) for k, (loc, _) in journal.old.items()}
        if self.rotating.meet(entries, finals):
            trace().rollback(journal)
            return True
        return False

    def finish(self, key: Any, loc: Location, staged: StagedPass) -> bool:
        """Notes what a pass left in a location; True if it stands for other memory than thought."""
        final, entry = self.rotating.spec(key, self.structure(loc)), staged.entries.get(key)
        news, began = False, self.aliases.began
        if entry is not None and entry.value is MISSING:
            final = references_that_escape(final, began)
        elif entry is not None and self.moving.meet(key, entry, final, began):
            self.types.pop(key)
            self.forget_lengths()
            news = True
        else:
            final = self.moving.spec(key, final)
        if is_in_stacks(final) and entry is not None and not stays_in_stacks(entry):
            final = as_array(final)
        staged.finals[key] = (loc, with_presence_flags(final))
        if news:
            self.moved.add(key)
        return news

    def forget_lengths(self) -> None:
        """Arrays that were joined to parts of them, as values, may be as long in each pass."""
        for key, kinds in list(self.types.items()):
            shapes = (k.shape for k in kinds if not isinstance(k, StackType))
            if any(n in self.lengths for shape in shapes for n in shape):
                del self.types[key]

    def parameters(self, entries: dict[Any, Structure]) -> dict[Any, list[Var]]:
        params: dict[Any, list[Var]] = {}
        for key, spec in entries.items():
            leaves = list(spec.leaves())
            kinds = self.types.setdefault(key, self.kinds_at_first(key, spec))
            if [*map(_is_stack, kinds)] != [_is_stack(a.type) for a in leaves]:
                kinds = self.types[key] = [a.type for a in leaves]
            name = self.locations[key].stem()
            if name == RESULT:  # where it is set, no other pass comes
                self.aliases.unread.add(key)
            params[key] = [*map(Var, kinds, leaf_names(spec, name))]
            self.params |= set(params[key])
            for param, leaf in zip(params[key], leaves, strict=True):
                trace().loops.flows[param] = (leaf,)
                record_types(param, (leaf, Literal(None, param.type)))
            self.aliases.start(key, spec, params[key])
        return params

    def kinds_at_first(self, key: Any, entry: Structure) -> list[Any]:
        """The types of a location before all passes; of a number that the first one was seen to
        leave with another type, the type of both: it need not be staged again for that."""
        final = self.first.pop(key, None)
        if final is None or not (final.kind == entry.kind == "leaf"):
            return [a.type for a in entry.leaves()]
        assert entry.atom is not None
        assert final.atom is not None
        kinds = (entry.atom.type, final.atom.type)
        if any(isinstance(k, StackType) or k.shape for k in kinds):
            return [kinds[0]]
        try:
            return [join_types(*kinds)]
        except StructureError:
            return [kinds[0]]

    def index(self) -> Var:
        """The loop variable; tells the trace between which values it lies."""
        index = Var(INT, (self.seq is not None and self.seq.is_range and self.name) or "_")
        self.params.add(index)
        if self.seq is not None:
            start, _, step = (size_of(a) for a in self.seq.span)
            if isinstance(step, int) and dims.at_least(self.seq.count, 0):
                last = start + (self.seq.count - 1) * step
                (symbol,) = dims.symbols(builder.var_size(index))
                trace().bounds[symbol] = (start, last) if step > 0 else (last, start)
        return index

    def enter(self, staged: StagedPass, journal: Journal) -> None:
        """Gives every location its value at the start of a pass."""
        for key, loc in self.locations.items():
            if staged.entries[key].value is MISSING:
                continue
            trace().touch(loc)
            journal.old.setdefault(loc.key, (loc, loc.get()))
            loc.set(self.install(loc, staged.entries[key], staged.params[key]))
        self.aliases.link()

    def stage(self, staged: StagedPass) -> None:
        if self.test is None:
            assert self.seq is not None
            self.body(self.seq.item(Symbol(staged.index)))
        else:
            defined = set(defined_variables(Block((), tuple(staged.statements), ())))
            staged.test = self.stage_test(self.test)
            if defined & _read_by(*staged.test):  # which constant a variable is, for one
                staged.test = self.stage_test(self.test, staged)
            if defined & _read_by(*staged.test):
                raise AliasError(
                    "how long an array is that a variable stands for differs from pass to pass",
                    "copy it where it gets its second name, or use indices of the whole array",
                )
            self.body()
        flag = truth(getattr(self.frame, self.stop)) if self.stop else False
        staged.flag = flag.value() if isinstance(flag, Symbol) else atom(flag)

    def stage_test(
        self, test: Callable[[], Any], labelled: StagedPass | None = None
    ) -> tuple[list[Statement], Atom]:
        """The statements of a test, and what it gives; those that tell which constants variables
        stand for are among them where a pass is given."""
        t = trace()
        with t.recording() as journal, t.block() as statements:
            installed = self.install_labels(labelled) if labelled is not None else {}
            going = truth(test())
            result = going.value() if isinstance(going, Symbol) else atom(going)
            if any(
                loc.get() is not installed.get(loc.key, MISSING)
                for loc, _ in journal.changed_locations()
            ):
                raise CannotRoll("its test changes variables")
        if installed:
            t.rollback(journal)
        if not isinstance(going, Symbol) and not going:
            raise CannotRoll("its test is false")
        return statements, result

    def install_labels(self, staged: StagedPass) -> dict[Any, Any]:
        """Gives the variables that hold constants their values at the start of a pass again."""
        installed = {}
        for key, loc in self.locations.items():
            if has_labels(staged.entries[key]):
                trace().touch(loc)
                installed[loc.key] = self.install(loc, staged.entries[key], staged.params[key])
                loc.set(installed[loc.key])
        return installed

    def install(self, loc: Location, spec: Structure, params: list[Var]) -> Any:
        """What a location holds at the start of a pass: its value with parameters as leaves."""
        remaining = iter(params)
        if isinstance(loc, CellLocation):
            return next(remaining)
        if isinstance(loc, ContentsLocation) and isinstance(loc.obj, list):
            return tuple(self.rebuild(c, remaining) for c in spec.children)
        return self.rebuild(spec, remaining)

    def rebuild(self, spec: Structure, variables: Iterator[Var]) -> Any:
        if spec.kind == "leaf":
            param = next(variables)
            symbol = Symbol(param)
            if undefined_flag(spec.value) is not None:
                symbol.undefined = spec.value.undefined
            if isinstance(spec.value, Symbol) and spec.value.mutable:
                symbol.is_array, symbol.listing = True, spec.value.listing
                may_be_list(symbol, spec.value)
                self.aliases.install(param, symbol)
            return symbol
        if spec.kind == "static":
            return spec.value
        children = [self.rebuild(c, variables) for c in spec.children]
        return loop_copy_of(spec, children, self.standing)

    # -- what a pass left

    def compare(self, key: Any, loc: Location, staged: StagedPass) -> bool:
        """Notes what a pass left in a location; True if it must be staged again for that."""
        if key not in self.locations:
            self.locations[key] = loc
            if isinstance(loc, FrameLocation):
                self.first[key] = staged.finals[key][1]
            return True
        if key in self.moved:
            self.moved.discard(key)
            return True
        entry, final = staged.entries[key], staged.final(key)
        by_data = staged.test is not None and isinstance(staged.test[1], Var)
        if isinstance(loc, ContentsLocation) and self.lists.stage_growth(
            loc.obj, entry, final, by_data
        ):
            return True
        if not isinstance(loc, ContentsLocation) and self.lists.stage_rebinding(entry, final):
            return True
        if trace().identities and key not in self.by_contents and self.gets_younger(entry, final):
            self.by_contents.add(key)
            self.types.pop(key)
            return True
        if self.labels.meet(key, entry, final):
            self.types.pop(key)
            return True
        final = self.labels.spec(key, final)
        if self.maybes.meet(key, entry, final):
            self.types.pop(key)
            return True
        final = self.maybes.spec(key, final)
        unset = final.value is MISSING or isinstance(final.value, Incompatible)
        if undefined_flag(final.value) is not None:
            if entry.value is MISSING or entry.value is None:
                self.late.append((loc, final))
                return True
            if self.tell(loc, final.value.undefined):
                return True
        if entry.value is MISSING:
            if isinstance(final.value, Either) and final.value.may_be(MISSING):
                staged.results[key] = []
                return False
            if not unset and asked_in_vain(loc, final, self.aliases.began, self.varies):
                if staged.test is None or final.kind != "leaf":
                    raise CannotRoll(f"its first pass asks for '{loc.name}' before it is there")
                self.late.append((loc, maybe_set(loc, final)))
                return True
            staged.results[key] = [] if unset or final.kind == "static" else list(final.leaves())
            return False
        if unset or isinstance(entry.value, Incompatible):
            return self.compare_unreadable(loc, entry, final, staged)
        return self.widen(key, loc, self.leaves_left(loc, entry, final), staged)

    def compare_unreadable(
        self, loc: Location, entry: Structure, final: Structure, staged: StagedPass
    ) -> bool:
        """The same where what the location holds must not be read, before a pass or after it:
        a local variable is so before the loop, too, or is not set there."""
        if not isinstance(loc, FrameLocation) or final.value is MISSING:
            raise CannotRoll(f"'{loc.name}' is not set after each pass")
        if isinstance(entry.value, Incompatible) and isinstance(final.value, Incompatible):
            staged.results[loc.key] = []
            return False
        unreadable = isinstance(final.value, Incompatible)
        self.renewed.append((loc, final.value if unreadable else MISSING))
        return True

    def gets_younger(self, entry: Structure, final: Structure) -> bool:
        """Whether a location gets a container that a pass makes, in the place of another one."""
        return final.value is not entry.value and self.labels.holds_younger(final)

    def leaves_left(self, loc: Location, entry: Structure, final: Structure) -> list[Atom]:
        """The leaves of what a pass left, which must be built like what it began with."""
        if isinstance(loc, CellLocation):
            return list(final.leaves())
        leaves: list[Atom] = []
        content = isinstance(loc, ContentsLocation)  # what it is in stays the same container

        def keep(old: Structure, new: Structure) -> Any:
            list_of_array(old, new)
            leaves.extend(new.leaves())
            return old.value

        def build(old: Structure, new: Structure, children: Callable[[], list[Any]]) -> Any:
            if not ((content and new.value is final.value) or issubclass(old.kind, EnumCoded)):
                self.same_container(old, new)
            children()
            return old.value

        try:
            join(entry, final, keep, build)
        except StructureError as e:
            if (cls := _class_of_both(entry, final)) is not None:
                trace().decisions.as_values(cls)
            what = f"'{loc.name}' changes from pass to pass: {e.problem}" if loc.name else str(e)
            raise CannotRoll(what) from None
        return leaves

    def same_container(self, entry: Structure, final: Structure) -> None:
        """Containers that go from name to name, and are changed, must not be looked into any more:
        else the loop is unrolled."""
        t = trace()
        kin = t.containers.kin_of(final.value).values()
        others = [c for c in kin if c is not entry.value]
        older = [c for c in (entry.value, *kin) if t.birth(c) < self.started]
        if others:
            t.containers.unneeded |= {id(c): (c, self.key) for c in older if stale_reason(c)}
        self.standing.meet(entry.value, final.value, self.started)

    def widen(self, key: Any, loc: Location, leaves: list[Atom], staged: StagedPass) -> bool:
        """Joins the types of a location with those that a pass left; True if that is news."""
        kinds, changed = self.types[key], False
        staged.results[key] = []
        for k, new in enumerate(leaves):
            try:
                common = join_types(kinds[k], new.type, self.lengths)
            except StructureError as e:
                what = f"'{loc.name}' changes from pass to pass: {e.problem}"
                raise CannotRoll(what, e.hint) from None
            if _same_type(common, kinds[k]):
                self.check_order(loc, staged.params[key][k], new)
                staged.results[key].append(result := convert(new, kinds[k]))
                if result is not new:
                    record_types(result, (new,))
            else:
                kinds[k] = common
                changed = True
        return changed

    def check_order(self, loc: Location, param: Var, new: Atom) -> None:
        """What was found by the memory order that an array has at first must hold in each pass."""
        t = trace()
        if param in t.orders.asked and Layouts().strides_of(new) != Layouts().strides_of(param):
            raise CannotRoll(f"the order in which '{loc.name}' lies in memory changes")

    def start_late(self) -> bool:
        """A variable that not every pass sets is there from the start, not set."""
        for loc, final in self.late:
            trace().touch(loc)
            loc.set(not_yet(loc.name, final))
        for loc, value in self.renewed:
            trace().touch(loc)
            loc.set(value)
        started = bool(self.late or self.renewed)
        self.late.clear()
        self.renewed.clear()
        return started


def _class_of_both(a: Structure, b: Structure) -> type | None:
    """The class of two objects of the program, of which the second one takes the place of the
    first; None if something else differs. Each may be one of several of the class."""
    if a.kind in ("static", Either) and b.kind in ("static", Either):
        sides = (a.value, b.value)
        objects = [x for v in sides for x in (v.options() if isinstance(v, Either) else [v])]
        classes = {type(x) for x in objects}
        own = len(classes) == 1 and all(map(is_program_object, objects))
        return classes.pop() if own and a.value is not b.value else None
    pairs = zip(a.children, b.children, strict=False) if a.kind is b.kind else ()
    return next((cls for x, y in pairs if (cls := _class_of_both(x, y)) is not None), None)


def _read_by(statements: list[Statement], result: Atom) -> set[Var]:
    return set(free_variables(Block((), tuple(statements), (result,))))


def _of_this_way(e: BaseException) -> bool:
    """Whether an error may be of staging all passes at once, or one of Python's, which a loop
    without a pass does not raise."""
    ours = isinstance(e, (Signal, TapelessError)) and not isinstance(e, ShapeError)
    return isinstance(e, FAILURES) or not ours


def _is_stack(kind: Any) -> bool:
    return isinstance(kind, StackType)


def _same_type(a: Any, b: Any) -> bool:
    if _is_stack(a) or _is_stack(b):
        return bool(a == b)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.weak == b.weak)
