"""Defines callables made by transformations: staged at the first call with a new signature, then
found by it.
"""

from __future__ import annotations

from contextlib import suppress
from sys import gettrace, settrace
from typing import TYPE_CHECKING, Any

from tapeless import tree
from tapeless.backends.fork_safe_locks import STAGING
from tapeless.backends.postponed_gc import gc_postponed
from tapeless.configuration.stepping import PassedOver, skipping, untraced
from tapeless.dispatch import ways
from tapeless.dispatch.bound_method import Bound
from tapeless.dispatch.gpu_arguments import has_gpu_arrays
from tapeless.dispatch.inspection import Inspection
from tapeless.dispatch.lookup import NUMBERS
from tapeless.dispatch.specialisation import MISSED, Specialisation, call_key
from tapeless.lazy_import import lazy_module
from tapeless.staging.bug_reports import trim_traceback
from tapeless.staging.device_list import GPU_CHOSEN, default_gpu
from tapeless.staging.emitted_names import base_name
from tapeless.transforms.core.operation import opened
from tapeless.transforms.core.traced_calls import all_lengths
from tapeless.transforms.errors import (
    InternalError,
    TapelessError,
)

if TYPE_CHECKING:
    from tapeless.backends import array_form as python
    from tapeless.dispatch import performance_warnings
    from tapeless.transforms.optimize.algebra import facts
else:
    facts = lazy_module("tapeless.transforms.optimize.algebra.facts")
    performance_warnings = lazy_module("tapeless.dispatch.performance_warnings")
    python = lazy_module("tapeless.backends.array_form")


class Transformed(Inspection):
    """A function made by a transformation of another one. It does no work until it is called."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if gettrace() is not None and hasattr(gettrace(), "__self__"):
            settrace(skipping(gettrace(), untraced()))
        if opened.builder is not None:
            return self.stage(args, kwargs)
        if GPU_CHOSEN and default_gpu() is not None:
            return self.called_on_gpu(args, kwargs)
        root = self.root
        if root.__code__ is not self.code or (
            self.defaults is not None and root.__defaults__ is not self.defaults
        ):
            self.begin()
        specialisation, goes_its_way = self.last, False
        try:
            if (
                specialisation is not None
                and (result := specialisation.enter(args, kwargs)) is not MISSED
            ):
                return result
            specialisation = None
            if has_gpu_arrays(args, kwargs):
                return self.called_on_gpu(args, kwargs)
            with PassedOver(), ways.values_at_hand():
                specialisation = self.specialise(args, kwargs)
            passed = self.with_static_arguments(args, kwargs)
            if specialisation.keys:
                specialisation.use_keys(tree.leaves(passed))
            if goes_its_way := specialisation.traced:
                return self.by_its_way(passed)[1]
            return specialisation(*passed)
        except Exception as e:
            if not goes_its_way and ways.is_other(e, specialisation):
                return self.by_its_way(self.with_static_arguments(args, kwargs))[1]
            if ways.is_of_lengths(e, specialisation):
                with suppress(TapelessError):  # the first error says what is the matter
                    return self.with_all_lengths(self.with_static_arguments(args, kwargs))[1]
            if specialisation is None:
                trim_traceback(e)
            else:
                self.locate(e, specialisation)
            raise

    def by_its_way(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """The specialisation for the way that a call takes through a function that is traced, and
        what it returns."""
        args, kwargs = passed
        _, key = call_key(args, kwargs, self.ordered)
        kept = self.cache.get(key, [])
        traced = any(s.fully_traced for s in kept)

        def compile_way() -> Specialisation:
            with STAGING, gc_postponed(), PassedOver(), ways.values_at_hand(traced, len(kept)):
                specialisation = self.compile_next_way(args, kwargs, kept)
                specialisation.number = next(NUMBERS)
                specialisation.reason = "the values take another way"
                if not specialisation.traced:
                    performance_warnings.warn(specialisation.slow)
                self.cache[key] = ways.without_old_ways([specialisation, *self.cache.get(key, ())])
            return specialisation

        try:
            specialisation, result = ways.run(kept, passed, compile_way)
        except ways.TakesOtherWay:
            return self.without_code(passed)
        self.last = specialisation
        return specialisation, result

    def with_all_lengths(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """The specialisation for a call whose code has found that lengths differ, and what it
        returns: arrays of one element are stretched from now on, as NumPy does."""
        args, kwargs = passed
        _, key = call_key(args, kwargs, self.ordered)
        before = all_lengths.set(True)
        try:
            with STAGING, gc_postponed(), PassedOver(), ways.values_at_hand():
                specialisation = self.compile_checked(args, kwargs)
        finally:
            all_lengths.reset(before)
        specialisation.number = next(NUMBERS)
        specialisation.reason = "one element is stretched, as run-time values decide"
        specialisation.stretches = True
        self.cache[key] = [specialisation, *self.cache.get(key, ())]
        self.last = specialisation
        return specialisation, specialisation(*passed)

    def compile_next_way(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], kept: list[Specialisation]
    ) -> Specialisation:
        """The specialisation for a call that takes none of the ways that are kept."""
        return self.compile_checked(args, kwargs)

    def without_code(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """What a call returns whose own code says that it takes another way: algebra may turn a
        test by a rounding error, so the code is made again with products and sums as written."""
        if facts.as_written.get():
            raise InternalError(f"the {self.describe()} was traced, and its code goes another way")
        before = facts.as_written.set(True)
        try:
            return self.by_its_way(passed)
        finally:
            facts.as_written.reset(before)

    def called_on_gpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call there, which is then the last one that `source()` shows."""
        self.last = None
        return self.on_gpu(*args, **kwargs)

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.stage(args, kwargs)

    def locate(self, error: Exception, specialisation: Specialisation) -> None:
        """Adds the user's line to an error from emitted code."""
        with suppress(TapelessError):  # where the program has to be staged first
            python.explain(
                error, f"{self.suffix} of {base_name(self.fun)}", specialisation.simplified
            )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Bound(self, instance)
