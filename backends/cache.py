"""Keeps emitted modules and compiled code in a folder: content-addressed files, written atomically,
and limited in size. What was not used for longest goes first.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = "tapeless_emitted."  # of emitted modules


def folder() -> Path:
    """`TAPELESS_CACHE_DIR`, or the platform's cache folder for tapeless."""
    setting = os.environ.get("TAPELESS_CACHE_DIR")
    if setting:
        return Path(setting).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "tapeless"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tapeless"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tapeless"


def store(name: str, text: str) -> Path | None:
    """The file that holds `text`; the same text is always the same file. None if no folder can be
    written to."""
    content = text.encode()
    stem = re.sub(r"\W", "_", name, flags=re.ASCII)[:60]
    file = f"{stem}_{hashlib.sha256(content).hexdigest()[:12]}.py"
    for where in (folder, private_folder):
        try:
            return _write_if_changed(where() / file, content)
        except (OSError, RuntimeError):  # read-only, full, not a folder, or no home
            continue
    return None


@functools.cache
def private_folder() -> Path:
    """Takes the place of a cache folder that cannot be written to, as long as the process runs."""
    directory = tempfile.TemporaryDirectory(prefix="tapeless-", ignore_cleanup_errors=True)
    _folders.append(directory)
    return Path(directory.name)


_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def _write_if_changed(path: Path, content: bytes) -> Path:
    if read(path) != content:
        write(path, content)
    return path


def write(path: Path, content: bytes) -> None:
    """Writes a file that others see whole or not at all, and makes room for it."""
    try:
        _write(path, content)
    except FileNotFoundError:  # another process has emptied the folder
        _write(path, content)
    _make_room(len(content))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f"tmp{os.urandom(8).hex()}.tmp"
    try:
        with temporary.open("xb") as f:  # who may read it is what the process has set
            f.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Path) -> bytes | None:
    """What a file holds, which is used now: others are removed first. None if it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # somebody else's
        os.utime(path)
    return content


# -- compiled code

MEGABYTES = 256
STAGED = ".staged"  # ends the names of files with what was emitted for a function


def compiled_code_folder() -> Path:
    """The part of the folder with compiled code."""
    return folder() / "compiled"


def is_off() -> bool:
    """Whether compiled code is not kept: TAPELESS_DISABLE_CACHE=1."""
    return os.environ.get("TAPELESS_DISABLE_CACHE", "") not in ("", "0")


def limit() -> int:
    """How many bytes of the folder may be ours: TAPELESS_CACHE_SIZE megabytes."""
    setting = os.environ.get("TAPELESS_CACHE_SIZE", "")
    return int(float(setting) * 1e6) if re.fullmatch(r"\d+(\.\d*)?", setting) else MEGABYTES * 10**6


# -- what is there

KINDS = {
    "emitted modules": re.compile(r"\w+_[0-9a-f]{12}\.py"),
    "compiled kernels": re.compile(r"\w+_[0-9a-f]{24}\.(object|cubin)"),
    "staged functions": re.compile(r"\w+_[0-9a-f]{24}\.staged"),
    "unfinished files": re.compile(r"tmp\w+\.tmp"),
}
FOUND = re.compile("|".join(pattern.pattern for pattern in KINDS.values()))


def contents() -> dict[str, list[Path]]:
    """The files of tapeless in its folder, by kind; what others have put there is left alone."""
    ours = sorted(path for path, _ in files())
    return {kind: [p for p in ours if of.fullmatch(p.name)] for kind, of in KINDS.items()}


def files() -> list[tuple[Path, os.stat_result]]:
    """The files of tapeless, those used last first."""
    files_and_stats = []
    for where in (folder(), compiled_code_folder()):
        with contextlib.suppress(OSError), os.scandir(where) as entries:  # there may be no folder
            for entry in entries:
                with contextlib.suppress(OSError):  # another process has removed it
                    if FOUND.fullmatch(entry.name) and entry.is_file():
                        files_and_stats.append((Path(entry.path), entry.stat()))
    return sorted(files_and_stats, key=lambda each: -each[1].st_mtime_ns)


def size(paths: list[Path]) -> int:
    """The bytes of files, as far as they are still there."""
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:  # another process has removed it
            continue
    return total


# -- making room

STALE = 3600.0  # seconds after which nobody is still at work on an unfinished file
SHARE = 32  # of the limit: so much may be written before the folder is looked at again
_room: dict[tuple[Path, int], int] = {}  # bytes that may be written before that


def _make_room(written: int) -> None:
    """Notes what was written. To list a full folder takes some 50 ms, so that is not done for each
    file, but for the first of a process and for each share of the limit after it."""
    key = folder(), limit()
    room = _room.get(key, 0) - written
    if room < 0:
        room = limit() // SHARE
        trim(limit() - room)
    _room[key] = room


def trim(most: int) -> None:
    """Removes the files that were not used for longest, until all that is left has at most this
    size, and what was begun by writers that are no more."""
    total = 0
    for path, stat in files():
        begun = path.suffix == ".tmp"
        total += stat.st_size
        if time.time() - stat.st_mtime > STALE if begun else total > most:
            with contextlib.suppress(OSError):  # somebody else's
                path.unlink(missing_ok=True)
