"""Compiles CUDA C to the machine code of a device, by NVRTC.

We call NVRTC ourselves and not `RawModule`, which would have it flush denormal numbers to zero.
The arithmetic is that of IEEE: division and square roots are rounded correctly, and no function is
approximated more roughly than CUDA's documentation says.
"""

from __future__ import annotations

from typing import Any

from tapeless.backends.cuda.availability import cupy
from tapeless.transforms.errors import InternalError, NoGpuError

OPTIONS = ("--std=c++17", "-fmad=true", "-ftz=false", "-prec-div=true", "-prec-sqrt=true")


def version() -> str:
    """The version of NVRTC.

    >>> version()  # doctest: +SKIP
    '13.0'
    """
    major, minor = cupy().cuda.nvrtc.getVersion()
    return f"{major}.{minor}"


def architecture() -> int:
    """What to compile for: the compute capability of the current device as NVRTC writes it, 90 for
    9.0, or the nearest one below whose code that device runs.

    Raises NoGpuError if NVRTC is too old, or too new, for the device.
    """
    module = cupy()
    capability = int(module.cuda.Device().compute_capability)
    supported = module.cuda.nvrtc.getSupportedArchs()
    fitting = [n for n in supported if n // 10 == capability // 10 and n <= capability]
    if not fitting:
        raise NoGpuError(
            f"NVRTC {version()} compiles for the compute capabilities {min(supported)} to "
            f"{max(supported)}, and the device has {capability}",
            "install CuPy for another version of CUDA: 'tapeless[cuda12]' or 'tapeless[cuda13]'",
        )
    return int(max(fitting))


def options_with(options: tuple[str, ...]) -> tuple[str, ...]:
    """The options of all modules, with those of one in the place of others of the same name.

    >>> options_with(("--std=c++17", "-fmad=false"))
    ('--std=c++17', '-fmad=false', '-ftz=false', '-prec-div=true', '-prec-sqrt=true')
    """
    by_name = {option.partition("=")[0]: option for option in (*OPTIONS, *options)}
    return tuple(by_name.values())


def cubin(name: str, text: str, arch: int, options: tuple[str, ...] = ()) -> bytes:
    """The machine code of a text of CUDA C.

    name     of the program, for messages
    arch     the compute capability of the device, times 10
    options  that count beside OPTIONS, and against them

    Raises InternalError, with what the compiler says, for text that does not compile: users write
    none.
    """
    nvrtc = cupy().cuda.nvrtc
    program = nvrtc.createProgram(text, f"{name}.cu", (), ())
    try:
        try:
            nvrtc.compileProgram(program, (*options_with(options), f"-arch=sm_{arch}"))
        except nvrtc.NVRTCError as e:
            raise InternalError(
                f"the CUDA C of {name} does not compile:\n{_log(nvrtc, program) or e}",
                "please report it with the program (tapeless.source shows the text)",
            ) from e
        return bytes(nvrtc.getCUBIN(program))
    finally:
        nvrtc.destroyProgram(program)


def _log(nvrtc: Any, program: Any) -> str:
    """The compiler's first errors."""
    lines = str(nvrtc.getProgramLog(program)).strip("\0\n ").splitlines()
    return "\n".join(lines[:20])
