"""Callables made by transformations: staged at the first call with a new signature, then found."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from sys import gettrace, settrace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tapeless import tree
from tapeless.backends.fork_safe_locks import STAGING
from tapeless.backends.postponed_gc import gc_postponed
from tapeless.configuration.stepping import PassedOver, skip_ours, skipping, untraced
from tapeless.dispatch import pickling, ways
from tapeless.dispatch.asynchronous import worker
from tapeless.dispatch.gpu_arguments import has_gpu_arrays, refuse_profile
from tapeless.dispatch.python_entry import entry
from tapeless.dispatch.reloading import notice_reloads
from tapeless.dispatch.specialisation import MISSED, Specialisation, call_key, never, shared_cache
from tapeless.lazy_import import later
from tapeless.staging.argument_checks import refuse_foreign_arguments
from tapeless.staging.bug_reports import mistakes_reported, trimmed
from tapeless.staging.device_list import GPU_CHOSEN, default_gpu
from tapeless.staging.emitted_names import (
    HiddenFunctions,
    argument_names,
    base_name,
    check_callable,
    global_name,
    hidden_functions,
    leaf_names,
    leaf_paths,
    parameter_name,
    parameters,
    place,
    root_function,
    unwrapped,
)
from tapeless.staging.pending_arrays import PendingArray, read_only
from tapeless.transforms.core.language import Block, Program
from tapeless.transforms.core.operation import opened
from tapeless.transforms.core.traced_calls import STRICT
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import (
    TRACEABLE,
    ArgumentError,
    InternalError,
    ManyElementsError,
    TapelessError,
    UnsupportedError,
)
from tapeless.view.in_notebooks import InNotebooks

if TYPE_CHECKING:
    from pathlib import Path

    from tapeless.backends import array_form as python
    from tapeless.dispatch import performance_warnings
    from tapeless.dispatch import recompile_reasons as reasons
    from tapeless.explain import explain
    from tapeless.explain.report import Explanation
    from tapeless.random import key_reuse as reuse
    from tapeless.staging import standalone_modules as standalone
    from tapeless.staging import subprogram as region
    from tapeless.transformations import eval_shape as shapes
    from tapeless.transformations import jit_on_gpu as gpu
    from tapeless.transforms.core import passes, printer
    from tapeless.transforms.emit import module
    from tapeless.transforms.evaluation import call_values as values
    from tapeless.transforms.frontend.source import rewrite
    from tapeless.transforms.frontend.staging import stage
    from tapeless.transforms.frontend.staging.stage import Staged
    from tapeless.transforms.frontend.trace import readers
    from tapeless.transforms.frontend.trace.recorded_reads import Guard
    from tapeless.transforms.pipelines import array_form as forms
else:
    reasons, region = (
        later("tapeless.dispatch.recompile_reasons"),
        later("tapeless.staging.subprogram"),
    )
    shapes, standalone = (
        later("tapeless.transformations.eval_shape"),
        later("tapeless.staging.standalone_modules"),
    )
    explain = later("tapeless.explain.explain")
    performance_warnings = later("tapeless.dispatch.performance_warnings")
    forms = later("tapeless.transforms.pipelines.array_form")
    gpu = later("tapeless.transformations.jit_on_gpu")
    reuse = later("tapeless.random.key_reuse")
    python = later("tapeless.backends.array_form")
    module, printer = (
        later("tapeless.transforms.emit.module"),
        later("tapeless.transforms.core.printer"),
    )
    passes = later("tapeless.transforms.core.passes")
    readers = later("tapeless.transforms.frontend.trace.readers")
    values = later("tapeless.transforms.evaluation.call_values")
    rewrite = later("tapeless.transforms.frontend.source.rewrite")
    stage = later("tapeless.transforms.frontend.staging.stage")


NUMBERS = itertools.count(1)  # of specialisations, in the order in which they are made


@dataclass
class Stages:
    """Each stage of a compilation; prints itself, and iterates as (name, value) pairs."""

    parts: list[tuple[str, Any]]

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __getitem__(self, name: str) -> Any:
        return dict(self.parts)[name]

    def __str__(self) -> str:
        return "\n\n".join(f"-- {name} --\n{value}" for name, value in self.parts)

    __repr__ = __str__


def stages_of(name: str, specialisation: Specialisation, fun: Any) -> Stages:
    """Each stage on the way to an emitted function; of the user's function `fun` also how it was
    rewritten, of those that it calls not."""
    inner = unwrapped(fun)
    notes = "\n".join(specialisation.staged.notes) or "every loop that depends on values is rolled"
    return Stages(
        [
            *([("rewritten", rewrite.shown(inner))] if rewrite.is_rewritten(inner) else []),
            ("core", printer.show(Program(name, specialisation.staged.block))),
            ("simplified", module.shown(name, specialisation.simplified)),
            ("notes", notes),
            ("source", specialisation.text),
        ]
    )


class Transformed(InNotebooks):
    """A function made by a transformation of another one. It does no work until it is called."""

    suffix = "transformed"
    derived: frozenset[str] = frozenset(
        {"root", "code", "defaults", "cache", "last", "ordered", "on_gpu"}
    )
    reserved: frozenset[str] = frozenset()  # names of what emitted code calls: no parameters
    outlines = True  # functions that are called often may become functions of the program

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, self.suffix)
        skip_ours()
        notice_reloads()
        self.fun = fun
        self.__name__ = base_name(fun)  # of partials and objects; of functions, what wraps says
        functools.update_wrapper(self, fun, updated=())
        self.emitted_name = f"{base_name(fun)}_{self.suffix}"
        self.begin()

    def begin(self) -> None:
        """Finds what was staged for the function as it is now."""
        self.root = root_function(self.fun)
        self.code, self.defaults = self.root.__code__, self.root.__defaults__
        self.cache = shared_cache(type(self), self.fun, self.options())
        self.last: Specialisation | None = None
        code = getattr(unwrapped(self.fun), "__code__", None)
        self.ordered = code is None or bool(code.co_flags & inspect.CO_VARKEYWORDS)

    def renew(self) -> None:
        """Begins anew if the function has got other code or defaults, as when a notebook loads a
        module again."""
        if self.root.__code__ is not self.code or self.root.__defaults__ is not self.defaults:
            self.begin()

    # -- what subclasses say

    def options(self) -> tuple[Any, ...]:
        """What tells this transformation of a function from others of the same kind."""
        return ()

    def staged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The transformation, inside a staged run."""
        raise NotImplementedError

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuses bad arguments before any work."""

    def marked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with those that are part of the program as one leaf each."""
        return args, kwargs

    def describe(self) -> str:
        return f"{self.suffix} of {base_name(self.fun)}"

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """A name for each argument as it is passed."""
        return argument_names(self.fun, args, kwargs)

    # -- use

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if gettrace() is not None and hasattr(gettrace(), "__self__"):
            settrace(skipping(gettrace(), untraced()))
        if opened.builder is not None:
            return self.staged(args, kwargs)
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
            passed = self.marked(args, kwargs)
            if specialisation.keys:
                specialisation.use_keys(tree.leaves(passed))
            if goes_its_way := specialisation.traced:
                return self.by_its_way(passed)[1]
            return specialisation(*passed)
        except Exception as e:
            if not goes_its_way and ways.is_other(e, specialisation):
                return self.by_its_way(self.marked(args, kwargs))[1]
            if specialisation is None:
                trimmed(e)
            else:
                self.locate(e, specialisation)
            raise

    def by_its_way(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """The specialisation for the way that a call takes through a function that is traced, and
        what it returns."""
        args, kwargs = passed
        _, key = call_key(args, kwargs, self.ordered)
        kept = self.cache.get(key, [])
        traced = any(s.traced and s.staged.decisions.traced for s in kept)

        def again() -> Specialisation:
            with STAGING, gc_postponed(), PassedOver(), ways.values_at_hand(traced, len(kept)):
                specialisation = self.checked(args, kwargs)
                specialisation.number = next(NUMBERS)
                specialisation.reason = "the values take another way"
                if not specialisation.traced:
                    performance_warnings.warn(specialisation.slow)
                self.cache[key] = ways.kept([specialisation, *self.cache.get(key, ())])
            return specialisation

        try:
            specialisation, result = ways.run(kept, passed, again)
        except ways.TakesOtherWay:
            return self.without_code(passed)
        self.last = specialisation
        return specialisation, result

    def without_code(self, passed: tuple[Any, Any]) -> tuple[Specialisation, Any]:
        """What a call returns whose own code says that it takes another way."""
        raise InternalError(f"the {self.describe()} was traced, and its code goes another way")

    @functools.cached_property
    def on_gpu(self) -> Callable[..., Any]:
        """The same function for arrays on a GPU, where everything is compiled."""
        return gpu.GpuJit(self)

    def called_on_gpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call there, which is then the last one that `source()` shows."""
        self.last = None
        return self.on_gpu(*args, **kwargs)

    def where(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What runs for these arguments, or ran last: this function, or the same one on a GPU."""
        if args or kwargs:
            return self.on_gpu if has_gpu_arrays(args, kwargs) else self
        return self.on_gpu if self.last is None and "on_gpu" in vars(self) else self

    def __staged_call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.staged(args, kwargs)

    def locate(self, error: Exception, specialisation: Specialisation) -> None:
        """Adds the user's line to an error from emitted code."""
        with suppress(TapelessError):  # where the program has to be staged first
            python.explain(
                error, f"{self.suffix} of {base_name(self.fun)}", specialisation.simplified
            )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Bound(self, instance)

    def __repr__(self) -> str:
        return f"<{self.describe()}>"

    def cache_key(self) -> tuple[Any, ...]:
        return (type(self), self.options())

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in self.derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        pickling.take_text(self.__dict__, root_function(self.fun))
        self.begin()

    def __reduce_ex__(self, protocol: Any) -> Any:
        if pickling.copies(self, pickling.caller()):
            return pickling.with_text(super().__reduce_ex__(protocol), self.root)
        return global_name(self) or super().__reduce_ex__(protocol)

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The emitted module for these arguments, which may be `ShapeDtypeStruct`s; without any,
        that of the last call.

        Small arrays and numbers that the function reads from outside are data in it; larger ones
        are parameters, which its docstring names (`save` writes them beside the module).
        """
        return self.where(args, kwargs).module(args, kwargs).with_small()  # type: ignore[no-any-return]

    def save(self, file: Any, /, *args: Any, **kwargs: Any) -> Path:
        """Writes the emitted module for these arguments, or of the last call, to a file that needs
        no other code but NumPy (and Numba under `jit`, and SciPy where the function uses it).

        file  the path of a Python file. Arrays that the function reads from outside are data in
              the module, or, where they are large, in an `.npz` beside it; they have the values
              that they have now

        Returns the path. Raises ValueError for a name that ends in .npz, and OSError where nothing
        can be written.

        >>> import numpy as np, tempfile, tapeless
        >>> w = np.array([1.0, 2.0])
        >>> slope = tapeless.grad(lambda x: np.sum(w * x**2))
        >>> file = slope.save(tempfile.mkdtemp() + "/slope.py", np.ones(2))
        >>> print(file.read_text().split("# line")[0].rstrip().splitlines()[-1])
            return w * (2 * x)
        """
        path = standalone.checked_file(file)
        self.where(args, kwargs).module(args, kwargs).save(path)
        return path

    def file(self, /, *args: Any, **kwargs: Any) -> str:
        """The path of the emitted module for these arguments, or of the last call, as it runs: a
        debugger shows it, and takes breakpoints there.

        >>> import pathlib, tapeless
        >>> slope = tapeless.grad(lambda x: x**2)
        >>> slope(3.0)
        6.0
        >>> "return 2 * x" in pathlib.Path(slope.file()).read_text()
        True
        """
        here = self.where(args, kwargs)
        return standalone.file_of(here.emitted_name, here.pick(args, kwargs).text)

    def module(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> standalone.Module:
        """The emitted module and what its function reads from outside."""
        return standalone.Module(self.pick(args, kwargs), self.emitted_name)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments, or of the last call."""
        here = self.where(args, kwargs)
        return stages_of(here.emitted_name, here.pick(args, kwargs), here.fun)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted module, beside the user's lines; prints as a table.

        The function is called with these arguments for a fraction of a second. Arrays that it
        overwrites are copies. Returns a `tapeless.profiler.LineProfile`. Raises UnsupportedError
        for arguments on a GPU, whose kernels have no lines of Python.
        """
        refuse_profile(self.describe(), args, kwargs)
        from tapeless.profiler.line_profile import line_profile  # noqa: PLC0415 (takes time to import)

        return line_profile(self.describe(), self.for_arguments(args, kwargs), args, kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the function does for these arguments, line by line of the user's code; prints as a
        report.

        args, kwargs  as in a call; nothing is run, but that a program which is traced on values
                      computes those that decide its way. Arrays may be `ShapeDtypeStruct`s

        Returns a `tapeless.explain.report.Explanation`: for each line the kernel or the library
        call that runs it, or that Python does, with operations and bytes; the loops that Python
        runs, why, and the way out; what the code was made for, what is saved for the backward pass,
        the memory at once, the seconds that each kernel took to compile. Numbers of operations,
        bytes and memory are estimates.

        Raises what staging raises.

        >>> import tapeless
        >>> def total(x, n):
        ...     for _ in range(n):
        ...         x = x + x
        ...     return x
        >>> tapeless.jit(total).explain(1.0, 10).work.operations
        10.0
        """
        here = self.where(args, kwargs)
        return here.explained(here.for_arguments(args, kwargs), args, kwargs)  # type: ignore[no-any-return]

    def explained(
        self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Explanation:
        """The report for a specialisation that serves these arguments."""
        name, loops = self.described(args, kwargs), specialisation.staged.slow
        return explain.explanation(name, specialisation, tree.leaves((args, kwargs)), None, loops)

    def described(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What was transformed and how, where it is, and the shapes of the arguments."""
        at = place(self.fun)
        where = f", {short(at[0])}:{at[1]}" if at else ""
        names = leaf_paths(args, kwargs, self.arguments(args, kwargs))
        leaves = zip(names, tree.leaves((args, kwargs)), strict=True)
        shown = (f"{name}: {x.dtype}{list(x.shape)}" for name, x in leaves if hasattr(x, "shape"))
        return f"{self.describe()}{where}; {', '.join(shown)}"

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
            return self.checked(*self.marked(args, kwargs))

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

    def specialise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """The emitted function for these arguments, made now if there is none."""
        self.renew()
        leaves, key = call_key(args, kwargs, self.ordered)
        for specialisation in self.cache.get(key, ()):
            if specialisation.accepts(leaves) and ways.may_serve(specialisation):
                specialisation.refuse_overlap(leaves)
                self.last = specialisation
                if specialisation.enter is never and ways.may_begin(specialisation):
                    specialisation.enter = entry(specialisation, args, kwargs, self.ordered)
                return specialisation
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
                reason = self.unmet(self.cache.get(key, ()), leaves, args, kwargs)
                self.cache.notice(key)
                kept = None if self.cache.changing else self.recalled(args, kwargs)
                specialisation = kept or self.checked(args, kwargs)
                specialisation.reason, specialisation.number = reason, next(NUMBERS)
                if specialisation.slow:
                    performance_warnings.warn(specialisation.slow)
                self.cache[key] = [specialisation, *self.cache.get(key, ())]
                if specialisation.twice:
                    reuse.report(specialisation.twice)
        specialisation.refuse_overlap(leaves)
        self.last = specialisation
        return specialisation

    def unmet(self, earlier: Sequence[Specialisation], leaves: Any, args: Any, kwargs: Any) -> str:
        """Why no function for such arguments is right for these; where there is none, nothing."""
        if not earlier:
            return ""
        names = leaf_paths(args, kwargs, self.arguments(args, kwargs))
        return reasons.nearest(earlier, leaves, names)

    # -- compilation

    def recalled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation | None:
        """What another process has kept for these arguments."""
        return None

    def checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        """Bad arguments are refused, and others compiled."""
        refuse_foreign_arguments(args, kwargs, lambda: self.arguments(args, kwargs))
        self.check(args, kwargs)
        try:
            return self.compile(args, kwargs)
        except ManyElementsError as e:
            return self.element_calls(e, lambda fun: fun)

    def element_calls(self, why: ManyElementsError, wrap: Callable[[Any], Any]) -> Specialisation:
        """What stands for a program that is too large, if there is something: `why` is raised
        where there is not. `wrap`: what to call instead of the function for one element."""
        raise why

    def compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
        reserved = self.reserved
        while True:
            try:
                return self.compile_named(args, kwargs, reserved)
            except HiddenFunctions as e:
                reserved |= e.names

    def compile_named(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], reserved: frozenset[str]
    ) -> Specialisation:
        """The specialisation, whose parameters have no `reserved` names."""
        leaves, structure = tree.flatten((args, kwargs))
        arguments = [parameter_name(name, reserved) for name in self.arguments(args, kwargs)]
        spread = tree.has_registered((args, kwargs))
        if spread:
            paths = arguments = leaf_names(args, kwargs, arguments)
        else:
            paths = leaf_paths(args, kwargs, arguments)

        registered: list[Any] = []

        def call(params: list[Any]) -> Any:
            new_args, new_kwargs = region.as_program_value(tree.unflatten(structure, params))
            value = self.outermost(new_args, new_kwargs, params)
            registered.clear()
            return self.spread(value, registered)

        def made(outlines: bool) -> tuple[Staged, Block, str, bool]:
            staged = self.settled(self.run_staged(call, leaves, paths, outlines))
            passes.checked(staged.block, "staging")
            staged.reserved = reserved
            count = len(staged.block.results)
            block = forms.array_form(staged.block, count, staged.without_axes())
            text, flat = self.write(staged, block, arguments, paths)
            hidden = hidden_functions(text, self.emitted_name)
            if hidden - reserved:
                raise HiddenFunctions(hidden)
            return staged, block, text, flat

        with mistakes_reported(self.fun):
            try:
                staged, simplified, text, flat = made(self.outlines)
            except UnsupportedError as e:
                staged, simplified, text, flat = self.written_out(made, e)
            except InternalError as e:
                staged, simplified, text, flat = self.traced_instead(made, e)
            run = self.load(text)
        returned = registered[0] if registered else None
        names = None if spread else tuple(kwargs)
        staged.guards = [g for g in staged.guards if not self.watches(g)]
        return Specialisation(run, text, staged, simplified, flat, names, returned)

    def traced_instead(self, compiled: Callable[[bool], Any], error: InternalError) -> Any:
        """What a mistake of ours keeps from being staged for all values is traced, where there are
        any; a note says so."""
        call = ways.at_hand()
        if call is None or call.apart or passes.checks():
            raise error
        try:
            with ways.values_at_hand(traced=True, apart=True):
                result = compiled(False)
        except TapelessError:
            raise error from None
        result[0].notes.append(f"traced after an error of tapeless itself: {error.problem}")
        return result

    def watches(self, guard: Guard) -> bool:
        """Whether what is guarded is looked at in each call anyway."""
        read = guard.get
        if not isinstance(read, readers.AttributeOf) or read.obj is not self.root:
            return False
        return read.name in ("__code__", "__defaults__")

    def run_staged(
        self, call: Callable[[list[Any]], Any], leaves: Any, names: list[str], outlines: bool
    ) -> Staged:
        """The staged run; numbers from outside that changed are inputs, if they can be."""
        axes, constants = self.known_axes(leaves), values.CallValues
        if self.cache.changing:
            try:
                return stage.stage(
                    call, leaves, names, outlines, self.cache.changing, axes, constants=constants
                )
            except InternalError:
                raise
            except TapelessError:  # what is wrong with them is said without them
                pass
        call_at_hand = ways.at_hand()
        evaluator = None if call_at_hand is None else constants
        traced = call_at_hand is not None and call_at_hand.traced
        return stage.stage(
            call, leaves, names, outlines, frozenset(), axes, evaluator, traced, constants
        )

    def known_axes(self, leaves: Sequence[Any]) -> Collection[tuple[int, int]]:
        """Axes of leaves whose lengths the program is made for, by leaf and axis."""
        return ()

    def written_out(self, compiled: Callable[[bool], Any], error: UnsupportedError) -> Any:
        """What functions of the program cannot do may be done where their calls are written out."""
        if not self.outlines:
            raise error
        try:
            return compiled(False)
        except InternalError:
            raise
        except TapelessError:
            raise error from None

    def outermost(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Any:
        """The transformation of what the caller passes, which is also given leaf by leaf."""
        return self.staged(args, kwargs)

    def spread(self, value: Any, registered: list[Any]) -> Any:
        """The value, or its leaves where classes of the user are in it; their structure is kept."""
        if not tree.has_registered(value):
            return value
        leaves, structure = tree.flatten(value)
        registered.append(structure)
        return leaves

    def settled(self, staged: Staged) -> Staged:
        """The staged run as it is compiled."""
        return staged

    def write(
        self, staged: Staged, block: Block, arguments: list[str], paths: list[str]
    ) -> tuple[str, bool]:
        """The emitted module, and whether its function returns leaves only."""
        names, unpack = parameters(staged, arguments, paths)
        flat = bool(staged.writes) or not module.is_plain(staged.result)
        result = module.flat_text if flat else partial(module.result_text, staged.result)
        return module.write_module(
            self.emitted_name, block, names, unpack, result, self.doc(staged, names)
        ), flat

    def load(self, text: str) -> Callable[..., Any]:
        """The emitted module as a callable."""
        return python.load(self.emitted_name, text)

    def doc(self, staged: Staged, names: Sequence[str], values: bool = True) -> str:
        """The docstring of the emitted function, whose last parameters are what it reads from
        outside; with `values`, also for which values of arguments it is made."""
        at = place(self.fun)
        first = f"{self.describe()}." + (f"  From {short(at[0])}:{at[1]}." if at else "")
        relied = relied_on(staged) if values else []
        return "\n".join([first, *relied, *staged.legend, *from_outside(staged, names)])


def relied_on(staged: Staged) -> list[str]:
    """The arguments and lengths that the emitted function does not read, since it is made for one
    value of them, as a line of a docstring."""
    told = []
    for leaf in staged.leaves:
        if leaf.static and isinstance(leaf.value, (bool, int, float, complex, str)):
            told.append(f"{leaf.name} = {leaf.value!r}")
        told += [f"{leaf.name}.shape[{k}] = {leaf.value.shape[k]}" for k in leaf.axes]
    return [f"Only for {', '.join(told)}."] if told else []


def from_outside(staged: Staged, names: Sequence[str]) -> list[str]:
    """What the last parameters are for the user's function, as a line of a docstring."""
    told = []
    for p, c in zip(names[len(names) - len(staged.captured) :], staged.captured, strict=True):
        what = "an array of constants in the function" if c.name == "constant" else c.name
        told.append(p if p == what else f"{p} = {what}" if what == c.name else f"{p}, {what}")
    return [f"Read from outside: {'; '.join(told)}."] if told else []


def short(path: str) -> str:
    """The last part of a path of any platform."""
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def is_value_or_constant(x: Any) -> bool:
    """Whether an argument is passed as in a call, and does not only tell a shape and a dtype."""
    return (
        isinstance(x, np.ndarray)
        or not (hasattr(x, "shape") and hasattr(x, "dtype"))
        or isinstance(x, np.generic)
    )


def _owner(bound: functools.partial[Any]) -> Transformed:
    return cast(Transformed, bound.func)


class Bound(functools.partial[Any], InNotebooks):
    """A transformed method of an object: the first argument is there already."""

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The emitted module for these arguments, which may be `ShapeDtypeStruct`s; without any,
        that of the last call."""
        return _owner(self).source(*self.given(args, kwargs), **kwargs)

    def save(self, file: Any, /, *args: Any, **kwargs: Any) -> Path:
        """Writes the emitted module for these arguments, or of the last call, to a file that
        stands alone."""
        return _owner(self).save(file, *self.given(args, kwargs), **kwargs)

    def file(self, /, *args: Any, **kwargs: Any) -> str:
        """The path of the emitted module for these arguments, or of the last call."""
        return _owner(self).file(*self.given(args, kwargs), **kwargs)

    def stages(self, /, *args: Any, **kwargs: Any) -> Stages:
        """Each stage of the compilation for these arguments (or of the last call)."""
        return _owner(self).stages(*self.given(args, kwargs), **kwargs)

    def profile(self, /, *args: Any, **kwargs: Any) -> Any:
        """The time by line of the emitted module for these arguments."""
        return _owner(self).profile(*self.args, *args, **kwargs)

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What the method does for these arguments, line by line of the user's code."""
        return _owner(self).explain(*self.args, *args, **kwargs)

    def describe(self) -> str:
        """What was transformed, and how."""
        return _owner(self).describe()

    def _repr_html_(self) -> str:
        return _owner(self)._repr_html_()

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        is_first = _owner(self).where((), {}).last is None
        return (*self.args, *args) if args or kwargs or is_first else ()

    def __repr__(self) -> str:
        return f"<{self.describe()}, bound to {self.args[0]!r}>"

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            return functools.partial(_owner(self).fun, *self.args)
        if name in functools.WRAPPER_ASSIGNMENTS:
            return getattr(self.func, name)
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bound):
            return NotImplemented
        return self.func is other.func and self.args[0] is other.args[0]

    def __hash__(self) -> int:
        return hash((id(self.func), id(self.args[0])))
