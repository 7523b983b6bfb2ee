"""Collects the versions on which emitted text depends: of tapeless, Python, NumPy and what else
stages and emits.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterator

import numpy as np

import tapeless
import tapeless.backends
import tapeless.transforms
from tapeless.lazy_import import STARTED

PACKAGES = (tapeless, tapeless.transforms, tapeless.backends)
OTHERS = ("scipy", "optree", "gast", "astor", "numba", "llvmlite")
SETTLED = 2.0  # seconds: files that are younger may be about to change


@functools.cache
def versions() -> str | None:
    """The versions of all that stages and emits, as this process first finds them: to ask all
    files takes some milliseconds. None where files of this package have changed since the process
    began, which may have imported them before or after."""
    files = [*_files()]
    if max(changed for _, _, changed in files) > (STARTED - SETTLED) * 1e9:
        return None
    return f"{files} {_environment_versions()}"


def have_changed() -> bool:
    """Whether files of this package are others than those that `versions` tells of."""
    return versions() != versions.__wrapped__()


def _files() -> Iterator[tuple[str, int, int]]:
    """The files of this package, as Python tells whether it has compiled them: size and time."""
    pending = [place for package in PACKAGES for place in package.__path__]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    yield entry.path, stat.st_size, stat.st_mtime_ns
                elif entry.is_dir() and entry.name != "__pycache__":
                    pending.append(entry.path)


@functools.cache
def _environment_versions() -> str:
    """Python, NumPy, and the libraries that may be used."""
    parts: list[object] = [sys.version, sys.flags.optimize, sys.platform, np.__version__]
    for name in OTHERS:
        spec = importlib.util.find_spec(name)
        origin = spec and spec.origin
        stat = os.stat(origin) if origin and os.path.exists(origin) else None
        parts.append((name, origin, stat and (stat.st_size, stat.st_mtime_ns)))
    return repr(parts)
