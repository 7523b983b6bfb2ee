"""The folder where emitted modules live: content-addressed files, written atomically."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path


def folder() -> Path:
    """`TAPELESS_CACHE_DIR`, or the platform's cache folder for tapeless."""
    given = os.environ.get("TAPELESS_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "tapeless"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tapeless"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tapeless"


def store(name: str, text: str) -> Path:
    """The file that holds `text`; the same text is always the same file."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    where = folder()
    path = where / f"{name}_{digest}.py"
    try:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return path
        where.mkdir(parents=True, exist_ok=True)
        _write(path, text)
    except OSError:
        path = Path(tempfile.gettempdir()) / f"tapeless_{os.getpid()}" / path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, text)
    return path


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(temporary, path)
