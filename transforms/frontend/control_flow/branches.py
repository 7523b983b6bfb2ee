"""Stages branches on run-time values: both arms become blocks, and what they leave is joined."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.core.language import Atom, Block, If
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import (
    AliasError,
    InternalError,
    Signal,
    StructureError,
    TapelessError,
    TooManyWaysError,
    UndefinedError,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branch_side import (
    StagedArm,
    final_structure,
    stage_arm,
)
from tapeless.transforms.frontend.control_flow.merge import Merge
from tapeless.transforms.frontend.control_flow.truth import sure, truth
from tapeless.transforms.frontend.effects.effects import Unreachable, raise_
from tapeless.transforms.frontend.effects.try_attempts import Fork
from tapeless.transforms.frontend.heap.list_columns import to_columns
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, has_identity
from tapeless.transforms.frontend.values.structure import MISSING, Structure, is_reference
from tapeless.transforms.frontend.values.uneven_contents import (
    contents_of,
    for_each_length,
    with_lengths,
)

#: Why the sides of a test cannot be staged, or not be joined.
REFUSALS = (NeedStatic, StructureError, AliasError, UndefinedError, UnsupportedError)


def branch(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> None:
    choose(test, then, orelse, statement=True)


def choose(
    test: Any, then: Callable[[], Any], orelse: Callable[[], Any], statement: bool = False
) -> Any:
    """Runs one side if the test is known, else stages both and joins what they leave."""
    decided = truth(test)
    if not isinstance(decided, Symbol):
        return then() if decided else orelse()
    t = trace()
    test_atom = decided.value()
    if t.tracing and (way := _way(test_atom)) is not None:
        return then() if way else orelse()
    if not t.observing:
        return _stage_both(test_atom, then, orelse, statement)
    block, origin, before = t.blocks[-1], t.origin, t.memory.stale
    start = len(block)
    try:
        return _stage_both(test_atom, then, orelse, statement)
    except TooManyWaysError:
        raise
    except REFUSALS:
        del block[start:]
        t.origin, t.memory.stale = origin, before
        if (way := _way(test_atom)) is None:
            raise
        return then() if way else orelse()


def _way(test: Atom) -> bool | None:
    """Whether a test holds in the call at hand, as the program is guarded for; None where the call
    does not say it."""
    try:
        return bool(trace().require(test, "its sides cannot be joined"))
    except NeedStatic:
        return None


def _stage_both(
    test_atom: Atom, then: Callable[[], Any], orelse: Callable[[], Any], statement: bool
) -> Any:
    """Both sides staged and joined."""
    t = trace()
    origin, before = t.origin, t.memory.stale
    sides = _both_sides_unless_known(test_atom, then, orelse)
    if isinstance(sides, bool):
        t.origin, t.memory.stale = origin, before
        return then() if sides else orelse()
    a, b = sides
    t.origin = origin
    if a.raised and b.raised:
        _never_left(test_atom, a, b)
    if grown := _grown_lists(a, b):
        t.memory.stale = before
        with _undone_by_errors([ContentsLocation(target) for target, _ in grown]):
            for target, element in grown:
                to_columns(target, element)
            return _stage_both(test_atom, then, orelse, statement)
    value = _record_branch(test_atom, a, b, statement)
    t.memory.stale = {**a.stale, **b.stale}
    if a.raised or b.raised:
        t.flags.checked |= dict.fromkeys(sure(test_atom, b.raised), t.blocks[-1])
    return value


@contextmanager
def _undone_by_errors(locations: list[Location]) -> Iterator[None]:
    """These get new values, which are gone again where a branch is given up."""
    before = [(location, location.get()) for location in locations]
    for location in locations:
        trace().touch(location)
    try:
        yield
    except BaseException:
        for location, old in before:
            location.set(old)
        raise


def for_each_option(function: Callable[..., Any], *values: Any) -> Any:
    """A function of values, on each side of the tests that decide what these are."""
    k = next((k for k, v in enumerate(values) if has_options(v)), None)
    if k is None:
        return function(*values)
    before, either, after = values[:k], values[k], values[k + 1 :]
    if not isinstance(either, Either):
        return _for_each_length(
            lambda value: for_each_option(function, *before, value, *after), either
        )

    def side(option: Any) -> Any:
        if option is MISSING:
            raise_(UnboundLocalError("cannot access a local variable that is not set"))
        try:
            return for_each_option(function, *before, _realise_option(option), *after)
        except (TypeError, AttributeError) as e:  # of None, mostly
            if isinstance(e, TapelessError):
                raise
            raise_(e)

    if isinstance(either, DeferredChoice):
        _run_over_once(either.state)
    if (sure_options := either.decided_option()) is not None:
        return for_each_option(function, *before, _realise_option(sure_options[0]), *after)
    if either.yes is None or either.no is None:
        error = _error_of(lambda: function(*before, None, *after))
        if error is not None:
            yes, no = (functools.partial(_unless_none, v, error) for v in (either.yes, either.no))
            choose(either.test, yes, no)
            other = either.yes if either.no is None else either.no
            return for_each_option(function, *before, other, *after)

    return choose(either.test, lambda: side(either.yes), lambda: side(either.no))


@dataclass(frozen=True, eq=False)
class Deferred:
    """What is made where it is used, on a side of the test that chooses it: an iterator."""

    make: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class DeferredIterator(Deferred):
    """An iterator over a list of run-time length; `state` as of a choice."""

    source: Any
    state: list[int]


def has_options(value: Any) -> bool:
    """Whether what is done to a value is done on the sides of tests on data."""
    return isinstance(value, (Either, DeferredIterator)) or contents_of(value) is not None


def _for_each_length(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of a list, or of what runs over it, for each length that the list may have."""
    source = value
    if isinstance(value, DeferredIterator):
        source = value.source
        _run_over_once(value.state)
    contents = contents_of(source)

    def of_items(items: tuple[Any, ...]) -> Any:
        location = ContentsLocation(source)
        trace().touch(location)
        location.set(items)
        return function(_present(value))

    if contents is None:
        return function(_present(value))
    return for_each_length(with_lengths(contents), choose, of_items)


def _present(value: Any) -> Any:
    """A list, or what runs over it now that its length is known."""
    return value.make() if isinstance(value, DeferredIterator) else value


def _realise_option(option: Any) -> Any:
    """What an option of a choice is; what runs over a list of any length waits for the length."""
    while isinstance(option, Deferred) and not isinstance(option, DeferredIterator):
        option = option.make()
    return option


@dataclass(frozen=True, eq=False, repr=False)
class DeferredChoice(Either):
    """One of two iterators; `state` says in how many blocks it was made, and is emptied by what
    runs over it."""

    state: list[int]


def _run_over_once(state: list[int]) -> None:
    """Refuses what would start from the first item again."""
    if state != [len(trace().journals)]:
        raise UnsupportedError(
            "an iterator over one of several containers is used again, or in a loop or branch "
            "that is younger",
            "make a list of it: list(...)",
        )
    state.clear()


def defer_choice(make: Callable[..., Any], *values: Any) -> Either | DeferredIterator:
    """What `make` gives for values of which some are one of two, made where it is run over."""
    for value in values:
        if isinstance(value, (DeferredChoice, DeferredIterator)):
            _run_over_once(value.state)
    uneven = [v for v in values if has_options(v) and not isinstance(v, Either)]
    if uneven and len(uneven) == sum(map(has_options, values)):
        source = uneven[0].source if isinstance(uneven[0], DeferredIterator) else uneven[0]
        depth = len(trace().journals)
        return DeferredIterator(lambda: make(*map(_present, values)), source, [depth])
    choice = _defer(make, *values)
    return DeferredChoice(choice.test, choice.yes, choice.no, [len(trace().journals)])


def _defer(make: Callable[..., Any], *values: Any) -> Either:
    k = next(k for k, v in enumerate(values) if isinstance(v, Either))
    chosen = values[k]

    def option(value: Any) -> Any:
        if isinstance(value, Deferred):
            return Deferred(lambda: side(value.make()))
        return side(value)

    def side(value: Any) -> Any:
        chosen_values = (*values[:k], value, *values[k + 1 :])
        if any(isinstance(v, Either) for v in chosen_values):
            return _defer(make, *chosen_values)
        return Deferred(lambda: make(*chosen_values))

    return Either(chosen.test, option(chosen.yes), option(chosen.no))


def _error_of(action: Callable[[], Any]) -> Exception | None:
    """What Python raises where something is done; nothing is recorded of it."""
    t = trace()
    with t.recording() as journal, t.block():
        try:
            action()
        except (TypeError, AttributeError) as e:
            return None if isinstance(e, TapelessError) else e
        except Unreachable:
            return None
        finally:
            t.rollback(journal)
    return None


def _unless_none(value: Any, error: Exception) -> None:
    if value is None:
        raise_(error)


def _both_sides_unless_known(
    test: Atom, then: Callable[[], Any], orelse: Callable[[], Any]
) -> tuple[StagedArm, StagedArm] | bool:
    """Both sides staged; or whether the test holds, where an except clause catches what one of
    them raises: it is known in each run of the try statement."""
    try:
        return _both_sides(test, then, orelse)
    except Fork as fork:
        if len(trace().tests) < fork.attempt.tests:
            raise
        return fork.attempt.outcome(test)


def _both_sides(
    test: Atom, then: Callable[[], Any], orelse: Callable[[], Any]
) -> tuple[StagedArm, StagedArm]:
    """Both sides staged, from the same state."""
    t = trace()
    t.tests.append(test)
    logged = [(tail, len(tail.log), tail.length) for tail in t.containers.tails]
    before, number = t.memory.stale, next(t.serials)
    t.test_of_sides[number] = test
    try:
        t.memory.stale = dict(before)
        a = stage_arm(then, sure(test, True), (number, 0))
        t.memory.stale = dict(before)
        for tail, _, length in logged:
            tail.length = length
        b = stage_arm(orelse, sure(test, False), (number, 1))
    except BaseException as e:
        for tail, mark, length in logged:
            del tail.log[mark:]
            tail.length = length
        ours = not isinstance(e, Exception) or isinstance(e, (Signal, InternalError))
        if not ours and can_be_known(test):  # perhaps of a side that is never taken
            raise NeedStatic(test, f"a side of the test fails: {e}") from e
        raise
    finally:
        t.tests.pop()
    for tail, mark, length in logged:
        tail.length = None if len(tail.log) > mark else length
    return a, b


def _never_left(test: Atom, a: StagedArm, b: StagedArm) -> NoReturn:
    """Both sides raise: nothing after them runs."""
    then, orelse = (Block((), tuple(side.body), ()) for side in (a, b))
    trace().emit(If((), test, then, orelse, None, trace().origin))
    raise Unreachable


def _record_branch(test: Atom, a: StagedArm, b: StagedArm, statement: bool) -> Any:
    """Records the branch, and sets what its sides wrote; the value, unless it is a statement."""
    t, merge = trace(), Merge(test, a, b)
    origin = t.origin
    joined_values: list[tuple[Location, Any]] = []
    for key in dict.fromkeys([*a.finals, *b.finals]):
        location = (a.finals.get(key) or b.finals[key])[0]
        joined_values.append(
            (
                location,
                merge.value(
                    a.final_structure_of(location), b.final_structure_of(location), location
                ),
            )
        )
    value = None if statement else merge.value(a.result, b.result, None)
    merge.emit(origin)
    for location, new in joined_values:
        t.touch(location)
        location.set(new)
    return value


def _grown_lists(a: StagedArm, b: StagedArm) -> list[tuple[StagedList, Structure]]:
    """Lists that got longer in a branch and must be stacks before it, with an added element."""
    lists: list[tuple[StagedList, Structure]] = []
    identities = trace().identities
    for key, (location, _) in {**a.finals, **b.finals}.items():
        if (
            not isinstance(location, ContentsLocation)
            or not isinstance(location.obj, StagedList)
            or location.obj.tail is not None
        ):
            continue
        kept = [e.held.get(key) for e in (a, b)]
        tails = [tail for tail in (own_attribute(k, "tail") for k in kept) if tail]
        if tails:  # it is one inside of a side already
            lists.append((location.obj, tails[0].spec))
            continue
        before = final_structure(location)
        sides = [e.finals[key][1] if key in e.finals else before for e in (a, b) if not e.raised]
        if len({len(s.children) for s in sides}) > 1:
            longest = max(sides, key=lambda s: len(s.children))
            element = longest.children[-1]
            if element.kind != "static" and not (identities and _is_object(longest)):
                lists.append((location.obj, element))
    return lists


def _is_object(contents: Structure) -> bool:
    """Whether a list holds objects or arrays, each of which is one of its own, or tuples of
    them."""
    return any(
        has_identity(c.value)
        or is_reference(c)
        or own_attribute(c.value, "mutable")
        or (isinstance(c.kind, type) and issubclass(c.kind, tuple) and _is_object(c))
        for c in contents.children
    )


def short_circuit(parts: tuple[Callable[[], Any], ...], conjunction: bool) -> Any:
    """`and` / `or`: Python's values, and nothing is evaluated that Python would not evaluate."""
    value = parts[0]()
    if len(parts) == 1:
        return value
    decided = truth(value)
    rest = parts[1:]
    if not isinstance(decided, Symbol):
        return short_circuit(rest, conjunction) if decided == conjunction else value
    if conjunction:
        return choose(
            decided, lambda: short_circuit(rest, conjunction), lambda: _as_test(value, False)
        )
    return choose(decided, lambda: _as_test(value, True), lambda: short_circuit(rest, conjunction))


def _as_test(value: Any, result: bool) -> Any:
    if isinstance(value, Either) and (sure_options := value.decided_option()) is not None:
        return sure_options[0]
    return result if isinstance(value, Symbol) and value.type.dtype.kind == "b" else value
