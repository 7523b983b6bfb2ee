"""The kernels of emitted modules, which are timed while a trace runs."""

from __future__ import annotations

import inspect
import time
from typing import Any

from tapeless.backends.numba.kernel import Kernel, Missed
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
        self.modules: dict[int, dict[str, Any]] = {}

    def watch(self, run: Any) -> None:
        """Replaces the kernels of the module of a function, also those that were linked since."""
        values = getattr(inspect.unwrap(run) if callable(run) else run, "__globals__", None)
        if values is None or not str(values.get("__name__", "")).startswith("tapeless_emitted."):
            return
        self.modules[id(values)] = values
        for name, value in list(values.items()):
            if type(value) is not Timed and _is_kernel(value):
                values[name] = Timed(value, name, self.recorder)

    def remove(self) -> None:
        for values in self.modules.values():
            for name, value in list(values.items()):
                if isinstance(value, Timed):
                    values[name] = value.kernel
        self.modules.clear()


def _is_kernel(value: Any) -> bool:
    """Whether a value of an emitted module is a kernel, or the machine code of one."""
    return isinstance(value, Kernel) or isinstance(getattr(value, "__self__", None), Missed)
