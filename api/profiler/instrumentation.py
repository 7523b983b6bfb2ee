"""Replaces functions and methods of tapeless while a trace runs by ones that record a span.

Outside of a trace they are what they are, so nothing is slower for it.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable
from typing import Any

from tapeless.configuration.instrumentation import Around, Watch, watch
from tapeless.dispatch.asynchronous.worker import wait_for_all
from tapeless.dispatch.transformation import Transformed
from tapeless.profiler.kernel_timing import Kernels
from tapeless.profiler.recorder import Recorder
from tapeless.staging.emitted_names import base_name

Label = Callable[[tuple[Any, ...]], str]


def constant_label(text: str) -> Label:
    return lambda args: text


def _rewritten(args: tuple[Any, ...]) -> str:
    return f"rewrite {args[0].__name__}"


def _compile_label(args: tuple[Any, ...]) -> str:
    return f"compile {args[0].__name__}"


def _transformation_label(args: tuple[Any, ...]) -> str:
    return f"{args[0].suffix} of {base_name(args[0].fun)}"


def _handed_over(args: tuple[Any, ...]) -> str:
    return f"{args[0].description}, handed over"


def _own_name(args: tuple[Any, ...]) -> str:
    return repr(args[0]).strip("<>")


#: (module, class or "", attribute, category, what a span is called)
PROBES: tuple[tuple[str, str, str, str, Label], ...] = (
    ("tapeless.transforms.frontend.staging.stage", "", "stage", "staging", constant_label("stage")),
    ("tapeless.transforms.frontend.source.rewrite", "", "_compile", "staging", _rewritten),
    (
        "tapeless.staging.derivative_blocks",
        "",
        "linearize",
        "transforms",
        constant_label("linearize"),
    ),
    (
        "tapeless.staging.derivative_blocks",
        "",
        "transpose",
        "transforms",
        constant_label("transpose"),
    ),
    (
        "tapeless.staging.derivative_blocks",
        "",
        "resolve",
        "transforms",
        constant_label("save and load"),
    ),
    (
        "tapeless.transforms.pipelines.array_form",
        "",
        "array_form",
        "transforms",
        constant_label("simplify"),
    ),
    (
        "tapeless.transforms.lowering.lower",
        "",
        "lower",
        "transforms",
        constant_label("lower to loops"),
    ),
    ("tapeless.backends.cpu.kernel", "JitKernel", "make", "compilation", _compile_label),
    ("tapeless.backends.spmd.rendezvous", "Shards", "psum", "collectives", constant_label("psum")),
    ("tapeless.backends.spmd.rendezvous", "Shards", "pmax", "collectives", constant_label("pmax")),
    ("tapeless.backends.spmd.rendezvous", "Shards", "pmin", "collectives", constant_label("pmin")),
    (
        "tapeless.backends.spmd.rendezvous",
        "Shards",
        "all_gather",
        "collectives",
        constant_label("all_gather"),
    ),
    ("tapeless.dispatch.asynchronous.hand_over", "HandOver", "compute", "calls", _handed_over),
    (
        "tapeless.transformations.mapping.pmap_shard",
        "ShardProgram",
        "run",
        "calls",
        _transformation_label,
    ),
    ("tapeless.transformations.vjp_and_linearize", "VjpFunction", "__call__", "calls", _own_name),
    ("tapeless.transformations.vjp_and_linearize", "Linearized", "__call__", "calls", _own_name),
)
#: Methods that the kinds of transformed functions have of their own.
METHODS: dict[str, tuple[str, Label]] = {
    "__call__": ("calls", _transformation_label),
    "stage": ("transforms", _transformation_label),
    "write": ("emission", lambda args: f"write {args[0].emitted_name}"),
    "load": ("emission", lambda args: f"load {args[0].emitted_name}"),
}


class Probes:
    """The replaced attributes of one trace."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.kernels = Kernels(recorder)
        self.replaced: list[tuple[Any, str, Any]] = []
        self.watches: list[Watch] = []

    def install(self) -> None:
        for module, kind, name, category, label in PROBES:
            owner: Any = importlib.import_module(module)
            owner = getattr(owner, kind) if kind else owner
            self.replace(owner, name, self.time_calls(vars(owner)[name], category, label))
        for name, (category, label) in METHODS.items():
            self.watches.append(watch(name, self.span_around(category, label, name == "__call__")))

    def remove(self) -> None:
        wait_for_all()  # also those calls are spans that are being made
        for each in reversed(self.watches):
            each.close()
        for owner, name, old in reversed(self.replaced):
            setattr(owner, name, old)
        self.replaced.clear()
        self.kernels.remove()

    def replace(self, owner: Any, name: str, new: Any) -> None:
        self.replaced.append((owner, name, vars(owner)[name]))
        setattr(owner, name, new)

    def time_calls(
        self, fun: Callable[..., Any], category: str, label: Label
    ) -> Callable[..., Any]:
        """The function, each call of which is a span."""
        add, now = self.recorder.add, time.perf_counter_ns

        @functools.wraps(fun)
        def run(*args: Any, **kwargs: Any) -> Any:
            start = now()
            try:
                return fun(*args, **kwargs)
            finally:
                add(label(args), category, start, {})

        return run

    def span_around(self, category: str, label: Label, watch: bool) -> Around:
        """What is done around a method of transformed functions: a span; with `watch`, the kernels
        of the function are spans, too."""
        add, now = self.recorder.add, time.perf_counter_ns

        def run(this: Transformed, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
            if watch:
                self.kernels.watch(getattr(this.last, "run", None))
            start = now()
            try:
                return method(*args, **kwargs)
            finally:
                add(label((this,)), category, start, {})

        return run
