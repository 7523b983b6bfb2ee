"""Stages calls that act on the world around: those that are carried out when the program
runs, and those that would only be carried out while staging, which are refused.
"""

from __future__ import annotations

import builtins
import logging
import numbers
import pathlib
import random
import re
import sys
import types
import warnings
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Effect
from tapeless.transforms.errors import EscapeError, UnsupportedError
from tapeless.transforms.frontend.arrays.foreign_arrays import is_foreign
from tapeless.transforms.frontend.effects.effects import effect_parts
from tapeless.transforms.frontend.trace.provenance import UNCHANGED, is_numpy, qualified_name
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.memoized import of_cache

STREAMS = ("stdout", "stderr")
LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
NAMES = "a rewritten function keeps its variables elsewhere"
CODE = "code that is made as text is not rewritten"
CALLS_SAVED = (
    "calls that are saved are counted while staging, and not when the program runs",
    "count the calls in the function itself",
)
REFUSED: dict[Any, tuple[str, str]] = {
    builtins.eval: (CODE, "write the code out, or evaluate it outside and pass in a function"),
    builtins.exec: (CODE, "write the code out, or execute it outside and pass in what it makes"),
    builtins.compile: (CODE, "write the code out"),
    builtins.locals: (NAMES, "keep values that are found by name in a dict"),
    builtins.globals: (NAMES, "name the global, or keep values that are found by name in a dict"),
    builtins.input: ("it would be asked while staging", "pass in what is typed as an argument"),
    builtins.breakpoint: (
        "the function runs on symbols here",
        "use tapeless.debug.breakpoint(), which stops here when the program runs",
    ),
}
#: Modules of Python's whose objects keep what their methods are given.
KEEPING = frozenset(sys.stdlib_module_names) - UNCHANGED | {
    "builtins",
    "collections",
    "contextlib",
    "weakref",
}
#: Methods of Python's classes that only look something up.
LOOK_UPS = frozenset({"get", "count", "index", "__contains__", "__getitem__"})
#: Classes whose objects keep nothing.
KEEPS_NOTHING = (
    *(str, bytes, tuple, frozenset, range, slice, numbers.Number, re.Pattern),
    *(type, types.ModuleType, types.FunctionType),
)


def refuse_kept(f: Any) -> None:
    """Refuses methods of objects from outside that may keep a value of the staged run, where it
    means nothing when the run has ended; lists, dicts, sets and deques are carried out after it."""
    this = getattr(f, "__self__", None)
    if this is None or isinstance(this, KEEPS_NOTHING) or is_numpy(f) or trace().birth(this):
        return
    home = getattr(f, "__module__", None) or type(this).__module__
    if f.__name__ not in LOOK_UPS and home.partition(".")[0].removeprefix("_") in KEEPING:
        raise EscapeError(
            f"{qualified_name(f)} may keep this value in an object that is made outside",
            "use a list, a dict or a deque, or return the value",
        )


def refuse_foreign_store(obj: Any) -> None:
    """Refuses a store to an object from outside that is not known to be put back, and to one that
    a program that is traced passes on to its library."""
    passed_on = trace().observing and is_foreign(obj)
    if not isinstance(obj, np.ndarray) and (passed_on or not trace().birth(obj)):
        outside = "" if trace().birth(obj) else "is made outside, and "
        raise EscapeError(
            f"a store to an object of {type(obj).__module__}.{type(obj).__qualname__}, which "
            f"{outside}would be changed while staging only",
            "use a list, a dict or an array",
        )


def refuse_outside(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses functions that mean something else while staging."""
    reason = REFUSED.get(f)
    if f in (builtins.vars, builtins.dir) and not args:
        reason = REFUSED[builtins.locals]
    if f in (builtins.open, pathlib.Path.open) and _writes(args, kwargs):
        reason = (
            "it would be written while staging only",
            "write the file outside of the function",
        )
    if of_cache(f) is not None and f.__name__ == "cache_info":
        reason = CALLS_SAVED
    if reason is not None:
        raise UnsupportedError(
            f"{f.__name__}() in a function that is staged: {reason[0]}", reason[1]
        )


def _writes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call of `open` is for writing."""
    return bool(set(str(kwargs.get("mode", (*args, "r", "r")[1]))) & set("wax+"))


def spelling(f: Any) -> tuple[str, str] | None:
    """(expression, module) of a function whose calls are recorded: of warnings, logs, streams and
    seeds."""
    name, this = getattr(f, "__name__", ""), getattr(f, "__self__", None)
    if "numpy.random" in sys.modules and f is np.random.seed:
        return "np.random.seed", "numpy"
    if f is random.seed:
        return "random.seed", "random"
    if f is warnings.warn:
        return "warnings.warn", "warnings"
    if name in LEVELS and isinstance(this, logging.Logger):
        return f"logging.getLogger({this.name!r}).{name}", "logging"
    if name in LEVELS and getattr(f, "__module__", None) == "logging" and this is None:
        return f"logging.{name}", "logging"
    if name in ("write", "flush"):
        for stream in STREAMS:
            if this is not None and this is getattr(sys, stream):
                return f"sys.{stream}.{name}", "sys"
    return None


def refuse_file(file: Any) -> None:
    """Refuses files that are not found again when the program runs."""
    if file is not None and not any(file is getattr(sys, stream) for stream in STREAMS):
        raise UnsupportedError(
            "print to a file from a transformed function", "print to sys.stdout or sys.stderr"
        )


def record(function: str, module: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Lets the program call a function whose result is not used."""
    parts: list[Any] = []
    atoms: list[Atom] = []
    texts = [_argument(v, parts, atoms) for v in args]
    texts += [f"{k}={_argument(v, parts, atoms)}" for k, v in kwargs.items()]
    used = any(f"{module}." in text for text in (function, *texts))
    params = {
        "form": f"{function}({', '.join(texts)})",
        "parts": tuple(parts),
        "modules": (module,) if used else (),
    }
    trace().emit(Effect("call", tuple(atoms), params, trace().place()))


def _argument(value: Any, parts: list[Any], atoms: list[Atom]) -> str:
    """The text of an argument, with a hole for what is put in later."""
    for stream in STREAMS:
        if value is not None and value is getattr(sys, stream):
            return f"sys.{stream}"
    parts.append(effect_parts(value, atoms))
    return f"{{{len(parts) - 1}}}"
