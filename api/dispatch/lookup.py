"""Finds the specialisation that serves the arguments of a call."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.backends.fork_safe_locks import STAGING
from tapeless.backends.postponed_gc import gc_postponed
from tapeless.dispatch import ways
from tapeless.dispatch.asynchronous import worker
from tapeless.dispatch.gpu_arguments import has_gpu_arrays
from tapeless.dispatch.python_entry import entry
from tapeless.dispatch.specialisation import Specialisation, always_miss, call_key
from tapeless.dispatch.specialisation_maker import SpecialisationMaker
from tapeless.lazy_import import lazy_module
from tapeless.staging.emitted_names import (
    base_name,
    leaf_paths,
    place,
)
from tapeless.staging.pending_arrays import PendingArray, read_only
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import (
    TRACEABLE,
    ArgumentError,
    LongWayError,
)

if TYPE_CHECKING:
    from tapeless.dispatch import other_objects, performance_warnings
    from tapeless.dispatch import recompile_reasons as reasons
    from tapeless.random import key_reuse as reuse
    from tapeless.transformations import eval_shape as shapes
    from tapeless.transformations.compilation import jit_on_gpu as gpu
    from tapeless.transforms.frontend.trace.recorded_reads import Guard
else:
    other_objects = lazy_module("tapeless.dispatch.other_objects")
    gpu = lazy_module("tapeless.transformations.compilation.jit_on_gpu")
    performance_warnings = lazy_module("tapeless.dispatch.performance_warnings")
    reasons = lazy_module("tapeless.dispatch.recompile_reasons")
    reuse = lazy_module("tapeless.random.key_reuse")
    shapes = lazy_module("tapeless.transformations.eval_shape")


CODES = 32  # whose objects others are tried for
OBJECTS = 4  # for which one code is kept
SINGLE_CALLS = 8  # that get a specialisation each, before a warning says so
OUTSIDE = "pass what changes as an argument, or read it outside of the function"
NUMBERS = itertools.count(1)  # of specialisations, in the order in which they are made


class Lookup(SpecialisationMaker):
    """Keeps specialisations, and finds them again."""

    def specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """The emitted function for these arguments, made now if there is none."""
        self.renew()
        leaves, key = call_key(args, kwargs, self.ordered)
        for specialisation in self.cache.get(key, ()):
            if specialisation.accepts(leaves) and ways.may_serve(specialisation):
                specialisation.refuse_overlap(leaves)
                self.last = specialisation
                if specialisation.enter is always_miss and ways.may_begin(specialisation):
                    specialisation.enter = entry(specialisation, args, kwargs, self.ordered)
                return specialisation
        serving = self.for_other_objects(key, leaves) or self.of_relatives(key, leaves)
        if serving is not None:
            self.last = serving
            return serving
        worker.wait_for_callbacks()  # which may stage functions, too
        if any(type(x) is PendingArray for x in leaves):
            args, kwargs = read_only((args, kwargs))
        with STAGING, gc_postponed():
            # dataclasses that were met now are trees from now on
            leaves, key = call_key(args, kwargs, self.ordered, tree.flatten)
            for specialisation in self.cache.get(key, ()):  # another thread may have made it
                if specialisation.accepts(leaves) and ways.may_serve(specialisation):
                    break
            else:
                reason = self.reason_of_miss(self.cache.get(key, ()), leaves, args, kwargs)
                self.cache.notice(self.changed_values(key, leaves))
                kept = None if self.cache.changing else self.recall(args, kwargs)
                specialisation = kept or self.compile_for_changing(reason, key, args, kwargs)
                specialisation.reason, specialisation.number = reason, next(NUMBERS)
                if specialisation.slow:
                    performance_warnings.warn(specialisation.slow)
                self.cache[key] = [specialisation, *self.cache.get(key, ())]
                if specialisation.twice:
                    reuse.report(specialisation.twice)
        specialisation.refuse_overlap(leaves)
        self.last = specialisation
        return specialisation

    def for_other_objects(self, key: Any, leaves: Sequence[Any]) -> Specialisation | None:
        """The specialisation for objects in the places of those that an earlier one knows, whose
        code it runs; it takes the place of those for objects that came before."""
        tried: list[Specialisation] = []
        for specialisation in self.cache.get(key, ()):
            code = specialisation.stands_for or specialisation
            if code in tried or not (code.has_code and ways.may_serve(specialisation)):
                continue
            if len(tried) == CODES:
                return None
            tried.append(code)
            serving = other_objects.for_other_objects(specialisation, leaves, self.cache.own_parts)
            if serving is not None:
                with STAGING:
                    kept = self.cache.get(key, [])
                    alike = [s for s in kept if s.stands_for is code or s is code]
                    old = alike[OBJECTS - 1 :]
                    self.cache[key] = [serving, *(s for s in kept if s not in old)]
                return serving
        return None

    def of_relatives(self, key: Any, leaves: Sequence[Any]) -> Specialisation | None:
        """The same of a function of the same code, which reads other objects or variables."""
        for relative, replaced in self.cache.related_caches():
            for specialisation in relative.get(key, ())[:OBJECTS]:
                if not (specialisation.has_code and ways.may_serve(specialisation)):
                    continue
                serving = other_objects.for_other_objects(specialisation, leaves, replaced)
                if serving is not None:
                    with STAGING:
                        self.cache[key] = [serving, *self.cache.get(key, ())]
                    return serving
        return None

    def changed_values(self, key: Any, leaves: Sequence[Any]) -> Iterator[Guard]:
        """What earlier specialisations rely on that is another value now; of functions of the same
        code floats alone, for their integers say what is computed."""
        for specialisation in self.cache.get(key, ()):
            yield from (g for g in specialisation.guards if not g.holds())
            if isinstance(specialisation, Specialisation):
                yield from other_objects.changed_values(
                    specialisation, leaves, self.cache.own_parts
                )
        for relative, replaced in self.cache.related_caches():
            for specialisation in relative.get(key, ())[:OBJECTS]:
                if isinstance(specialisation, Specialisation):
                    changed = other_objects.changed_values(specialisation, leaves, replaced)
                    yield from (g for g in changed if isinstance(g.value, float))

    def compile_for_changing(
        self, reason: str, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Specialisation:
        """The specialisation for a call, in which numbers from outside that are not those of an
        earlier call are inputs, unless the code needs them to be known."""
        try:
            return self.compile_anew(reason, key, args, kwargs)
        except Exception:
            if not self.cache.changing:
                raise
        self.cache.keep_known(self.cache.changing)
        return self.compile_anew(reason, key, args, kwargs)

    def compile_anew(
        self, reason: str, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Specialisation:
        """The specialisation for these arguments; a warning where each call gets one of its own."""
        earlier, leaves = self.cache.get(key, ()), tree.leaves((args, kwargs))
        many = len(earlier) >= SINGLE_CALLS
        count = reasons.count_of_single_calls(earlier, leaves) if many else 0
        if count < SINGLE_CALLS:
            return self.compile_checked(args, kwargs)
        del earlier[ways.WAYS :]  # type: ignore[union-attr]  # which serve no more
        at = place(self.fun)
        why = f"{self.describe()} is staged again in each call: {reason}; {OUTSIDE}"
        if count == SINGLE_CALLS and at is not None:
            performance_warnings.warn([(why, *at)])
        return self.compile_for_one_call(LongWayError(why), count, args, kwargs)

    def compile_for_one_call(
        self, why: LongWayError, count: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Specialisation:
        """The specialisation for a call, as `count` others before were made for one call each."""
        return self.compile_checked(args, kwargs)

    def reason_of_miss(
        self, earlier: Sequence[Specialisation], leaves: Any, args: Any, kwargs: Any
    ) -> str:
        """Why no function for such arguments is right for these; where there is none, nothing."""
        if not earlier:
            return ""
        names = leaf_paths(args, kwargs, self.arguments(args, kwargs))
        return reasons.nearest(earlier, leaves, names)

    def clear_cache(self) -> None:
        """Forgets what was staged and compiled for this function in this process; what is on disk
        stays.

        >>> import tapeless
        >>> f = tapeless.jit(lambda x: x + 1)
        >>> f(1.0), f.clear_cache(), f(1.0)
        (2.0, None, 2.0)
        """
        self.cache.clear()
        self.last = None

    def pick(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        if args or kwargs:
            return self.for_arguments(args, kwargs)
        if self.last is None:
            raise ArgumentError(
                f"the {self.suffix} of {base_name(self.fun)} has not been called yet",
                "pass arguments as in a call: .source(1.0)",
            )
        return self.last

    def for_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """The specialisation for arguments that need not be values."""
        try:
            return self.specialise(*tree.map(shapes.stand_in, (args, kwargs)))
        except TRACEABLE:
            if STRICT[0] or not all(map(is_value_or_constant, tree.leaves((args, kwargs)))):
                raise
        with STAGING, gc_postponed(), ways.values_at_hand():
            return self.compile_checked(*self.with_static_arguments(args, kwargs))

    @functools.cached_property
    def on_gpu(self) -> Callable[..., Any]:
        """The same function for arrays on a GPU, where everything is compiled."""
        return gpu.GpuJit(self)

    def where(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What runs for these arguments, or ran last: this function, or the same one on a GPU."""
        if args or kwargs:
            return self.on_gpu if has_gpu_arrays(args, kwargs) else self
        return self.on_gpu if self.last is None and "on_gpu" in vars(self) else self


def is_value_or_constant(x: Any) -> bool:
    """Whether an argument is passed as in a call, and does not only tell a shape and a dtype."""
    return (
        isinstance(x, np.ndarray)
        or not (hasattr(x, "shape") and hasattr(x, "dtype"))
        or isinstance(x, np.generic)
    )
