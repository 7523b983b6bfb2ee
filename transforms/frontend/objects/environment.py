"""What a staged run asks of the machine, environment and files: it is asked again at each call.
Arrays that files give are inputs; the rest is guarded.

x * np.load(path)      becomes      x * load, with load = np.load(path) fetched before each call
"""

from __future__ import annotations

import builtins
import functools
import glob
import hashlib
import io
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.known_arrays import made_by_library
from tapeless.transforms.frontend.objects.attributes import watch
from tapeless.transforms.frontend.objects.capture import outer
from tapeless.transforms.frontend.trace.provenance import hashable, qualified
from tapeless.transforms.frontend.trace.trace import trace

P = pathlib.Path
VARIABLES = (os.getenv, type(os.environ).get, type(os.environ).__getitem__)
#: Functions that say what is in files and folders.
ASKING: frozenset[Any] = frozenset(
    {np.load, np.loadtxt, np.genfromtxt, np.fromfile, np.fromregex}
    | {os.listdir, os.getcwd, os.getpid, os.cpu_count, glob.glob}
    | {os.path.exists, os.path.isfile, os.path.isdir, os.path.getsize, os.path.getmtime}
    | {P.read_text, P.read_bytes, P.exists, P.is_file, P.is_dir, P.resolve}
    | {P.cwd.__func__, P.home.__func__}  # type: ignore[attr-defined]  # of class methods
)
OPENING: frozenset[Any] = frozenset({builtins.open, io.open, P.open})
WRITING: frozenset[Any] = frozenset(
    {np.save, np.savez, np.savez_compressed, np.savetxt, np.memmap}
    | {os.remove, os.unlink, os.rename, os.replace, os.mkdir, os.makedirs, os.rmdir, os.system}
    | {P.write_text, P.write_bytes, P.mkdir, P.unlink, P.touch, P.rename, P.replace, P.rmdir}
)
#: Modules whose functions talk to other programs, or change files.
ACTING = frozenset({"subprocess", "socket", "urllib", "http", "tempfile", "shutil", "ftplib"})


def reads_environment(f: Any) -> bool:
    """Whether a function gives the value of a variable of the environment, or of a file."""
    return any(getattr(f, "__func__", f) is g for g in VARIABLES) or (hashable(f) and f in ASKING)


def watched(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What it gives; the program gets that again at each call, or relies on it."""

    def ask() -> Any:
        return f(*args, **kwargs)

    answer = ask()
    if any(isinstance(a, (io.IOBase, list, tuple, Iterator)) for a in args):
        return made_by_library(answer)  # what the file, or the text, holds is known already
    label = f"{f.__name__}{args if f in ASKING else args[-2:]}"
    if isinstance(answer, np.ndarray):
        return outer(answer, ask, label)
    if isinstance(answer, list):
        watch(os.environ, label, lambda: (*ask(),), (*answer,))
    elif isinstance(answer, pathlib.PurePath):
        watch(os.environ, label, lambda: str(ask()), str(answer))
    elif isinstance(answer, (str, bytes, int, float, type(None))):
        watch(os.environ, label, ask, answer)
    else:
        raise UnsupportedError(
            f"what {qualified(f)} gives, a {type(answer).__name__}, is read while staging only",
            "read it outside, and pass in the arrays that the function needs",
        )
    return trace().born(answer)


def note_opened(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Notes a file that is opened: the program relies on what it holds."""
    if not hashable(f) or f not in OPENING:
        return
    path = kwargs.get("file", (*args, None)[0])
    if isinstance(path, (str, bytes, os.PathLike)) and os.path.isfile(path):
        digest = functools.partial(_digest, path)
        watch(os.environ, f"the contents of {os.fspath(path)!r}", digest, digest())


def _digest(path: Any) -> bytes:
    try:
        with builtins.open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b""  # staging says what is wrong


def refuse_acting(f: Any) -> None:
    """Refuses functions that change files, or talk to other programs: they would do so once."""
    root = str(getattr(f, "__module__", "")).partition(".")[0].removeprefix("_")
    if (hashable(f) and f in WRITING) or root in ACTING:
        raise UnsupportedError(
            f"{qualified(f)} would be carried out while staging only",
            "call it outside of the function, or by tapeless.debug.callback",
        )
