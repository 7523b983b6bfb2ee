"""Finds where a function comes from, which decides how it is called."""

from __future__ import annotations

import datetime
import functools
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace

STANDARD = Path(os.__file__).parent


#: Of modules whose other functions are not.
IMPURE = {("uuid", "uuid1"), ("uuid", "uuid4"), (os.name, "urandom"), (os.name, "times")}


class Libraries(frozenset[str]):
    """Names of packages; a module of the user may have the name of one of the standard library."""

    def __contains__(self, root: object) -> bool:
        if not super().__contains__(root):
            return False
        file = getattr(sys.modules.get(str(root)), "__file__", None)
        return file is None or _is_library(str(root), file)


@functools.lru_cache
def _is_library(root: str, file: str) -> bool:
    return root not in sys.stdlib_module_names or Path(file).is_relative_to(STANDARD)


#: Of the standard library: what is the user's, and what is plain Python that runs code of users.
ENTERED = {"__main__", "this", "antigravity", "colorsys", "contextlib"}
LIBRARIES = Libraries(
    frozenset(sys.stdlib_module_names) - ENTERED
    | {"numpy", "scipy", "optree", "rich", "numba", "pytest", "_pytest"}
    | {"dask", "pandas", "sklearn", "torch", "xarray"}  # they look into values
)
#: Modules of SciPy whose private functions are plain NumPy code.
FORMULAS = frozenset({"scipy.stats._continuous_distns", "scipy.stats._discrete_distns"})
#: Formulas of SciPy that all distributions have, by others.
DEFAULTS = frozenset({"_sf", "_logpdf", "_logcdf", "_logsf", "_logpmf", "_get_support"})
#: Modules of NumPy whose classes are plain NumPy code.
POLYNOMIALS = ("numpy.polynomial", "numpy.lib._polynomial_impl", "numpy.lib.polynomial")
OF_PYTHON = 1 << 9  # the flag of a class that a `class` statement makes
#: Modules whose objects stay as they are.
STEADY = (
    "abc builtins collections contextlib dataclasses enum functools inspect itertools logging main "
    "math numbers operator os random re string struct sys time types typing unittest warnings "
    "weakref"
)
UNCHANGED = frozenset(STEADY.split())


def of_library(f: Any) -> bool:
    """Whether a function is no user's, and is run as it is; ours that are plain NumPy code, in
    modules that say `__staged__ = True`, are entered as the user's are."""
    roots = _roots(f)
    if "tapeless" in roots:
        return not getattr(f, "__globals__", {}).get("__staged__", False)
    return all(root in LIBRARIES for root in roots)


def makes_plain_objects(cls: Any) -> bool:
    """Whether objects of a class are plain ones: `object.__new__` makes them, or a user's
    `__new__`, and none of the classes that it is derived from is C code."""
    new = cls.__new__
    return new is object.__new__ or (
        isinstance(new, types.FunctionType)
        and not of_library(new)
        and type(cls).__call__ is type.__call__
        and all(base is object or base.__flags__ & OF_PYTHON for base in cls.__mro__)
    )


def of_ours(f: types.FunctionType) -> bool:
    """Whether a function is plain NumPy code of ours or a formula of SciPy, which is entered and
    never changes."""
    return bool(f.__globals__.get("__staged__", False)) or is_formula(f)


def is_formula(f: Any) -> bool:
    """Whether a function is plain NumPy code of SciPy, or NumPy: a formula of a distribution such
    as `_pdf`, or a function that one uses; a method of a polynomial; or was marked as such code."""
    if getattr(f, "__dict__", {}).get("is_plain_code"):
        return True
    module = getattr(f, "__globals__", {}).get("__name__")
    if module == "scipy.stats._distn_infrastructure":
        return f.__name__ in DEFAULTS
    if str(module).startswith(POLYNOMIALS):
        return "." in f.__qualname__
    if module not in FORMULAS:
        return False
    return bool(f.__name__.startswith("_") or "<locals>" in f.__qualname__)


def is_library_class(cls: type) -> bool:
    """Whether objects of a class are made and used by code that is run as it is."""
    root = (cls.__module__ or "").partition(".")[0]
    return root in LIBRARIES and not is_formula(getattr(cls, "__init__", None))


def of_numba(f: Any) -> Any:
    """The Python code of what Numba compiles, and `range` for its `prange`; None for others."""
    if isinstance(f, type):
        return range if f.__name__ == "prange" and _roots(f) == {"numba"} else None
    if not type(f).__module__.startswith("numba."):
        return None
    if type(f).__name__ == "DUFunc":  # of numba.vectorize
        return np.vectorize(f.__wrapped__)
    return getattr(f, "py_func", None)


def hashable(f: Any) -> bool:
    """Whether a callable can be looked up in tables: one whose class says what it is equal to is in
    none, and is not asked."""
    if any(isinstance(m, types.FunctionType) for m in (type(f).__eq__, type(f).__hash__)):
        return False
    try:
        hash(f)
    except TypeError:
        return False
    return True


def is_numpy(f: Any) -> bool:
    if isinstance(f, np.ufunc):
        return True
    return _roots(f) <= {"numpy", "scipy"} and not isinstance(f, type)


def is_parametrised(f: Any) -> bool:
    """`Stack[float]`, `list[float]` or `typing.OrderedDict`, whose calls make objects of the class
    in `__origin__`."""
    return type(f).__module__ in ("types", "typing") and isinstance(
        getattr(f, "__origin__", None), type
    )


def _roots(f: Any) -> set[str]:
    """The package that a function says it is of, and the one whose code it is: of a decorator's
    function that has taken a name by functools.wraps, they may be two."""
    if is_formula(f):
        return {"formulas of scipy"}
    names = getattr(f, "__module__", None), getattr(f, "__globals__", {}).get("__name__")
    return {str(name).partition(".")[0] for name in names if name} or {""}


def qualified_name(f: Any) -> str:
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__module__}.{type(owner).__name__}.{f.__name__}"
    return f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', f)}"


def impure(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None) or ""
    if module in ("time", "random", "secrets") or type(owner).__module__ == "random":
        return True
    name = getattr(f, "__name__", "")
    if name == "rvs" and module.startswith("scipy."):
        return True
    if isinstance(owner, type) and issubclass(owner, datetime.date):
        return name in ("now", "utcnow", "today")
    return (module, name) in IMPURE


def may_change(obj: Any) -> bool:
    """Whether methods of an object of Python's library may change it, where nobody sees it: it is
    told apart by where it is, not by what it holds."""
    cls = type(obj)
    root = cls.__module__.partition(".")[0].removeprefix("_")
    is_code = isinstance(obj, (type, types.ModuleType, types.FunctionType, types.MethodType))
    of_python = root in sys.stdlib_module_names and root not in UNCHANGED and not is_code
    by_place: Any = object.__hash__
    return of_python and cls.__hash__ is by_place


def static_attribute(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def inherited_from(parent: Any, name: str) -> tuple[Any, type]:
    """The object of a super(), and the class behind the one it names that has an attribute; the
    super() itself where it is of no object, or no class has it."""
    if isinstance(parent.__self__, parent.__self_class__):
        classes = parent.__self_class__.__mro__
        for base in classes[classes.index(parent.__thisclass__) + 1 :]:
            if name in base.__dict__:
                return parent.__self__, base
    return parent, super


def name_of(obj: Any) -> str:
    """What an object from outside is called: what the program read it as, if it did."""
    named = isinstance(obj, (type, types.FunctionType, types.MethodType, types.ModuleType))
    return str(obj.__name__) if named else trace().paths.get(id(obj), type(obj).__name__.lower())


def of_objects(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call is about arrays of None or of text, which are no arrays of the program."""
    if f in (np.array, np.asarray) and args and _holds_objects(args[0]):
        return True
    return any(isinstance(a, np.ndarray) and a.dtype.kind in "OSU" for a in args)


def _holds_objects(value: Any) -> bool:
    if isinstance(value, (list, tuple)):  # what loops fill holds numbers
        return own_attribute(value, "tail") is None and any(map(_holds_objects, value))
    return value is None or isinstance(value, str)
