"""Compiles a function to fused loops that can be read, at its first call with a new signature."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import replace
from sys import gettrace, settrace
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.backends.fork_safe_locks import STAGING
from tapeless.configuration.stepping import skipping, untraced
from tapeless.disk_cache.load import Recalled, Record
from tapeless.disk_cache.store import Shelf, recall, shelf
from tapeless.dispatch import list_arguments, ways
from tapeless.dispatch.gpu_arguments import refuse_profile
from tapeless.dispatch.inspection import Stages
from tapeless.dispatch.jit_options import Options
from tapeless.dispatch.specialisation import MISSED, Specialisation, call_key
from tapeless.dispatch.transformation import Transformed
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import refuse_wide_integers
from tapeless.staging.device_list import GPU_CHOSEN, default_gpu
from tapeless.staging.emitted_names import base_name, parameters, place
from tapeless.transformations.array_form import Unchanged
from tapeless.transformations.compilation.disable_jit import disabled_contexts, is_disabled
from tapeless.transformations.compilation.static_arguments import Constant, unwrap_static
from tapeless.transformations.mapping.element_calls import PlainCalls
from tapeless.transforms.core.constants import exactly
from tapeless.transforms.core.language import Block, Program, Var
from tapeless.transforms.core.operation import opened
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.errors import (
    ArgumentTypeError,
    LongWayError,
    ManyElementsError,
    TapelessError,
)
from tapeless.transforms.lowering.target import CPU
from tapeless.transforms.optimize.algebra.facts import as_written

if TYPE_CHECKING:
    from tapeless.backends import cpu as numba
    from tapeless.dispatch import native_entry, performance_warnings
    from tapeless.dispatch.asynchronous import hand_over as asynchronous
    from tapeless.explain import explain, slow_loops
    from tapeless.explain.report import Explanation
    from tapeless.transformations import eval_shape as shapes
    from tapeless.transformations.compilation import ahead_of_time
    from tapeless.transformations.compilation import jit_on_gpu as gpu
    from tapeless.transforms.core import batching_context as nesting
    from tapeless.transforms.core import printer
    from tapeless.transforms.frontend.staging.stage import Staged
    from tapeless.transforms.lowering import floating_point_errors, lower
    from tapeless.transforms.lowering import module_text as driver
    from tapeless.transforms.lowering.schedule import element_loops
else:
    asynchronous = lazy_module("tapeless.dispatch.asynchronous.hand_over")
    ahead_of_time, native_entry = (
        lazy_module("tapeless.transformations.compilation.ahead_of_time"),
        lazy_module("tapeless.dispatch.native_entry"),
    )
    explain, slow_loops = (
        lazy_module("tapeless.explain.explain"),
        lazy_module("tapeless.explain.slow_loops"),
    )
    shapes = lazy_module("tapeless.transformations.eval_shape")
    gpu = lazy_module("tapeless.transformations.compilation.jit_on_gpu")
    numba = lazy_module("tapeless.backends.cpu")
    performance_warnings = lazy_module("tapeless.dispatch.performance_warnings")
    printer, nesting = (
        lazy_module("tapeless.transforms.core.printer"),
        lazy_module("tapeless.transforms.core.batching_context"),
    )
    driver, element_loops, floating_point_errors, lower = (
        lazy_module("tapeless.transforms.lowering.module_text"),
        lazy_module("tapeless.transforms.lowering.schedule.element_loops"),
        lazy_module("tapeless.transforms.lowering.floating_point_errors"),
        lazy_module("tapeless.transforms.lowering.lower"),
    )


LONG_WAY = 2000  # statements of traced code: with more, compiling takes longer than it gains
OFTEN = 1000  # calls after which machine code for what is done around kernels pays


class Jit(Unchanged):
    """A function that is compiled at its first call with a new signature."""

    reserved = frozenset(["empty", "in_parallel", "njit"])
    on_cores = True  # whether it runs in this process
    derived = Unchanged.derived | {
        *("plain", "constants", "forms", "direct", "decided", "calls", "lists", "stored"),
        *("positions", "changes", "apart"),
    }

    def __init__(self, fun: Callable[..., Any], options: Options | None = None) -> None:
        self.asked = options or Options()
        self.asked.check(fun)
        super().__init__(fun)

    def begin(self) -> None:
        super().begin()
        self.plain = Unchanged(self.fun)
        self.constants: dict[Any, Constant] = {}
        self.forms: dict[str, lower.Lowered] = vars(self.cache).setdefault("forms", {})
        self.direct: Callable[..., Any] | None = None  # machine code for calls like the last
        self.decided = False  # whether there is any
        self.calls = 0  # like the last
        self.apart = False  # no kernel gets an array in the memory of another that it stores to
        self.lists = list_arguments.ListFunctions(self)

    def options(self) -> tuple[Any, ...]:
        return (self.asked,)

    def clear_cache(self) -> None:
        super().clear_cache()
        self.direct, self.decided = None, False

    @functools.cached_property
    def on_gpu(self) -> Callable[..., Any]:
        return gpu.GpuJit(self.fun, self.asked)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if GPU_CHOSEN and opened.builder is None and default_gpu() is not None:
            return self.called_on_gpu(args, kwargs)
        direct = self.direct
        if (
            direct is not None
            and self.root.__code__ is self.code
            and not (kwargs or disabled_contexts)
        ):
            try:
                if (result := direct(*args)) is not MISSED:
                    return result
            except Exception:  # noqa: BLE001  # raised again below, with the user's line
                pass
        if gettrace() is not None and hasattr(gettrace(), "__self__"):
            settrace(skipping(gettrace(), untraced()))
        if is_disabled():
            return self.plain(*args, **kwargs)
        try:
            if (result := self.lists.call(args, kwargs)) is not MISSED:
                return result
            value = super().__call__(*args, **kwargs)
        except OverflowError:
            what = f"jit of {base_name(self.fun)}"
            refuse_wide_integers(args, kwargs, self.arguments(args, kwargs), what)
            raise
        if not self.decided and self.last is not None:
            self.decide(self.last, args, kwargs)
        return value

    def decide(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Looks for a quicker way for calls like this one."""
        if specialisation.traced:
            self.decided = True
            return
        self.calls += 1
        self.direct, often = specialisation.native_entry(MISSED), self.calls >= OFTEN
        other = kwargs or self.asked.static_argnums or self.asked.static_argnames
        if often and self.direct is None and not other:
            self.direct = native_entry.native_entry(specialisation, args, MISSED)
        if self.direct is not None and self.defaults is not None:
            self.direct = self.with_defaults(self.direct)
        self.decided = often or self.direct is not None

    def with_defaults(self, direct: Callable[..., Any]) -> Callable[..., Any]:
        """The same way, as long as the function has the defaults that it has now."""
        fun, defaults = self.root, self.defaults
        return lambda *args: direct(*args) if fun.__defaults__ is defaults else MISSED

    def pick(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        return self.lists.pick(args, kwargs) or super().pick(args, kwargs)

    def without_code(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """Rounding in kernels may turn a test: NumPy goes the way that was traced, and does so at
        once in the next call."""
        args, kwargs = passed
        result = self.plain(
            *map(unwrap_static, args), **{k: unwrap_static(x) for k, x in kwargs.items()}
        )
        specialisation = self.plain.last
        assert specialisation is not None
        if not any(isinstance(x, Constant) for x in (*args, *kwargs.values())):
            _, key = call_key(args, kwargs, self.ordered)
            others = [s for s in self.cache.get(key, ()) if s is not specialisation]
            self.cache[key] = ways.without_old_ways([specialisation, *others])
        return specialisation, result

    def compile_next_way(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], kept: list[Specialisation]
    ) -> Specialisation:
        """After many ways, the function is called as it is: staging takes longer."""
        if isinstance(self.fun, Transformed) or sum(s.traced for s in kept) < ways.WAYS:
            return super().compile_next_way(args, kwargs, kept)
        why = LongWayError(f"more than {ways.WAYS} calls took ways of their own through it")
        specialisation = self.plain_calls(why)
        performance_warnings.warn(specialisation.slow)
        return specialisation

    def compile_for_one_call(
        self, why: LongWayError, count: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Specialisation:
        """In the end, the function is called as it is: staging takes longer."""
        if isinstance(self.fun, Transformed) or count < ways.WAYS or STRICT[0]:
            return super().compile_for_one_call(why, count, args, kwargs)
        return self.plain_calls(why)

    # -- static arguments

    def specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        specialisation = super().specialise(*self.with_static_arguments(args, kwargs))
        self.direct, self.decided, self.calls = None, False, 0
        self.lists.shown = None
        return specialisation

    def with_static_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with static ones as constants."""
        if not (self.asked.static_argnums or self.asked.static_argnames):
            return args, kwargs
        static = self.static(args, kwargs)
        args = tuple(self.constant(x) if k in static else x for k, x in enumerate(args))
        return args, {k: self.constant(x) if k in static else x for k, x in kwargs.items()}

    def constant(self, value: Any) -> Constant:
        if isinstance(value, Constant):
            return value
        try:
            return self.constants.setdefault(exactly(value), Constant(value))
        except TypeError as e:
            raise ArgumentTypeError(
                f"a static argument of {base_name(self.fun)} is not hashable: "
                f"{type(value).__name__}",
                "static arguments are compared with those of other calls: pass a tuple, say",
            ) from e

    def static(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[Any]:
        """The static arguments, by their places and names."""
        asked = self.asked
        if not (asked.static_argnums or asked.static_argnames):
            return set()
        numbers = {k % len(args) for k in asked.static_argnums if -len(args) <= k < len(args)}
        named = zip(range(len(args)), self.arguments(args, kwargs), strict=False)
        by_name = {k for k, name in named if name in asked.static_argnames}
        return numbers | by_name | {*asked.static_argnames}

    def element_calls(self, why: ManyElementsError, wrap: Callable[[Any], Any]) -> Specialisation:
        if isinstance(self.fun, Transformed):
            return self.fun.element_calls(why, lambda fun: wrap(Jit(fun)))
        if isinstance(why, LongWayError):
            return self.plain_calls(why)
        raise why

    def plain_calls(self, why: ManyElementsError) -> Specialisation:
        """What stands for a program that is of no use: calls of the function as Python runs it."""
        at, what = place(self.fun), f"jit calls {base_name(self.fun)} as it is: {why.problem}"
        hint = f"; {why.hint}" if why.hint else ""

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return self.fun(
                *map(unwrap_static, args), **{k: unwrap_static(x) for k, x in kwargs.items()}
            )

        return PlainCalls(call, why, () if at is None else ((what + hint, *at),))

    def outermost(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Any:
        opened.builder.outer_map = self.fun
        return super().outermost(args, kwargs, leaves)

    def stage(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args = tuple(map(unwrap_static, args))
        return super().stage(args, {k: unwrap_static(x) for k, x in kwargs.items()})

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().check(
            tuple(map(unwrap_static, args)), {k: unwrap_static(x) for k, x in kwargs.items()}
        )

    # -- compilation

    def recall(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation | None:
        kept = self.shelf(args, kwargs)
        return recall(kept, args, kwargs, self.load_record, self.stage_now) if kept else None

    def shelf(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shelf | None:
        """Where other processes keep it; none do where memory of arguments is given away."""
        return None if self.asked.donate_argnums else shelf(self, args, kwargs)

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        kept = self.shelf(args, kwargs)
        compiled = self.stage_now(args, kwargs)
        compiled.reorders = True
        compiled.hand_over = self.hand_over(compiled)
        outline = numba.outline(compiled.run) if kept else None
        if kept and outline and not compiled.traced:
            kept.keep(compiled, outline, self.apart)
        return compiled

    def hand_over(self, compiled: Specialisation) -> asynchronous.HandOver | None:
        """What gives calls to a thread; None where all are made at once."""
        lowered = self.forms.get(compiled.text)
        if lowered is None or not (compiled.functional and self.on_cores):
            return None
        donated, stored = self.asked.donate_argnums, compiled.staged.overwritten - {*self.stored}
        leaves = enumerate(zip(compiled.staged.leaves, self.positions, strict=True))
        given_away = frozenset(k for k, (x, p) in leaves if p in donated and x.var in stored)
        if not asynchronous.only_computes(compiled, given_away):
            return None
        description = f"jit of {base_name(self.fun)}"
        return asynchronous.HandOver(compiled, lowered, description, given_away)

    def load_record(self, record: Record) -> Callable[..., Any]:
        """The function of a record."""
        self.apart = record.apart
        return self.load(record.text, record.outline)

    def stage_now(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """The specialisation for these arguments, staged now."""
        with STAGING:
            return self.compile_lowered(args, kwargs)

    def compile_lowered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        paths = tree.paths((args, kwargs))
        self.positions = [path[1] if path[0] == 0 else None for path in paths]
        before = as_written.set(self.asked.fastmath is False)
        try:
            for looped in (True, False):
                with contextlib.suppress(element_loops.NotInLoops), nesting.looping(looped):
                    return super().compile(args, kwargs)
        finally:
            as_written.reset(before)
        raise AssertionError

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        if staged.traced and (ways.are_many() or len(block.body) > LONG_WAY):
            staged.notes.append("nothing is compiled: the traced way is long, or one of many")
            return super().write(staged, block, arguments, paths)
        watched = floating_point_errors.watched_for_errors(block)
        if watched:  # machine code has no such errors
            staged.notes.append(f"nothing is compiled, as {watched} asks for errors of NumPy")
            staged.slow.extend(
                slow_loops.not_compiled(block, f"{watched} asks for errors of NumPy")
            )
            return super().write(staged, block, arguments, paths)
        names, unpack = parameters(staged, arguments, paths)
        result, flat = self.result(staged)
        name, check = self.emitted_name, self.asked.boundscheck
        parallel, donated = self.asked.parallel, self.donated_variables(staged)
        lowered = lower.lower(
            *(name, block, staged.sizes, self.stored, staged.hints, check, parallel, donated),
            fastmath=self.asked.fastmath is not False,
            target=replace(CPU, any_order=self.asked.fastmath is True),
        )
        staged.slow.extend(slow_loops.costly_loops(lowered.placement, staged.hints))
        staged.sizes.extend(lowered.relied)
        staged.overwritten.update(lowered.overwritten)
        # arguments that share memory are refused if one is read, and another one stored to
        unread = {*self.stored} - staged.read()
        self.apart = len(unread) < 2 and not self.asked.donate_argnums
        text = driver.write_compiled(
            *(name, lowered.driver, lowered.kernels, lowered.errors),
            *(names, unpack, result, self.doc(staged, names)),
        )
        self.forms[text] = lowered
        return text, flat

    def donated_variables(self, staged: Staged) -> list[Var]:
        """The arrays of arguments that the caller gives away, if they are not stored to anyway."""
        leaves = zip(staged.leaves, self.positions, strict=True)
        arrays = [leaf for leaf, k in leaves if k in self.asked.donate_argnums]
        return [
            leaf.var
            for leaf in arrays
            if leaf.var is not None
            and leaf.var not in self.stored
            and isinstance(leaf.value, np.ndarray)
            and leaf.value.flags.writeable
        ]

    def load(self, text: str, outline: Any = None) -> Callable[..., Any]:
        options = {"fastmath": {"reassoc", "contract"}} if self.asked.fastmath else {}
        return numba.load(self.emitted_name, text, self.apart, outline, **options)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted array form: compiled loops have no lines of Python."""
        refuse_profile(self.describe(), args, kwargs)
        from tapeless.profiler.line_profile import line_profile  # noqa: PLC0415 (takes time to import)

        note = "the array form, which runs without jit: compiled code has no lines to be timed"
        specialisation = self.plain.for_arguments(args, kwargs)
        return line_profile(self.describe(), specialisation, args, kwargs, note)

    def lower(self, /, *args: Any, **kwargs: Any) -> ahead_of_time.Lowered:
        """The function for these arguments, without a call: `.source()`, `.compile()`. Arrays may
        be `ShapeDtypeStruct`s; they lie in memory row by row."""
        return ahead_of_time.Lowered(self.where(args, kwargs), args, kwargs)

    def trace(self, /, *args: Any, **kwargs: Any) -> ahead_of_time.Traced:
        """The same before code is emitted: `.jaxpr`, `.out_info`, `.lower()`."""
        return ahead_of_time.Traced(self.where(args, kwargs), args, kwargs)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments, or of the last call."""
        stages, here = super().stages(*args, **kwargs), self.where(args, kwargs)
        form = here.forms.get(here.pick(args, kwargs).text)
        driver = "" if form is None else printer.show(Program(here.emitted_name, form.driver))
        stages.parts.insert(-1, ("driver", driver))
        return stages

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the function does for these arguments, line by line of the user's code."""
        call = self.lists.as_array_call(args, kwargs)
        inner = None if call is None else self.lists.jit_for(call.forms)
        with contextlib.suppress(TapelessError):
            if call is not None and inner is not None:  # lists come as arrays
                return inner.explain(*call.args, **call.kwargs)  # type: ignore[no-any-return]
        return super().explain(*args, **kwargs)

    def explain_specialisation(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Explanation:
        """The report for a specialisation, with the kernels that it is compiled to."""
        leaves = tree.leaves((args, kwargs))
        loops = [*specialisation.staged.slow]
        form = self.forms.get(specialisation.text)
        if form is None and isinstance(specialisation, Recalled):  # kept for arrays of other sizes
            specialisation = specialisation.specialisation
            form = self.forms.get(specialisation.text)
        if form is not None:
            self.prepare(specialisation, *tree.map(shapes.stand_in, (args, kwargs)))
            loops += slow_loops.driver_loops(form.placement)
            loops = [*{(x.file, x.line, x.function, x.fate): x for x in loops}.values()]
        name = f"jit of {self.describe_call(args, kwargs)}"
        return explain.explanation(name, specialisation, leaves, form, loops)

    def prepare(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Compiles the kernels for arguments like these, as far as is known without a call."""
        passed = specialisation.passed_arguments(*self.with_static_arguments(args, kwargs))
        numba.prepare(specialisation.run, specialisation.text, passed)

    def compile_ahead(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """The same where somebody asks for it."""
        self.prepare(specialisation, args, kwargs)

    @property
    def compilations(self) -> list[Any]:
        """What was compiled, or found in the cache, in order: `kernel`, `signature`, `reason`,
        `seconds`, `cached`."""
        from tapeless.dispatch.recompile_reasons import compilations  # noqa: PLC0415  # asked for rarely

        there = getattr(vars(self).get("on_gpu"), "compilations", ())
        return [*compilations(self.cache), *self.lists.compilations(), *there]
