"""Watches what a staged run asks of the machine, environment and files: it is asked again at each
call. Arrays that files give are inputs; the rest is guarded.

x * np.load(path)      becomes      x * load, with load = np.load(path) fetched before each call
"""

from __future__ import annotations

import gc
import glob
import io
import locale
import logging
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.known_arrays import made_by_library
from tapeless.transforms.frontend.objects.attributes import watch
from tapeless.transforms.frontend.objects.capture import outer
from tapeless.transforms.frontend.objects.files_read import reads_not_noted
from tapeless.transforms.frontend.trace.provenance import hashable, qualified_name
from tapeless.transforms.frontend.trace.trace import trace

P = pathlib.Path
PLAIN = (str, bytes, int, float, type(None))
ENTRIES = type(os.environ)
VARIABLES = (os.getenv, ENTRIES.get, ENTRIES.__getitem__, ENTRIES.__contains__)
#: Functions that say what is in files and folders.
ASKING: frozenset[Any] = frozenset(
    {np.load, np.loadtxt, np.genfromtxt, np.fromfile, np.fromregex}
    | {os.listdir, os.getcwd, os.getpid, os.cpu_count, glob.glob}
    | {os.path.exists, os.path.lexists, os.path.isfile, os.path.isdir, os.path.islink, os.access}
    | {os.path.getsize, os.path.getmtime, os.path.getctime, os.stat, os.lstat, P.stat, P.lstat}
    | {os.path.abspath, os.path.realpath, os.path.expanduser, os.path.expandvars}
    | {P.read_text, P.read_bytes, P.exists, P.is_file, P.is_dir}
    | {P.resolve, P.absolute, P.expanduser}
    | {np.geterr, np.get_printoptions, gc.isenabled, locale.getlocale}
    | {logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel}
    | {P.cwd.__func__, P.home.__func__}  # type: ignore[attr-defined]  # of class methods
)
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


def watch_environment(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What it gives; the program gets that again at each call, or relies on it."""

    def ask() -> Any:
        with reads_not_noted():
            return f(*args, **kwargs)

    answer = ask()
    if any(isinstance(a, (io.IOBase, list, tuple, Iterator)) for a in args):
        return made_by_library(answer)  # what the file, or the text, holds is known already
    label = f"{f.__name__}{args if f in ASKING else args[-2:]}"
    if isinstance(answer, np.ndarray):
        return outer(answer, ask, label)
    if not isinstance(answer, (list, tuple, dict, pathlib.PurePath, *PLAIN)):
        raise UnsupportedError(
            f"what {qualified_name(f)} gives, a {type(answer).__name__}, is read while staging "
            "only",
            "read it outside, and pass in the arrays that the function needs",
        )
    watch(os.environ, label, lambda: _comparable(ask()), _comparable(answer))
    return trace().born(answer)


def _comparable(answer: Any) -> Any:
    """What two answers must have in common; a file may be read in between."""
    match answer:
        case os.stat_result():
            return answer.st_mode, answer.st_ino, answer.st_size, answer.st_mtime_ns
        case dict():
            return tuple(sorted(answer.items()))
        case list():
            return tuple(answer)
        case pathlib.PurePath():
            return str(answer)
    return answer


def refuse_acting(f: Any) -> None:
    """Refuses functions that change files, or talk to other programs: they would do so once."""
    root = str(getattr(f, "__module__", "")).partition(".")[0].removeprefix("_")
    if (hashable(f) and f in WRITING) or root in ACTING:
        raise UnsupportedError(
            f"{qualified_name(f)} would be carried out while staging only",
            "call it outside of the function, or by tapeless.debug.callback",
        )
