"""Runs CUDA C without a GPU: g++ compiles the text against `emulator.h`, launches call it.

>>> code = Code('extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= 2; }')
>>> x = np.arange(3.0)
>>> code.launch("twice", (1,), (3,), [Pointer(x)])
>>> x
array([0., 2., 4.])
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tests.gpu import sanitizers
from tests.gpu.traffic import Traffic

HEADER = Path(__file__).with_name("emulator.h")
KERNEL = re.compile(
    r'extern "C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\('
)
DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s*)?([\w ]+?)\s+(\w+)\[\];")
ORDERS = ("forward", "backward", "shuffled")
#: The arithmetic of integers wraps around, and products are not fused with sums.
FLAGS = ("-std=c++17", "-w", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off")
FLAGS_OF = {
    None: ("-O1",),
    "address": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
    "thread": ("-O1", "-g", "-fsanitize=thread"),
    # to the compiler alone: what it calls is in the header, not in the sanitizer's library
    "traffic": ("-O1", "-DCOUNT_TRAFFIC", "-Wp,-fsanitize=thread"),
}
PROGRAMS = ("address", "thread")  # of a process of their own


class EmulationError(Exception):
    """A kernel does not compile, hangs, or takes other arguments than it gets."""


@dataclass(frozen=True)
class Settings:
    """How kernels run.

    order     of blocks, warps and threads
    seed      of the shuffled order
    sanitize  None, "address" or "thread": each launch is then a process of its own
    traffic   what counts the bytes that kernels load and store; None: nobody
    """

    order: str = "shuffled"
    seed: int = 0
    sanitize: str | None = None
    traffic: Traffic | None = None


@dataclass
class Current:
    """The settings that launches read."""

    settings: Settings = field(default_factory=Settings)


CURRENT = Current()


@contextlib.contextmanager
def emulating(**changes: object) -> Iterator[None]:
    """Other settings inside."""
    before = CURRENT.settings
    CURRENT.settings = replace(before, **changes)
    try:
        yield
    finally:
        CURRENT.settings = before


class Config(ctypes.Structure):
    """`emulator::Config`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_size_t),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_uint),
        ("cooperative", ctypes.c_int),
    )


@dataclass(frozen=True)
class Pointer:
    """The address of an array, as an argument of a kernel.

    array  whose first element is meant
    """

    array: np.ndarray

    @property
    def address(self) -> int:
        return self.array.ctypes.data

    @property
    def memory(self) -> np.ndarray:
        """All bytes of the allocation that the array lies in."""
        root = self.array
        while isinstance(root.base, np.ndarray):
            root = root.base
        return root.reshape(-1, order="A").view(np.uint8)


Argument = Pointer | np.ndarray | np.generic


@dataclass(frozen=True)
class Code:
    """A text of CUDA C and its kernels."""

    text: str
    cooperative: bool = False

    @property
    def names(self) -> list[str]:
        """The kernels."""
        return KERNEL.findall(self.text)

    @property
    def symbol(self) -> str:
        """The namespace of the text among others that are compiled with it."""
        return "code_" + hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Argument],
        shared: int = 0,
    ) -> None:
        """Runs a kernel and waits for it. Raises EmulationError."""
        settings = CURRENT.settings
        sizes = [tuple(max(1, int(n)) for n in (*x, 1, 1)[:3]) for x in (grid, block)]
        order = ORDERS.index(settings.order)
        config = Config(*sizes, shared, order, settings.seed, self.cooperative)
        if name not in self.names:
            raise EmulationError(f"the text has no kernel {name}")
        if settings.sanitize is not None:
            program = built([self], settings.sanitize)
            error = sanitizers.run(program, f"{self.symbol}_{name}", config, args)
        elif settings.traffic is not None:
            library = _library(built([self], "traffic"))
            with settings.traffic.counting(library, name, args):
                error = _called(getattr(library, f"{self.symbol}_{name}"), config, args)
        else:
            error = _called(
                getattr(_library(library_of(self)), f"{self.symbol}_{name}"), config, args
            )
        if error:
            raise EmulationError(f"{name}: {error}")


def _called(function: ctypes._CFuncPtr, config: Config, args: Sequence[Argument]) -> str:
    """What is wrong with a launch in this process."""
    function.restype = ctypes.c_char_p
    values = [np.array(x.address) if isinstance(x, Pointer) else np.array(x) for x in args]
    places = (ctypes.c_void_p * (len(values) + 1))(*[x.ctypes.data for x in values])
    sizes = (ctypes.c_int * (len(values) + 1))(*[x.nbytes for x in values])
    return function(ctypes.byref(config), places, sizes, len(values)).decode()


_libraries: dict[str, Path] = {}


def library_of(code: Code) -> Path:
    """The library with the kernels of a text."""
    if code.symbol not in _libraries:
        compile_batch([code])
    return _libraries[code.symbol]


def compile_batch(codes: Iterable[Code]) -> None:
    """Compiles many texts at once, which takes less time than one after the other."""
    missing = {code.symbol: code for code in codes if code.symbol not in _libraries}
    if missing:
        path = built([missing[symbol] for symbol in sorted(missing)], None)
        _libraries.update(dict.fromkeys(missing, path))


@functools.cache
def _library(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path))


def in_namespace(code: Code) -> str:
    """A text beside others: its names are its own, only launches can be called from outside."""
    text = DYNAMIC.sub(r"DYNAMIC_SHARED(\1, \2);", code.text).replace('extern "C"', "")
    exports = [f"EXPORT_KERNEL({code.symbol}_{n}, {code.symbol}::{n})" for n in code.names]
    return "\n".join(
        [f'#line 1 "{code.symbol}.cu"', f"namespace {code.symbol} {{", text, "}", *exports]
    )


def built(codes: Sequence[Code], kind: str | None) -> Path:
    """A library of texts, or under a sanitizer a program. Kept in a folder of this user."""
    text = "\n".join(['#include "emulator.h"', *map(in_namespace, codes)])
    if kind in PROGRAMS:
        text += sanitizers.main(f"{code.symbol}_{name}" for code in codes for name in code.names)
    flags = (*FLAGS, *FLAGS_OF[kind], *(() if kind in PROGRAMS else ("-shared", "-fPIC")))
    parts = (text, HEADER.read_text(encoding="utf-8"), compiler(), *flags)
    path = folder() / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    if not path.exists():
        _compile(text, path, flags)
    return path


def _compile(text: str, path: Path, flags: Sequence[str]) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    source = partial.with_suffix(f".{os.getpid()}.cpp")
    source.write_text(text, encoding="utf-8")
    command = [compiler(), *flags, f"-I{HEADER.parent}", str(source), "-o", str(partial)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmulationError(f"the CUDA C does not compile:\n{done.stderr[:4000]}")
    partial.rename(path)
    source.unlink()


def compiler() -> str:
    """The C++ compiler. Raises EmulationError where there is none."""
    found = shutil.which("g++")
    if found is None:
        raise EmulationError("g++ is not there: CUDA C cannot be emulated")
    return found


@functools.cache
def folder() -> Path:
    """Where compiled texts are kept."""
    path = Path(tempfile.gettempdir()) / f"tapeless-cuda-emulator-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise EmulationError(f"{path} belongs to somebody else")
    return path
