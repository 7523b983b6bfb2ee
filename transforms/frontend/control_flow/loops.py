"""Stages loops: rolled where the body can be staged once, else unrolled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Literal,
    Statement,
    Var,
)
from tapeless.transforms.core.language import statements as all_statements
from tapeless.transforms.errors import (
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.control_flow import known_items
from tapeless.transforms.frontend.control_flow.branches import branch, short_circuit
from tapeless.transforms.frontend.control_flow.emit_loop import NothingSymbolic
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence, lists_of, sequence
from tapeless.transforms.frontend.control_flow.python_loops import (
    UnrolledPasses,
    Unrolling,
    count_idle_passes,
    count_pass,
    index_at,
    run_items,
)
from tapeless.transforms.frontend.control_flow.roll import LoopFixpoint
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.heap.iterators import Advancing, CountIterator
from tapeless.transforms.frontend.heap.lists import ChangedError, StagedList
from tapeless.transforms.frontend.source.tree_building import hidden_name
from tapeless.transforms.frontend.trace.tested_sizes import tested_at_least
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace
from tapeless.transforms.frontend.values.container_aliases import require_current
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not

OFTEN = 4  # after so many futile attempts to roll it, a loop is run until it records something
MOST = 100_000  # passes of a loop while staging
ROLLED = "let each pass leave its variables with the types and shapes that it found"
STACKED = "put what it goes over into one array, and loop over its rows or over a range"
UNSTAGED = "the first passes do nothing with arrays that depend on arguments"


def for_loop(
    iterable: Any,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
    retried: bool = False,
) -> None:
    if isinstance(iterable, StagedList) and loop_key(body) in trace().decisions.following:
        _follow(iterable, body, frame, stop)
        return
    lists = lists_of(iterable)
    looped = known_items.as_loop(iterable, body, loop_key(body))
    before = [_fill_count(x) for x in lists]
    items = [] if looped is iterable else list(iterable)
    try:
        _for_items(looped, body, frame, stop, name, retried)
        for x in lists:
            require_current(x)
        changed = [_fill_count(x) for x in lists] != before
        changed = changed or (looped is not iterable and known_items.has_changed(iterable, items))
    except ChangedError:
        if not isinstance(iterable, StagedList):
            raise
        changed = True
    if changed and isinstance(iterable, StagedList):
        trace().decisions.follow(loop_key(body))
    if changed:
        raise ChangedError


class Pass:
    """The body of a loop over a generator, which calls it with each item; it says whether the loop
    ends."""

    def __init__(self, body: Callable[[Any], Any], frame: Any, stop: str | None) -> None:
        self.body, self.frame, self.stop = body, frame, stop

    def __staged_call__(self, item: Any) -> Any:
        self.body(item)
        return self.stop is not None and truth(getattr(self.frame, self.stop))


def _fill_count(x: StagedList) -> int | None:
    """How often data has decided how long a list is."""
    return None if x.tail is None else len(x.tail.log)


def _follow(items: StagedList, body: Callable[[Any], Any], frame: Any, stop: str | None) -> None:
    """A loop over a list, which its body makes longer or shorter."""
    key = loop_key(body)
    place = hidden_name(f"place_{key[1]}")
    setattr(frame, place, 0)

    def following() -> None:
        k = getattr(frame, place)
        item = items[k]
        setattr(frame, place, k + 1)
        body(item)

    while_loop(
        lambda: getattr(frame, place) < items.length(), from_line(key, following), frame, stop
    )


def _for_items(
    iterable: Any,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
    retried: bool,
) -> None:
    t = trace()
    seq = sequence(iterable)
    concrete = isinstance(iterable, range) or (
        seq is not None
        and isinstance(seq.count, int)
        and all(isinstance(a, Literal) for a in seq.span)
    )
    if isinstance(iterable, CountIterator):
        _count(iterable, body, frame, stop)
        return
    if isinstance(iterable, Advancing) and iterable.pushes:
        iterable.push(stop is not None, Pass(body, frame, stop))
        return
    if seq is None:
        is_sequence = isinstance(iterable, (list, tuple, Advancing))
        items = iterable if is_sequence else Advancing(iter(iterable))
        reason = f"it goes over {_kind(iterable)}, whose items Python takes one by one"
        run_items(items, body, frame, stop, Unrolling(reason, STACKED))
        return
    key = loop_key(body)
    why = t.decisions.unroll.get(key)
    hint = t.decisions.hints.get(why or "", "")
    trips = seq.count if concrete else None
    if why is None and t.tracing:
        why = "every test goes one way"
    if why is None and concrete and t.loops.futile[key] >= OFTEN:
        with count_idle_passes(key):
            _run_watched(seq, body, frame, stop, name)
        return
    if why is None and trips != 0 and trips != 1:
        try:
            with _attempt(key):
                LoopFixpoint(seq, body, frame, stop, name, key).run()
            return
        except NothingSymbolic:
            why = ""
        except CannotRoll as e:
            why, hint = str(e), e.hint
            if not retried and _runs(seq):
                _peel(seq, body, frame, stop, name, why, key)
                return
    if not concrete:
        seq = _known_items(seq, why or "its length must be known", key, hint)
        trips = len(range(*(a.value for a in seq.span)))  # type: ignore[union-attr]
    if why:
        t.note(f"the loop on line {key[1]} is unrolled: {why}")
    passes = UnrolledPasses(seq, range(int(trips)))  # type: ignore[arg-type]
    with count_idle_passes(key if why == "" else None):
        unrolling = Unrolling(why or UNSTAGED, hint or ROLLED, passes=int(retried))
        run_items(passes, body, frame, stop, unrolling)


@contextmanager
def _attempt(loop: Any) -> Iterator[None]:
    """Counts how often in a row a loop could not be rolled."""
    t = trace()
    try:
        yield
        t.loops.futile[loop] = 0
    except (NothingSymbolic, CannotRoll):
        t.loops.futile[loop] += 1
        raise


def _kind(iterable: Any) -> str:
    if isinstance(iterable, (list, StagedList)):
        return "a list"
    return f"a {type(iterable).__name__}" if isinstance(iterable, (tuple, dict)) else "an iterator"


def _run_watched(
    seq: Sequence, body: Callable[[Any], Any], frame: Any, stop: str | None, name: str
) -> None:
    """Runs a loop as Python does, up to a pass that records something: the rest may be rolled."""
    t, key = trace(), loop_key(body)
    block = t.blocks[-1]
    for k in range(int(seq.count)):  # type: ignore[arg-type]
        before = len(block)
        count_pass()
        body(seq.item(index_at(seq, k)))
        flag = truth(getattr(frame, stop)) if stop else False
        if len(block) > before or isinstance(flag, Symbol):
            t.loops.futile[key] = 0
            span = (atom(index_at(seq, k + 1)), *seq.span[1:])
            following = Sequence(span, seq.item, seq.is_range)
            rest = functools.partial(for_loop, following, body, frame, stop, name, retried=True)
            if isinstance(flag, Symbol) or not flag:
                branch(flag, lambda: None, rest)
            return
        if flag:
            return


def _runs(seq: Sequence) -> bool:
    """Whether the loop makes a pass, in this call at least (a guard then says so)."""
    count, t = seq.count, trace()
    if dims.at_least(count, 1) or tested_at_least(count, 1):
        return True
    passes = t.value(count)
    if passes is None or passes < 1:
        return False
    t.guard(">=", count, 1)
    return True


def _peel(
    seq: Sequence,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
    why: str,
    key: Any,
) -> None:
    """The first pass apart from the others, where they differ in types or aliases."""
    trace().note(f"the first pass of the loop on line {key[1]} is apart from the others: {why}")
    start, end, step = seq.span
    following = Sequence((add_atoms(start, step), end, step), seq.item, seq.is_range)
    body(seq.item(wrap(start)))

    def rest() -> None:
        for_loop(following, body, frame, stop, name, retried=True)

    flag = truth(getattr(frame, stop)) if stop else False
    if isinstance(flag, Symbol):
        branch(flag, lambda: None, rest)
    elif not flag:
        rest()


def add_atoms(a: Atom, b: Atom) -> Atom:
    return add(a, b)  # type: ignore[no-any-return]


def _known_items(seq: Sequence, why: str, key: Any, hint: str) -> Sequence:
    """The items of a loop that must be unrolled, with a known number of passes."""
    if not any(isinstance(a, Var) for a in seq.span):
        raise UnsupportedError(
            f"the loop on line {key[1]} can be neither rolled nor unrolled: {why}", hint or ROLLED
        )
    needed = f"the loop on line {key[1]} must be unrolled ({why}), so its length must be known"
    t = trace()
    start, stop, step = (
        atom(t.require(a, needed, hint)) if isinstance(a, Var) else a for a in seq.span
    )
    return replace(seq, span=(start, stop, step))


def loop_key(body: Any) -> tuple[str, int, str]:
    code = body.__code__
    return (code.co_filename, code.co_firstlineno, code.co_name)


def from_line(key: tuple[str, int, str], body: Any) -> Any:
    """The body of a loop in place of another, with its key."""
    file, line, name = key
    body.__code__ = body.__code__.replace(co_filename=file, co_firstlineno=line, co_name=name)
    return body


def _count(
    numbers: CountIterator, body: Callable[[Any], Any], frame: Any, stop: str | None
) -> None:
    """for k in itertools.count(): body"""
    following = from_line(loop_key(body), lambda: body(next(numbers)))
    while_loop(lambda: True, following, frame, stop)
    if stop is not None:
        setattr(frame, stop, True)  # there is no other end


def while_loop(test: Any, body: Any, frame: Any, stop: str | None, retried: bool = False) -> None:
    t = trace()
    key = loop_key(body)
    why = t.decisions.unroll.get(key)
    hint = t.decisions.hints.get(why or "", "")

    def condition() -> Any:
        if stop is None:
            return test()
        flag = getattr(frame, stop)
        if isinstance(flag, Symbol):
            going = wrap(logical_not(flag.value()))
            return short_circuit((lambda: going, lambda: truth(test())), True)
        return False if flag else test()

    if why is None and t.tracing:
        why = "every test goes one way"
    if why is None and t.loops.futile[key] >= OFTEN:
        with count_idle_passes(key):
            _watch_while(condition, body, frame, key)
        return
    if why is None:
        try:
            if _acts(condition):
                _while_by_flag(condition, body, frame, key, truth(condition()))
                return
            first = truth(condition())
            if not isinstance(first, Symbol) and not first:
                return
            with _attempt(key):
                LoopFixpoint(None, body, frame, None, "", key, condition).run()
            return
        except NothingSymbolic:
            why = ""
        except CannotRoll as e:
            why, hint = str(e), e.hint
            if not retried and truth(condition()) is True:
                t.note(f"the first pass of the loop on line {key[1]} is apart: {why}")
                body()
                while_loop(test, body, frame, stop, retried=True)
                return
    if why:
        t.note(f"the loop on line {key[1]} is unrolled: {why}")
    with count_idle_passes(key if why == "" else None):
        _run_while(condition, body, why, key, hint)


def _watch_while(test: Callable[[], Any], body: Any, frame: Any, key: Any) -> None:
    """Runs a loop as Python does, up to a pass that records something: the rest may be rolled."""
    t = trace()
    block = t.blocks[-1]
    going, start = truth(test()), len(block)
    for _ in range(MOST):
        if isinstance(going, Symbol) or len(block) > start:
            t.loops.futile[key] = 0
            _while_by_flag(test, body, frame, key, going)
            return
        if not going:
            return
        count_pass()
        body()
        going = truth(test())
    _endless(key)


def _run_while(test: Callable[[], Any], body: Any, why: str, key: Any, hint: str) -> None:
    """Runs a loop as Python does."""
    unrolling = Unrolling(why or UNSTAGED, hint or ROLLED)
    for _ in range(MOST):
        going = truth(test())
        if isinstance(going, Symbol):
            needed = (
                f"the loop on line {key[1]} must be unrolled ({why}), so its test must be known"
            )
            going = trace().require(going.value(), needed, hint)
        if not going:
            return
        body()
        unrolling.count()
    _endless(key)


def _endless(key: Any) -> NoReturn:
    raise UnsupportedError(
        f"the loop on line {key[1]} runs more than {MOST:,} passes while staging",
        "let its test depend on an array or a number argument, so that it is staged once",
    )


def _acts(test: Callable[[], Any]) -> bool:
    """Whether evaluating a test does what must happen once: changes variables, as in
    `while (x := f(x)) > 0`, draws random numbers or prints."""
    t = trace()
    t.loops.rolling.append(None)  # what is done once is not done for a look
    try:
        with t.recording() as journal, t.block() as statements:
            truth(test())
            happens = bool(journal.changed_locations()) or any(
                map(_happens, all_statements(Block((), tuple(statements), ())))
            )
    finally:
        t.loops.rolling.pop()
    t.rollback(journal)
    return happens


def _happens(s: Statement) -> bool:
    """Whether a statement does something that the program shows; to raise an error again does not
    matter."""
    if isinstance(s, Let):
        return not s.op.pure
    return isinstance(s, Effect) and s.kind in ("print", "call")


def _while_by_flag(test: Callable[[], Any], body: Any, frame: Any, key: Any, going: Any) -> None:
    """while test: body      as      going = test; while going: body; going = test"""
    name = hidden_name(f"going_{key[1]}")
    setattr(frame, name, going)

    def following() -> None:
        body()
        setattr(frame, name, truth(test()))

    while_loop(lambda: getattr(frame, name), from_line(key, following), frame, None)


StagedList.run_over = staticmethod(for_loop)
