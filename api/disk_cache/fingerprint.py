"""Describes a function and all that it calls as text: where the text is the same, staging gives the
same program.

From the code of a function names lead to functions that it calls, to classes with their methods,
to constants of modules and of closures, to attributes of modules. All of that is described, whether
it will be used or not. Of what may change, such as lists, arrays and objects with attributes, the
text tells the kind only: what a program has read there, its record tells (`kept_reads.py`). What
names do not lead through, such as imports inside of functions, raises UnknownError: nothing is kept
of such a function.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import dis
import enum
import functools
import logging
import os
import re
import sys
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.disk_cache import class_entries
from tapeless.disk_cache.argument_signature import NoSignatureError, signature
from tapeless.dispatch.jit_options import Options
from tapeless.dispatch.transformation import Transformed
from tapeless.transforms.frontend.trace.plain_objects import holds_attributes_only, is_described
from tapeless.transforms.frontend.trace.readers import ABSENT

LIBRARIES = frozenset({"numpy", "scipy", "math", "cmath", "operator"})
TRANSFORMS = frozenset(
    (
        "tapeless.transformations.forward_and_reverse",
        "tapeless.transformations.mapping.vmap",
        "tapeless.transformations.compilation.compiled_function",
        "tapeless.transformations.compilation.jit",
        "tapeless.transformations.grad",
        "tapeless.transformations.jacobians",
        "tapeless.dispatch.list_arguments",
    )
)
#: Modules of Python whose classes and functions do the same in all processes.
OF_PYTHON = frozenset(
    (
        *("abc", "collections", "dataclasses", "enum", "functools"),
        *("itertools", "numbers", "reprlib", "typing"),
    )
)
COMPUTING = frozenset({"_bisect", "_collections", "_functools", "_heapq", "_operator"})
SAFE = """
    abs all any bool callable chr classmethod complex dict divmod enumerate filter float frozenset
    getattr hasattr int isinstance issubclass iter len list map max min next object ord pow print
    property range reversed round set setattr slice sorted staticmethod str sum super tuple type zip
    NotImplemented Ellipsis __debug__
"""
BUILTINS = frozenset(SAFE.split())
ONE_OF_A_KIND = frozenset({type(None), type(...), type(NotImplemented)})
SIMPLE = ONE_OF_A_KIND | {bool, int, float, complex, str, bytes, range}
CONTAINERS = frozenset({list, dict, set, frozenset, tuple, deque, OrderedDict, Counter})
CHANGING = CONTAINERS | {bytearray, np.ndarray}
#: The types of what says no more than where it stands: versions of Python have them elsewhere.
SENTINELS = (
    type(namedtuple("Single", "item").item),  # type: ignore[attr-defined]
    type(dataclasses.MISSING),
    type(getattr(dataclasses, "_HAS_DEFAULT_FACTORY", dataclasses.MISSING)),
)
#: Where NumPy has the classes of objects that are there to be indexed.
INDEXING = ("numpy.lib._index_tricks_impl", "numpy.lib.index_tricks")
SLOTS = (MemberDescriptorType, GetSetDescriptorType)
MANY = 2_000  # functions and classes: of larger ones nothing is kept
WIDE = 500  # objects in containers and attributes, at most, whose classes are looked for


class Fingerprint:
    """The description of a function and of the arguments of a call.

    objects  the functions, modules, classes and objects with attributes that names lead to
    numbers  where they are there, by id
    """

    def __init__(self, fun: Any, arguments: Any = ()) -> None:
        self.parts: list[str] = []
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.attributes: dict[str, None] = {}
        self.complete = False
        self.parts.append(self.describe(fun))
        self.parts.append(signature(arguments, self.describe))
        self.follow()
        self.complete = True

    def follow(self) -> None:
        """Describes all that names lead to."""
        done, looked_up = 0, set()
        while True:
            while done < len(self.objects):
                self.contents(self.objects[done])
                done += 1
            modules = [x for x in self.objects if type(x) is ModuleType]
            pairs = [(m, name) for m in modules for name in self.attributes]
            new = [(m, name) for m, name in pairs if (id(m), name) not in looked_up]
            if not new:
                return
            for module, name in new:
                looked_up.add((id(module), name))
                self.attribute(module, name)

    def contents(self, x: Any) -> None:
        """Describes a function or a class; modules by what is read of them."""
        if type(x) is FunctionType:
            self.function(x)
        elif isinstance(x, type):
            self.parts.append(f"{self.numbers[id(x)]}: class {x.__module__}.{x.__qualname__}")
            self.parts += [f"{k} {self.loosely(v)}" for k, v in class_entries.entries(x)]
        elif type(x) is not ModuleType:
            self.look_into(class_entries.attributes(x))

    def text(self) -> str:
        return "\n".join(self.parts)

    # -- functions

    def function(self, fun: FunctionType) -> None:
        """What a function is, and what it reads."""
        names = (fun.__module__, fun.__name__, fun.__qualname__)
        self.parts.append(f"{self.numbers[id(fun)]}: {names} {self.code(fun.__code__)}")
        self.parts += map(self.loosely, fun.__defaults__ or ())
        for name, value in sorted({**(fun.__kwdefaults__ or {}), **fun.__dict__}.items()):
            self.parts.append(f"{name}: {self.loosely(value)}")
        for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
            self.cell(name, cell)
        read: dict[str, None] = {}
        of_python = _root(fun.__globals__.get("__name__")) in OF_PYTHON
        for kind, name in () if of_python else _names(fun.__code__):
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
            self.code(c) if isinstance(c, CodeType) else self.describe(c) for c in code.co_consts
        ]
        return repr((parts, constants))

    def cell(self, name: str, cell: Any) -> None:
        """What a variable of the function around means."""
        try:
            value = self.loosely(cell.cell_contents)
        except ValueError:  # it has no value
            value = "nothing"
        self.parts.append(f"{name}: {value}")

    def outer(self, values: dict[str, Any], name: str) -> None:
        """What a global name means."""
        if name in values:
            self.parts.append(f"{name}: {self.loosely(values[name])}")
            return
        builtin = vars(builtins).get(name)
        error = isinstance(builtin, type) and issubclass(builtin, BaseException)
        if name in vars(builtins) and not (name in BUILTINS or error):
            raise NoSignatureError(f"the builtin function {name}")
        kind = type(builtin).__name__ if name in vars(builtins) else "nothing"
        if kind not in (
            "nothing",
            "type",
            "builtin_function_or_method",
            "bool",
            "ellipsis",
            "NotImplementedType",
        ):
            raise NoSignatureError(f"another {name}")
        self.parts.append(f"builtin {name}: {kind}")

    def attribute(self, module: ModuleType, name: str) -> None:
        """What an attribute of a module is, if it is one."""
        if name in vars(module):
            value = self.loosely(vars(module)[name])
            self.parts.append(f"{module.__name__}.{name}: {value}")
        elif "__getattr__" in vars(module) and _root(module.__name__) not in LIBRARIES:
            raise NoSignatureError("a module that computes its attributes")

    # -- values

    def loosely(self, x: Any) -> str:
        """A value as text; of what may change the kind."""
        if type(x) not in CHANGING:
            return self.describe(x)
        try:
            return self.describe(x)
        except NoSignatureError:
            self.look_into(x)
            return f"some {type(x).__name__}"

    def look_into(self, x: Any) -> None:
        """Gives numbers to what is in a container: functions, and objects with their classes."""
        pending = [x]
        for looked_at in range(WIDE):
            if looked_at == len(pending):
                return
            value = pending[looked_at]
            if type(value) in CONTAINERS:
                pending += value.values() if isinstance(value, dict) else value
            elif type(value) is FunctionType or is_described(type(value)):
                with contextlib.suppress(NoSignatureError):
                    self.describe(value)

    def describe(self, x: Any) -> str:
        """A value as text; functions, modules, classes and objects with attributes by number."""
        kind = type(x)
        if kind in SIMPLE:
            return f"{kind.__name__} {x!r}"
        if kind is tuple:
            return f"({', '.join(map(self.describe, x))})"
        if kind is frozenset:
            return f"set({', '.join(sorted(map(self.describe, x)))})"
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return f"{x.dtype.str} {x.tobytes().hex()}"
        if isinstance(x, np.dtype) and x.kind in "biufc":
            return f"dtype {x.str}"
        if kind is functools.partial:
            parts = (x.func, x.args, tuple(sorted(x.keywords.items())))
            return f"partial{self.describe(parts)}"
        if kind is Options:
            return repr(x)
        if kind is tree.Structure:
            return f"tree {signature(tree.unflatten(x, [0] * x.num_leaves), self.describe)}"
        if isinstance(x, Transformed) and kind.__module__ in TRANSFORMS:
            return f"{kind.__module__}.{kind.__qualname__}{self.describe((x.options(), x.fun))}"
        if kind is ModuleType:
            return f"module {x.__name__} {self.number_of(x)}"
        if kind is FunctionType and not _of_library(x):
            return f"function {self.number_of(x)}"
        if kind is MethodType:
            return f"method {self.describe((x.__func__, x.__self__))}"
        if kind is CodeType:
            return self.code(x)
        if (wrapped := class_entries.wrapped_functions(x)) is not None:
            return f"{kind.__name__}{self.describe(wrapped)}"
        if kind in (*SLOTS, *SENTINELS) or x is ABSENT:
            return kind.__name__
        if isinstance(x, enum.Enum):
            return f"member {x.name} of {self.describe(kind)}"
        if isinstance(x, type) and is_described(x):
            return f"class {self.number_of(x)}"
        if is_described(kind) and not isinstance(x, type):
            return self.instance(x)
        return self.setting(x) or library_name(x)

    @staticmethod
    def setting(x: Any) -> str | None:
        """An object of a library that its few attributes describe; None for others."""
        kind = type(x)
        if kind is re.Pattern:
            return f"pattern {x.pattern!r} {x.flags}"
        if kind is logging.Logger and logging.getLogger(x.name) is x:
            return f"logger {x.name}"
        if kind.__module__ in INDEXING:  # np.r_, np.mgrid, np.s_
            return f"{kind.__module__}.{kind.__qualname__} {x.__getstate__()!r}"
        return None

    def instance(self, x: Any) -> str:
        """An object of a user's class: its attributes are told where they are read."""
        kind = type(x)
        if not holds_attributes_only(kind):
            raise NoSignatureError(f"an object of type {kind.__name__}")
        return f"object {self.number_of(x)} of {self.describe(kind)}"

    def number_of(self, x: Any) -> int:
        """The number of what is described once."""
        if id(x) not in self.numbers:
            if self.complete or len(self.objects) == MANY:
                raise NoSignatureError(f"an object of type {type(x).__name__} too many")
            self.numbers[id(x)] = len(self.objects)
            self.objects.append(x)
        return self.numbers[id(x)]


def _names(code: CodeType) -> Iterator[tuple[str, str]]:
    """The names that code reads, inner functions included: of globals, of attributes."""
    for i in dis.get_instructions(code):
        if i.opname in ("IMPORT_NAME", "LOAD_BUILD_CLASS", "LOAD_NAME"):
            raise NoSignatureError("an import or a class inside of a function")
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


def library_name(x: Any) -> str:
    """The name under which a library has a function or class."""
    name = getattr(x, "__qualname__", None) or getattr(x, "__name__", None)
    if isinstance(x, np.ufunc):
        homes = (np, sys.modules.get("scipy.special"))
        names = [m.__name__ for m in homes if m and getattr(m, x.__name__, None) is x]
        module = names[0] if names else ""
    else:
        module = str(getattr(x, "__module__", ""))
    if isinstance(x, BuiltinFunctionType) and isinstance(x.__self__, type):
        return f"method {name} of {library_name(x.__self__)}"
    if isinstance(x, BuiltinFunctionType) and not isinstance(x.__self__, ModuleType):
        raise NoSignatureError("a method of an object")
    safe = module == "builtins" and (name in BUILTINS or _is_error(x))
    of_python = isinstance(x, type) and _root(module) in OF_PYTHON
    of_python = of_python or (isinstance(x, BuiltinFunctionType) and module in COMPUTING)
    described = safe or of_python or _root(module) in LIBRARIES or module in TRANSFORMS
    if not described or not name:
        raise NoSignatureError(f"an object of type {type(x).__name__}")
    if not isinstance(x, FunctionType) and getattr(sys.modules.get(module), name, None) is not x:
        raise NoSignatureError(f"{module}.{name} is another object")
    return f"{type(x).__name__} {module}.{name}"


def _is_error(x: Any) -> bool:
    return isinstance(x, type) and issubclass(x, BaseException)
