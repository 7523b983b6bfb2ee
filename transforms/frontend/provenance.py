"""Where a function comes from, which decides how it is called."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

LIBRARIES = frozenset(sys.stdlib_module_names) - {"__main__", "this", "antigravity"} | {
    "numpy",
    "scipy",
    "optree",
    "rich",
    "numba",
    "pytest",
    "_pytest",
}


def of_library(f: Any) -> bool:
    """Whether a function is no user's, and is run as it is; ours that are plain NumPy code, in
    modules that say `__staged__ = True`, are entered as the user's are."""
    roots = _roots(f)
    if "tapeless" in roots:
        return not getattr(f, "__globals__", {}).get("__staged__", False)
    return roots <= LIBRARIES


def hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True


def is_numpy(f: Any) -> bool:
    if isinstance(f, np.ufunc):
        return True
    return _roots(f) <= {"numpy", "scipy"} and not isinstance(f, type)


def _roots(f: Any) -> set[str]:
    """The package that a function says it is of, and the one whose code it is: of a decorator's
    function that has taken a name by functools.wraps, they may be two."""
    names = getattr(f, "__module__", None), getattr(f, "__globals__", {}).get("__name__")
    return {str(name).partition(".")[0] for name in names if name} or {""}


def qualified(f: Any) -> str:
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__module__}.{type(owner).__name__}.{f.__name__}"
    return f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', f)}"


def impure(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None) or ""
    return module in ("time", "random", "secrets") or type(owner).__module__ == "random"


def static_attribute(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def name_of(obj: Any) -> str:
    named = isinstance(obj, (type, types.FunctionType, types.MethodType, types.ModuleType))
    return str(obj.__name__) if named else type(obj).__name__.lower()
