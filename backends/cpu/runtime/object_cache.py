"""Caches object code of kernels on disk: one file a kernel and signature, checked when it is read.

A file is named by what its code depends on, so files are never out of date, several processes may
write the same one, and nothing needs a lock. TAPELESS_DISABLE_CACHE=1 keeps nothing.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from tapeless.backends import cache, kept_files
from tapeless.backends.cpu.runtime import linking, simd_libraries
from tapeless.backends.cpu.runtime.signature import Signature
from tapeless.transforms.dataclass import dataclass

MAGIC = b"tapeless object code\n"
SUFFIX = ".object"


@dataclass(frozen=True)
class ObjectCode:
    """Machine code with one entry.

    externals     names of what it calls in the process
    environments  names of where it looks for Python objects when it makes an error
    errors        those that it makes by their numbers: names of classes, arguments, and the lines
                  of the kernels' text that raise them
    """

    code: bytes
    symbol: str
    externals: tuple[str, ...]
    environments: tuple[str, ...] = ()
    errors: tuple[tuple[str, tuple[Any, ...], int], ...] = ()


def load_or_compile(
    name: str,
    text: str,
    wanted: Signature,
    options: dict[str, Any],
    make: Callable[[str], ObjectCode | None],
    ready: Callable[[Iterable[str]], bool] = linking.ready,
) -> tuple[ObjectCode | None, bool]:
    """The object code of a kernel, and whether it was on disk; None if there can be none.

    name, text, wanted, options  what tells it from others
    make                         compiles it, with an entry of the given name
    ready                        whether the process knows all names that code refers to
    """
    key = digest(name, text, *map(str, wanted), repr(sorted(options.items())))
    if cache.is_off():
        code = make(f"tapeless_{key}")
        return code if code is not None and ready(code.externals) else None, False
    path = kept_files.path_of(name, key, SUFFIX)
    saved = read(path)
    if saved is not None and ready(saved.externals):
        return saved, True
    code = make(f"tapeless_{key}")
    if code is None or not ready(code.externals):
        return None, False
    save(path, code)
    return code, False


def digest(*parts: str) -> str:
    """A name for what code depends on: these parts, the machine and all versions."""
    return kept_files.content_key(*parts, *_machine(), simd_libraries.tag())


@functools.cache
def _machine() -> tuple[str, ...]:
    """Versions, the CPU, settings of Numba, and how we compile."""
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    settings = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_"))
    runtime = Path(__file__).parent
    folders = (runtime.parent / "numba", runtime.parent / "llvm")
    ours = sorted([*(p for f in folders for p in f.rglob("*.py")), runtime / "struct_offsets.py"])
    return (
        *(numba_version(), llvmlite.__version__, np.__version__, sys.version),
        *(llvm.get_process_triple(), llvm.get_host_cpu_name()),
        *features,
        *settings,
        *(hashlib.sha256(path.read_bytes()).hexdigest() for path in ours),
    )


def numba_version() -> str:
    """Numba's version, from its file: importing Numba, or the package that reads metadata, takes
    longer than all else that the cache does."""
    spec = importlib.util.find_spec("numba")
    places = spec.submodule_search_locations if spec else None
    for file in (Path(place) / "_version.py" for place in places or ()):
        if file.exists():
            return file.read_text(encoding="utf-8")
    import numba  # noqa: PLC0415  # takes half a second, so it is the last resort

    return str(numba.__version__)


# -- files


def read(path: Path) -> ObjectCode | None:
    """What a file holds; None if there is none or it is damaged."""
    rest = kept_files.read(path, MAGIC)
    if rest is None:
        return None
    head, _, code = rest.partition(b"\n")
    symbol, externals, environments, errors = json.loads(head)
    raised = tuple((name, tuple(args), line) for name, args, line in errors)
    return ObjectCode(code, symbol, tuple(externals), tuple(environments), raised)


def save(path: Path, code: ObjectCode) -> None:
    """Writes a file; a warning, once, where that is not possible."""
    head = (code.symbol, code.externals, code.environments, code.errors)
    kept_files.keep(path, MAGIC, json.dumps(head).encode() + b"\n" + code.code)
