"""Times the kernels of emitted modules while a trace runs."""

from __future__ import annotations

import inspect
import time
from typing import Any

from tapeless.backends.cpu.kernel import JitKernel, SlowPath
from tapeless.profiler.recorder import Recorder


class Timed:
    """A kernel each call of which is a span."""

    def __init__(self, kernel: Any, name: str, recorder: Recorder) -> None:
        self.kernel, self.name, self.recorder = kernel, name, recorder

    def __call__(self, *args: Any) -> Any:
        start = time.perf_counter_ns()
        try:
            return self.kernel(*args)
        finally:
            self.recorder.add(self.name, "kernels", start, {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


class Kernels:
    """Puts `Timed` in the place of kernels of the modules whose functions are called."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.modules: dict[int, tuple[Any, dict[str, Any], list[str]]] = {}  # by function

    def watch(self, run: Any) -> None:
        """Replaces the kernels of the module of a function, also those that were linked since."""
        if run is None:
            return
        if id(run) not in self.modules:
            values = _module(run)
            self.modules[id(run)] = (run, values, [k for k, v in values.items() if _is_kernel(v)])
        _, values, names = self.modules[id(run)]
        for name in names:
            if type(values[name]) is not Timed:
                values[name] = Timed(values[name], name, self.recorder)

    def remove(self) -> None:
        for _, values, names in self.modules.values():
            for name in names:
                if type(values[name]) is Timed:
                    values[name] = values[name].kernel
        self.modules.clear()


def _module(run: Any) -> dict[str, Any]:
    """What the emitted module of a function holds; nothing for other functions."""
    values = getattr(inspect.unwrap(run) if callable(run) else run, "__globals__", {})
    emitted = str(values.get("__name__", "")).startswith("tapeless_emitted.")
    return values if emitted else {}


def _is_kernel(value: Any) -> bool:
    """Whether a value of an emitted module is a kernel, or the machine code of one."""
    return isinstance(value, JitKernel) or isinstance(getattr(value, "__self__", None), SlowPath)
