"""Reports versions, backends, threads and the cache."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from tapeless.backends import cache
from tapeless.backends.cuda import why_not
from tapeless.staging.device_list import devices
from tapeless.tools.internals import cache_folder

EXAMPLES = """\
examples:
  tapeless doctor
"""
ASTOR = ("astor",) if sys.version_info < (3, 14) else ()  # it does not know newer Pythons
REQUIRED = ("numpy", "gast", *ASTOR, "optree", "rich", "numba")
OPTIONAL = ("scipy", "cupy-cuda12x", "cupy-cuda13x", "mpi4py")
THREADS = (
    "TAPELESS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)

Rows = Iterator[tuple[str, str]]


def describe(parser: ArgumentParser) -> None:
    """The command has no options."""


def execute(options: Namespace) -> int:
    """Print the report; 1 if something is missing that tapeless cannot do without."""
    sections = {
        "versions": list(_versions()),
        "backends": list(_backends()),
        "threads": list(_threads()),
        "cache": list(_cache()),
    }
    for title, rows in sections.items():
        print(title)
        for name, value in rows:
            print(f"  {name:<22}{value}")
    return int(any(_version(name) is None for name in REQUIRED))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _versions() -> Rows:
    yield "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in ("tapeless", *REQUIRED):
        yield name, _version(name) or "missing: pip install tapeless again"
    for name in OPTIONAL:
        yield name, _version(name) or "not installed"


def _backends() -> Rows:
    yield "numpy", "ready"
    yield "numba", "ready" if _version("numba") else "missing"
    yield "simd functions", _simd()
    yield "cupy", _cupy()
    yield "mpi", "ready" if _version("mpi4py") else "not installed: pip install mpi4py"


def _simd() -> str:
    """The libraries with vectorised exp, sin and so on that compiled code calls."""
    if _version("numba") is None:
        return "missing"
    from tapeless.backends.cpu.runtime import simd_libraries  # noqa: PLC0415  # needs what Numba needs

    tag = simd_libraries.tag()
    return f"{tag} (TAPELESS_VECMATH={simd_libraries.choice()})"


def _cupy() -> str:
    """The GPUs that programs can run on, or why there are none and what to do."""
    reason = why_not()
    if reason is not None:
        return "no GPU: {}; {}".format(*reason)
    return ", ".join(f"{device} {device.device_kind}" for device in devices("gpu"))


def _threads() -> Rows:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield "usable cores", str(usable)
    for name in THREADS:
        yield name, os.environ.get(name, "not set")


def _cache() -> Rows:
    folder = cache_folder()
    yield "folder", str(folder)
    for kind, paths in cache.contents().items():
        yield kind, f"{len(paths)} files, {cache.size(paths) / 1e6:.1f} MB"
    yield "limit", f"{cache.limit() / 1e6:g} MB"
    yield "compiled code", "not kept" if cache.is_off() else "kept"
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    yield "writable", "yes" if os.access(nearest, os.W_OK) else "no: set TAPELESS_CACHE_DIR"
