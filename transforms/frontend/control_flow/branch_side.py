"""Stages one arm of a branch on run-time values: its statements, and the values that it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from numpy.linalg import LinAlgError

from tapeless.transforms.core.language import Atom, Statement
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import (
    AliasError,
    ShapeError,
    TapelessError,
    TooManyWaysError,
    UndefinedError,
)
from tapeless.transforms.frontend.effects.effects import Unreachable, raise_
from tapeless.transforms.frontend.heap.locations import (
    AttributeLocation,
    ClosureLocation,
    ContentsLocation,
    GlobalLocation,
    entry_spec,
)
from tapeless.transforms.frontend.heap.references import by_reference
from tapeless.transforms.frontend.objects import capture
from tapeless.transforms.frontend.trace.cells import CellLocation
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    Incompatible,
    Structure,
    by_identity,
    by_stacks,
    flatten,
)

OUTER = (AttributeLocation, GlobalLocation, ClosureLocation)


@dataclass
class StagedArm:
    """One staged branch: its statements and what it left in the locations that it wrote."""

    body: list[Statement]
    finals: dict[tuple[Any, ...], tuple[Location, Structure]]
    raised: bool
    stale: dict[Any, str]
    began: int = 0
    result: Any = None  # what an expression gives, taken apart
    held: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # what was in the locations

    def final_structure_of(self, location: Location) -> Structure:
        """What the branch left in a location, which it need not have written itself: an array
        or a container that stands there may have been changed."""
        if location.key in self.finals:
            return self.finals[location.key][1]
        before = [(loc, loc.get()) for loc, _ in self.finals.values()]
        for loc, _ in before:
            loc.set(self.held[loc.key])
        trace().memory.stale = self.stale
        with appending_to(self.body):
            structure = final_structure(location)
        for loc, old in before:
            loc.set(old)
        return structure


MOST_ARMS = 3000  # a side of a test that is staged takes some milliseconds
MANY_ARMS, DEEP = 1000, 3  # of so many, each inside of so many others on average, none is the last
MOST_OF_OBJECTS = 2000  # where what is done to one of several objects is a side of its own
PYTHON_RAISES = (ArithmeticError, LookupError, ValueError)
# in the first pass of a loop they may come of what a variable held before it
NOT_IN_LOOPS = (TypeError, AttributeError, NameError)


def stage_arm(
    body: Callable[[], Any], flags: Iterable[Atom] = (), side: tuple[int, int] = (0, 0)
) -> StagedArm:
    """Stages one side of a test, in which the flags of some variables are known to be true."""
    t = trace()
    t.arms += 1
    t.depths += 0 if t.handlers.ways else len(t.sides)  # ways through a try have their own limit
    most = MOST_OF_OBJECTS if t.identities else MOST_ARMS
    if t.depths > DEEP * t.arms:
        most = MANY_ARMS
    if t.arms > most:
        raise TooManyWaysError(
            f"tests on run-time values have more than {most:,} sides, each inside of others",
            "put what such tests choose into arrays, and choose by index or np.where",
        )
    t.sides.append(side)
    try:
        return _run_branch(body, flags)
    finally:
        t.sides.pop()


def _run_branch(body: Callable[[], Any], flags: Iterable[Atom]) -> StagedArm:
    t = trace()
    raised, result = False, None
    with t.recording() as journal, t.block() as statements:
        t.flags.checked |= dict.fromkeys(flags, t.blocks[-1])
        try:
            try:
                result = body()
                result = by_identity(result) if t.identities else by_stacks(result)
                result = by_reference(result) if t.exact else result
            except (*PYTHON_RAISES, *NOT_IN_LOOPS) as e:  # on this side, and only if it is taken
                unset = isinstance(e, UndefinedError)
                of_this_call = not t.loops.rolling or t.handlers.innermost(ValueError)
                if isinstance(e, ShapeError) and of_this_call:
                    raise_(_numpy_error(e))  # sizes as in the call: the program guards them
                if isinstance(e, TapelessError) and not unset:
                    raise
                if isinstance(e, NOT_IN_LOOPS) and t.loops.rolling:
                    raise
                raise_(UnboundLocalError(str(e.args[0])) if unset else e)
        except Unreachable:
            raised = True
        finals = (
            {}
            if raised
            else {k: (loc, final_structure(loc)) for k, (loc, _) in journal.old.items()}
        )
        final_values = {k: loc.get() for k, (loc, _) in finals.items()}
    t.rollback(journal)
    stale = {} if raised else dict(t.memory.stale)
    return StagedArm(statements, finals, raised, stale, journal.serial, result, final_values)


def _numpy_error(e: ShapeError) -> Exception:
    """The error that NumPy raises, of the class that users catch."""
    classes = (LinAlgError, IndexError)
    plain = next((kind for kind in classes if isinstance(e, kind)), ValueError)
    return plain(e.problem)


def final_structure(
    location: Location,
    contents: bool = False,
    part: Callable[[Any], Structure] | None = None,
) -> Structure:
    """What a location holds; `contents`: with what is in containers, also where which ones they are
    is carried; `part` takes apart what is there: lists in lists are arrays."""
    value = _input_of(location)
    if isinstance(location, CellLocation):
        return Structure("leaf", value, atom=value)
    try:
        if trace().identities and not contents:
            of_dict = isinstance(location, ContentsLocation) and isinstance(value, dict)
            spec = (
                flatten(value, by_identity) if of_dict else entry_spec(location, value, by_identity)
            )
        else:
            in_list = isinstance(location, ContentsLocation) and isinstance(location.obj, list)
            spec = entry_spec(location, value, part or (flatten if in_list else by_stacks))
        return by_reference(spec) if trace().exact else spec
    except AliasError as e:
        if isinstance(location, ContentsLocation):
            raise
        # refused where it is read, if it is
        return Structure("static", Incompatible(e.problem, e.hint, AliasError))


def _input_of(location: Location) -> Any:
    """What a location holds; what it holds from outside is an input, or guarded."""
    value = location.get()
    if location.birth or not isinstance(location, OUTER) or value is MISSING:
        return value
    if trace().wrote(location.key):
        return value
    return capture.outer(value, location.get, location.name)


@contextmanager
def appending_to(body: list[Statement]) -> Iterator[None]:
    """Statements recorded inside are appended to a block that was closed before."""
    trace().blocks.append(body)
    try:
        yield
    finally:
        trace().blocks.pop()
