"""Decides which calls of compiled functions are handed over, and returns pending arrays for them.

y = jit(f)(x)      is handed over where x is an array of `tapeless.numpy`, f computes arrays and
                   does nothing else, and its work is large by the lengths of x
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from sys import gettrace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from tapeless import tree
from tapeless.dispatch.asynchronous import worker
from tapeless.dispatch.specialisation import MISSED, Specialisation
from tapeless.lazy_import import lazy_module
from tapeless.staging.jax_arrays import ARRAYS, Array, plain
from tapeless.staging.pending_arrays import PendingArray, copy_array, lent_values
from tapeless.transforms.core.language import (
    Atom,
    Effect,
    Let,
    Literal,
    Statement,
    Type,
    statements,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import InternalError
from tapeless.transforms.frontend.values.structure import Structure
from tapeless.transforms.ops.primitives.callbacks import CALLABLE
from tapeless.transforms.ops.primitives.function_calls import is_call

if TYPE_CHECKING:
    from tapeless.backends import array_form as python
    from tapeless.dispatch.asynchronous import call_work
    from tapeless.transformations import callbacks
    from tapeless.transforms.emit import module
    from tapeless.transforms.frontend.staging import results
    from tapeless.transforms.lowering.lower import Lowered
else:
    python = lazy_module("tapeless.backends.array_form")
    call_work = lazy_module("tapeless.dispatch.asynchronous.call_work")
    callbacks = lazy_module("tapeless.transformations.callbacks")
    module = lazy_module("tapeless.transforms.emit.module")
    results = lazy_module("tapeless.transforms.frontend.staging.results")

LARGE = 1 << 20  # additions: some ten times as long as it takes to hand a call over
PYTHON = (bool, int, float, complex)
MANY = 4096  # signatures whose work is remembered
HARMLESS = frozenset(["blank", "check", "errstate", "kernel", "raise"])


@dataclass(frozen=True)
class HandOverPlan:
    """What is known of a call before it is made: its work, and the shapes of its results, None
    where only the elements of arrays tell them."""

    additions: float
    shapes: tuple[tuple[int, ...] | None, ...]


class HandOver:
    """Hands over calls of one specialisation.

    specialisation  what is called, of which `only_computes` holds
    lowered         its loop form
    description     what is called, for errors: "jit of f"
    donated         which of the leaves of its arguments it overwrites
    """

    def __init__(
        self,
        specialisation: Specialisation,
        lowered: Lowered,
        description: str,
        donated: frozenset[int],
    ) -> None:
        self.specialisation, self.lowered = specialisation, lowered
        self.description, self.donated = description, donated
        self.leaves = [*specialisation.staged.result.leaves()]
        self.types = [atom.type for atom in self.leaves if not _is_number(atom)]
        self.plans: dict[tuple[Any, ...], HandOverPlan] = {}
        self.rebuild = functools.partial(module.rebuild, specialisation.staged.result)

    @functools.cached_property
    def work(self) -> call_work.CallWork:
        """Estimates what a call costs."""
        return call_work.CallWork(self.specialisation, self.lowered.placement, self.types)

    @functools.cached_property
    def calls_python(self) -> bool:
        """Whether the program calls functions of the user."""
        return any(kind is CALLABLE for kind in _captured_types(self.specialisation))

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call, whose arrays are pending; MISSED where it is to be made at once."""
        leaves, structure = tree.flatten_known((args, kwargs))
        plan = self.plan(self.work.signature(leaves), leaves)
        if plan.additions < LARGE or not _may_hand_over(leaves):
            return MISSED
        captured = [get() for get, _ in self.specialisation.captured]
        if plan.additions < sum(map(_copied_bytes, (*leaves, *captured))):
            return MISSED
        worker.make_room()
        return self.handed_over(plan, leaves, structure, captured)

    def is_large(self, signature: tuple[Any, ...], leaves: Sequence[Any]) -> bool:
        """Whether a call is worth being handed over."""
        return self.plan(signature, leaves).additions >= LARGE

    def plan(self, signature: tuple[Any, ...], leaves: Sequence[Any]) -> HandOverPlan:
        """What is known of a call with these leaves."""
        if self.specialisation.captured:
            captured = (get() for get, _ in self.specialisation.captured)
            signature = (*signature, *(x.shape for x in captured))
        plan = self.plans.get(signature)
        if plan is None:
            if len(self.plans) >= MANY:
                self.plans.clear()
            numbers = self.work.numbers_of(leaves)
            plan = HandOverPlan(self.work.additions(numbers), self.work.shapes(numbers))
            self.plans[signature] = plan
        return plan

    def handed_over(
        self, plan: HandOverPlan, leaves: list[Any], structure: Any, captured: list[Any]
    ) -> Any:
        """The result, whose arrays are computed later."""
        passed: list[Any] = []
        call = worker.PendingCall(lambda: self.compute(passed), self.calls_python)
        kinds = zip(self.types, plan.shapes, strict=True)
        arrays = [PendingArray(call, kind.dtype, shape) for kind, shape in kinds]
        call.for_results(arrays)
        with worker.LENDING:
            arguments = [_lend(x, call) for x in leaves]
            args, kwargs = tree.unflatten(structure, arguments)
            passed += self.specialisation.arguments(args, kwargs)
            passed += [_lend(x, call) for x in captured]
            for k in self.donated:
                if arguments[k] is leaves[k] and type(leaves[k]) is PendingArray:
                    leaves[k].donate(self.description)
            worker.submit(call)
        pending = iter(arrays)
        leaves = [x.value if _is_number(x) else next(pending) for x in self.leaves]
        value, returned = self.rebuild(iter(leaves)), self.specialisation.returned
        return value if returned is None else tree.unflatten(returned, value)

    def compute(self, passed: list[Any]) -> list[Any]:
        """The arrays that the function returns."""
        values = tuple(plain(lent_values(passed)))
        passed.clear()
        try:
            result = self.specialisation.run(*values)
        except Exception as e:
            python.explain(e, self.description, self.specialisation.simplified)
            raise
        if not self.specialisation.flat:
            result = _leaves(self.specialisation.staged.result, result)
        pairs = zip(result, self.leaves, strict=True)
        return [_array(x, atom.type) for x, atom in pairs if not _is_number(atom)]


# -- which programs, and which calls


def only_computes(specialisation: Specialisation, donated: frozenset[int]) -> bool:
    """Whether a program reads nothing but its arguments and arrays, stores to none but those that
    are donated, and returns arrays in containers of Python."""
    staged = specialisation.staged
    given_away = {staged.leaves[k].var for k in donated}
    stored = (staged.overwritten - given_away, staged.writes, staged.held, specialisation.changes)
    if any(stored) or staged.orders or staged.traced or not _holds_arrays(staged.result):
        return False
    kept = all(_is_kept(get()) for get, _ in specialisation.captured)
    bodies = [staged.block, *(f.block for f in module.called_functions([staged.block]))]
    return kept and all(map(_is_harmless, (s for body in bodies for s in statements(body))))


def _holds_arrays(spec: Structure) -> bool:
    if spec.kind == "leaf":
        assert spec.atom is not None
        kind = spec.atom.type
        is_array = isinstance(kind, Type) and not kind.weak and kind.dtype.kind in "biufc"
        return is_array or _is_number(spec.atom)
    if spec.kind == "static":
        return True
    container = isinstance(spec.kind, type) and (
        issubclass(spec.kind, (tuple, list, dict)) or is_dataclass(spec.kind)
    )
    fixed = container and not isinstance(spec.value, (results.FilledList, results.OfData))
    return fixed and all(map(_holds_arrays, spec.children))


def _is_number(atom: Atom) -> TypeGuard[Literal]:
    """Whether a result is the same number of Python in each call."""
    return isinstance(atom, Literal) and atom.type.weak


def _is_harmless(s: Statement) -> bool:
    """Whether nobody sees when a statement runs; functions that are called are looked at, too."""
    if isinstance(s, Effect):
        return s.kind in HARMLESS
    return not isinstance(s, Let) or s.op.pure or is_call(s)


def _is_kept(captured: Any) -> bool:
    """Whether what is read from outside can be kept until a call is made: arrays, of which there
    are copies, and functions of `pure_callback`."""
    return type(captured) in (np.ndarray, *ARRAYS) or isinstance(
        captured, callbacks.CallbackFunction
    )


def _captured_types(specialisation: Specialisation) -> list[Any]:
    return [c.var.type for c in specialisation.staged.captured]


def _may_hand_over(leaves: Sequence[Any]) -> bool:
    """Whether a call may be made by another thread: not where a debugger follows it."""
    if not worker.ENABLED[0] or worker.is_here() or hasattr(gettrace(), "__self__"):
        return False
    return any(type(x) in ARRAYS for x in leaves) and all(map(_is_passed, leaves))


def _is_passed(x: Any) -> bool:
    if type(x) is int:
        return -(2**63) <= x < 2**63  # others are refused where the call is made
    if not isinstance(x, np.ndarray):
        return True
    return (type(x) is np.ndarray or type(x) in ARRAYS) and x.dtype.kind in "biufc"


# -- arguments and results


def _copied_bytes(x: Any) -> int:
    """The bytes that are copied to lend an argument."""
    shared = x.is_shared() if type(x) is PendingArray else isinstance(x, np.ndarray)
    return x.nbytes if shared else 0


def _lend(x: Any, call: worker.PendingCall) -> Any:
    """An argument that nobody writes to until the call is done."""
    if type(x) is PendingArray:
        return x.lend(call)
    return copy_array(x) if isinstance(x, np.ndarray) else x


def _array(value: Any, kind: Type) -> Any:
    """A result as an array; what a branch has passed on may be a number of Python."""
    array = np.asarray(value, kind.dtype if type(value) in PYTHON else None)
    if array.dtype != kind.dtype:
        raise InternalError(f"a result is {array.dtype.name}, and was told to be {kind}")
    return array.view(Array)


def _leaves(spec: Structure, value: Any) -> Iterator[Any]:
    """The leaves of a result, in the order of its structure."""
    if spec.kind == "leaf":
        yield value
    elif spec.kind != "static":
        parts = [value[k] for k in spec.keys] if isinstance(value, dict) else value
        for child, part in zip(spec.children, parts, strict=True):
            yield from _leaves(child, part)
