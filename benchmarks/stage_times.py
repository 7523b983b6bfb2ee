"""Times the stages of a first call: seconds of processor time, each stage without those inside.

    clock = StageClock()      # before tapeless is imported
    ...
    clock.seconds()           # by stage

Functions are replaced by timed ones when their modules are imported.
"""

from __future__ import annotations

import functools
import gc
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import _bootstrap  # type: ignore[attr-defined]  # what imports modules
from typing import Any

IMPORTS, SEARCH, REST = "imports", "search for cycles", "rest"
#: The functions of each stage, by module.
STAGES: dict[str, tuple[tuple[str, str], ...]] = {
    "staging": (("tapeless.transforms.frontend.staging.stage", "stage"),),
    "derivative": (
        ("tapeless.transforms.autodiff.linearize", "linearize"),
        ("tapeless.transforms.autodiff.transpose", "transpose"),
        ("tapeless.transforms.autodiff.residuals.resolve", "resolve"),
    ),
    "passes": (
        ("tapeless.transforms.pipelines.array_form", "array_form"),
        ("tapeless.transforms.pipelines.array_form", "with_stores"),
        ("tapeless.transforms.pipelines.loop_form", "without_lists"),
        ("tapeless.transforms.pipelines.loop_form", "loop_form"),
    ),
    "kernels": (("tapeless.transforms.lowering.lower", "lower"),),
    "emission": (
        ("tapeless.transforms.lowering.module_text", "write_compiled"),
        ("tapeless.backends.cpu.load_module", "load"),
    ),
    "LLVM's text": (("tapeless.backends.cpu.llvm.compile", "compile_kernel"),),
    "LLVM's passes": (
        ("tapeless.backends.cpu.llvm.compile", "_supply"),
        ("llvmlite.binding.newpassmanagers", "ModulePassManager.run"),
    ),
    "machine code": (("llvmlite.binding.targets", "TargetMachine.emit_object"),),
    "caches": (
        ("tapeless.disk_cache.store", "shelf"),
        ("tapeless.backends.cpu.runtime.object_cache", "digest"),
        ("tapeless.backends.cpu.runtime.object_cache", "save"),
    ),
}
ORDER = (IMPORTS, *STAGES, SEARCH, REST)


class StageClock:
    """Runs from when it is made; what is not in any stage is the rest."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self.open = [REST]
        self.last = time.process_time()
        _bootstrap._find_and_load = self.timed(_bootstrap._find_and_load, IMPORTS)
        self.load = _bootstrap._load_unlocked
        _bootstrap._load_unlocked = self.loaded
        gc.callbacks.append(self.searched)

    def seconds(self) -> dict[str, float]:
        """What each stage took until now."""
        self.note()
        return {stage: self.spent[stage] for stage in ORDER if self.spent[stage] > 0}

    def note(self) -> None:
        now = time.process_time()
        self.spent[self.open[-1]] += now - self.last
        self.last = now

    def enter(self, stage: str) -> None:
        self.note()
        self.open.append(stage)

    def leave(self) -> None:
        self.note()
        self.open.pop()

    def timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.enter(stage)
            try:
                return function(*args, **kwargs)
            finally:
                self.leave()

        return call

    def searched(self, phase: str, _: Any) -> None:
        if phase == "start":
            self.enter(SEARCH)
        else:
            self.leave()

    def loaded(self, spec: Any) -> Any:
        """A module, whose functions are timed from the first call on."""
        module = self.load(spec)
        for stage, functions in STAGES.items():
            for place, path in functions:
                if place == spec.name:
                    *owners, name = path.split(".")
                    owner = functools.reduce(getattr, owners, module)
                    setattr(owner, name, self.timed(getattr(owner, name), stage))
        return module
