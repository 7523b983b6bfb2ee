"""What a function is made of, as text: where it is the same, so is what staging makes of it.

From the code of a function names lead to functions that it calls, to constants of modules and of
closures, to attributes of modules. All of it is described, whether it will be used or not. What
names do not lead through, such as objects with attributes, arrays and `getattr`, raises
UnknownError: nothing is kept of such a function.
"""

from __future__ import annotations

import builtins
import dis
import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.disk_cache.argument_signature import UnknownError, signature
from tapeless.dispatch.jit_options import Options
from tapeless.dispatch.transformation import Transformed
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.trace.readers import AttributeOf, BuiltinOf, CellOf, KeyOf

LIBRARIES = frozenset({"numpy", "scipy", "math", "cmath", "operator"})
TRANSFORMS = frozenset(
    (
        "tapeless.transformations.forward_and_reverse",
        "tapeless.transformations.vmap",
        "tapeless.transformations.jit",
        "tapeless.transformations.grad",
        "tapeless.transformations.jacobians",
        "tapeless.dispatch.list_arguments",
    )
)
SAFE = """
    abs all any bool complex dict divmod enumerate filter float frozenset int isinstance issubclass
    iter len list map max min next pow print range reversed round set slice sorted str sum tuple
    type zip NotImplemented Ellipsis __debug__
"""
BUILTINS = frozenset(SAFE.split())
SIMPLE = frozenset({type(None), bool, int, float, complex, str, bytes, type(...), range})


@dataclass(frozen=True)
class ReadPlace:
    """Where a value is read from outside, and the value."""

    name: str
    get: Callable[[], Any]
    value: Any


class Fingerprint:
    """The description of a function, and the places from which it reads."""

    def __init__(self, fun: Any) -> None:
        self.parts: list[str] = []
        self.places: list[ReadPlace] = []
        self.numbers: dict[int, int] = {}  # of functions and modules, by id
        self.functions: list[FunctionType] = []
        self.modules: list[ModuleType] = []
        self.attributes: dict[str, None] = {}
        self.parts.append(self.described(fun))
        self.follow()

    def follow(self) -> None:
        """Describes all that names lead to."""
        done, looked_up = 0, set()
        while True:
            while done < len(self.functions):
                self.function(self.functions[done])
                done += 1
            pairs = [(m, name) for m in self.modules for name in self.attributes]
            new = [(m, name) for m, name in pairs if (id(m), name) not in looked_up]
            if not new:
                return
            for module, name in new:
                looked_up.add((id(module), name))
                self.attribute(module, name)

    def text(self) -> str:
        return "\n".join(self.parts)

    # -- functions

    def function(self, fun: FunctionType) -> None:
        """What a function is, and what it reads."""
        if fun.__dict__.keys() - {"__wrapped__"}:
            raise UnknownError("a function with attributes")
        names = (fun.__module__, fun.__name__, fun.__qualname__)
        self.parts.append(f"{self.numbers[id(fun)]}: {names} {self.code(fun.__code__)}")
        self.watched(f"the code of {fun.__name__}", AttributeOf(fun, "__code__"))
        defaults_and_wrapped = (
            tuple(sorted((fun.__kwdefaults__ or {}).items())),
            fun.__dict__.get("__wrapped__"),
        )
        self.parts.append(self.described(defaults_and_wrapped))
        self.place(f"the defaults of {fun.__name__}", AttributeOf(fun, "__defaults__"))
        if fun.__kwdefaults__:
            named = AttributeOf(fun, "__kwdefaults__")
            self.watched(f"the keyword defaults of {fun.__name__}", named)
            for name in named():
                self.watched(f"the default of {name}", KeyOf(named(), name))
        for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
            self.place(name, CellOf(cell))
        read: dict[str, None] = {}
        for kind, name in _names(fun.__code__):
            (read if kind == "global" else self.attributes)[name] = None
        for name in read:
            self.outer(fun.__globals__, name)

    def code(self, code: CodeType) -> str:
        """Code with its lines: comments of what is emitted name them."""
        parts = (
            *(code.co_filename, code.co_qualname, code.co_firstlineno, code.co_flags),
            *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            *(code.co_varnames, code.co_cellvars, code.co_freevars, code.co_names),
            *(code.co_code, code.co_linetable, code.co_exceptiontable),
        )
        constants = [
            self.code(c) if isinstance(c, CodeType) else self.described(c) for c in code.co_consts
        ]
        return repr((parts, constants))

    def outer(self, values: dict[str, Any], name: str) -> None:
        """What a global name means."""
        if name in values:
            self.place(name, KeyOf(values, name))
            return
        builtin = vars(builtins).get(name)
        error = isinstance(builtin, type) and issubclass(builtin, BaseException)
        if name in vars(builtins) and not (name in BUILTINS or error):
            raise UnknownError(f"the builtin function {name}")
        kind = type(builtin).__name__ if name in vars(builtins) else "nothing"
        if kind not in (
            "nothing",
            "type",
            "builtin_function_or_method",
            "bool",
            "ellipsis",
            "NotImplementedType",
        ):
            raise UnknownError(f"another {name}")
        self.parts.append(f"builtin {name}: {kind}")
        if name in vars(builtins):
            self.watched(name, BuiltinOf(values, name))

    def attribute(self, module: ModuleType, name: str) -> None:
        """What an attribute of a module is, if it is one."""
        if name in vars(module):
            self.place(f"{module.__name__}.{name}", AttributeOf(module, name))
        elif "__getattr__" in vars(module) and _root(module.__name__) not in LIBRARIES:
            raise UnknownError("a module that computes its attributes")

    def place(self, name: str, get: Callable[[], Any]) -> None:
        """A name, and what it stands for."""
        try:
            value = get()
        except ValueError:  # a closure without value
            self.parts.append(f"{name}: nothing")
            return
        self.watched(name, get)
        self.parts.append(f"{name}: {self.described(value)}")

    def watched(self, name: str, get: Callable[[], Any]) -> None:
        """A place that a program may rely on."""
        self.places.append(ReadPlace(name.rpartition(".")[2], get, get()))

    # -- values

    def described(self, x: Any) -> str:
        """A value as text; functions and modules by number."""
        kind = type(x)
        if kind in SIMPLE:
            return f"{kind.__name__} {x!r}"
        if kind is tuple:
            return f"({', '.join(map(self.described, x))})"
        if kind is frozenset:
            return f"set({', '.join(sorted(map(self.described, x)))})"
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return f"{x.dtype.str} {x.tobytes().hex()}"
        if isinstance(x, np.dtype) and x.kind in "biufc":
            return f"dtype {x.str}"
        if kind is functools.partial:
            parts = (x.func, x.args, tuple(sorted(x.keywords.items())))
            return f"partial{self.described(parts)}"
        if kind is Options:
            return repr(x)
        if kind is tree.Structure:
            return f"tree {signature(tree.unflatten(x, [0] * x.num_leaves))}"
        if isinstance(x, Transformed) and kind.__module__ in TRANSFORMS:
            return f"{kind.__module__}.{kind.__qualname__}{self.described((x.options(), x.fun))}"
        if kind is ModuleType:
            return f"module {x.__name__} {self.numbered(x, self.modules)}"
        if kind is FunctionType and not _of_library(x):
            return f"function {self.numbered(x, self.functions)}"
        return _library_name(x)

    def numbered(self, x: Any, numbered_before: list[Any]) -> int:
        """The number of a function or module, which is described once."""
        if id(x) not in self.numbers:
            self.numbers[id(x)] = len(self.numbers)
            numbered_before.append(x)
        return self.numbers[id(x)]


def _names(code: CodeType) -> Iterator[tuple[str, str]]:
    """The names that code reads, inner functions included: of globals, of attributes."""
    for i in dis.get_instructions(code):
        if i.opname in ("IMPORT_NAME", "LOAD_BUILD_CLASS", "LOAD_NAME"):
            raise UnknownError("an import or a class inside of a function")
        if i.opname == "LOAD_GLOBAL":
            yield "global", str(i.argval)
        elif i.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
            yield "attribute", str(i.argval)
        elif isinstance(i.argval, CodeType):
            yield from _names(i.argval)


def _root(name: Any) -> str:
    return str(name).partition(".")[0]


def _of_library(fun: FunctionType) -> bool:
    """Whether a function is one of NumPy's or SciPy's: its version says what it does."""
    root = _root(fun.__module__)
    if root not in LIBRARIES and fun.__module__ not in TRANSFORMS:
        return False
    home = getattr(sys.modules.get(root), "__file__", None)
    return home is not None and fun.__code__.co_filename.startswith(os.path.dirname(home))


def _library_name(x: Any) -> str:
    """The name under which a library has a function or class."""
    name = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
    if isinstance(x, np.ufunc):
        homes = (np, sys.modules.get("scipy.special"))
        names = [m.__name__ for m in homes if m and getattr(m, x.__name__, None) is x]
        module = names[0] if names else ""
    else:
        module = str(getattr(x, "__module__", ""))
    if isinstance(x, BuiltinFunctionType) and not isinstance(x.__self__, ModuleType):
        raise UnknownError("a method of an object")
    safe = module == "builtins" and (name in BUILTINS or _is_error(x))
    if not (safe or _root(module) in LIBRARIES or module in TRANSFORMS) or not name:
        raise UnknownError(f"an object of type {type(x).__name__}")
    if not isinstance(x, FunctionType) and getattr(sys.modules.get(module), name, None) is not x:
        raise UnknownError(f"{module}.{name} is another object")
    return f"{type(x).__name__} {module}.{name}"


def _is_error(x: Any) -> bool:
    return isinstance(x, type) and issubclass(x, BaseException)
