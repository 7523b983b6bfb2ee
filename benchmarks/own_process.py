"""Runs a measurement in a process of its own, which ends with it or when it takes too long."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def output_of(
    arguments: Sequence[str], timeout: float, paths: Sequence[Path] = (), **environment: str
) -> tuple[str, str]:
    """What `python -m` prints with these arguments, and the end of what it says of errors.

    timeout      seconds
    paths        folders that modules are imported from, besides that of the project
    environment  variables that are set
    """
    folders = (ROOT, *paths, *filter(None, [os.environ.get("PYTHONPATH")]))
    environment["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    try:
        with tempfile.TemporaryDirectory() as folder:  # for what it writes
            run = subprocess.run(
                [sys.executable, "-m", *arguments],
                capture_output=True,
                text=True,
                timeout=timeout,
                cwd=folder,
                env={**os.environ, **environment},
                check=False,
            )
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(), f"not done after {timeout:.0f} s"
    return run.stdout, run.stderr.strip()[-200:]
