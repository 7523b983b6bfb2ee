"""Stages a transformed function for the arguments of a call, and emits its module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tapeless import tree
from tapeless.dispatch import ways
from tapeless.dispatch.specialisation import Specialisation
from tapeless.dispatch.transformation_state import TransformationState
from tapeless.lazy_import import lazy_module
from tapeless.staging.argument_checks import refuse_foreign_arguments
from tapeless.staging.bug_reports import mistakes_reported
from tapeless.staging.emitted_names import (
    HiddenFunctions,
    hidden_functions,
    leaf_names,
    leaf_paths,
    parameter_name,
    parameters,
    place,
)
from tapeless.transforms.core.language import Block
from tapeless.transforms.errors import (
    InternalError,
    ManyElementsError,
    TapelessError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from tapeless.backends import array_form as python
    from tapeless.staging import subprogram as region
    from tapeless.transforms.core import passes
    from tapeless.transforms.emit import module
    from tapeless.transforms.evaluation import call_values as values
    from tapeless.transforms.frontend.staging import stage
    from tapeless.transforms.frontend.staging.stage import Staged
    from tapeless.transforms.frontend.trace import readers
    from tapeless.transforms.frontend.trace.recorded_reads import Guard
    from tapeless.transforms.pipelines import array_form as forms
else:
    forms = lazy_module("tapeless.transforms.pipelines.array_form")
    module = lazy_module("tapeless.transforms.emit.module")
    passes = lazy_module("tapeless.transforms.core.passes")
    python = lazy_module("tapeless.backends.array_form")
    readers = lazy_module("tapeless.transforms.frontend.trace.readers")
    region = lazy_module("tapeless.staging.subprogram")
    stage = lazy_module("tapeless.transforms.frontend.staging.stage")
    values = lazy_module("tapeless.transforms.evaluation.call_values")


class SpecialisationMaker(TransformationState):
    """Makes specialisations."""

    def recall(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation | None:
        """What another process has kept for these arguments."""
        return None

    def compile_checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialisation:
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
            return self.flatten_result(value, registered)

        def stage_and_write(outlines: bool) -> tuple[Staged, Block, str, bool]:
            staged = self.postprocess(self.run_staged(call, leaves, paths, outlines))
            passes.verified(staged.block, "staging")
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
                staged, simplified, text, flat = stage_and_write(self.outlines)
            except UnsupportedError as e:
                staged, simplified, text, flat = self.written_out(stage_and_write, e)
            except InternalError as e:
                staged, simplified, text, flat = self.traced_instead(stage_and_write, e)
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
        return self.stage(args, kwargs)

    def flatten_result(self, value: Any, registered: list[Any]) -> Any:
        """The value, or its leaves where classes of the user are in it; their structure is kept."""
        if not tree.has_registered(value):
            return value
        leaves, structure = tree.flatten(value)
        registered.append(structure)
        return leaves

    def postprocess(self, staged: Staged) -> Staged:
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
