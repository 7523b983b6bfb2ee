"""Stages a function: runs it on symbols for its arguments until a core program results."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

import numpy as np

from tapeless.transforms.core import dims, passes
from tapeless.transforms.core.builder import NeedStatic, building
from tapeless.transforms.core.checker import well_formed
from tapeless.transforms.core.language import Block, Origin, Var, free_variables
from tapeless.transforms.core.random_generators import is_generator
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import (
    TRACEABLE,
    InternalError,
    LongWayError,
    TapelessError,
    TooManyWaysError,
    UnsupportedError,
)
from tapeless.transforms.frontend.arrays.memory_layout import Order
from tapeless.transforms.frontend.effects import python_generators
from tapeless.transforms.frontend.effects.effects import Unreachable
from tapeless.transforms.frontend.heap.coded_constants import legend_of_columns, refuse_unchecked
from tapeless.transforms.frontend.hooks.hooks import Hooks
from tapeless.transforms.frontend.objects.files_read import reads_noted, rely_on
from tapeless.transforms.frontend.source.positions import find_origin, where_of
from tapeless.transforms.frontend.staging.parameters import Leaf, leaf_parameter, name_nameless
from tapeless.transforms.frontend.staging.required_values import resolve
from tapeless.transforms.frontend.staging.results import Outgoing
from tapeless.transforms.frontend.staging.writeback import Held, Write, written
from tapeless.transforms.frontend.trace.decisions import Decisions, Restart
from tapeless.transforms.frontend.trace.observation import KnownValues
from tapeless.transforms.frontend.trace.readers import CountOf
from tapeless.transforms.frontend.trace.recorded_reads import Captured, Guard
from tapeless.transforms.frontend.trace.trace import Trace
from tapeless.transforms.frontend.values.container_aliases import MUTABLE
from tapeless.transforms.frontend.values.structure import (
    Structure,
    refuse_unreturnable,
    require_defined,
)
from tapeless.transforms.ops.primitives.function_calls import calls
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.optimize.joined_lists import joined_lists
from tapeless.transforms.optimize.shifted_lists import shifted_lists
from tapeless.transforms.optimize.tables_to_arrays import tables_to_arrays
from tapeless.transforms.random_keys.find_reuse import KeyReuses, key_uses

CALLS = 6000  # of Python's, inside of one another
#: What the docstring of traced code says.
TRACED = (
    "Traced on the values of one call: raises RuntimeError for values that take another way "
    "through the function."
)

TRACED_FATE = "is traced on the values of each call"
LONGEST_WAY = 10_000  # statements of a traced program: emitting more takes minutes

#: Makes what evaluates the variables of a run, given the values of its inputs.
Evaluator = Callable[[Trace, dict[Var, Any]], KnownValues]


@dataclass
class Staged:
    """The result of a staged run."""

    block: Block  # parameters: the leaves that are variables, then captured arrays
    leaves: list[Leaf]
    captured: list[Captured]
    guards: list[Guard]
    sizes: list[tuple[str, dims.Size, dims.Size]]
    result: Structure
    notes: list[str]
    legend: list[str]  # what numbers of the program stand for
    writes: list[Write]
    decisions: Decisions
    hints: dict[dims.Symbol, int]
    orders: list[Order]  # memory orders of inputs that the program relies on
    overwritten: set[Var]  # inputs that the program stores to
    tangents: set[Var]  # inputs that the user's function does not get
    functional: bool = False  # whether functions of tapeless.numpy were called
    held: list[Held] = field(default_factory=list)  # what writes store, or store to
    keys: KeyReuses = field(default_factory=KeyReuses)  # random keys that are used
    outside: list[tuple[str, Any]] = field(default_factory=list)  # containers that are read there
    traced: bool = False  # whether it raises for values that take another way than these
    slow: list[SlowCode] = field(default_factory=list)  # loops that are worth a warning
    reserved: frozenset[str] = frozenset()  # names that parameters do not have

    def read(self) -> set[Var]:
        """The inputs that the program reads, tangents apart."""
        return {*free_variables(Block((), self.block.body, self.block.results))} - self.tangents

    def without_axes(self) -> list[Var]:
        """The inputs that are arrays without axes, and no numbers."""
        values = [(leaf.var, leaf.value) for leaf in self.leaves if leaf.var is not None]
        values += [(c.var, c.array) for c in self.captured]
        return [v for v, x in values if isinstance(x, np.ndarray) and not x.shape]


class Run(Trace):
    """A trace whose statements carry the user's line that made them."""

    def let(self, *args: Any) -> None:
        self.origin = find_origin() or self.origin
        if len(self.blocks[0]) > LONGEST_WAY and self.decisions.observing:
            raise LongWayError(
                f"a call does more than {LONGEST_WAY} operations, one after another",
                "let fewer decisions depend on data, or call it outside of transformations",
            )
        super().let(*args)

    def place(self) -> Origin | None:
        return find_origin()

    def enter(self, method: Any, *args: Any) -> Any:
        return Hooks(method).enter_function(method, args, {})


def stage(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    names: list[str],
    outlines: bool = True,
    changing: frozenset[str] = frozenset(),
    axes: Collection[tuple[int, int]] = (),
    evaluator: Evaluator | None = None,
    traced: bool = False,
    constants: Evaluator | None = None,
) -> Staged:
    """Runs `call` on symbols for `leaves` until no more of them need be known; `outlines`:
    functions that are called often may become functions of the program; `changing`: the names of
    numbers from outside that become inputs; `axes`: axes of leaves whose lengths are known.

    What cannot be staged for all values is traced on those of the call, where there is an
    `evaluator` of them: first what needs a value only, then each test and loop; `traced`: this at
    once, as for another way through the same function; `constants`: what evaluates values that
    are computed of constants only, where Python needs one."""
    if traced:
        with _another_way():
            return _on_values(call, leaves, names, changing, set(axes), True, evaluator)
    try:
        return _for_all_values(call, leaves, names, outlines, changing, set(axes), constants)
    except TRACEABLE as e:
        if evaluator is None or STRICT[0]:
            raise
        refusal = e  # not what errors of the user's in the trace come from
    return _trace_by_values(call, leaves, names, changing, set(axes), evaluator, refusal)


def _trace_by_values(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    names: list[str],
    changing: frozenset[str],
    axes: set[tuple[Any, int]],
    evaluator: Evaluator,
    refusal: TapelessError,
) -> Staged:
    """A program for the way of the leaves, where there is none for all values."""
    try:
        with _another_way():
            if not isinstance(refusal, TooManyWaysError):
                staged = _on_values(call, leaves, names, changing, axes, False, evaluator)
                return _with_refusal(staged, refusal)
        staged = _on_values(call, leaves, names, changing, axes, True, evaluator)
        return _with_refusal(staged, refusal)
    except LongWayError as e:
        why = f"{refusal.problem}, and {e.problem}"
        raise LongWayError(why, refusal.hint, refusal.where) from None
    except InternalError:
        if passes.checks():
            raise
        raise refusal from None


@contextmanager
def _another_way() -> Iterator[None]:
    """What cannot be staged like this is staged in the way that follows; mistakes of ours, too,
    unless programs are verified."""
    try:
        yield
    except TapelessError as e:
        if isinstance(e, LongWayError) or (isinstance(e, InternalError) and passes.checks()):
            raise


def _with_refusal(staged: Staged, refusal: TapelessError) -> Staged:
    """A traced program, with why it is not one for all values."""
    if staged.traced and refusal.where is not None:
        file, line, *_ = refusal.where
        told = (file, line, "", TRACED_FATE, refusal.problem, refusal.hint, "what stands")
        staged.slow.append(SlowCode(*told))
    return staged


def _on_values(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    names: list[str],
    changing: frozenset[str],
    axes: set[tuple[Any, int]],
    traced: bool,
    evaluator: Evaluator | None,
) -> Staged:
    """A program for the way of the leaves through the function."""
    decisions = Decisions(outlines=False, counts=False, tables=False, changing=changing)
    decisions.axes, decisions.observing, decisions.traced = set(axes), True, traced
    return _stage_until_stable(call, leaves, names, decisions, evaluator)


def _for_all_values(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    names: list[str],
    outlines: bool,
    changing: frozenset[str],
    axes: set[tuple[Any, int]],
    constants: Evaluator | None,
) -> Staged:
    """A program for all values of the leaves, of these types."""
    decisions = Decisions(outlines=outlines, changing=changing, axes=set(axes))
    try:
        return _stage_until_stable(call, leaves, names, decisions, constants)
    except TapelessError as e:
        refusal = e

    def plainer(**options: Any) -> Decisions:
        attempt = Decisions(outlines=False, counts=False, changing=changing, tables=False)
        attempt.exact, attempt.records = decisions.aliased, not decisions.recorded
        attempt.replaces = attempt.compacts = False
        return replace(attempt, **options)

    lengthy = Decisions(outlines=outlines, changing=changing, compacts=False)
    objects = Decisions(outlines=outlines, changing=changing, replaces=False)
    known_draws = Decisions(outlines=outlines, changing=changing, records=False)
    attempts = [plainer(codes=True)] if decisions.codable else []
    attempts += [lengthy] if decisions.compact or decisions.many_passes else []
    attempts += [objects] if decisions.values else []
    attempts += [known_draws] if decisions.recorded else []
    too_many = isinstance(refusal, TooManyWaysError)  # and no fewer by what follows
    if not too_many and (decisions.aliased or decisions.counted or decisions.tabled):
        attempts.append(plainer())
    if not too_many and isinstance(refusal, TRACEABLE):
        identities = {"exact": True, "identities": True}
        attempts += [plainer(**identities, records=True)] if decisions.recorded else []
        attempts.append(plainer(**identities))
        attempts.append(plainer(**identities, codes=True))
    for attempt in attempts:
        tried = attempts[: attempts.index(attempt)]
        if attempt.codes and not (decisions.codable or any(a.codable for a in tried)):
            continue
        attempt.axes = set(axes)
        try:
            return _stage_until_stable(call, leaves, names, attempt, constants)
        except InternalError:
            raise
        except Exception:  # noqa: BLE001  # the first attempt says what is the matter
            continue
    raise refusal


def _stage_until_stable(
    call: Callable[[list[Any]], Any],
    leaves: list[Any],
    names: list[str],
    decisions: Decisions,
    evaluator: Evaluator | None = None,
) -> Staged:
    for _ in range(50):
        try:
            parameters = [Leaf(v, n) for v, n in zip(leaves, names, strict=True)]
            return _attempt(call, parameters, decisions, evaluator)
        except Restart:
            continue
    raise InternalError("the staged run does not settle")


@contextmanager
def _deep_calls() -> Iterator[None]:
    """A call of the user's is some fifteen of Python's while staging: functions that call
    themselves are staged some 400 deep. Other threads than the main one may have small stacks."""
    before = sys.getrecursionlimit()
    deeper = threading.current_thread() is threading.main_thread() and before < CALLS
    if deeper:
        sys.setrecursionlimit(CALLS)
    try:
        yield
    finally:
        if deeper:
            sys.setrecursionlimit(before)


@contextmanager
def _undone(run: Run) -> Iterator[None]:
    """An attempt leaves generators as they were, and outer objects, if it is given up."""
    try:
        yield
    except BaseException:
        run.rollback(run.journals[0])
        raise
    finally:
        python_generators.put_back(run)


def _attempt(
    call: Callable[[list[Any]], Any],
    leaves: list[Leaf],
    decisions: Decisions,
    evaluator: Evaluator | None,
) -> Staged:
    run = Run(decisions)
    with building(run), _undone(run), _deep_calls():
        params = [leaf_parameter(k, leaf, decisions, run) for k, leaf in enumerate(leaves)]
        if evaluator is not None:
            run.call.constants = evaluator(run, {})
        if evaluator is not None and decisions.observing:
            values = {leaf.var: leaf.value for leaf in leaves if leaf.var is not None}
            run.call.values = evaluator(run, values)
        try:
            with reads_noted() as paths:
                value = call(params)
            rely_on(paths)
            outgoing = Outgoing()
            result = require_defined(outgoing.spec(value))
            writes, held_objects = written(run, outgoing)
            for spec in (result, *(w.spec for w in writes)):
                refuse_unreturnable(spec)
        except NeedStatic as e:
            resolve(e, run, leaves, decisions)
            raise Restart from None
        except TapelessError as e:
            if e.where is None:
                e.where = where_of(e)
            raise
        except Unreachable as e:
            error = UnsupportedError(
                "the function raises an error in all cases, and says in it what is known only "
                "when it runs",
                "leave values out of the error, or raise it under a test",
            )
            error.where = where_of(e)
            raise error from None
        except RecursionError as e:
            raise UnsupportedError(
                "the recursion does not end while staging: its depth depends on values "
                "that are known only when the program runs",
                "write it as a loop",
            ) from e
    name_nameless(leaves)
    return _finish_run(run, leaves, result, writes, held_objects, decisions)


def _different(held_objects: list[Held], containers: list[tuple[str, Any]]) -> list[Guard]:
    """That containers from outside are as many objects as they were, if some of them change."""
    if len(containers) < 2 or not any(isinstance(h.get(), MUTABLE) for h in held_objects):
        return []
    places = CountOf(tuple(get for _, get in containers))
    return [Guard("which containers are others", places, len(containers))]


def _refuse_generators_of_both(run: Run, leaves: list[Leaf]) -> None:
    """Of a generator that is an argument and is read from outside, too: in another call, these may
    be two."""
    passed = {id(leaf.value): leaf.name for leaf in leaves if is_generator(leaf.value)}
    read = (v for v in run.reads.values() if isinstance(v, Guard)) if passed else ()
    for guard in read:
        if (name := passed.get(id(guard.value))) is not None and guard.name != name:
            raise UnsupportedError(
                f"the generator that is passed as '{name}' is also read from outside, "
                f"as '{guard.name}'",
                "use the argument only",
            )


def _finish_run(
    run: Run,
    leaves: list[Leaf],
    result: Structure,
    writes: list[Write],
    held_objects: list[Held],
    decisions: Decisions,
) -> Staged:
    """What a run that went through gives."""
    _refuse_generators_of_both(run, leaves)
    for write in writes:
        for leaf in leaves:
            leaf.refuse_change(getattr(write.location, "obj", None))
    reads = run.reads.values()
    captured = [v[0] for v in reads if type(v) is tuple and isinstance(v[0], Captured)]
    containers = [(k[1], v[2]) for k, v in run.reads.items() if k[0] == "container"]
    variables = tuple(leaf.var for leaf in leaves if leaf.var is not None)
    results = (*result.leaves(), *(a for w in writes for a in w.spec.leaves()))
    block = Block((*variables, *(c.var for c in captured)), tuple(run.blocks[0]), tuple(results))
    if decisions.outlines and calls(block) and not well_formed(block):
        decisions.outlines = False  # a value of a function that became one is used outside of it
        raise Restart
    refuse_escaped(block)
    refuse_unchecked(run.containers)
    relies_on_values = bool(run.call.fixed) or run.call.relies_on_results
    return Staged(
        joined_lists(tables_to_arrays(shifted_lists(block))),
        leaves,
        captured,
        [*(v for v in reads if isinstance(v, Guard)), *_different(held_objects, containers)],
        run.guards,
        result,
        run.notes,
        [*run.legend, *legend_of_columns(run.containers), *[TRACED] * relies_on_values],
        writes,
        decisions,
        run.hints,
        list(run.orders.relied_on),
        _overwritten(run),
        run.tangents,
        run.functional,
        held_objects,
        key_uses(block, run.keys),
        [(run.reads["type", k].name.removeprefix("the type of "), get) for k, get in containers],
        relies_on_values,
        list(run.loops.unrolled.values()),
    )


def refuse_escaped(block: Block) -> None:
    """Raises InternalError where a value is read outside of the branch or loop that makes it: such
    a program may run, but passes take the value for one without a derivative."""
    if escaped := free_variables(block):
        names = ", ".join(map(repr, escaped))
        raise InternalError(f"read outside of the branch or loop that makes it: {names}")


def _overwritten(run: Run) -> set[Var]:
    """The inputs that the program stores to."""
    overwritten = set()
    for cell in run.memory.overwritten:
        at = getattr(cell, "made", None)
        while at in run.definitions and run.definitions[at].op is identity:
            at = run.definitions[at].args[0]
        if at in run.inputs:
            overwritten.add(at)
    return overwritten
