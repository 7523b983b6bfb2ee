"""Writes and reads files of compiled code in the cache folder: named by content, written
atomically, and checked when they are read. A file that was damaged is as if it were not there: the
code is compiled again.
"""

from __future__ import annotations

import functools
import hashlib
import re
import warnings
from pathlib import Path

from tapeless.backends import cache


def path_of(name: str, key: str, suffix: str) -> Path:
    """The file for code with this name; `key` says what it depends on."""
    return (
        cache.compiled_code_folder() / f"{re.sub(r'[^A-Za-z0-9_]', '_', name)[:60]}_{key}{suffix}"
    )


def content_key(*parts: str) -> str:
    """A name for what depends on these parts and on nothing else."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def read(path: Path, magic: bytes) -> bytes | None:
    """What `keep` wrote; None if there is no such file or it is damaged.

    magic  the line that such files begin with
    """
    content = cache.read(path)
    if content is None or not content.startswith(magic):
        return None
    checksum, _, rest = content.removeprefix(magic).partition(b"\n")
    return rest if hashlib.sha256(rest).hexdigest().encode() == checksum else None


def keep(path: Path, magic: bytes, content: bytes) -> None:
    """Writes a file; a warning, once, where that is not possible."""
    checksum = hashlib.sha256(content).hexdigest().encode()
    try:
        cache.write(path, magic + checksum + b"\n" + content)
    except OSError as e:
        if read(path, magic) is None:  # nor has another process written it
            _warn(f"{e.strerror or e}: {path.parent}")


@functools.cache
def _warn(reason: str) -> None:
    """Once a process and reason."""
    warnings.warn(
        f"compiled code is not kept on disk ({reason}); TAPELESS_CACHE_DIR names another folder, "
        "TAPELESS_DISABLE_CACHE=1 leaves it out",
        RuntimeWarning,
        stacklevel=2,
    )
