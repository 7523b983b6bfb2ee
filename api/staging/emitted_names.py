"""Names functions, arguments and leaves, for emitted code and for errors."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections import Counter
from collections.abc import Collection
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.transforms.core.user_names import CALLED, short_names
from tapeless.transforms.errors import ArgumentTypeError, Signal

if TYPE_CHECKING:
    from tapeless.transforms.emit import writer as emit
    from tapeless.transforms.frontend.staging.stage import Staged
else:
    emit = lazy_module("tapeless.transforms.emit.writer")


def check_callable(fun: Any, what: str) -> None:
    """Refuses what cannot be called."""
    if not callable(fun):
        raise ArgumentTypeError(
            f"{what} needs a function, not {type(fun).__name__} {str(fun)[:40]!r}",
            "pass the function itself, not the result of a call",
        )


# -- functions


def unwrap(fun: Any) -> Any:
    """The user's function under partials, methods, callable objects and transformations."""
    while not hasattr(fun, "__code__") or _wraps(fun):
        if isinstance(fun, functools.partial):
            fun = fun.func
        elif inspect.ismethod(fun):
            fun = fun.__func__
        elif hasattr(fun, "__wrapped__"):
            fun = fun.__wrapped__
        elif hasattr(type(fun).__call__, "__code__"):
            fun = type(fun).__call__
        else:
            break
    return fun


def _wraps(fun: Any) -> bool:
    """Whether a function is one of ours that stands around another one."""
    module = str(getattr(fun, "__globals__", {}).get("__name__", ""))
    return hasattr(fun, "__wrapped__") and module.startswith("tapeless.")


def root_function(fun: Any) -> FunctionType:
    """The function under partials, methods and transformations, if one is there; else one that
    never changes."""
    while not isinstance(fun, FunctionType):
        if isinstance(fun, functools.partial):
            fun = fun.func
        elif isinstance(fun, MethodType):
            fun = fun.__func__
        elif hasattr(type(fun), "cache_key"):
            fun = fun.fun
        else:
            return cast("FunctionType", check_callable)
    return fun


def base_name(fun: Any) -> str:
    """What a function is called in emitted code."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    emitted = getattr(fun, "emitted_name", None) or getattr(fun, "__name__", None)
    name = str(emitted or type(fun).__name__.lower())
    if not name.isidentifier():
        return "function"
    return f"{name}_" if name in CALLED else name


def place(fun: Any) -> tuple[str, int] | None:
    """File and first line of a function of the user."""
    inner = unwrap(fun)
    code = getattr(inner, "__code__", None)
    library = str(getattr(inner, "__module__", "")).startswith(("numpy", "scipy"))
    return None if code is None or library else (code.co_filename, code.co_firstlineno)


def global_name(obj: Any) -> str:
    """The name by which a module holds `obj` itself, as decorators leave it; empty if none does."""
    value_there: Any = sys.modules.get(getattr(obj, "__module__", None) or "")
    name: str = getattr(obj, "__qualname__", "")
    for part in name.split("."):
        value_there = getattr(value_there, part, None)
    return name if value_there is obj else ""


def unused_name(name: str, names: Any) -> str:
    """`name`, with underscores until it differs from `names`."""
    while name in names:
        name += "_"
    return name


# -- arguments


def argument_names(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each argument as it is passed."""
    names: list[str] = []
    try:
        params = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        params = []
    plain = [p.name for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in params if p.kind is p.VAR_POSITIONAL), "x")
    for k in range(len(args)):
        name = plain[k] if k < len(plain) else f"{rest}{k - len(plain)}"
        names.append(unused_name(name if params or len(args) > 1 else "x", names))
    return names + [unused_name(k, names) for k in kwargs]


def leaf_names(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> list[str]:
    """A name for each leaf of (args, kwargs), in order: parameters of their own, where no
    expression reads them."""
    values = [*args, *kwargs.values()]
    counts = {n: len(tree.leaves(value)) for n, value in zip(names, values, strict=True)}
    ordered = [*names[: len(args)], *(n for _, n in _sorted_keywords(args, kwargs, names))]
    leaf_names_so_far: list[str] = []
    for name in ordered:
        for k in range(counts[name]):
            leaf_names_so_far.append(
                unused_name(f"{name}{k}" if counts[name] > 1 else name, leaf_names_so_far)
            )
    return leaf_names_so_far


def _sorted_keywords(args: Any, kwargs: dict[str, Any], names: list[str]) -> list[tuple[str, str]]:
    """Keywords as optree orders them, each with its name."""
    return sorted(zip(kwargs, names[len(args) :], strict=True))


def leaf_paths(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> list[str]:
    """For each leaf of (args, kwargs), in order, the Python expression that reads it."""
    by_name = ((name, kwargs[k]) for k, name in _sorted_keywords(args, kwargs, names))
    ordered = [*zip(names, args, strict=False), *by_name]
    return [a.codify(name) for name, value in ordered for a in tree.accessors(value)]


def parameter_name(name: str, reserved: Collection[str] = ()) -> str:
    """An argument's name in emitted code, where it must not hide what the code itself uses:
    `reserved` are names that a driver has for that."""
    return f"{name}_" if name in emit.BUILTINS or name in reserved else name


class HiddenFunctions(Signal):
    """Parameters are called as functions of the module: they are written again by other names."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self.names = names


def hidden_functions(text: str, name: str) -> frozenset[str]:
    """Which functions of a module the parameters of its function `name` hide.

    >>> text = ["def plus(a, b): ...", "def f(plus, t): ..."]
    >>> sorted(hidden_functions(chr(10).join(text), "f"))
    ['plus']
    """
    signature = re.search(rf"^def {name}\(([^)]*)\)", text, re.MULTILINE)
    parameters = re.findall(r"\w+", signature[1]) if signature else []
    functions = {*re.findall(r"^def (\w+)", text, re.MULTILINE)} - {name}
    return frozenset(functions.intersection(parameters))


def parameters(
    staged: Staged, arguments: list[str], paths: list[str]
) -> tuple[list[str], list[Any]]:
    """The parameters of the emitted function, and the expression that reads each variable.

    What is read from outside has the shortest name that no other has: w, or layers0_w beside
    layers1_w.
    """
    pairs = zip(staged.leaves, paths, strict=True)
    unpack = [(leaf.var, path) for leaf, path in pairs if leaf.var is not None]
    names = list(arguments)
    names_of_captured = [
        [parameter_name(n, staged.reserved) for n in short_names(c.name) if n.isidentifier()]
        or ["captured"]
        for c in staged.captured
    ]
    counts = Counter(n for each in names_of_captured for n in each)
    for c, each in zip(staged.captured, names_of_captured, strict=True):
        free = (n for n in each if counts[n] == 1 and n not in names)
        names.append(next(free, unused_name(each[-1], names)))
        unpack.append((c.var, names[-1]))
    return names, unpack
