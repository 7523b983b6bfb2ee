"""What kernels need of a GPU, by NVIDIA's compiler, which runs without one."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Any

#: Where there is a driver, NVRTC keeps what it compiled, and its log is empty the next time.
OPTIONS = ("--std=c++17", "-fmad=true", "-ftz=false", "--ptxas-options=-v", "--no-cache")
USED = {
    "registers": r"Used (\d+) registers",
    "spilled": r"(\d+) bytes spill stores",
    "stack": r"(\d+) bytes stack frame",
    "shared": r"(\d+) bytes smem",
}


@dataclass(frozen=True)
class Needs:
    """What a kernel takes: registers of a thread, and bytes."""

    kernel: str
    registers: int
    spilled: int
    stack: int
    shared: int


def compiler() -> tuple[Any, str]:
    """CuPy's `cuda.nvrtc`, or why there is none."""
    try:
        nvrtc = importlib.import_module("cupy").cuda.nvrtc
        nvrtc.getVersion()
    except (ImportError, AttributeError, OSError, RuntimeError) as e:
        lines = str(e).strip().splitlines()
        return None, lines[0] if lines else type(e).__name__
    return nvrtc, ""


def needs(nvrtc: Any, text: str, arch: int) -> list[Needs]:
    """What each kernel of a text takes on an architecture. Raises AssertionError, with the
    compiler's log, for text that is no CUDA C."""
    program = nvrtc.createProgram(text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*OPTIONS, f"-arch=sm_{arch}"))
        log = nvrtc.getProgramLog(program)
    except nvrtc.NVRTCError as e:
        raise AssertionError(nvrtc.getProgramLog(program)) from e
    finally:
        nvrtc.destroyProgram(program)
    return [_needs(part) for part in log.split("Compiling entry function")[1:]]


def _needs(part: str) -> Needs:
    """The numbers in what ptxas says of a kernel."""
    numbers = {k: int(m[1]) if (m := re.search(p, part)) else 0 for k, p in USED.items()}
    name = re.search(r"'(\w+)'", part)
    assert name is not None
    return Needs(name[1], **numbers)
