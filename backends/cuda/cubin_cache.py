"""Caches machine code for GPUs on disk: one file for a text, an architecture and a compiler.

A file is named by what it depends on, so files are never out of date, several processes may write
the same one, and nothing needs a lock. TAPELESS_DISABLE_CACHE=1 keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tapeless.backends import cache, kept_files

MAGIC = b"tapeless cubin\n"
SUFFIX = ".cubin"


def load_or_compile(
    name: str, parts: tuple[str, ...], make: Callable[[], bytes]
) -> tuple[bytes, bool]:
    """The machine code of a program, and whether it was on disk.

    name   of the program
    parts  all that the code depends on: the text, the device, the compiler and its options
    make   compiles it
    """
    if cache.is_off():
        return make(), False
    path = kept_files.path_of(name, kept_files.content_key(*parts), SUFFIX)
    saved = kept_files.read(path, MAGIC)
    if saved is not None:
        return saved, True
    code = make()
    kept_files.keep(path, MAGIC, code)
    return code, False
