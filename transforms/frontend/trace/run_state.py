"""Holds the state of a staged run beside its statements, a class for each subject."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from tapeless.transforms.core.language import Statement, Var
from tapeless.transforms.core.slow_code import SlowCode
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.observation import Guarded, KnownValues
from tapeless.transforms.optimize.outline import Stretch


@dataclass
class Containers:
    """Lists, dicts and sets of Python's, by their ids, with what may be the matter with them.

    kin        what each may be, by run-time values
    possible_sources  what each was made to stand for
    unneeded   those that a loop was staged without
    read_only  those that hold what one of others does
    elements   those that were put into lists which loops fill, or were taken from them
    sharing    lists filled by loops, and those that may have elements of theirs, too
    doubled    such lists that may have one container at two places
    twice      of such a list: an element is at the second place, too
    uneven     lists that hold as many objects as run-time values say
    makers     dicts and sets, and where they are made
    tails      lists that are filled by rolled loops
    labels     the index of one of several constants
    constants  what lists that loops fill have numbers for
    columns_of_constants  which of them each column of such lists may have
    coded      the number of what was read from such a column
    namespaces what the program reads as the `__dict__` of an object from outside, the object, and
               what each attribute was then: in the object, and for the program
    of_objects the `__dict__` of objects of the program, where it has read them
    """

    kin: dict[int, tuple[Any, dict[int, Any]]] = field(default_factory=dict)
    possible_sources: dict[int, Any] = field(default_factory=dict)
    unneeded: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    read_only: dict[int, Any] = field(default_factory=dict)
    elements: dict[int, Any] = field(default_factory=dict)
    sharing: dict[Any, set[Any]] = field(default_factory=dict)
    doubled: set[Any] = field(default_factory=set)
    twice: list[Any] = field(default_factory=list)
    uneven: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    makers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    tails: list[Any] = field(default_factory=list)
    labels: dict[int, tuple[Any, Any, Any]] = field(default_factory=dict)
    constants: list[Any] = field(default_factory=list)
    columns_of_constants: list[Any] = field(default_factory=list)
    coded: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    namespaces: dict[int, tuple[Any, Any, dict[str, tuple[Any, Any]]]] = field(default_factory=dict)
    of_objects: dict[int, Any] = field(default_factory=dict)

    def kin_of(self, container: Any) -> dict[int, Any]:
        """What a container may be, by run-time values, by their ids."""
        return self.kin.get(id(container), (None, {}))[1]

    def object_of(self, namespace: Any) -> Any:
        """The object from outside whose `__dict__` this stands for; None of other dicts."""
        return self.namespaces.get(id(namespace), (None, None, {}))[1]

    def namespace_of(self, obj: Any) -> dict[str, Any] | None:
        """What the program has read as the `__dict__` of an object from outside."""
        return next((items for items, of, _ in self.namespaces.values() if of is obj), None)

    def own_namespace(self, obj: Any) -> dict[str, Any] | None:
        """The `__dict__` of an object of the program, if that has read it."""
        return self.of_objects.get(id(getattr(obj, "__dict__", None)))

    def is_namespace(self, container: Any) -> bool:
        """Whether a dict shows the attributes of an object."""
        return id(container) in self.namespaces or id(container) in self.of_objects

    def stands_for_others(self, container: Any) -> bool:
        """Whether which object of the user's program it is depends on data."""
        element = self.elements.get(id(container))
        return (element is not None and element.present) or bool(self.kin_of(container))


@dataclass
class UserCalls:
    """Calls of the user's functions.

    entered     the calls that each function is in now
    repeated    how often each has called itself
    undecided   its calls of itself under tests on data
    stretches   what calls recorded
    recursions  the functions that are being staged to be called by name
    remembered  what calls of functions under functools.cache gave, and in which block
    misses      calls of such functions that were made
    """

    entered: dict[Any, list[Any]] = field(default_factory=dict)
    repeated: Counter[Any] = field(default_factory=Counter)
    undecided: Counter[Any] = field(default_factory=Counter)
    stretches: list[Stretch] = field(default_factory=list)
    recursions: list[Any] = field(default_factory=list)
    remembered: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    misses: list[Any] = field(default_factory=list)


@dataclass
class Loops:
    """Loops that are being staged.

    rolling    those that are being rolled now, by their keys, the outermost first
    began      when the passes began that are staged
    started    when their loops began, the outermost first
    outermost  when the outermost loop began
    stored     by each loop: its frame, and the locations that it stored to, when it was last staged
    stored_in  the frame of the outermost of those loops
    run_over   what they run over
    idle       the outermost open loop that does nothing with symbols
    passes     those that it made, with those of the loops inside
    futile     how often in a row each loop could not be rolled
    unrolled   the loops that became many passes, by place
    objects    whether one ran over known objects or dicts, or its index meant one
    flows      of what loops carry: what it may be
    """

    rolling: list[Any] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    started: list[int] = field(default_factory=list)
    outermost: int = 0
    stored: dict[Any, tuple[Any, list[Any]]] = field(default_factory=dict)
    stored_in: Any = None
    run_over: list[Any] = field(default_factory=list)
    idle: Any = None
    passes: int = 0
    futile: Counter[Any] = field(default_factory=Counter)
    unrolled: dict[tuple[str, int, str], SlowCode] = field(default_factory=dict)
    objects: bool = False
    flows: dict[Var, tuple[Any, ...]] = field(default_factory=dict)

    def outlasts_pass(self, birth: int) -> bool:
        """Whether what was made then, in a pass that is being staged, but before the loop began
        that is inside of it, is still there when that loop is staged again."""
        return any(a < birth < b for a, b in zip(self.began, self.started[1:], strict=False))


@dataclass
class CallAtHand:
    """The call that a run is traced on, if it is.

    values             what the variables of the program are in it
    constants          what is computed of constants only
    of_constants       which variables are computed of constants only, as far as that was asked
    statement_of       what branches and loops give
    draws              of random numbers, and seeds of NumPy's own generator, in order
    fixed              values that the program guards
    recipes            objects of other libraries that the program makes again
    states             generators of Python's `random` that draw while staging, as they were before
    relies_on_results  whether calls of other libraries must give what they gave
    """

    values: KnownValues | None = None
    constants: KnownValues | None = None
    of_constants: dict[Var, bool] = field(default_factory=dict)
    statement_of: dict[Var, Statement] = field(default_factory=dict)
    draws: list[Statement] = field(default_factory=list)
    fixed: dict[Var, Guarded] = field(default_factory=dict)
    recipes: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    states: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    relies_on_results: bool = False


@dataclass
class Flags:
    """Truth values that say whether something is set.

    checked   flags of unset variables: the block that raises
    means     truth values, and which flags are true where they are true, or false
    absences  attributes that code asked for before they were set
    """

    checked: dict[Any, Any] = field(default_factory=dict)
    means: dict[tuple[Any, bool], frozenset[Any]] = field(default_factory=dict)
    absences: dict[Any, Any] = field(default_factory=dict)
