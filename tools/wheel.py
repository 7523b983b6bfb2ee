"""Builds the wheel of a package whose files are in memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tapeless.tools.errors import UsageError


def built_wheel(files: Mapping[str, str], folder: Path) -> Path:
    """The wheel, which pip builds of a project with these files.

    Raises UsageError where pip cannot, with what it says.
    """
    with tempfile.TemporaryDirectory() as place:
        for name, text in files.items():
            path = Path(place, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        dist = Path(place, "dist")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(dist)]
        done = subprocess.run([*command, place], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            told = "\n".join((done.stdout + done.stderr).strip().splitlines()[-4:])
            raise UsageError(
                f"the wheel could not be built; pip says:\n{told}",
                "a compiler of C and setuptools are needed; --c writes the sources alone",
            )
        (wheel,) = dist.iterdir()
        kept = folder / wheel.name
        kept.write_bytes(wheel.read_bytes())
    return kept
