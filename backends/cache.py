"""The folder where emitted modules live: content-addressed files, written atomically."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path


def folder() -> Path:
    """`TAPELESS_CACHE_DIR`, or the platform's cache folder for tapeless."""
    given = os.environ.get("TAPELESS_CACHE_DIR")
    if given:
        return Path(given).expanduser().absolute()
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
            return _stored(where() / file, content)
        except (OSError, RuntimeError):  # read-only, full, not a folder, or no home
            continue
    return None


@functools.cache
def private_folder() -> Path:
    """Takes the place of a cache folder that cannot be written to, as long as the process runs."""
    made = tempfile.TemporaryDirectory(prefix="tapeless-", ignore_cleanup_errors=True)
    _folders.append(made)
    return Path(made.name)


_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def _stored(path: Path, content: bytes) -> Path:
    if not path.exists() or path.read_bytes() != content:
        write(path, content)
    return path


def write(path: Path, content: bytes) -> None:
    """Writes a file that others see whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(content)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
