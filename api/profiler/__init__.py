"""Profiles time and memory: traces for Perfetto and TensorBoard, memory for pprof.

`trace` records what tapeless does (staging, transforms, emission, compilation, calls, kernels,
collectives), by thread. While no trace runs nothing of it is in the way of a call.
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.profiler instead of {__name__}")

from typing import Any

from tapeless.missing import missing
from tapeless.profiler.annotations import (
    StepTraceAnnotation,
    TraceAnnotation,
    annotate_function,
)
from tapeless.profiler.line_profile import LineProfile
from tapeless.profiler.memory import device_memory_profile, save_device_memory_profile
from tapeless.profiler.session import start_trace, stop_trace, trace


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = [
    "LineProfile",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "save_device_memory_profile",
    "start_trace",
    "stop_trace",
    "trace",
]
